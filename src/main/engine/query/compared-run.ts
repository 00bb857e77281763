import type { Histogram } from 'hdr-histogram-js'
import { type ComparedRun, compareRuns, type LoadComparison } from '../../../shared/compare.ts'
import { LATENCY_SERIES } from '../../../shared/latency-meter.ts'
import { BATCH_COUNT, toLatencyHistory } from '../../../shared/quantile-interval.ts'
import { readLoadState } from '../journal/load-writer.ts'
import { readLatency } from '../journal/run-latency.ts'
import { readLoadSeconds, toHistograms } from './load-seconds.ts'
import { summarizeRun } from './run-summary.ts'
import type { RunView } from './run-view.ts'

/** Puts two runs side by side: latencies, errors, throughput, plans (`compare A B`). */
export function compareTwoRuns(a: RunView, b: RunView): LoadComparison {
  return compareRuns(readComparedRun(a), readComparedRun(b))
}

function readComparedRun(view: RunView): ComparedRun {
  const { db, record } = view
  const summary = summarizeRun(view)
  const state = readLoadState(db)
  const latency = readLatency(db)
  const seconds = [...readLoadSeconds(db)].flat()
  const histograms = seconds.map(toHistograms)
  const latencies: ComparedRun['latencies'] = {}
  for (const series of LATENCY_SERIES) {
    const total = latency.histogram(series)
    if (total === null || total.totalCount === 0) continue
    const parts = histograms.map((of) => of[series]).filter((part): part is Histogram => part !== undefined)
    latencies[series] = toLatencyHistory(total, parts)
  }
  const { sent, succeeded } = summary.requests
  const length = Math.max(1, Math.ceil(seconds.length / BATCH_COUNT))
  const batches: ComparedRun['batches'][number][] = []
  for (let from = 0; from < seconds.length; from += length) {
    const part = seconds.slice(from, from + length)
    const sum = (read: (second: (typeof part)[number]) => number) =>
      part.reduce((total, second) => total + read(second), 0)
    const failed = sum(({ counts }) => counts.rejected + counts.failed + counts.unknown)
    const done = sum(({ counts }) => counts.succeeded)
    batches.push({ durationS: part.length, requests: failed + done, failed, succeeded: done })
  }
  return {
    label: `${record.name} (${record.runId})`,
    plan: record.plan,
    durationS: state === null ? summary.throughput.duration_s : state.measuredMs / 1000,
    requests: sent,
    failed: sent - succeeded,
    succeeded,
    dropped: state?.dropped ?? 0,
    generatorLimited: summary.generator.limited,
    fromCache: state?.fromCache ?? summary.from_cache.rows,
    latencies,
    batches,
  }
}
