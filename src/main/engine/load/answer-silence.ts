import { CLIENT_CLOSED_CODE, TIMEOUT_CODE } from '../service/exchange.ts'

/** Code of a request that the load test ended itself, after its graceful stop. */
export const GRACEFUL_STOP_CODE = 'GRACEFUL_STOP'

/** Ways in which a request ends without a sign of the service. Closing the connection is a sign. */
const SILENT_CODES: ReadonlySet<string | null> = new Set([
  TIMEOUT_CODE,
  CLIENT_CLOSED_CODE,
  GRACEFUL_STOP_CODE,
])

/** Shortest wait for an answer that counts as a silence, microseconds. */
export const SILENCE_MIN_US = 1_000_000

/** Longest gap between requests that does not end a silence (ticks, thread hand-overs), microseconds. */
const BETWEEN_US = 100_000

/** A time without any answer while requests were in flight, microseconds since measuring began. */
export interface SilenceSpan {
  fromUs: number
  untilUs: number
  /** Requests that ended in it. */
  unanswered: number
}

/** Tracks how long a service answered nothing to the requests it had. */
export class AnswerSilence {
  #fromUs = Number.NEGATIVE_INFINITY
  #untilUs = Number.NEGATIVE_INFINITY
  #unanswered = 0
  lastAnswerUs = Number.NEGATIVE_INFINITY
  /** The longest wait for an answer; 0 before the first. */
  slowestAnswerUs = 0
  /** Null before the first request ended. */
  longest: Readonly<SilenceSpan> | null = null

  /** Adds a request, roughly in the order they ended; `errorCode` is null if it was answered. */
  add(endUs: number, durationUs: number, errorCode: string | null): void {
    const isSilent = SILENT_CODES.has(errorCode)
    const sentUs = endUs - durationUs
    const isNew = sentUs > this.#untilUs + BETWEEN_US
    const fromUs = Math.max(this.lastAnswerUs, isNew ? sentUs : Math.min(this.#fromUs, sentUs))
    const untilUs = Math.max(this.#untilUs, endUs)
    const unanswered = (isNew ? 0 : this.#unanswered) + (isSilent ? 1 : 0)
    const { longest } = this
    if (longest === null || untilUs - fromUs >= longest.untilUs - longest.fromUs) {
      this.longest = { fromUs, untilUs, unanswered }
    }
    if (!isSilent) {
      this.lastAnswerUs = Math.max(this.lastAnswerUs, endUs)
      this.slowestAnswerUs = Math.max(this.slowestAnswerUs, durationUs)
    }
    this.#fromUs = isSilent ? fromUs : this.lastAnswerUs
    this.#untilUs = isSilent ? untilUs : this.lastAnswerUs
    this.#unanswered = isSilent ? unanswered : 0
  }
}
