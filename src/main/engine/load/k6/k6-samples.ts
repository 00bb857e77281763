import type { Histogram } from 'hdr-histogram-js'
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  recordUs,
  toPercentiles,
} from '../../../../shared/load/latency-meter.ts'
import { METRICS, PHASE_METRICS, TREND_METRICS } from '../../../../shared/load/metrics.ts'
import type { K6Result, K6Second, K6Status } from './k6-result.ts'

/** A sample in k6's JSON lines. */
export interface K6Point {
  metric: string
  /** Unix milliseconds, with a fraction, when it was taken: the end of a request. */
  timeMs: number
  value: number
  tags: Readonly<Record<string, string>>
}

export const K6_LATENCIES: readonly string[] = [
  ...TREND_METRICS.filter((metric) => METRICS[metric].isInK6),
  'http_req_blocked',
  'http_req_sending',
  'http_req_receiving',
]

/** Latencies that k6 reports as 0 if the connection was open; only those of opening one are kept. */
export const ONCE_A_CONNECTION: readonly string[] = PHASE_METRICS.filter(
  ({ phase }) => phase !== 'waitingUs',
).map(({ metric }) => metric)

/** Seconds whose histograms stay open; samples come nearly in order. */
const OPEN_SECONDS = 16

/** Kinds of answers that are distinguished. */
const STATUSES_MAX = 1_000

interface SecondCounts {
  requests: number
  failed: number
  notSucceeded: number
  dropped: number
  open: Histogram | null
  closed: string | null
}

/** Adds up samples of one run, or of its parts on many machines, in memory that does not grow with them. */
export class K6Samples {
  /** Whether the script's own verdict was seen, which takes precedence over k6's. */
  #hasVerdict = false
  #startMs = Infinity
  #endMs = Number.NEGATIVE_INFINITY
  readonly #latencies = new Map<string, Histogram>()
  readonly #seconds = new Map<number, SecondCounts>()
  /** In the order they were opened. */
  readonly #open = new Set<number>()
  readonly #statuses = new Map<string, K6Status>()

  add({ metric, timeMs, value, tags }: K6Point): void {
    if (metric === 'http_reqs') this.#addRequest(timeMs, value, tags)
    else if (metric === 'http_req_failed') this.#second(timeMs).failed += toHit(value)
    else if (metric === 'not_succeeded') this.#addNotSucceeded(timeMs, value)
    else if (metric === 'dropped_iterations') this.#second(timeMs).dropped += value
    else if (value > 0 || !ONCE_A_CONNECTION.includes(metric)) this.#addLatency(metric, timeMs, value)
  }

  #addLatency(metric: string, timeMs: number, value: number): void {
    let histogram = this.#latencies.get(metric)
    if (histogram === undefined) {
      histogram = createHistogram()
      this.#latencies.set(metric, histogram)
    }
    const us = Math.round(value * 1000)
    recordUs(histogram, us)
    if (metric !== 'http_req_duration') return
    recordUs(this.#openHistogram(timeMs), us)
    this.#startMs = Math.min(this.#startMs, timeMs - value)
    this.#endMs = Math.max(this.#endMs, timeMs)
  }

  toResult(): Omit<K6Result, 'shape' | 'k6Version' | 'scenario' | 'thresholds' | 'notes'> {
    const hasBegun = this.#startMs !== Infinity
    const seconds = this.#listSeconds()
    return {
      startedAt: hasBegun ? new Date(this.#startMs).toISOString() : null,
      durationS: hasBegun ? (this.#endMs - this.#startMs) / 1000 : null,
      requests: sum(seconds, 'requests'),
      failed: sum(seconds, 'failed'),
      dropped: sum(seconds, 'dropped'),
      latencies: Object.fromEntries(
        [...this.#latencies].map(([metric, histogram]) => [
          metric,
          { percentiles: toPercentiles(histogram) ?? {}, histogram: encodeHistogram(histogram) },
        ]),
      ),
      statuses: [...this.#statuses.values()].toSorted((a, b) => b.requests - a.requests),
      seconds,
    }
  }

  #addRequest(timeMs: number, value: number, tags: Readonly<Record<string, string>>): void {
    this.#second(timeMs).requests += value
    const { status = '0', error_code: errorCode = null, error = null } = tags
    const key = JSON.stringify([status, errorCode, error])
    const known = this.#statuses.get(key)
    if (known !== undefined) known.requests += value
    else if (this.#statuses.size < STATUSES_MAX) {
      this.#statuses.set(key, {
        status: Number(status) === 0 ? null : Number(status),
        errorCode,
        message: error,
        requests: value,
      })
    }
  }

  #addNotSucceeded(timeMs: number, value: number): void {
    this.#hasVerdict = true
    this.#second(timeMs).notSucceeded += toHit(value)
  }

  #second(timeMs: number): SecondCounts {
    const second = Math.floor(timeMs / 1000)
    let counts = this.#seconds.get(second)
    if (counts === undefined) {
      counts = { requests: 0, failed: 0, notSucceeded: 0, dropped: 0, open: null, closed: null }
      this.#seconds.set(second, counts)
    }
    return counts
  }

  #openHistogram(timeMs: number): Histogram {
    const counts = this.#second(timeMs)
    if (counts.open !== null) return counts.open
    const histogram = counts.closed === null ? createHistogram() : decodeHistogram(counts.closed)
    counts.open = histogram
    counts.closed = null
    this.#open.add(Math.floor(timeMs / 1000))
    const [oldest] = this.#open
    if (this.#open.size > OPEN_SECONDS && oldest !== undefined) this.#close(oldest)
    return histogram
  }

  #close(second: number): void {
    const counts = this.#seconds.get(second)
    this.#open.delete(second)
    if (counts === undefined || counts.open === null) return
    counts.closed = encodeHistogram(counts.open)
    counts.open = null
  }

  #listSeconds(): K6Second[] {
    const [first = 0] = this.#startMs === Infinity ? [] : [Math.floor(this.#startMs / 1000)]
    return [...this.#seconds]
      .toSorted(([a], [b]) => a - b)
      .map(([second, { requests, failed, notSucceeded, dropped, open, closed }]) => ({
        second: Math.max(0, second - first),
        requests,
        failed: this.#hasVerdict ? notSucceeded : failed,
        dropped,
        histogram: open === null ? closed : encodeHistogram(open),
      }))
  }
}

function toHit(value: number): number {
  return value === 0 ? 0 : 1
}

function sum(seconds: readonly K6Second[], count: 'requests' | 'failed' | 'dropped'): number {
  return seconds.reduce((total, second) => total + second[count], 0)
}
