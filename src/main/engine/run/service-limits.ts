import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import type { Plan, RetryRules } from '../../../shared/plan/plan.ts'
import { listStates, type Outcome } from '../../../shared/run/item-state.ts'
import type { Slowdown, StopNotice } from '../../../shared/run/snapshot.ts'
import { toUnixMs } from '../../../shared/unix-clock.ts'
import type { Counters } from '../journal/counters.ts'
import { Throttle } from '../sending/throttle.ts'
import type { EchoFinding } from '../service/echoes.ts'
import type { Judgement } from '../service/judgement.ts'
import { FailureGuard } from './failure-guard.ts'
import { LongWaits } from './long-waits.ts'

/** Longest wait set on a timer, with room for jitter, milliseconds. */
const TIMER_MAX_MS = 24 * 86_400_000

export interface LimitsOptions {
  plan: Plan
  journal: { readonly counters: Counters }
  /** The source of the key in use; null if requests carry none. See {@link FailureGuard}. */
  readKeySource: () => string | null
  /** How long every answer may be 429, milliseconds; see {@link FailureGuard}. */
  throttledMaxMs?: number | undefined
}

/** What the service lets a run send, by its answers: its pace, whether it is reachable, whether to go on. */
export class ServiceLimits {
  readonly #options: LimitsOptions
  readonly #counters: Counters
  readonly #gate: Gate
  #guard: FailureGuard
  #longWaits: LongWaits
  /** When throttled time was last counted; null while not throttled. */
  #throttledAtMs: number | null = null

  constructor(options: LimitsOptions) {
    this.#options = options
    this.#counters = options.journal.counters
    this.#gate = new Gate(options.plan.retry.maxRetryAfterMs)
    this.#guard = createFailureGuard(options)
    this.#longWaits = createLongWaits(options)
  }

  /** Begins a new stretch of sending, with a fresh start. */
  begin(): void {
    this.#guard = createFailureGuard(this.#options)
    this.#longWaits = createLongWaits(this.#options)
    this.#throttledAtMs = null
  }

  /** Milliseconds until the next request may be sent: 0 now, Infinity while a probe is unanswered. */
  waitMs(nowMs: number): number {
    return this.#gate.waitMs(nowMs)
  }

  get isThrottling(): boolean {
    return this.#gate.throttle.isThrottling
  }

  get allowed(): number {
    return this.#gate.allowed
  }

  room(nowMs: number): number {
    return this.#gate.room(nowMs)
  }

  /** Notes that a request is sent, after {@link waitMs} returned 0. */
  noteSent(nowMs: number): void {
    this.#gate.noteSent(nowMs)
  }

  /** Notes how a try ended. Times are milliseconds, monotonic. */
  note(ended: { item: number; judgement: Judgement; sentAtMs: number; nowMs: number }): void {
    const { status, retryAfterMs } = ended.judgement
    if (retryAfterMs !== null) this.#counters.add('retry_after_answers', '', 1)
    if (status === 429) this.#counters.add('throttled_answers', '', 1)
    this.#guard.note(ended.judgement)
    this.#longWaits.note(ended.judgement)
    this.#gate.note({ ...ended, isAway: this.#guard.isAway })
  }

  /** Notes whether a callback proves whose it is; answers are noted by {@link note}. */
  noteEcho(echo: EchoFinding): void {
    this.#guard.noteEcho(echo)
  }

  /** Notes that an item was settled, and how. */
  noteSettled(outcome: Outcome): void {
    this.#guard.noteSettled(outcome)
  }

  /** Whether a try ended as it would have for any other item, through no fault of its own. */
  isSpared({ status, reached }: Judgement): boolean {
    return status === 429 ? this.#gate.explains429 : !reached && this.#guard.isAway
  }

  /** Notes until when everything left to send must wait, in clock milliseconds; null if it need not. */
  noteIdle(untilMs: number | null): void {
    this.#longWaits.noteIdle(untilMs === null ? null : toUnixMs(untilMs))
  }

  /** The plan's rules for the next try; without their limit if the requested wait is too long to sit out. */
  toRetryRules({ retryAfterMs }: Judgement): RetryRules {
    const { retry } = this.#options.plan
    return this.#longWaits.isLong(retryAfterMs) ? { ...retry, maxRetryAfterMs: TIMER_MAX_MS } : retry
  }

  /** Why the run should not continue, with what to do; null while it may. */
  reason(): StopNotice | null {
    return this.#longWaits.reason() ?? this.#guard.reason()
  }

  /** Counts throttled time and the limit measured last; call it regularly. */
  countTime(nowMs: number): void {
    const { isThrottling, limitPerS } = this.#gate.throttle
    const atMs = Math.round(nowMs)
    if (this.#throttledAtMs !== null) this.#counters.add('throttled_ms', '', atMs - this.#throttledAtMs)
    this.#throttledAtMs = isThrottling ? atMs : null
    if (limitPerS === null) return
    const limit = Math.round(limitPerS * 1000)
    this.#counters.add('limit_per_1000_s', '', limit - this.#counters.get('limit_per_1000_s'))
  }

  /** What keeps the run from sending as fast as its plan allows; null if nothing does. */
  get slowdown(): Slowdown | null {
    const { outage, throttledUntilMs } = this.#guard
    if (outage !== null) {
      return { kind: 'unreachable', reason: outage.reason, givesUpAtMs: toUnixMs(outage.givesUpAtMs) }
    }
    const { idleUntilMs } = this.#longWaits
    if (idleUntilMs !== null) return { kind: 'waiting', untilMs: idleUntilMs }
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

function createLongWaits({ plan }: LimitsOptions): LongWaits {
  const { origin } = new URL(plan.connection.baseUrl)
  const { maxRetryAfterMs } = plan.retry
  return new LongWaits({ origin, maxRetryAfterMs, nowMs: () => toUnixMs() })
}

/** Builds the guard of a plan's sending. */
function createFailureGuard({ plan, journal, readKeySource, throttledMaxMs }: LimitsOptions): FailureGuard {
  const rowsIn = journal.counters.entries('state')
  return new FailureGuard({
    nowMs: () => performance.now(),
    origin: new URL(plan.connection.baseUrl).origin,
    readKeySource,
    throttledMaxMs,
    stop: plan.stop,
    isGoingOn: listStates('succeeded', 'unsuccessful').some((state) => (rowsIn.get(state) ?? 0) > 0),
  })
}

/** Wait before each probe of an unreachable service, milliseconds: doubled from the first to the last. */
const PROBE_FIRST_MS = 250

const PROBE_LAST_MS = 5_000

/** A try that has just ended. Times are milliseconds of one monotonic clock. */
export interface EndedTry {
  item: number
  judgement: Judgement
  /** Whether many consecutive tries did not reach the service. */
  isAway: boolean
  sentAtMs: number
  nowMs: number
}

/**
 * Decides when the next request may be sent. Two things hold requests back: a service that answers 429, to
 * whose limit the {@link Throttle} adapts, and an unreachable service, which gets single probes and, once it
 * is back, twice as many requests with each round of answers.
 */
export class Gate {
  readonly #throttle: Throttle
  /** Nothing is sent before this time, since the service was unreachable. */
  #awayUntilMs = Number.NEGATIVE_INFINITY
  #probes = 0
  /** Requests that may be in flight, and the number of answers since that changed. */
  #allowed = Infinity
  #answers = 0

  /** `maxRetryAfterMs` limits what the service may ask for with Retry-After. */
  constructor(maxRetryAfterMs: number) {
    this.#throttle = new Throttle(maxRetryAfterMs)
  }

  /** See {@link Throttle}; for whoever shows it. */
  get throttle(): Pick<Throttle, 'isThrottling' | 'pacePerS' | 'limitPerS' | 'nextProbeMs'> {
    return this.#throttle
  }

  /** Whether a 429 says nothing about its row. */
  get explains429(): boolean {
    return this.#throttle.explains429
  }

  /** Requests that may be in flight. */
  get allowed(): number {
    return this.#allowed
  }

  /** Milliseconds until the next request may be sent: 0 now, Infinity while a probe is unanswered. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#awayUntilMs - nowMs, this.#throttle.waitMs(nowMs))
  }

  /** Requests that may be sent now. */
  room(nowMs: number): number {
    return nowMs < this.#awayUntilMs ? 0 : Math.min(this.#allowed, this.#throttle.room(nowMs))
  }

  /** Notes that a request is sent, after {@link waitMs} returned 0. */
  noteSent(nowMs: number): void {
    this.#throttle.noteSent(nowMs)
  }

  note({ item, judgement, isAway, sentAtMs, nowMs }: EndedTry): void {
    if (judgement.status === null) this.#throttle.noteUnanswered(sentAtMs)
    else {
      const isThrottled = judgement.status === 429
      this.#throttle.noteAnswer({ item, isThrottled, retryAfterMs: judgement.retryAfterMs, sentAtMs, nowMs })
    }
    if (judgement.reached) {
      this.#probes = 0
      // An answer to an earlier request says nothing about now.
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
