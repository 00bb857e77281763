import { randomUUID } from 'node:crypto'
import { appealStatusPath } from '../../../shared/operations/appeal-status.ts'
import { WATCHLIST_UPDATE_PATH } from '../../../shared/operations/watchlist-update.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { ConnectionCheck } from '../../../shared/service/connection-check.ts'
import { isKeyRefusal, readServiceError } from '../../../shared/service/errors.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import { APP_VERSION } from '../../../shared/version.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import type { HeaderValues } from '../secrets/header-values.ts'
import { loadSystemAuthorities, usesSystemAuthorities } from '../secrets/system-authorities.ts'
import { addSystemProxy, type FindSystemProxy } from '../secrets/system-proxy.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createServiceClients, type ServiceClient, type ServiceRequest } from './service-client.ts'

export interface ConnectionSecrets {
  apiKey: ApiKey | null
  proxyCredentials: ProxyCredentials | null
  headerValues: HeaderValues | null
}

/**
 * Checks with a service whether address and key are right, without changing anything. First it reads an
 * appeal that nobody has, without a key (docs/interface.md §4.7). Then it sends a watchlist update that names
 * no watchlist, with the key: the service refuses it for a wrong key or for the missing parameter, which
 * tells the two apart (docs/interface.md §7.1). Throws `BAD_PLAN` for certificates that cannot be used.
 */
export async function checkConnection(
  named: PlanConnection,
  { apiKey, headerValues, ...secrets }: ConnectionSecrets,
  findSystemProxy: FindSystemProxy,
): Promise<ConnectionCheck> {
  const { connection, proxyCredentials } = await addSystemProxy(
    named.baseUrl,
    named,
    secrets.proxyCredentials,
    findSystemProxy,
  )
  if (usesSystemAuthorities(connection.baseUrl, connection)) await loadSystemAuthorities()
  const client = createServiceClients({
    baseUrl: connection.baseUrl,
    connection,
    readApiKey: () => apiKey,
    proxyCredentials,
    headerValues,
    userAgent: `sluice/${APP_VERSION}`,
  })()
  try {
    const appeal = await send(client, {
      method: 'GET',
      path: appealStatusPath(randomUUID()),
      body: null,
      isAnonymous: true,
    })
    if (appeal.kind === 'breakdown') {
      return { address: { kind: 'unreachable', message: appeal.message }, key: { kind: 'unchecked' } }
    }
    const address = {
      kind: 'answered' as const,
      status: appeal.status,
      durationMs: appeal.timings.durationUs / 1000,
    }
    if (apiKey === null) return { address, key: { kind: 'unchecked' } }
    const update = await send(client, {
      method: 'POST',
      path: WATCHLIST_UPDATE_PATH,
      body: '{}',
      isAnonymous: false,
    })
    return { address, key: judgeKey(update) }
  } finally {
    await client.destroy()
  }
}

function send(client: ServiceClient, request: ServiceRequest): Promise<Exchange> {
  return new Promise((resolve) => client.send(request, resolve))
}

function judgeKey(exchange: Exchange): ConnectionCheck['key'] {
  if (exchange.kind === 'breakdown') {
    const { code, message, status } = exchange
    return { kind: 'unclear', status, errorCode: code, message }
  }
  const { errorCode = null, message = null } = readServiceError(parseJson(exchange.body)) ?? {}
  const { status } = exchange
  return { kind: toVerdict(exchange, errorCode), status, errorCode, message }
}

/** The service's own refusal of a body without parameters means that it accepted the key. */
function toVerdict({ status }: Answer, errorCode: string | null): 'accepted' | 'refused' | 'unclear' {
  if (isKeyRefusal(status, errorCode)) return 'refused'
  const isOwnRefusal = (status === 400 || status === 403 || status === 422) && errorCode !== null
  return isOwnRefusal || (status >= 200 && status < 300) ? 'accepted' : 'unclear'
}
