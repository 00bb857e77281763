import type { Judgement } from '../service/judgement.ts'

/** 429s in a row that mean the service is throttling us, and not one row in passing. */
const THROTTLED_STREAK = 3
/** Wait before each probe while the service cannot be reached, milliseconds: doubled from the first to the last. */
const PROBE_FIRST_MS = 250
const PROBE_LAST_MS = 5_000
/** Wait where a throttling service does not say how long, milliseconds. */
const THROTTLED_MS = 1_000

/** Holds all sending for a while where going on would only burn tries: throttling, or a service that is away. */
export class Gate {
  readonly #maxMs: number
  #untilMs = 0
  #throttled = 0
  #probes = 0

  /** `maxMs` bounds what the service may ask for with Retry-After. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Milliseconds until sending may go on; 0 while it may. */
  closedForMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs)
  }

  /** Notes how a try ended; `isAway` says that many in a row did not reach the service. */
  note(judgement: Judgement, isAway: boolean, nowMs: number): void {
    if (judgement.status === 429) {
      this.#throttled += 1
      if (this.#throttled < THROTTLED_STREAK) return
      this.#untilMs = Math.max(
        this.#untilMs,
        nowMs + Math.min(judgement.retryAfterMs ?? THROTTLED_MS, this.#maxMs),
      )
      return
    }
    this.#throttled = 0
    if (judgement.reached) {
      this.#probes = 0
    } else if (isAway && this.#untilMs <= nowMs) {
      this.#untilMs = nowMs + Math.min(PROBE_LAST_MS, PROBE_FIRST_MS * 2 ** this.#probes)
      this.#probes += 1
    }
  }
}
