import type { Histogram } from 'hdr-histogram-js'
import { listRecorded } from './latency-bars.ts'
import { createHistogram } from './latency-meter.ts'
import { BATCHES_MIN, type Interval, toBinomialQuantile, toDesignEffect } from './statistics.ts'

/** Batches of consecutive seconds that a run is divided into; simulation texts ask for 20 to 30. */
export const BATCH_COUNT = 30

/** Recorded values in ascending microseconds, and how many samples are at each or below it. */
interface Cumulative {
  us: number[]
  counts: number[]
}

/** A latency's whole distribution, and that of consecutive parts of the run where these are known. */
export interface LatencyHistory {
  total: Histogram
  /** In the order of time; empty where only the whole is known. */
  batches: readonly Cumulative[]
}

/**
 * The history of a latency from its whole distribution and those of its seconds, which are merged into at most
 * {@link BATCH_COUNT} batches of as many seconds each. Without seconds, only the whole is known. Seconds are taken one
 * after the other, so of an hour no more than one histogram need be in memory; `count` says how many of them come.
 */
export function toLatencyHistory(
  total: Histogram,
  seconds: Iterable<Histogram>,
  count: number = countItems(seconds),
): LatencyHistory {
  const length = Math.max(1, Math.ceil(count / BATCH_COUNT))
  const batches: Cumulative[] = []
  const batch = createHistogram()
  let taken = 0
  for (const second of seconds) {
    batch.add(second)
    taken += 1
    if (taken % length > 0) continue
    batches.push(toCumulative(batch))
    batch.reset()
  }
  if (taken % length > 0) batches.push(toCumulative(batch))
  return { total, batches }
}

function countItems(seconds: Iterable<Histogram>): number {
  if (Array.isArray(seconds)) return seconds.length
  throw new Error('of seconds that come one after the other, their number has to be said')
}

function toCumulative(histogram: Histogram): Cumulative {
  const cumulative: Cumulative = { us: [], counts: [] }
  let count = 0
  for (const recorded of listRecorded(histogram)) {
    count += recorded.count
    cumulative.us.push(recorded.us)
    cumulative.counts.push(count)
  }
  return cumulative
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
  const shares = batches.map((batch) => ({
    count: batch.counts.at(-1) ?? 0,
    hits: countUpTo(batch, valueUs),
  }))
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

function countUpTo({ us, counts }: Cumulative, limitUs: number): number {
  let [from, to] = [0, us.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((us[middle] ?? Infinity) <= limitUs) from = middle + 1
    else to = middle
  }
  return counts[from - 1] ?? 0
}
