import type { StatementSync } from 'node:sqlite'
import { decodeHistogram, LatencyMeter } from '../../../shared/load/latency-meter.ts'
import { TREND_METRICS } from '../../../shared/load/metrics.ts'
import type { Journal } from './journal.ts'

/** One second of a run: what ended in it. */
export interface SecondRecord {
  /** Unix seconds. */
  at: number
  succeeded: number
  rejected: number
  failed: number
  unknown: number
  /** Longest delay of the sending thread's event loop, microseconds; null where it was not watched. */
  eventLoopMaxUs: number | null
  /** Whether we were too slow in it ourselves (docs/load-tests.md §1). */
  generatorLimited: boolean
  latency: LatencyMeter
}

/** Writes the run's seconds. */
export class SecondWriter {
  readonly #insert: StatementSync
  readonly #select: StatementSync

  constructor(journal: Journal) {
    this.#select = journal.db.prepare('SELECT * FROM second WHERE at = ?')
    this.#insert = journal.db.prepare(
      `INSERT OR REPLACE INTO second (at, sent, succeeded, rejected, failed, unknown, event_loop_max_us,
       generator_limited, ${TREND_METRICS.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?${', ?'.repeat(TREND_METRICS.length)})`,
    )
  }

  /** Writes one second, added to what an earlier session had in it. The caller has a transaction open. */
  write(second: SecondRecord): void {
    const earlier = this.#select.get(second.at)
    this.replace(earlier === undefined ? second : addUp(second, earlier))
  }

  /** Writes one second in place of what the journal has of it. The caller has a transaction open. */
  replace(second: SecondRecord): void {
    const { at, succeeded, rejected, failed, unknown, latency } = second
    this.#insert.run(
      at,
      succeeded + rejected + failed + unknown,
      succeeded,
      rejected,
      failed,
      unknown,
      second.eventLoopMaxUs,
      second.generatorLimited ? 1 : 0,
      ...TREND_METRICS.map((metric) => latency.encode(metric)),
    )
  }
}

function addUp(second: SecondRecord, row: Record<string, unknown>): SecondRecord {
  const latency = new LatencyMeter()
  latency.addAll(second.latency)
  for (const series of TREND_METRICS) {
    const encoded = row[series]
    if (typeof encoded === 'string') latency.add(series, decodeHistogram(encoded))
  }
  return {
    at: second.at,
    succeeded: second.succeeded + Number(row['succeeded']),
    rejected: second.rejected + Number(row['rejected']),
    failed: second.failed + Number(row['failed']),
    unknown: second.unknown + Number(row['unknown']),
    eventLoopMaxUs: Math.max(second.eventLoopMaxUs ?? 0, Number(row['event_loop_max_us'] ?? 0)),
    generatorLimited: second.generatorLimited || Number(row['generator_limited']) === 1,
    latency,
  }
}
