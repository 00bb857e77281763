import { toLatencyBars } from '../../../shared/latency-bars.ts'
import { createHistogram, decodeHistogram, toPercentiles } from '../../../shared/latency-meter.ts'
import type { LatencySeries, RunSecond } from '../../../shared/results.ts'
import type { RunView } from './run-view.ts'

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/** Reads a run's latency over time and its whole distribution (http_req_duration, design §5). */
export function readLatencySeries({ db }: RunView): LatencySeries {
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT ?')
  const seconds: RunSecond[] = []
  const total = createHistogram()
  let firstAt: number | null = null
  let lastAt = 0
  for (let rows = page.all(lastAt, PAGE); rows.length > 0; rows = page.all(lastAt, PAGE)) {
    for (const row of rows) {
      lastAt = Number(row['at'])
      firstAt ??= lastAt
      const encoded = row['http_req_duration']
      const histogram = typeof encoded === 'string' ? decodeHistogram(encoded) : null
      if (histogram !== null) total.add(histogram)
      seconds.push({
        second: lastAt - firstAt,
        sent: Number(row['sent']),
        succeeded: Number(row['succeeded']),
        rejected: Number(row['rejected']),
        failed: Number(row['failed']),
        unknown: Number(row['unknown']),
        httpReqDurationMs: histogram === null ? null : toPercentiles(histogram),
      })
    }
  }
  return { seconds, histogram: toLatencyBars(total) }
}
