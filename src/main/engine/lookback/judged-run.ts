import type { Histogram } from 'hdr-histogram-js'
import { createHistogram, decodeHistogram } from '../../../shared/load/latency-meter.ts'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import { JUDGED_METRICS, type JudgedRun } from '../../../shared/load/speed-gate.ts'
import { toLatencyHistory } from '../../../shared/load/statistics.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { summarizeRun } from '../results/run-summary.ts'
import { type DatabaseSync, readNumber, readRows } from '../workspace/sqlite.ts'

/** Seconds in which requests ended; for latencies, those that the sending machine did not shape. */
const ENDED = 'succeeded + rejected + failed + unknown > 0'
const UNLIMITED = 'coalesce(generator_limited, 0) = 0'

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

export function readJudgedRun(view: RunFamily): JudgedRun {
  const summary = summarizeRun(view)
  const { sent, succeeded } = summary.requests
  const missing = countMissingCallbacks(summary)
  const arrived = summary.latency_ms.callback_latency?.count ?? 0
  const failures = view.members.flatMap(({ db }) => readFailures(db))
  const latencies: JudgedRun['latencies'] = {}
  for (const metric of JUDGED_METRICS) {
    const where = `${ENDED} AND ${UNLIMITED} AND ${metric} IS NOT NULL`
    const count = view.members.reduce((sum, { db }) => sum + countSeconds(db, where), 0)
    const seconds = (function* () {
      for (const { db } of view.members) yield* readSeconds(db, metric, where)
    })()
    if (view.members.some(({ db }) => countSeconds(db, `${metric} IS NOT NULL`) > 0))
      latencies[metric] = toLatencyHistory(createHistogram(), seconds, count).batches
  }
  return {
    seconds: failures.length,
    limitedSeconds: view.members.reduce(
      (sum, { db }) => sum + countSeconds(db, `${ENDED} AND NOT (${UNLIMITED})`),
      0,
    ),
    requests: sent,
    failed: sent - succeeded,
    failures,
    latencies,
    missingCallbacks: missing === 0 ? 0 : missing / (missing + arrived),
  }
}

/** Callbacks of a run that did not arrive, or not yet. */
export function countMissingCallbacks({ load, rows }: RunSummary): number {
  if (load === undefined) return rows.overdue + rows.awaiting
  return (load.callbacks?.overdue ?? 0) + (load.callbacks?.outstanding ?? 0)
}

/** How many seconds of a journal meet a condition. */
export function countSeconds(db: DatabaseSync, where: string): number {
  return readNumber(db, `SELECT count(*) FROM second WHERE ${where}`)
}

/** One second's histogram after another: an hour of them at once would fill the memory. */
export function* readSeconds(db: DatabaseSync, metric: TrendMetric, where: string): Generator<Histogram> {
  const page = db.prepare(
    `SELECT at, ${metric} AS encoded FROM second WHERE at > ? AND ${where} ORDER BY at LIMIT ${PAGE}`,
  )
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['at']))) {
    for (const { encoded } of rows) yield decodeHistogram(String(encoded))
  }
}

function readFailures(db: DatabaseSync): JudgedRun['failures'] {
  const hits = 'rejected + failed + unknown'
  return readRows(
    db,
    `SELECT succeeded + ${hits} AS count, ${hits} AS hits FROM second WHERE ${ENDED} ORDER BY at`,
  )
}
