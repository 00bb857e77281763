import type { TrendMetric } from '../../../shared/load/metrics.ts'
import type { LatencyBuckets, StreamedSecond } from '../../../shared/load/streamed-second.ts'

/** Totals of the current load test's seconds; another run starts from zero. */
export class SecondTotals {
  /** Null before the first second. */
  runId: string | null = null
  /** When measuring began, Unix milliseconds. */
  startMs = 0
  /** Requests by HTTP status; null is no answer. */
  readonly statuses = new Map<number | null, number>()
  readonly buckets = new Map<TrendMetric, LatencyBuckets>()
  /** Counters without tags. */
  counters = createCounters()

  add({ runId, startMs, second, statuses, buckets, ...counted }: StreamedSecond): void {
    if (runId !== this.runId) {
      this.runId = runId
      this.startMs = startMs - second * 1000
      this.statuses.clear()
      this.buckets.clear()
      this.counters = createCounters()
    }
    for (const { status, requests } of statuses) {
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + requests)
    }
    for (const [metric, added] of Object.entries(buckets) as [TrendMetric, LatencyBuckets][]) {
      const { counts, sumMs } = this.buckets.get(metric) ?? { counts: added.counts.map(() => 0), sumMs: 0 }
      this.buckets.set(metric, {
        counts: counts.map((count, index) => count + (added.counts[index] ?? 0)),
        sumMs: sumMs + added.sumMs,
      })
    }
    this.counters.iterations += counted.iterations
    this.counters.data_sent += counted.sentBytes
    this.counters.data_received += counted.receivedBytes
    this.counters.dropped_iterations += counted.dropped
  }
}

function createCounters() {
  return { iterations: 0, data_sent: 0, data_received: 0, dropped_iterations: 0 }
}
