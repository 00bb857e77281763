import type { Outcome } from '../run/item-state.ts'
import type { Percentiles } from '../run/run.ts'
import type { TrendMetric } from './metrics.ts'

/** Upper bounds of the buckets of streamed latencies, milliseconds; one more bucket holds longer ones. */
export const BUCKET_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
]

/** A second's latencies in buckets: the count of each, one more than there are bounds, and their sum. */
export interface LatencyBuckets {
  counts: number[]
  sumMs: number
}

/** A finished second of a load test, reported while the test runs. */
export interface StreamedSecond {
  runId: string
  /** When the second began, Unix milliseconds. */
  startMs: number
  /** Seconds since measuring began, from 0. */
  second: number
  /** Requests that were due; null at a closed pace. */
  scheduled: number | null
  /** Requests sent in this second; those that ended in it are in `ended`. */
  sent: number
  /** Requests that ended, by outcome. */
  ended: Record<Outcome, number>
  /** Ended requests by HTTP status; null for no answer. */
  statuses: { status: number | null; requests: number }[]
  /** Ended requests that were the last try of their row. */
  iterations: number
  /** Bytes of ended requests and their answers. */
  sentBytes: number
  receivedBytes: number
  dropped: number
  inFlight: number
  /** This machine, and not only the service, shaped it. */
  isGeneratorLimited: boolean
  latencyMs: Partial<Record<TrendMetric, Percentiles>>
  buckets: Partial<Record<TrendMetric, LatencyBuckets>>
}
