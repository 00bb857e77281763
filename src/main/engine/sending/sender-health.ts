import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Histogram } from 'hdr-histogram-js'
import { createHistogram, LatencyMeter, recordUs } from '../../../shared/load/latency-meter.ts'

/** How often the event loop's delay is sampled, milliseconds; a sample includes this interval. */
const SAMPLING_MS = 10

/** A longer stall of the event loop means that this machine limited the second, microseconds (docs/load-tests.md §1). */
export const STALL_LIMIT_US = 50_000

/** A start lag that counts as on time: up to this, microseconds, or up to this share of the median duration. */
const LAG_LIMIT_US = 5_000
const LAG_LIMIT_SHARE = 0.1

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

/**
 * The times of the requests that ended in one second, for runs and load tests alike. Times are microseconds; null is
 * what a request did not have.
 */
export class SecondTimes {
  readonly latency = new LatencyMeter()
  #ownLag: Histogram | null = null

  /** The phases of any try. */
  addPhases(waitingUs: number | null, connectUs: number | null, tlsUs: number | null): void {
    this.latency.record('http_req_waiting', waitingUs)
    this.latency.record('http_req_connecting', connectUs)
    this.latency.record('http_req_tls_handshaking', tlsUs)
  }

  /**
   * The times of a try that has an http_req_duration. `isOwnLag`: neither the limit of requests in flight nor opening a
   * connection delayed it, so a late start is this machine's doing.
   */
  addTimed(
    durationUs: number | null,
    responseUs: number | null,
    lagUs: number | null,
    isOwnLag: boolean,
  ): void {
    this.latency.record('http_req_duration', durationUs)
    this.latency.record('response_time', responseUs)
    this.latency.record('start_lag', lagUs)
    if (lagUs === null || !isOwnLag) return
    this.#ownLag ??= createHistogram()
    recordUs(this.#ownLag, lagUs)
  }

  /** Whether this machine sent late: the p99 of the start lag is above 5 ms and a tenth of the median duration. */
  isSentLate(): boolean {
    if (this.#ownLag === null) return false
    const medianUs = (this.latency.percentiles('http_req_duration')?.p50 ?? 0) * 1000
    return this.#ownLag.getValueAtPercentile(99) > Math.max(LAG_LIMIT_US, medianUs * LAG_LIMIT_SHARE)
  }
}
