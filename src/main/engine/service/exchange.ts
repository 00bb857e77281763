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
  /** Unix microseconds of the first byte sent; of handing the request over where none was. */
  sentAtUs: number
  /** First byte sent to last byte received, as k6 defines http_req_duration; to the failure where it failed. */
  durationUs: number
  /** Last byte sent to first byte received. */
  waitingUs: number | null
  /** TCP connect, where this try opened the connection. */
  connectUs: number | null
  /** TLS handshake, where this try opened the connection. */
  tlsUs: number | null
}

/** An answer, whole or cut. */
export interface Answer {
  kind: 'answer'
  status: number
  contentType: string
  /** The Retry-After header as it came. */
  retryAfter: string | null
  /** The Location header as it came. */
  location: string | null
  /** Decoded, where it came with a content coding. */
  body: string
  /** Why the body could not be decoded, which then is ''; what came says no more than its status. */
  bodyProblem?: string
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
  timings: ExchangeTimings
}

/** How one HTTP try ended, before anybody has judged it. */
export type Exchange = Answer | Breakdown

/** Notes when the parts of one try happened, all in milliseconds of `performance.now()`. */
export class ExchangeClock {
  /** When the request was handed over. */
  readonly handedOverMs: number = performance.now()
  /** First byte sent; null where none was. */
  startMs: number | null = null
  /** Last byte sent: as the first one, except a request too large for the operating system's buffer. */
  bodySentMs = 0
  /** First byte received. */
  firstByteMs: number | null = null

  /** `phases`: of the connection that the try opened, microseconds; null where it found one open. */
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
    }
  }
}
