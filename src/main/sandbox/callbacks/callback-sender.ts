import * as http from 'node:http'
import * as https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** How one attempt to deliver a callback ended. */
export interface AttemptResult {
  /** What the receiver answered; null if it answered nothing. */
  status: number | null
  /** Why nothing was answered, in a word such as `ECONNREFUSED` or `TIMEOUT`; null if something was. */
  error: string | null
  /** What the answer's Retry-After asks to wait, in milliseconds; null if it does not. */
  retryAfterMs: number | null
  /** A connection that had rested was closed by the receiver at that moment; nothing speaks against trying again. */
  isStaleConnection: boolean
}

const STALE_CODES = new Set(['ECONNRESET', 'EPIPE'])

/** Resting connections that are kept for each receiver. */
const RESTING_CONNECTIONS = 64

/** Creates the sender. How many attempts are under way at once is the caller's choice. */
export function createCallbackSender() {
  const settings = { keepAlive: true, maxFreeSockets: RESTING_CONNECTIONS }
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no say.
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
    /** Never rejects. `timeoutMs` is for the whole attempt. */
    send: ({ url, body }: { url: string; body: string }, timeoutMs: number): Promise<AttemptResult> =>
      new Promise((resolve) => {
        let request: http.ClientRequest
        try {
          request = open(new URL(url), body)
        } catch {
          resolve({ status: null, error: 'INVALID_URL', retryAfterMs: null, isStaleConnection: false })
          return
        }
        let isTimedOut = false
        const timer = setTimeout(() => {
          isTimedOut = true
          request.destroy()
        }, timeoutMs)
        const end = (result: Partial<AttemptResult>): void => {
          clearTimeout(timer)
          resolve({ status: null, error: null, retryAfterMs: null, isStaleConnection: false, ...result })
        }
        const fail = (code: string): void => {
          const isStaleConnection = request.reusedSocket && STALE_CODES.has(code)
          end({ error: isTimedOut ? 'TIMEOUT' : code, isStaleConnection })
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
    /** Breaks off what is under way and closes the connections. */
    close: (): void => {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** Posts callbacks over connections that are kept and used again. */
export interface CallbackSender extends ReturnType<typeof createCallbackSender> {}

/** Seconds or an HTTP date. */
function readRetryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000
  const dateMs = Date.parse(value)
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - Date.now())
}
