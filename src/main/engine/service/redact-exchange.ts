import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { Exchange } from './exchange.ts'

/**
 * The one place where secrets are taken out of answers, before anybody else sees them: every key that was sent, the one
 * in use now, and the proxy's credentials.
 */
export function createRedaction(readApiKey: () => ApiKey | null, proxyCredentials: ProxyCredentials | null) {
  const redactor = new Redactor()
  proxyCredentials?.redactBy(redactor)
  let last: ApiKey | null = null
  const noteKey = (key: ApiKey | null): void => {
    if (key !== last) key?.redactBy(redactor)
    last = key
  }
  const redactHeader = (value: string | null): string | null =>
    value === null ? null : redactor.redact(value)
  return {
    noteKey,
    redact(exchange: Exchange): Exchange {
      noteKey(readApiKey())
      if (exchange.kind === 'breakdown') {
        exchange.message = redactor.redact(exchange.message)
        return exchange
      }
      exchange.body = redactor.redact(exchange.body)
      exchange.contentType = redactor.redact(exchange.contentType)
      exchange.retryAfter = redactHeader(exchange.retryAfter)
      exchange.location = redactHeader(exchange.location)
      if (exchange.headers !== undefined) {
        exchange.headers = exchange.headers.map(([name, value]) => [name, redactor.redact(value)])
      }
      if (exchange.bodyProblem !== undefined) exchange.bodyProblem = redactor.redact(exchange.bodyProblem)
      return exchange
    },
  }
}
