import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import { toUnixMs } from '../../../shared/unix-clock.ts'

/** Code of a {@link Breakdown} that exceeded the connection's timeout. */
export const TIMEOUT_CODE = 'TIMEOUT'

/** Most bytes read of an answer's body; a moderation result is far smaller. */
export const ANSWER_MAX_BYTES = 16 * 1024 * 1024

/** Code of a {@link Breakdown} whose answer exceeded the size limit. */
export const ANSWER_TOO_LARGE_CODE = 'ANSWER_TOO_LARGE'

/** Code of a {@link Breakdown} for which the memory for answers being received was exhausted. */
export const RECEIVE_LIMIT_CODE = 'RECEIVE_LIMIT'

/** Code of a {@link Breakdown} whose answer is not valid HTTP/1.1 (RFC 9112). */
export const MALFORMED_ANSWER_CODE = 'MALFORMED_ANSWER'

/** Code of a {@link Breakdown} whose connection was closed before the answer was complete. */
export const CONNECTION_CLOSED_CODE = 'CONNECTION_CLOSED'

/** Beginning of the code of a {@link Breakdown} that was reset over HTTP/2; the reset's name follows. */
export const RESET_CODE = 'RESET_'

/**
 * Beginning of the code of a {@link Breakdown} whose HTTP/2 connection was ended by an error; its name
 * follows.
 */
export const GOAWAY_CODE = 'GOAWAY_'

/** Code of a {@link Breakdown} whose connection we closed before the answer was complete. */
export const CLIENT_CLOSED_CODE = 'CLIENT_CLOSED'

/** Code of a {@link Breakdown} caused by a header or path of ours that HTTP cannot carry. */
export const UNSENDABLE_CODE = 'UNSENDABLE'

/** When the parts of one HTTP try happened, microseconds. Null for what did not happen. */
export interface ExchangeTimings {
  /** Unix microseconds of the first byte sent, or of handing over the request if none was. */
  sentAtUs: number
  /** First byte sent to last byte received, as k6 defines http_req_duration, or to the failure. */
  durationUs: number
  /** Last byte sent to first byte received. */
  waitingUs: number | null
  /** TCP connect, if this try opened the connection. */
  connectUs: number | null
  /** TLS handshake, if this try opened the connection. */
  tlsUs: number | null
  /** Handing over the request to first byte sent: the wait for a connection, including opening it. */
  blockedUs?: number | null
  /** It waited for a free stream of connections that are open. */
  hasQueued?: true
  /** First byte sent to last byte sent. */
  sendingUs?: number | null
  /** Bytes of the request and of its answer; over HTTP/2, which compresses heads, of the bodies only. */
  sentBytes?: number
  receivedBytes?: number
}

/** An answer, complete or cut. */
export interface Answer {
  kind: 'answer'
  status: number
  contentType: string
  /** The Retry-After header as received. */
  retryAfter: string | null
  /** The Date header as received, whose clock a date in Retry-After refers to; absent without Retry-After. */
  date?: string | null
  /** The Location header as received. */
  location: string | null
  /** All headers as received, with secrets removed; absent unless requested. */
  headers?: [name: string, value: string][]
  /** Decoded, if it had a content coding or a charset other than UTF-8. */
  body: string
  /** The charset of the body, if that is not UTF-8. */
  charset?: string
  /** Whether some bytes of the body are not text in its charset; U+FFFD replaces them. */
  isDamaged?: true
  /** Why the body, then '', could not be decoded; the answer tells no more than its status. */
  bodyProblem?: string
  /** The trace context of the try; absent if it had none. */
  traceparent?: string
  timings: ExchangeTimings
}

/** No answer, or no complete one. `sent` tells whether any of the request may have been sent. */
export interface Breakdown {
  kind: 'breakdown'
  /** Stable: a code of the operating system, of TLS or undici, or one of the codes above. */
  code: string
  message: string
  sent: boolean
  /** Status of an answer that began but did not end. */
  status: number | null
  /** The trace context of the try; absent if it had none or nothing was sent. */
  traceparent?: string
  timings: ExchangeTimings
}

/** How one HTTP try ended, not judged yet. */
export type Exchange = Answer | Breakdown

/** Notes when the parts of one try happened, in milliseconds of `performance.now()`. */
export class ExchangeClock {
  readonly handedOverMs: number = performance.now()
  /** First byte sent; null if none was. */
  startMs: number | null = null
  /** Last byte sent: the same as the first, unless the request exceeds the operating system's buffer. */
  bodySentMs = 0
  firstByteMs: number | null = null
  sentBytes = 0
  receivedBytes = 0
  hasQueued = false

  /** `phases`: of the connection that the try opened, microseconds; null if one was already open. */
  end(endMs: number, phases: { connectUs: number; tlsUs: number | null } | null): ExchangeTimings {
    const startMs = this.startMs ?? this.handedOverMs
    return {
      sentAtUs: Math.round(toUnixMs(startMs) * 1000),
      durationUs: Math.max(0, Math.round((endMs - startMs) * 1000)),
      waitingUs:
        this.firstByteMs === null
          ? null
          : Math.max(0, Math.round((this.firstByteMs - this.bodySentMs) * 1000)),
      connectUs: phases?.connectUs ?? null,
      tlsUs: phases?.tlsUs ?? null,
      blockedUs: this.startMs === null ? null : Math.round((startMs - this.handedOverMs) * 1000),
      sendingUs: this.startMs === null ? null : Math.max(0, Math.round((this.bodySentMs - startMs) * 1000)),
      ...(this.hasQueued && { hasQueued: true as const }),
      sentBytes: this.sentBytes,
      receivedBytes: this.receivedBytes,
    }
  }
}

/** One HTTP request, ready for the wire. */
export interface WireRequest {
  method: 'POST' | 'GET'
  /** The target of the request line: path and query, or the whole address for a proxy. */
  target: string
  /** Names and values in turn. */
  headers: readonly string[]
  /** A header of this request only; `headers` are shared by many. */
  traceparent?: string | null
  body: string | null
  /** Called with true if it begins to wait for a stream of open connections, and with false once it has one. */
  onWait?: ((isWaiting: boolean) => void) | undefined
}

/** One connection, opened on demand, with one request at a time. */
export interface WireClient {
  /**
   * Sends a request; `onEnd` is called exactly once, never before `send` returns, and never throws back into
   * it. Throws if the previous request has not ended.
   */
  send(request: WireRequest, onEnd: (exchange: Exchange) => void): void
  /** Lets the next request open a new connection; not while one is in flight. */
  retire(): void
  /** Closes the connection at once; a request in flight ends as a breakdown. */
  destroy(): Promise<void>
}

/** Longer than any gap of a slow pace, so that only the service ends connections. */
export const KEEP_ALIVE_MS = 60_000

/** Code and message of a failed connection. */
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
 * Times the requests of one connection, which come one after another, with one timer that is set again only
 * when it fires: setting a timer for each request would cost more than a percent of sending it.
 */
export class DeadlineTimer {
  #timer: NodeJS.Timeout | null = null
  #deadlineMs = 0
  #current: Deadline | null = null

  /** Notifies `deadline` once the time is over, unless {@link stop} comes first; stops the one before. */
  start(deadline: Deadline, nowMs: number, timeoutMs: number): void {
    this.#current = deadline
    this.#deadlineMs = nowMs + timeoutMs
    if (this.#timer === null) this.#wait(timeoutMs)
  }

  /** Cancels it, unless another was started since. */
  stop(deadline: Deadline): void {
    if (this.#current === deadline) this.#current = null
  }

  /** Stops permanently. */
  destroy(): void {
    this.#current = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #wait(ms: number): void {
    // A working connection keeps the process alive by itself, and an idle one must not.
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

/** An answer that is given up. The message is the same for all answers that fail alike. */
export class AnswerError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'AnswerError'
    this.code = code
  }
}

/** Whether the service aborted the TLS handshake because of the client's certificate, or lack of one. */
export function isCertificateAlert(code: string): boolean {
  return /^ERR_SSL_.*ALERT.*(CERT|UNKNOWN_CA)/.test(code)
}
