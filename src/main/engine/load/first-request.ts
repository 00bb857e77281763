import type { LoadFirstRequest } from '../../../shared/load/load-report.ts'
import { isKeyRefusal } from '../../../shared/service/errors.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Judgement } from '../service/judgement.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { LoadBodies } from './load-bodies.ts'
import { FIRST_SEQUENCE } from './load-pacer.ts'

/** Its outcome, and whether the service was reached at all. */
export type FirstRequest = LoadFirstRequest & { reached: boolean }

/** How the requests of a load are made and judged, the first one included. */
export interface LoadRequestOptions {
  bodies: LoadBodies
  path: string
  createClient: () => ServiceClient
  judge: (exchange: Exchange, rowKeys: readonly string[]) => Judgement
  toPostId: (sequence: number) => string
  /** The callback URL of a request's item, from 1; null if no callback is requested. */
  toCallbackUrl: (item: number) => string | null
}

/** Sends row 1 on a connection of its own. `cancel` ends it at once. */
export function sendFirstRequest({
  bodies,
  path,
  createClient,
  judge,
  toPostId,
  toCallbackUrl,
}: LoadRequestOptions): { ended: Promise<FirstRequest>; cancel: () => void } {
  const client = createClient()
  const ended = Promise.withResolvers<FirstRequest>()
  const body = bodies.ofRow(0)
  const postId = toPostId(FIRST_SEQUENCE)
  const json = body.toJson(postId, toCallbackUrl(FIRST_SEQUENCE + 1) ?? '')
  client.send({ method: 'POST', path, body: json, isAnonymous: false }, (exchange) => {
    const { outcome, reached, status, errorCode, message } = judge(exchange, [postId, ...body.keys])
    ended.resolve({
      outcome,
      reached,
      status,
      errorCode,
      message,
      durationMs: exchange.timings.durationUs / 1000,
      row: body.row,
      ...(exchange.traceparent !== undefined && { traceparent: exchange.traceparent }),
    })
    void client.destroy()
  })
  return { ended: ended.promise, cancel: () => void client.destroy() }
}

/** Statuses that no further request would change. */
const REFUSALS: ReadonlySet<number | null> = new Set([401, 403, 404])

/** Why a load test is not started after its first request; null if it may be, as after a transient error. */
export function findRefusal({ reached, status, errorCode, message }: FirstRequest): string | null {
  const isKeyRefused = isKeyRefusal(status, errorCode)
  if (reached && !isKeyRefused && !REFUSALS.has(status)) return null
  const answer = [status, errorCode].filter((part) => part !== null).join(' ')
  const cause = reached ? `${answer}: ${message}` : message
  const check = isKeyRefused
    ? '; check the API key, and that it belongs to this address'
    : status === 404
      ? '; check the base URL'
      : ''
  return `the first request ended the load test before it began: ${cause}${check}`
}
