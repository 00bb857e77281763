import type { Outcome } from '../run/item-state.ts'
import type { Percentiles } from '../run/run.ts'
import type { TrendMetric } from './metrics.ts'

/** Upper bounds of the buckets of streamed latencies, milliseconds; what is longer is in one more bucket. */
export const BUCKET_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
]

/** Latencies of a second in buckets: how many are in each, one more than there are bounds, and their sum. */
export interface LatencyBuckets {
  counts: number[]
  sumMs: number
}

/** A second of a load test that is over, as it is told while the test runs. */
export interface StreamedSecond {
  runId: string
  /** When it began, Unix milliseconds. */
  startMs: number
  /** Since measuring began, from 0. */
  second: number
  /** Requests that were due; null at a closed pace. */
  scheduled: number | null
  sent: number
  /** Requests that ended, by outcome. */
  ended: Record<Outcome, number>
  /** Requests that ended, by HTTP status; null is no answer. */
  statuses: { status: number | null; requests: number }[]
  /** Requests that ended as the last try of their row. */
  iterations: number
  /** Bytes of requests that ended, and of their answers. */
  sentBytes: number
  receivedBytes: number
  dropped: number
  inFlight: number
  /** This machine shaped it, and not the service alone. */
  isGeneratorLimited: boolean
  latencyMs: Partial<Record<TrendMetric, Percentiles>>
  buckets: Partial<Record<TrendMetric, LatencyBuckets>>
}
