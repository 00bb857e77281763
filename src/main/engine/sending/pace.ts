import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import type { Pace } from '../../../shared/plan/plan.ts'
import type { Judgement } from '../service/judgement.ts'
import { Throttle } from './throttle.ts'

/** Says when the next request may go out. Times are milliseconds of the same monotonic clock throughout. */
export interface Pacer {
  /** Requests at most in flight. */
  readonly concurrency: number
  /** How many requests are due now and not taken yet; Infinity where only what is in flight limits. */
  due(nowMs: number): number
  /** Takes the next due request; returns the instant it was scheduled for, null under a closed pace. */
  take(): number | null
  /** Starts, or continues after a pause: what would have been due meanwhile is not made up for. */
  start(nowMs: number): void
}

/** Builds the pacer of a pace. */
export function createPacer(pace: Pace): Pacer {
  if (pace.kind === 'closed') {
    return { concurrency: pace.concurrency, due: () => Infinity, take: () => null, start: () => {} }
  }
  return createOpenPacer(pace.ratePerSecond, pace.maxInFlight)
}

/** Request i is due at `t0 + i / rate`, whenever anybody looks: no timer's lateness adds up (docs/load-tests.md §2). */
function createOpenPacer(ratePerSecond: number, maxInFlight: number): Pacer {
  const intervalMs = 1000 / ratePerSecond
  let startMs = 0
  let taken = 0
  return {
    concurrency: maxInFlight,
    due: (nowMs) => Math.max(0, Math.floor((nowMs - startMs) / intervalMs) + 1 - taken),
    take() {
      const scheduledMs = startMs + taken * intervalMs
      taken += 1
      return scheduledMs
    },
    start(nowMs) {
      startMs = nowMs
      taken = 0
    },
  }
}

/** Wait before each probe while the service cannot be reached, milliseconds: doubled from the first to the last. */
const PROBE_FIRST_MS = 250
const PROBE_LAST_MS = 5_000

/** A try that has just ended. Times are milliseconds of one monotonic clock. */
interface EndedTry {
  item: number
  judgement: Judgement
  /** Many in a row did not reach the service. */
  isAway: boolean
  sentAtMs: number
  nowMs: number
}

/**
 * Says when the next request may go out. Two things hold requests back: a service that answers 429, to whose limit the
 * {@link Throttle} adapts, and a service that cannot be reached, which gets single probes and, once it is back, twice
 * as many requests with each round of answers.
 */
export class Gate {
  readonly #throttle: Throttle
  /** Nothing goes out before, since the service could not be reached. */
  #awayUntilMs = Number.NEGATIVE_INFINITY
  #probes = 0
  /** Requests that may be in flight, and how many answers came since that changed. */
  #allowed = Infinity
  #answers = 0

  /** `maxRetryAfterMs` bounds what the service may ask for with Retry-After. */
  constructor(maxRetryAfterMs: number) {
    this.#throttle = new Throttle(maxRetryAfterMs)
  }

  /** See {@link Throttle}; for whoever shows it. */
  get throttle(): Pick<Throttle, 'isThrottling' | 'pacePerS' | 'limitPerS' | 'nextProbeMs'> {
    return this.#throttle
  }

  /** Whether a 429 says nothing about the row that got it. */
  get explains429(): boolean {
    return this.#throttle.explains429
  }

  /** Requests that may be in flight. */
  get allowed(): number {
    return this.#allowed
  }

  /** Milliseconds until the next request may go out: 0 now, Infinity while the answer to a probe is awaited. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#awayUntilMs - nowMs, this.#throttle.waitMs(nowMs))
  }

  /** Requests that may go out now. */
  room(nowMs: number): number {
    return nowMs < this.#awayUntilMs ? 0 : Math.min(this.#allowed, this.#throttle.room(nowMs))
  }

  /** A request goes out, after {@link waitMs} gave 0. */
  noteSent(nowMs: number): void {
    this.#throttle.noteSent(nowMs)
  }

  /** Notes how a try ended. */
  note({ item, judgement, isAway, sentAtMs, nowMs }: EndedTry): void {
    if (judgement.status === null) this.#throttle.noteUnanswered(sentAtMs)
    else {
      const isThrottled = judgement.status === 429
      this.#throttle.noteAnswer({ item, isThrottled, retryAfterMs: judgement.retryAfterMs, sentAtMs, nowMs })
    }
    if (judgement.reached) {
      this.#probes = 0
      // An answer to what went out before says nothing about now.
      if (nowMs >= this.#awayUntilMs) this.#noteReached()
    } else if (isAway && nowMs >= this.#awayUntilMs) {
      this.#awayUntilMs = nowMs + Math.min(PROBE_LAST_MS, PROBE_FIRST_MS * 2 ** this.#probes)
      this.#probes += 1
      this.#allowed = 1
      this.#answers = 0
    }
  }

  #noteReached(): void {
    if (this.#allowed === Infinity) return
    this.#answers += 1
    if (this.#answers < this.#allowed) return
    this.#answers = 0
    this.#allowed *= 2
    if (this.#allowed > IN_FLIGHT_MAX) this.#allowed = Infinity
  }
}
