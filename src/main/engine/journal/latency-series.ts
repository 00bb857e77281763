import {
  createHistogram,
  decodeHistogram,
  toLatencyBars,
  toPercentiles,
} from '../../../shared/load/latency-meter.ts'
import type { LatencySeries, RunSecond } from '../../../shared/run/results.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import type { RunView } from './run-view.ts'

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/** Reads a run's latencies, over time and as distributions: http_req_duration and callback_latency. */
export function readLatencySeries({ db }: RunView): LatencySeries {
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT ?')
  const seconds: RunSecond[] = []
  const totals = { http_req_duration: createHistogram(), callback_latency: createHistogram() }
  const read = (row: Record<string, unknown>, series: keyof typeof totals): Percentiles | null => {
    const encoded = row[series]
    if (typeof encoded !== 'string') return null
    const histogram = decodeHistogram(encoded)
    totals[series].add(histogram)
    return toPercentiles(histogram)
  }
  let firstAt: number | null = null
  let lastAt = 0
  for (let rows = page.all(lastAt, PAGE); rows.length > 0; rows = page.all(lastAt, PAGE)) {
    for (const row of rows) {
      lastAt = Number(row['at'])
      firstAt ??= lastAt
      seconds.push({
        second: lastAt - firstAt,
        sent: Number(row['sent']),
        succeeded: Number(row['succeeded']),
        rejected: Number(row['rejected']),
        failed: Number(row['failed']),
        unknown: Number(row['unknown']),
        httpReqDurationMs: read(row, 'http_req_duration'),
        callbackLatencyMs: read(row, 'callback_latency'),
      })
    }
  }
  const bars = {
    http_req_duration: toLatencyBars(totals.http_req_duration),
    callback_latency: toLatencyBars(totals.callback_latency),
  }
  return { seconds, bars }
}
