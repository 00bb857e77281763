import type { Histogram } from 'hdr-histogram-js'
import {
  decodeHistogram,
  LATENCY_SERIES,
  type LatencySeriesName,
  toPercentiles,
} from '../../../../shared/load/latency-meter.ts'
import type { LoadSecond } from '../../../../shared/load/load-report.ts'
import type { LoadSecondExtras } from '../../journal/load-writer.ts'
import type { DatabaseSync } from '../../workspace/sqlite-types.ts'

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/** A second of a load test as the journal has it, its histograms compressed. */
export interface StoredLoadSecond {
  extras: LoadSecondExtras
  counts: { succeeded: number; rejected: number; failed: number; unknown: number }
  eventLoopMaxUs: number | null
  limited: boolean
  histograms: Partial<Record<LatencySeriesName, string>>
}

/** Reads a load test's seconds in order, a page at a time. */
export function* readLoadSeconds(db: DatabaseSync): Generator<StoredLoadSecond[]> {
  const page = db.prepare('SELECT * FROM second WHERE at > ? AND extras IS NOT NULL ORDER BY at LIMIT ?')
  let last = 0
  for (let rows = page.all(last, PAGE); rows.length > 0; rows = page.all(last, PAGE)) {
    last = Number(rows.at(-1)?.['at'])
    yield rows.map(toStored)
  }
}

/** The histograms of one series, second by second; those without samples are empty. */
export function toHistograms(second: StoredLoadSecond): Partial<Record<LatencySeriesName, Histogram>> {
  return Object.fromEntries(
    Object.entries(second.histograms).map(([series, encoded]) => [series, decodeHistogram(encoded)]),
  )
}

/** A second as reports show it. */
export function toLoadSecond(second: StoredLoadSecond): LoadSecond {
  const { extras, counts } = second
  const latencyMs = Object.fromEntries(
    Object.entries(toHistograms(second)).flatMap(([series, histogram]) => {
      const percentiles = toPercentiles(histogram)
      return percentiles === null ? [] : [[series, percentiles]]
    }),
  )
  return {
    second: extras.second,
    scheduled: extras.scheduled,
    counts: { sent: extras.sent, ...counts },
    dropped: extras.dropped,
    inFlight: extras.inFlight,
    latencyMs,
    eventLoopMaxMs: second.eventLoopMaxUs === null ? null : second.eventLoopMaxUs / 1000,
    gcMs: extras.gcUs / 1000,
    limited: second.limited,
  }
}

function toStored(row: Record<string, unknown>): StoredLoadSecond {
  const of = (name: string) => Number(row[name])
  const histograms: StoredLoadSecond['histograms'] = {}
  for (const series of LATENCY_SERIES) {
    const encoded = row[series]
    if (typeof encoded === 'string') histograms[series] = encoded
  }
  return {
    extras: JSON.parse(String(row['extras'])) as LoadSecondExtras,
    counts: {
      succeeded: of('succeeded'),
      rejected: of('rejected'),
      failed: of('failed'),
      unknown: of('unknown'),
    },
    eventLoopMaxUs: row['event_loop_max_us'] === null ? null : of('event_loop_max_us'),
    limited: of('generator_limited') === 1,
    histograms,
  }
}
