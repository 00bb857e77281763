import type { DatabaseSync } from 'node:sqlite'
import { decodeHistogram, LATENCY_SERIES, LatencyMeter } from '../../../shared/latency-meter.ts'

/** Adds up every second's histograms. */
export function readLatency(db: DatabaseSync): LatencyMeter {
  const meter = new LatencyMeter()
  // Pages, not an open cursor: a reader that stays open keeps the WAL from being emptied.
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT 200')
  let lastAt = 0
  for (let rows = page.all(lastAt); rows.length > 0; rows = page.all(lastAt)) {
    for (const row of rows) {
      lastAt = Number(row['at'])
      for (const series of LATENCY_SERIES) {
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
