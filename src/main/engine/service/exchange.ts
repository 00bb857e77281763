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
  body: string
  timings: ExchangeTimings
}

/** No answer, or none that was complete. `sent` tells whether any of the request may have left. */
export interface Breakdown {
  kind: 'breakdown'
  /** Stable: an operating system's, TLS's or undici's code, or `TIMEOUT`, `ANSWER_TOO_LARGE`. */
  code: string
  message: string
  sent: boolean
  /** Status of an answer that began and did not end. */
  status: number | null
  timings: ExchangeTimings
}

/** How one HTTP try ended, before anybody has judged it. */
export type Exchange = Answer | Breakdown
