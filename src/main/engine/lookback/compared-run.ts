import { compareRuns, poolRuns } from '../../../shared/load/compare.ts'
import { type LatencyOverlay, overlayLatencies } from '../../../shared/load/latency-overlay.ts'
import type { ComparedRun, LoadComparison } from '../../../shared/load/load-comparison.ts'
import { COURSE_METRICS } from '../../../shared/load/metrics.ts'
import { judgeSpeed, type SpeedQuestion, type SpeedVerdict } from '../../../shared/load/speed-gate.ts'
import { BATCH_COUNT, toLatencyHistory } from '../../../shared/load/statistics.ts'
import { readRecoveredLoad } from '../journal/load-record.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { readLoadSeconds } from '../load/load-results.ts'
import { readFamilyLatency, summarizeRun } from '../results/run-summary.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { countMissingCallbacks, countSeconds, readJudgedRun, readSeconds } from './judged-run.ts'

/** Two sides next to each other, and what the check of speed makes of them. */
type SidesComparison = LoadComparison & { gate: SpeedVerdict | null }

/**
 * Puts two sides of one or several runs next to each other: latencies, errors, throughput, plans (`compare A
 * B`), and judges the speed of B if asked.
 */
export function compareSides(
  a: readonly RunFamily[],
  b: readonly RunFamily[],
  asked: SpeedQuestion | null,
): SidesComparison {
  const [left, right] = [a, b].map((runs) => poolRuns(runs.map((run) => readComparedRun(run))))
  if (left === undefined || right === undefined) throw new Error('two sides are two pools')
  return {
    ...compareRuns(left, right),
    gate: asked === null ? null : judgeSpeed(a.map(readJudgedRun), b.map(readJudgedRun), asked),
  }
}

/** Puts the latencies of runs over one another, and compares each with the first. */
export function compareLatencies(runs: readonly RunFamily[]): LatencyOverlay {
  return overlayLatencies(
    runs.map((run) => {
      const summary = summarizeRun(run)
      return { summary, compared: readComparedRun(run, summary) }
    }),
  )
}

function readComparedRun(view: RunFamily, summary = summarizeRun(view)): ComparedRun {
  const { db, record } = view
  const { state } = readRecoveredLoad(view)
  const latency = readFamilyLatency(view.members)
  const batches = readBatches(db, state?.measuredMs ?? Number.POSITIVE_INFINITY)
  const latencies: ComparedRun['latencies'] = {}
  for (const series of COURSE_METRICS) {
    const total = latency.histogram(series)
    // Also null if it repeats another series.
    if (total === null || latency.percentiles(series) === null) continue
    const where = `extras IS NOT NULL AND ${series} IS NOT NULL`
    latencies[series] = toLatencyHistory(total, readSeconds(db, series, where), countSeconds(db, where))
  }
  const { sent, succeeded } = summary.requests
  return {
    label: `${summary.name} (${record.runId})`,
    plan: record.plan,
    state: summary.state === 'completed' ? 'whole' : summary.state === 'running' ? 'going' : 'cut',
    durationS: state === null ? summary.throughput.duration_s : state.measuredMs / 1000,
    requests: sent,
    failed: sent - succeeded,
    succeeded: state?.within.succeeded ?? succeeded,
    dropped: state?.dropped ?? 0,
    missingCallbacks: countMissingCallbacks(summary),
    silence: summary.load?.silence?.message,
    generatorLimited: summary.generator.limited,
    withoutOwnDelays: summary.generator.without_own_delays_ms,
    fromCache: state?.fromCache ?? summary.from_cache.rows,
    latencies,
    percentiles: state?.partialPercentiles ?? state?.percentiles ?? {},
    batches,
  }
}

/** Whole seconds of the measured time: answers after it say nothing about the throughput. */
function readBatches(db: DatabaseSync, measuredMs: number): ComparedRun['batches'] {
  const seconds = [...readLoadSeconds(db)].flatMap((page) =>
    page.filter(({ extras }) => (extras.second + 1) * 1000 <= measuredMs).map(({ counts }) => counts),
  )
  const length = Math.max(1, Math.ceil(seconds.length / BATCH_COUNT))
  const batches: ComparedRun['batches'][number][] = []
  for (let from = 0; from < seconds.length; from += length) {
    const part = seconds.slice(from, from + length)
    const sum = (read: (counts: (typeof part)[number]) => number) =>
      part.reduce((total, counts) => total + read(counts), 0)
    const failed = sum(({ rejected, failed: lost, unknown }) => rejected + lost + unknown)
    const succeeded = sum((counts) => counts.succeeded)
    batches.push({ durationS: part.length, requests: failed + succeeded, failed, succeeded })
  }
  return batches
}
