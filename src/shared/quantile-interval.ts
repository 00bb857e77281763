import type { Histogram } from 'hdr-histogram-js'
import { listRecorded } from './latency-bars.ts'
import { createHistogram } from './latency-meter.ts'
import { BATCHES_MIN, type Interval, toBinomialQuantile, toDesignEffect } from './statistics.ts'

/** Batches of consecutive seconds that a run is divided into; simulation texts ask for 20 to 30. */
export const BATCH_COUNT = 30

/** A latency's whole distribution, and that of consecutive parts of the run where these are known. */
export interface LatencyHistory {
  total: Histogram
  /** In the order of time; empty where only the whole is known. */
  batches: readonly Histogram[]
}

/** Merges the distributions of a run's seconds into at most {@link BATCH_COUNT} batches of as many seconds each. */
export function toBatches(seconds: readonly Histogram[]): Histogram[] {
  const length = Math.max(1, Math.ceil(seconds.length / BATCH_COUNT))
  const batches: Histogram[] = []
  for (const [index, second] of seconds.entries()) {
    if (index % length === 0) batches.push(createHistogram())
    batches.at(-1)?.add(second)
  }
  return batches
}

/**
 * A quantile in microseconds and the range that holds the true one with this confidence.
 *
 * The range is made of order statistics, whose ranks are binomial whatever the distribution (G. J. Hahn and W. Q.
 * Meeker, Statistical Intervals, 1991, §5.2). Requests that follow each other are slow together, so the number of
 * requests counts for less than it is: divided by the design effect of the share below the quantile, told from
 * batches of consecutive seconds (R. S. Woodruff 1952, JASA 47:635–646). Where no batches are known the requests
 * are taken as independent.
 */
export function toQuantileInterval(
  { total, batches }: LatencyHistory,
  percentile: number,
  confidence: number,
): { valueUs: number; interval: Interval; isBatched: boolean } {
  const valueUs = total.getValueAtPercentile(percentile)
  const shares = batches.map((batch) => ({ count: batch.totalCount, hits: countUpTo(batch, valueUs) }))
  const effect = shares.length < BATCHES_MIN ? null : toDesignEffect(shares, confidence)
  const trials = Math.max(1, Math.floor(total.totalCount / (effect ?? 1)))
  const share = percentile / 100
  const tail = (1 - confidence) / 2
  const lowRank = toBinomialQuantile(trials, share, tail)
  const highRank = toBinomialQuantile(trials, share, 1 - tail) + 1
  return {
    valueUs,
    interval: {
      low: lowRank < 1 ? null : total.getValueAtPercentile((100 * lowRank) / trials),
      high: highRank > trials ? null : total.getValueAtPercentile((100 * highRank) / trials),
    },
    isBatched: effect !== null,
  }
}

function countUpTo(histogram: Histogram, us: number): number {
  let count = 0
  for (const recorded of listRecorded(histogram)) {
    if (recorded.us > us) break
    count += recorded.count
  }
  return count
}
