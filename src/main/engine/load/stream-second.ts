import { type LatencyMeter, listRecorded, toCellStart } from '../../../shared/load/latency-meter.ts'
import { mapTrends, type TrendMetric } from '../../../shared/load/metrics.ts'
import {
  BUCKET_BOUNDS_MS,
  type LatencyBuckets,
  type StreamedSecond,
} from '../../../shared/load/streamed-second.ts'
import type { ClosedSecond } from './load-seconds.ts'

/**
 * A closed second as it is streamed, while its latencies are in memory; `startMs` is when measuring began,
 * Unix milliseconds.
 */
export function toStreamedSecond(
  { tally, record, extras }: ClosedSecond,
  { runId, startMs }: { runId: string; startMs: number },
): StreamedSecond {
  const { second, scheduled, sent, dropped, inFlight } = extras
  const { iterations, sentBytes, receivedBytes } = tally.sums.all
  const statuses = new Map<number | null, number>()
  for (const { status, requests } of tally.statuses) {
    statuses.set(status, (statuses.get(status) ?? 0) + requests)
  }
  return {
    runId,
    startMs: startMs + second * 1000,
    second,
    scheduled,
    sent,
    ended: { ...tally.counts },
    statuses: Array.from(statuses, ([status, requests]) => ({ status, requests })),
    iterations,
    sentBytes,
    receivedBytes,
    dropped,
    inFlight,
    isGeneratorLimited: record.generatorLimited,
    latencyMs: mapTrends((metric) => record.latency.percentiles(metric)),
    buckets: mapTrends((metric) => toBuckets(record.latency, metric)),
  }
}

function toBuckets(latency: LatencyMeter, metric: TrendMetric): LatencyBuckets | null {
  const histogram = latency.histogram(metric)
  if (histogram === null || histogram.totalCount === 0) return null
  const counts = Array.from({ length: BUCKET_BOUNDS_MS.length + 1 }, () => 0)
  let at = 0
  // Values come in ascending order.
  for (const { us, count } of listRecorded(histogram)) {
    // By the start of its cell: by its end, a value exactly at a bound would count above it.
    const startMs = toCellStart(histogram, us) / 1000
    while (at < BUCKET_BOUNDS_MS.length && startMs > (BUCKET_BOUNDS_MS[at] ?? 0)) at += 1
    counts[at] = (counts[at] ?? 0) + count
  }
  return { counts, sumMs: (histogram.mean * histogram.totalCount) / 1000 }
}
