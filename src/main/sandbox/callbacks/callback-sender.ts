import * as http from 'node:http'
import * as https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** The result of one attempt to deliver a callback. */
export interface AttemptResult {
  /** Status of the receiver's answer; null if there was none. */
  status: number | null
  /** Why there was no answer, such as `ECONNREFUSED` or `TIMEOUT`; null if there was one. */
  error: string | null
  /** The wait that the answer's Retry-After asks for, milliseconds; null without it. */
  retryAfterMs: number | null
  /** Whether the receiver closed an idle connection just when it was reused; an immediate retry is fine. */
  isReusedSocketClosed: boolean
}

const CLOSED_CODES = new Set(['ECONNRESET', 'EPIPE'])

/** Most idle connections kept per receiver. */
const RESTING_CONNECTIONS = 64

/** Creates the sender. The caller limits the attempts under way at once. */
export function createCallbackSender() {
  const settings = { keepAlive: true, maxFreeSockets: RESTING_CONNECTIONS }
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
  const secure = new https.Agent({ ...settings, rejectUnauthorized: true })
  const agents = { http: new http.Agent(settings), https: secure }

  const open = (url: URL, body: string): http.ClientRequest => {
    const options = {
      ...urlToHttpOptions(url),
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'sluice-sandbox',
        'x-sandbox-notice': 'not a moderation decision',
      },
    }
    return url.protocol === 'https:'
      ? https.request({ ...options, agent: agents.https })
      : http.request({ ...options, agent: agents.http })
  }

  return {
    /** Never rejects. `timeoutMs` applies to the whole attempt. */
    send: ({ url, body }: { url: string; body: string }, timeoutMs: number): Promise<AttemptResult> =>
      new Promise((resolve) => {
        let request: http.ClientRequest
        try {
          request = open(new URL(url), body)
        } catch {
          resolve({ status: null, error: 'INVALID_URL', retryAfterMs: null, isReusedSocketClosed: false })
          return
        }
        let isTimedOut = false
        const timer = setTimeout(() => {
          isTimedOut = true
          request.destroy()
        }, timeoutMs)
        const end = (result: Partial<AttemptResult>): void => {
          clearTimeout(timer)
          resolve({ status: null, error: null, retryAfterMs: null, isReusedSocketClosed: false, ...result })
        }
        const fail = (code: string): void => {
          const isReusedSocketClosed = request.reusedSocket && CLOSED_CODES.has(code)
          end({ error: isTimedOut ? 'TIMEOUT' : code, isReusedSocketClosed })
        }
        request.on('response', (answer) => {
          answer.resume()
          answer.on('end', () =>
            end({
              status: answer.statusCode ?? null,
              retryAfterMs: readRetryAfterMs(answer.headers['retry-after']),
            }),
          )
          answer.on('error', (error) => fail(toSystemCode(error) ?? error.name))
          answer.on('close', () => fail('ECONNRESET'))
        })
        request.on('error', (error) => fail(toSystemCode(error) ?? error.name))
        request.on('close', () => fail('ECONNRESET'))
        request.end(body)
      }),
    /** Aborts attempts under way and closes the connections. */
    close: (): void => {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** Posts callbacks over connections that are kept alive. */
export interface CallbackSender extends ReturnType<typeof createCallbackSender> {}

/** Seconds or an HTTP date. */
function readRetryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000
  const dateMs = Date.parse(value)
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - Date.now())
}
