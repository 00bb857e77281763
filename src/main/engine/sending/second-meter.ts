import type { LatencyMeter } from '../../../shared/load/latency-meter.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { SecondRecord } from '../journal/seconds.ts'
import type { ExchangeTimings } from '../service/exchange.ts'
import { EventLoopWatch, SecondTimes, STALL_LIMIT_US } from './sender-health.ts'

/** A try that has just ended, as far as it is measured. */
export interface MeasuredTry {
  outcome: Outcome
  timings: ExchangeTimings
  /** Whether any of it may have left. */
  isSent: boolean
  /** Whether it has an http_req_duration. */
  isTimed: boolean
  /** Unix microseconds the request was due; null under a closed pace. */
  scheduledAtUs: number | null
  /** It was due before and could not go out, since the cap was full or sending was held. */
  hasWaited: boolean
}

/** Measures what ends, second by second, and in total. A second that was taken holds all that ended in it. */
export class SecondMeter {
  /** Everything so far, earlier sessions included, except the running second. */
  readonly total: LatencyMeter
  readonly #nowUs: () => number
  readonly #eventLoop = new EventLoopWatch()
  readonly #done: SecondRecord[] = []
  #at: number
  #times = new SecondTimes()
  #counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  #lastRate: number | null = null
  /** Callbacks of the running second. */
  #callbacks = 0
  /** Ends of the running second that were taken already. */
  #partSum = 0

  /** `total` is what earlier sessions measured; `nowUs` is Unix microseconds, monotonic. */
  constructor(options: { total: LatencyMeter; nowUs: () => number }) {
    this.total = options.total
    this.#nowUs = options.nowUs
    this.#at = toSecond(options.nowUs())
  }

  /** Ends in the last whole second, or so far in the first. */
  get ratePerSecond(): number {
    return this.#lastRate ?? this.#sum()
  }

  /** Notes how a try ended. To be called as it ends, so that ends come in order. */
  note({ outcome, timings, isSent, isTimed, scheduledAtUs, hasWaited }: MeasuredTry): void {
    const { sentAtUs, durationUs } = timings
    this.#rollTo(toSecond(sentAtUs + durationUs))
    this.#counts[outcome] += 1
    this.#times.addPhases(timings.waitingUs, timings.connectUs, timings.tlsUs)
    if (!isTimed) return
    const isOpen = scheduledAtUs !== null
    const responseUs = isOpen ? Math.round(sentAtUs + durationUs - scheduledAtUs) : null
    const lagUs = isOpen && isSent ? Math.round(sentAtUs - scheduledAtUs) : null
    this.#times.addTimed(durationUs, responseUs, lagUs, !hasWaited && timings.connectUs === null)
  }

  /** Notes how long a callback took. It counts in the second in which it is processed. */
  noteCallback(latencyUs: number): void {
    this.#rollTo(toSecond(this.#nowUs()))
    this.#times.latency.record('callback_latency', latencyUs)
    this.#callbacks += 1
  }

  /** The seconds that are over and were not taken yet; with `all`, the running one too. */
  take(all = false): SecondRecord[] {
    this.#rollTo(toSecond(this.#nowUs()))
    // What ends later in the running second is taken as a further part of it, which the journal adds up.
    if (all) this.#closePart()
    return this.#done.splice(0)
  }

  /** Gives seconds back whose transaction was undone. */
  giveBack(seconds: readonly SecondRecord[]): void {
    this.#done.unshift(...seconds)
  }

  /** Stops watching the event loop. */
  close(): void {
    this.#eventLoop.close()
  }

  #rollTo(second: number): void {
    if (second <= this.#at) return
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
      generatorLimited: eventLoopMaxUs > STALL_LIMIT_US || this.#times.isSentLate(),
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

function toSecond(us: number): number {
  return Math.floor(us / 1_000_000)
}
