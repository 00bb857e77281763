import { monitorEventLoopDelay } from 'node:perf_hooks'
import { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { DETAIL_METRICS, type DetailTime, PHASE_METRICS } from '../../../shared/load/metrics.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import { toMonotonicMs } from '../../../shared/unix-clock.ts'
import type { SecondRecord } from '../journal/seconds.ts'
import type { ExchangeTimings } from '../service/exchange.ts'
import { OwnDelays, toOwnLagUs } from './own-delays.ts'
import { UnreadWatch } from './unread-watch.ts'

/** How often the event loop's delay is sampled, milliseconds; a sample includes this interval. */
const SAMPLING_MS = 10

/** The phases of a try, microseconds; null for missing ones. */
type PhaseTimings = Pick<ExchangeTimings, (typeof PHASE_METRICS)[number]['phase']>

/** Records the phases of a try under the names of their metrics. */
export function recordPhases(latency: LatencyMeter, timings: PhaseTimings): void {
  for (const { metric, phase } of PHASE_METRICS) latency.record(metric, timings[phase])
}

/** Watches the event loop of the thread it runs in. */
export class EventLoopWatch {
  readonly #delay = monitorEventLoopDelay({ resolution: SAMPLING_MS })

  constructor() {
    this.#delay.enable()
  }

  /** The longest stall since the last {@link reset}, microseconds. */
  get longestStallUs(): number {
    return Math.max(0, Math.round(this.#delay.max / 1000 - SAMPLING_MS * 1000))
  }

  reset(): void {
    this.#delay.reset()
  }

  close(): void {
    this.#delay.disable()
  }
}

/** Times of the requests that ended in a second, microseconds; null for what a request did not have. */
export class SecondTimes {
  readonly latency = new LatencyMeter()
  readonly own = new OwnDelays()
  /** The longest start lag not caused by the limit in flight or opening a connection, microseconds. */
  ownLagMaxUs = 0

  /** Adds the phases of any try. */
  addPhases(timings: PhaseTimings): void {
    recordPhases(this.latency, timings)
  }

  /** Adds times kept only for load tests. */
  addDetails(readUs: (detail: DetailTime) => number | null): void {
    for (const { metric, detail } of DETAIL_METRICS) this.latency.record(metric, readUs(detail))
  }

  /**
   * Adds the times of a try with an http_req_duration. `ownLagUs` is the part of the start lag, and
   * `unreadUs` the time its answer may have lain unread, that this machine caused.
   */
  addTimed(
    durationUs: number | null,
    responseUs: number | null,
    lagUs: number | null,
    { isSuccess, ownLagUs, unreadUs }: { isSuccess: boolean; ownLagUs: number; unreadUs: number },
  ): void {
    this.latency.record('http_req_duration', durationUs)
    if (isSuccess) this.latency.record('succeeded_duration', durationUs)
    this.latency.record('response_time', responseUs)
    this.latency.record('start_lag', lagUs)
    this.ownLagMaxUs = Math.max(this.ownLagMaxUs, ownLagUs)
    this.own.add({ durationUs, responseUs, lagUs: ownLagUs, unreadUs })
  }

  /** Whether a figure is partly this machine's, not the service's alone. */
  get isShaped(): boolean {
    return this.own.listShaped(this.latency).length > 0
  }
}

/** The measured parts of a try that has just ended. */
export interface MeasuredTry {
  outcome: Outcome
  timings: ExchangeTimings
  /** Whether any of it may have left. */
  isSent: boolean
  /** Whether it has an http_req_duration. */
  isTimed: boolean
  /** Unix microseconds at which the request was due; null at a closed pace. */
  scheduledAtUs: number | null
  /** Whether it was due earlier but held back by a full cap or a hold. */
  hasWaited: boolean
}

/** Measures ended tries second by second and in total. A taken second holds everything that ended in it. */
export class SecondMeter {
  /** Everything so far, including earlier sessions but not the running second. */
  readonly total: LatencyMeter
  readonly #nowUs: () => number
  readonly #eventLoop = new EventLoopWatch()
  readonly #unread = new UnreadWatch().start()
  readonly #done: SecondRecord[] = []
  #at: number
  #times = new SecondTimes()
  #counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  #lastRate: number | null = null
  /** Callbacks of the running second. */
  #callbacks = 0
  /** Ends in the running second that were already taken. */
  #partSum = 0

  /** `total` is what earlier sessions measured; `nowUs` returns Unix microseconds, monotonic. */
  constructor(options: { total: LatencyMeter; nowUs: () => number }) {
    this.total = options.total
    this.#nowUs = options.nowUs
    this.#at = toSecond(options.nowUs())
  }

  /** Ends in the last whole second, or in the first so far. */
  get ratePerSecond(): number {
    return this.#lastRate ?? this.#sum()
  }

  /** Notes how a try ended. Call it as tries end, so that ends come in order. */
  note({ outcome, timings, isSent, isTimed, scheduledAtUs, hasWaited }: MeasuredTry): void {
    const { sentAtUs, durationUs } = timings
    this.#rollTo(toSecond(sentAtUs + durationUs))
    this.#counts[outcome] += 1
    this.#times.addPhases(timings)
    if (!isTimed) return
    const isOpen = scheduledAtUs !== null
    const responseUs = isOpen ? Math.round(sentAtUs + durationUs - scheduledAtUs) : null
    const lagUs = isOpen && isSent ? Math.round(sentAtUs - scheduledAtUs) : null
    const { connectUs, blockedUs = null } = timings
    const ownLagUs = toOwnLagUs({ lagUs, hasWaited, connectUs, blockedUs })
    const unreadUs = this.#unread.noteRead(toMonotonicMs((sentAtUs + durationUs) / 1000)) * 1000
    this.#times.addTimed(durationUs, responseUs, lagUs, {
      isSuccess: outcome === 'succeeded',
      ownLagUs,
      unreadUs,
    })
  }

  /** Notes the latency of a callback. It counts in the second in which it is processed. */
  noteCallback(latencyUs: number): void {
    this.#rollTo(toSecond(this.#nowUs()))
    this.#times.latency.record('callback_latency', latencyUs)
    this.#callbacks += 1
  }

  /** Takes the seconds that are over; with `all`, the running one too. */
  take(all = false): SecondRecord[] {
    this.#rollTo(toSecond(this.#nowUs()))
    // Later ends in the running second become a further part of it, which the journal adds up.
    if (all) this.#closePart()
    return this.#done.splice(0)
  }

  /** Takes back seconds whose transaction was undone. */
  giveBack(seconds: readonly SecondRecord[]): void {
    this.#done.unshift(...seconds)
  }

  /** Stops watching the event loop. */
  close(): void {
    this.#unread.close()
    this.#eventLoop.close()
  }

  #rollTo(second: number): void {
    const isSetBack = second < this.#at - LATE_S
    if (second <= this.#at && !isSetBack) return
    this.#lastRate = second === this.#at + 1 ? this.#partSum + this.#sum() : 0
    this.#closePart()
    this.#partSum = 0
    this.#eventLoop.reset()
    this.#at = second
  }

  #closePart(): void {
    const sum = this.#sum()
    if (sum === 0 && this.#callbacks === 0) return
    this.#callbacks = 0
    const eventLoopMaxUs = this.#eventLoop.longestStallUs
    this.#done.push({
      at: this.#at,
      ...this.#counts,
      eventLoopMaxUs,
      generatorLimited: this.#times.isShaped,
      latency: this.#times.latency,
    })
    this.total.addAll(this.#times.latency)
    this.#partSum += sum
    this.#times = new SecondTimes()
    this.#counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  }

  #sum(): number {
    const { succeeded, rejected, failed, unknown } = this.#counts
    return succeeded + rejected + failed + unknown
  }
}

/**
 * An end may be noted this much after later ones, seconds; an earlier one is by a clock that was set back.
 */
const LATE_S = 2

function toSecond(us: number): number {
  return Math.floor(us / 1_000_000)
}
