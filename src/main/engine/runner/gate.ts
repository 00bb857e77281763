import type { Judgement } from '../service/judgement.ts'

/** Rows that are answered 429 one after the other before the service is taken to throttle us, and not one row. */
const THROTTLED_STREAK = 3
/** Wait before each probe while the service cannot be reached, milliseconds: doubled from the first to the last. */
const PROBE_FIRST_MS = 250
const PROBE_LAST_MS = 5_000
/** Wait where a throttling service does not say how long, milliseconds. */
const THROTTLED_MS = 1_000
/** Least wait where a probe was throttled again, milliseconds: doubled from the first to the last. */
const AGAIN_FIRST_MS = 250
const AGAIN_LAST_MS = 10_000
/** How long after the last 429 the service still counts as throttling, milliseconds. */
const CALM_MS = 10_000
/** More requests in flight than a plan may have. */
const IN_FLIGHT_MAX = 10_000

/** A try that has just ended. */
export interface EndedTry {
  item: number
  judgement: Judgement
  /** Many in a row did not reach the service. */
  isAway: boolean
  /** Requests that were in flight, this one included. */
  inFlight: number
  /** Milliseconds, monotonic. */
  nowMs: number
}

/**
 * Holds all sending for a while where going on would only burn tries: throttling, or a service that is away. Opens for
 * one probe, then for more as answers come: twice as many with each round of answers up to half of what was too many,
 * from there one more (additive increase, multiplicative decrease, as TCP does; RFC 5681).
 */
export class Gate {
  readonly #maxMs: number
  #untilMs = Number.NEGATIVE_INFINITY
  #throttledUntilMs = Number.NEGATIVE_INFINITY
  readonly #throttledItems = new Set<number>()
  /** Times that the gate was closed in a row, with no answer between: by throttling, and by a service that is away. */
  #closings = 0
  #probes = 0
  /** Requests that may be in flight, and how many answers came since that changed. */
  #allowed = Infinity
  #answers = 0
  /** Up to here the allowed number doubles. */
  #goal = Infinity

  /** `maxMs` bounds what the service may ask for with Retry-After. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Milliseconds until sending may go on; 0 while it may. */
  closedForMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs)
  }

  /** Requests that may be in flight while it is not closed. */
  get allowed(): number {
    return this.#allowed
  }

  /** Whether a 429 is no matter of the row that got it. */
  isThrottled(nowMs: number): boolean {
    return nowMs < this.#throttledUntilMs
  }

  /** Notes how a try ended. */
  note(ended: EndedTry): void {
    const { judgement, isAway, nowMs } = ended
    if (judgement.status === 429) {
      this.#noteThrottled(ended)
      return
    }
    this.#throttledItems.clear()
    if (judgement.reached) {
      this.#probes = 0
      if (judgement.status !== null) this.#noteAnswer(nowMs)
    } else if (isAway && this.#untilMs <= nowMs) {
      this.#close(nowMs + Math.min(PROBE_LAST_MS, PROBE_FIRST_MS * 2 ** this.#probes))
      this.#probes += 1
    }
  }

  #noteThrottled({ item, judgement, inFlight, nowMs }: EndedTry): void {
    if (!this.isThrottled(nowMs)) {
      this.#throttledItems.add(item)
      if (this.#throttledItems.size < THROTTLED_STREAK) return
      this.#throttledItems.clear()
    }
    // Those that were in flight together are one sign, not many.
    if (this.#untilMs <= nowMs) {
      this.#goal = Math.max(1, Math.floor(Math.min(this.#allowed, inFlight) / 2))
      this.#close(nowMs)
      this.#closings += 1
    }
    const leastMs =
      this.#closings < 2 ? 0 : Math.min(AGAIN_LAST_MS, AGAIN_FIRST_MS * 2 ** Math.min(this.#closings - 2, 30))
    const waitMs = Math.min(this.#maxMs, Math.max(leastMs, judgement.retryAfterMs ?? THROTTLED_MS))
    this.#untilMs = Math.max(this.#untilMs, nowMs + waitMs)
    this.#throttledUntilMs = this.#untilMs + CALM_MS
  }

  #noteAnswer(nowMs: number): void {
    // An answer to what went out before it closed says nothing about now.
    if (nowMs < this.#untilMs) return
    this.#closings = 0
    if (this.#allowed === Infinity) return
    this.#answers += 1
    if (this.#answers < this.#allowed) return
    this.#answers = 0
    this.#allowed = this.#allowed < this.#goal ? Math.min(this.#goal, this.#allowed * 2) : this.#allowed + 1
    if (this.#allowed > IN_FLIGHT_MAX) {
      this.#allowed = Infinity
      this.#goal = Infinity
    }
  }

  #close(untilMs: number): void {
    this.#untilMs = untilMs
    this.#allowed = 1
    this.#answers = 0
  }
}
