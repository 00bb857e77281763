import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'

/** Code of a {@link Breakdown} that took longer than the connection's time-out. */
export const TIMEOUT_CODE = 'TIMEOUT'

/** Most of an answer's body that is read, bytes; a moderation result is far smaller. */
export const ANSWER_MAX_BYTES = 16 * 1024 * 1024

/** Code of a {@link Breakdown} whose answer was larger than what is read. */
export const ANSWER_TOO_LARGE_CODE = 'ANSWER_TOO_LARGE'

/** Code of a {@link Breakdown} for which there was no memory left among all answers that were being received. */
export const RECEIVE_LIMIT_CODE = 'RECEIVE_LIMIT'

/** Code of a {@link Breakdown} whose answer is not HTTP/1.1 as RFC 9112 has it. */
export const MALFORMED_ANSWER_CODE = 'MALFORMED_ANSWER'

/** Code of a {@link Breakdown} whose connection was closed before the answer was whole. */
export const CONNECTION_CLOSED_CODE = 'CONNECTION_CLOSED'

/** Code of a {@link Breakdown} whose connection was closed from our side before the answer was whole. */
export const CLIENT_CLOSED_CODE = 'CLIENT_CLOSED'

/** Code of a {@link Breakdown} that a header or path of ours would cause, since HTTP cannot carry it. */
export const UNSENDABLE_CODE = 'UNSENDABLE'

/** When the parts of one HTTP try happened, in microseconds. What did not happen is null. */
export interface ExchangeTimings {
  /** Unix microseconds of the first byte sent; of handing the request over if none was. */
  sentAtUs: number
  /** First byte sent to last byte received, as k6 defines http_req_duration; to the failure where it failed. */
  durationUs: number
  /** Last byte sent to first byte received. */
  waitingUs: number | null
  /** TCP connect, where this try opened the connection. */
  connectUs: number | null
  /** TLS handshake, where this try opened the connection. */
  tlsUs: number | null
  /** Handing the request over to first byte sent: the wait for a connection, opening it included. */
  blockedUs?: number | null
  /** First byte sent to last byte sent. */
  sendingUs?: number | null
  /** Bytes of the request and of its answer; of bodies alone over HTTP/2, which compresses heads. */
  sentBytes?: number
  receivedBytes?: number
}

/** An answer, whole or cut. */
export interface Answer {
  kind: 'answer'
  status: number
  contentType: string
  /** The Retry-After header as it came. */
  retryAfter: string | null
  /** The Date header as it came, by whose clock a date in Retry-After is meant; absent without a Retry-After. */
  date?: string | null
  /** The Location header as it came. */
  location: string | null
  /** All of them as they came, secrets taken out; absent unless they were asked for. */
  headers?: [name: string, value: string][]
  /** Decoded, where it came with a content coding or in another charset than UTF-8. */
  body: string
  /** The charset of the body, if that is not UTF-8. */
  charset?: string
  /** Some bytes of the body are not text in its charset; U+FFFD takes their place. */
  isDamaged?: true
  /** Why the body could not be decoded, which then is ''; what came says no more than its status. */
  bodyProblem?: string
  /** The trace context that the try went out with; absent if it had none. */
  traceparent?: string
  timings: ExchangeTimings
}

/** No answer, or none that was complete. `sent` tells whether any of the request may have left. */
export interface Breakdown {
  kind: 'breakdown'
  /** Stable: an operating system's, TLS's or undici's code, or one of the codes above. */
  code: string
  message: string
  sent: boolean
  /** Status of an answer that began and did not end. */
  status: number | null
  /** The trace context that the try went out with; absent if it had none, or nothing was sent. */
  traceparent?: string
  timings: ExchangeTimings
}

/** How one HTTP try ended, before anybody has judged it. */
export type Exchange = Answer | Breakdown

/** Notes when the parts of one try happened, all in milliseconds of `performance.now()`. */
export class ExchangeClock {
  readonly handedOverMs: number = performance.now()
  /** First byte sent; null if none was. */
  startMs: number | null = null
  /** Last byte sent: as the first one, except a request too large for the operating system's buffer. */
  bodySentMs = 0
  /** First byte received. */
  firstByteMs: number | null = null
  sentBytes = 0
  receivedBytes = 0

  /** `phases`: of the connection that the try opened, microseconds; null if it found one open. */
  end(endMs: number, phases: { connectUs: number; tlsUs: number | null } | null): ExchangeTimings {
    const startMs = this.startMs ?? this.handedOverMs
    return {
      sentAtUs: Math.round((performance.timeOrigin + startMs) * 1000),
      durationUs: Math.max(0, Math.round((endMs - startMs) * 1000)),
      waitingUs:
        this.firstByteMs === null
          ? null
          : Math.max(0, Math.round((this.firstByteMs - this.bodySentMs) * 1000)),
      connectUs: phases?.connectUs ?? null,
      tlsUs: phases?.tlsUs ?? null,
      blockedUs: this.startMs === null ? null : Math.round((startMs - this.handedOverMs) * 1000),
      sendingUs: this.startMs === null ? null : Math.max(0, Math.round((this.bodySentMs - startMs) * 1000)),
      sentBytes: this.sentBytes,
      receivedBytes: this.receivedBytes,
    }
  }
}

/** One HTTP request, ready for the wire. */
export interface WireRequest {
  method: 'POST' | 'GET'
  /** What the request line names: path and query, or the whole address for a proxy. */
  target: string
  /** Names and values in turn. */
  headers: readonly string[]
  /** A header of this request alone, while `headers` are shared by many. */
  traceparent?: string | null
  body: string | null
}

/** One connection, opened when it is needed, with one request at a time. */
export interface WireClient {
  /**
   * Sends a request; `onEnd` is called exactly once, never before `send` returns, and never throws back into it.
   * Throws if the previous request has not ended.
   */
  send(request: WireRequest, onEnd: (exchange: Exchange) => void): void
  /** Lets the next request open a new connection; not while one is in flight. */
  retire(): void
  /** Closes the connection at once; a request in flight ends as a breakdown. */
  destroy(): Promise<void>
}

/** Longer than any gap of a slow pace, so that a connection is reopened only if the service closes it. */
export const KEEP_ALIVE_MS = 60_000

/** What a failed connection is told as. */
export function toCause(error: unknown): { code: string; message: string } {
  const name = error instanceof Error ? error.name : 'Error'
  return { code: toSystemCode(error) ?? name, message: toMessage(error) }
}

function toMessage(error: unknown): string {
  // Happy Eyeballs fails with one error for each address.
  const isOfMany = error instanceof AggregateError && error.message === ''
  return isOfMany ? error.errors.map(toThrownText).join('; ') : toThrownText(error)
}

/** Notified when its time is over. */
export interface Deadline {
  onDeadline(): void
}

/**
 * Times the requests of one connection, which come one after the other, with one timer that is set again only when it
 * fires: setting one for each request would cost more than a percent of sending it.
 */
export class DeadlineTimer {
  #timer: NodeJS.Timeout | null = null
  #deadlineMs = 0
  #current: Deadline | null = null

  /** Tells `deadline` once when the time is over, unless {@link stop} comes before; the one before it is stopped. */
  start(deadline: Deadline, nowMs: number, timeoutMs: number): void {
    this.#current = deadline
    this.#deadlineMs = nowMs + timeoutMs
    if (this.#timer === null) this.#wait(timeoutMs)
  }

  /** Calls it off, unless another one was started since. */
  stop(deadline: Deadline): void {
    if (this.#current === deadline) this.#current = null
  }

  /** Stops for good. */
  destroy(): void {
    this.#current = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #wait(ms: number): void {
    // A connection that works keeps the process alive on its own, and one that idles must not.
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = null
    const current = this.#current
    if (current === null) return
    const leftMs = this.#deadlineMs - performance.now()
    if (leftMs > 0) {
      this.#wait(Math.ceil(leftMs))
      return
    }
    this.#current = null
    current.onDeadline()
  }
}

/** An answer that is given up. Its message is the same for all answers that fail alike. */
export class AnswerError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'AnswerError'
    this.code = code
  }
}

/** Whether the service broke off the TLS handshake over the client's certificate, or for want of one. */
export function isCertificateAlert(code: string): boolean {
  return /^ERR_SSL_.*ALERT.*(CERT|UNKNOWN_CA)/.test(code)
}
