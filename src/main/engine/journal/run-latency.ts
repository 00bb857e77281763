import type { DatabaseSync } from 'node:sqlite'
import { decodeHistogram, LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { TREND_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import type { Journal } from './journal.ts'
import { updateRunRecord } from './run-record.ts'

/** The run's latency as a whole: as it was added up when sending last ended, or from its seconds. */
export function readLatency(db: DatabaseSync): LatencyMeter {
  const meter = new LatencyMeter()
  const totals = db.prepare('SELECT series, histogram FROM latency').all()
  for (const { series, histogram } of totals) {
    meter.add(series as TrendMetric, decodeHistogram(String(histogram)))
  }
  return totals.length > 0 ? meter : addUpSeconds(db)
}

/** Keeps the run's latency as a whole, added up; called when sending ends. The caller has a transaction open. */
export function writeLatency(db: DatabaseSync, meter: LatencyMeter): void {
  const insert = db.prepare('INSERT OR REPLACE INTO latency (series, histogram) VALUES (?, ?)')
  for (const series of TREND_METRICS) {
    const histogram = meter.encode(series)
    if (histogram !== null) insert.run(series, histogram)
  }
}

/** Forgets what {@link writeLatency} kept, since it will not hold any more. The caller has a transaction open. */
export function clearLatency(db: DatabaseSync): void {
  db.exec('DELETE FROM latency')
}

function addUpSeconds(db: DatabaseSync): LatencyMeter {
  const meter = new LatencyMeter()
  // Pages, not an open cursor: a reader that stays open keeps the WAL from being emptied.
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT 200')
  let lastAt = 0
  for (let rows = page.all(lastAt); rows.length > 0; rows = page.all(lastAt)) {
    for (const row of rows) {
      lastAt = Number(row['at'])
      for (const series of TREND_METRICS) {
        const encoded = row[series]
        if (typeof encoded === 'string') meter.add(series, decodeHistogram(encoded))
      }
    }
  }
  return meter
}

/** The last second that the journal has, and the tries in it; zeros where it has none. */
export function readLastSecond(db: DatabaseSync): { at: number; sent: number } {
  const row = db.prepare('SELECT at, sent FROM second ORDER BY at DESC LIMIT 1').get()
  return { at: Number(row?.['at'] ?? 0), sent: Number(row?.['sent'] ?? 0) }
}

/** Sets the time spent sending to what the seconds tell, where that is more than `knownMs`. */
export function restoreSendingTime(journal: Journal, knownMs: number): void {
  const seconds = Number(
    journal.db.prepare('SELECT count(*) AS n FROM second WHERE sent > 0').get()?.['n'] ?? 0,
  )
  journal.transact('process', () =>
    updateRunRecord(journal.db, { sending_ms: Math.max(knownMs, seconds * 1000) }),
  )
}
