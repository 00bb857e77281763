import type { Outcome } from '../../../shared/run/item-state.ts'
import type { Slowdown } from '../../../shared/run/slowdown.ts'
import type { Counters } from '../journal/counters.ts'
import { Gate } from '../sending/gate.ts'
import type { Judgement } from '../service/judgement.ts'
import { createFailureGuard, type FailureGuard } from './failure-guard.ts'
import type { SenderOptions } from './sender-options.ts'

/** What the service lets a run send, as its answers show it: its pace, whether it is there, whether to go on at all. */
export class ServiceLimits {
  readonly #options: SenderOptions
  readonly #counters: Counters
  readonly #gate: Gate
  #guard: FailureGuard
  /** When the time that the run is throttled was counted last; null while it is not. */
  #throttledAtMs: number | null = null

  constructor(options: SenderOptions) {
    this.#options = options
    this.#counters = options.journal.counters
    this.#gate = new Gate(options.plan.retry.maxRetryAfterMs)
    this.#guard = createFailureGuard(options)
  }

  /** A new stretch of sending begins, which gets a fresh start. */
  begin(): void {
    this.#guard = createFailureGuard(this.#options)
    this.#throttledAtMs = null
  }

  /** Milliseconds until the next request may go out: 0 now, Infinity while the answer to a probe is awaited. */
  waitMs(nowMs: number): number {
    return this.#gate.waitMs(nowMs)
  }

  /** Whether the service limits the pace. */
  get isThrottling(): boolean {
    return this.#gate.throttle.isThrottling
  }

  /** Requests that may be in flight. */
  get allowed(): number {
    return this.#gate.allowed
  }

  /** Requests that may go out now. */
  room(nowMs: number): number {
    return this.#gate.room(nowMs)
  }

  /** A request goes out, after {@link waitMs} gave 0. */
  noteSent(nowMs: number): void {
    this.#gate.noteSent(nowMs)
  }

  /** Notes how a try ended. Times are milliseconds, monotonic. */
  note(ended: { item: number; judgement: Judgement; sentAtMs: number; nowMs: number }): void {
    const { status, retryAfterMs } = ended.judgement
    if (retryAfterMs !== null) this.#counters.add('retry_after_answers', '', 1)
    if (status === 429) this.#counters.add('throttled_answers', '', 1)
    this.#guard.note(ended.judgement)
    this.#gate.note({ ...ended, isAway: this.#guard.isAway })
  }

  /** Notes that an item was settled, and how. */
  noteSettled(outcome: Outcome): void {
    this.#guard.noteSettled(outcome)
  }

  /** Whether a try ended as it would have for any other item, through no fault of its own. */
  isSpared({ status, reached }: Judgement): boolean {
    return status === 429 ? this.#gate.explains429 : !reached && this.#guard.isAway
  }

  /** Why the run should not go on, with what to do; null while it may. */
  reason(): string | null {
    return this.#guard.reason()
  }

  /** Counts how long the run is throttled, and the limit that was measured last; to be called now and then. */
  countTime(nowMs: number): void {
    const { isThrottling, limitPerS } = this.#gate.throttle
    const atMs = Math.round(nowMs)
    if (this.#throttledAtMs !== null) this.#counters.add('throttled_ms', '', atMs - this.#throttledAtMs)
    this.#throttledAtMs = isThrottling ? atMs : null
    if (limitPerS === null) return
    const limit = Math.round(limitPerS * 1000)
    this.#counters.add('limit_per_1000_s', '', limit - this.#counters.get('limit_per_1000_s'))
  }

  /** What keeps the run from sending as fast as its plan allows; null where nothing does. */
  get slowdown(): Slowdown | null {
    const { outage, throttledUntilMs } = this.#guard
    if (outage !== null) {
      return { kind: 'unreachable', reason: outage.reason, givesUpAtMs: toUnixMs(outage.givesUpAtMs) }
    }
    const { isThrottling, pacePerS, nextProbeMs } = this.#gate.throttle
    if (!isThrottling) return null
    return {
      kind: 'throttled',
      pacePerS: nextProbeMs === null ? pacePerS : null,
      nextTryAtMs: nextProbeMs === null ? null : toUnixMs(nextProbeMs),
      givesUpAtMs: throttledUntilMs === null ? null : toUnixMs(throttledUntilMs),
    }
  }
}

function toUnixMs(monotonicMs: number): number {
  return performance.timeOrigin + monotonicMs
}
