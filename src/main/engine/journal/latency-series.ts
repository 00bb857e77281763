import {
  decodeHistogram,
  LatencyMeter,
  toLatencyBars,
  toPercentiles,
} from '../../../shared/load/latency-meter.ts'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import { OUTCOMES } from '../../../shared/run/item-state.ts'
import type { LatencySeries, RunSecond } from '../../../shared/run/results.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import type { RunView } from './run-family.ts'
import { OPEN_SECONDS } from './seconds.ts'

/** Latencies that a run's screen shows first. */
const FIRST_SHOWN: readonly TrendMetric[] = ['http_req_duration', 'callback_latency']

/** Most series kept; the least recently used is dropped first. */
const KEPT_MAX = 4

/** Seconds read at a time, so that no read stays open. */
const PAGE = 200

/**
 * Latencies of runs, over time and as distributions. Unpacking the histograms of an hour takes many seconds
 * of processor time, so those of earlier seconds are kept as long as the stored ones are unchanged; a window
 * that asks repeatedly causes only new seconds to be read.
 */
export class KeptLatencies {
  readonly #kept = new Map<string, { file: string; series: KeptSeries }>()

  /** The latencies of one run without its retries (default: http_req_duration and callback_latency). */
  read(
    { file, db }: Pick<RunView, 'file' | 'db'>,
    metrics: readonly TrendMetric[] = FIRST_SHOWN,
  ): LatencySeries {
    const key = JSON.stringify([file, metrics])
    const kept = this.#kept.get(key) ?? { file, series: new KeptSeries(metrics) }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    for (const [oldest] of this.#kept) if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest)
    return kept.series.read(db)
  }

  /** Forgets a journal that is about to be deleted. */
  forget(file: string): void {
    for (const [key, kept] of this.#kept) if (kept.file === file) this.#kept.delete(key)
  }
}

/** A stored second, with the packed histograms of the requested metrics. */
type StoredSecond = [
  at: number,
  sent: number,
  succeeded: number,
  rejected: number,
  failed: number,
  unknown: number,
  ...histograms: (string | null)[],
]

class KeptSeries {
  readonly #metrics: readonly TrendMetric[]
  /** All but the newest seconds, and the sum of their histograms. */
  #known: { stored: StoredSecond; shown: RunSecond }[] = []
  #totals = new LatencyMeter()

  constructor(metrics: readonly TrendMetric[]) {
    this.#metrics = metrics
  }

  read(db: DatabaseSync): LatencySeries {
    const stored = this.#list(db)
    const firstAt = stored[0]?.[0] ?? 0
    // Rarely, recovery adds to earlier seconds.
    if (!this.#known.every((known, index) => isSame(known.stored, stored[index]))) {
      this.#known = []
      this.#totals = new LatencyMeter()
    }
    for (const second of stored.slice(this.#known.length, -OPEN_SECONDS)) {
      this.#known.push({ stored: second, shown: this.#unpack(second, firstAt, this.#totals) })
    }
    const totals = new LatencyMeter()
    totals.addAll(this.#totals)
    const open = stored.slice(this.#known.length).map((second) => this.#unpack(second, firstAt, totals))
    const bars: LatencySeries['bars'] = {}
    for (const metric of this.#metrics) {
      const histogram = totals.histogram(metric)
      if (histogram !== null) bars[metric] = toLatencyBars(histogram)
    }
    return { seconds: [...this.#known.map(({ shown }) => shown), ...open], bars }
  }

  #list(db: DatabaseSync): StoredSecond[] {
    const columns = ['at', 'sent', ...OUTCOMES, ...this.#metrics]
    const page = db.prepare(`SELECT ${columns.join(', ')} FROM second WHERE at > ? ORDER BY at LIMIT ${PAGE}`)
    page.setReturnArrays(true)
    const seconds: StoredSecond[] = []
    for (;;) {
      const rows = page.all(seconds.at(-1)?.[0] ?? 0) as unknown as StoredSecond[]
      if (rows.length === 0) return seconds
      seconds.push(...rows)
    }
  }

  /** Converts a second for display, and adds its histograms to `totals`. */
  #unpack(second: StoredSecond, firstAt: number, totals: LatencyMeter): RunSecond {
    const [at, sent, succeeded, rejected, failed, unknown, ...histograms] = second
    const latencyMs: RunSecond['latencyMs'] = {}
    for (const [index, metric] of this.#metrics.entries()) {
      const packed = histograms[index]
      if (typeof packed !== 'string') continue
      const histogram = decodeHistogram(packed)
      totals.add(metric, histogram)
      const percentiles = toPercentiles(histogram)
      if (percentiles !== null) latencyMs[metric] = percentiles
    }
    return { second: at - firstAt, sent, succeeded, rejected, failed, unknown, latencyMs }
  }
}

function isSame(known: StoredSecond, stored: StoredSecond | undefined): boolean {
  return known.length === stored?.length && known.every((value, index) => value === stored[index])
}
