import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createHistogram, LatencyMeter, recordUs } from '../../../shared/load/latency-meter.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { SecondRecord } from '../journal/second-writer.ts'
import type { ExchangeTimings } from '../service/exchange.ts'

/** How often the event loop's delay is sampled, milliseconds; a sample includes this interval. */
const SAMPLING_MS = 10

/** A second in which the event loop stood still for longer is limited by us, microseconds (docs/load-tests.md §1). */
const EVENT_LOOP_LIMIT_US = 50_000
/** Start lag that is nobody's fault, microseconds, or this share of the median duration (docs/load-tests.md §1). */
const LAG_LIMIT_US = 5_000
const LAG_LIMIT_SHARE = 0.1

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
  /** Everything so far, earlier sessions included, but for the running second. */
  readonly total: LatencyMeter
  readonly #nowUs: () => number
  readonly #eventLoop: ReturnType<typeof monitorEventLoopDelay>
  readonly #done: SecondRecord[] = []
  #at: number
  #latency = new LatencyMeter()
  #counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  /** Start lag of the running second that is our own doing. */
  readonly #ownLag = createHistogram()
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
    this.#eventLoop = monitorEventLoopDelay({ resolution: SAMPLING_MS })
    this.#eventLoop.enable()
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
    this.#latency.record('http_req_waiting', timings.waitingUs)
    this.#latency.record('http_req_connecting', timings.connectUs)
    this.#latency.record('http_req_tls_handshaking', timings.tlsUs)
    if (!isTimed) return
    this.#latency.record('http_req_duration', durationUs)
    if (scheduledAtUs === null) return
    this.#latency.record('response_time', Math.round(sentAtUs + durationUs - scheduledAtUs))
    if (!isSent) return
    const lagUs = Math.round(sentAtUs - scheduledAtUs)
    this.#latency.record('start_lag', lagUs)
    // What waited for the cap, or for a connection to open, was not kept waiting by us.
    if (!hasWaited && timings.connectUs === null) recordUs(this.#ownLag, lagUs)
  }

  /** Notes how long a callback took. It counts in the second in which it is taken in. */
  noteCallback(latencyUs: number): void {
    this.#rollTo(toSecond(this.#nowUs()))
    this.#latency.record('callback_latency', latencyUs)
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
    this.#eventLoop.disable()
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
    const eventLoopMaxUs = Math.max(0, Math.round(this.#eventLoop.max / 1000 - SAMPLING_MS * 1000))
    this.#done.push({
      at: this.#at,
      ...this.#counts,
      eventLoopMaxUs,
      generatorLimited: eventLoopMaxUs > EVENT_LOOP_LIMIT_US || this.#isLate(),
      latency: this.#latency,
    })
    this.#ownLag.reset()
    this.total.addAll(this.#latency)
    this.#partSum += sum
    this.#latency = new LatencyMeter()
    this.#counts = { succeeded: 0, rejected: 0, failed: 0, unknown: 0 }
  }

  #isLate(): boolean {
    if (this.#ownLag.totalCount === 0) return false
    const medianMs = this.#latency.percentiles('http_req_duration')?.p50 ?? 0
    return this.#ownLag.getValueAtPercentile(99) > Math.max(LAG_LIMIT_US, medianMs * 1000 * LAG_LIMIT_SHARE)
  }

  #sum(): number {
    const { succeeded, rejected, failed, unknown } = this.#counts
    return succeeded + rejected + failed + unknown
  }
}

function toSecond(us: number): number {
  return Math.floor(us / 1_000_000)
}
