import { decodeHistogram, toPercentiles } from '../../../shared/load/latency-meter.ts'
import { describeLoad } from '../../../shared/load/load.ts'
import type { LoadCounts, LoadReport } from '../../../shared/load/load-report.ts'
import { mapTrends } from '../../../shared/load/metrics.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { showSource } from '../../../shared/plan/source-paths.ts'
import { countSent, readLoadGroups, readRecoveredLoad } from '../journal/load-record.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { readLatency } from '../journal/seconds.ts'
import { toLoadHealth } from '../load/generator-health.ts'
import { readLoadSeconds, toLoadSecond } from '../load/load-results.ts'
import { summarizeRun } from './run-summary.ts'

/** Reads everything that a report of a load test shows. Throws `BAD_USAGE` if the run is not a load test. */
export function readLoadReport(view: RunFamily): LoadReport {
  const { db, record } = view
  const { load, connection, operation } = record.plan
  if (load === undefined) throw new SluiceError({ id: 'run_not_load', runId: record.runId })
  const summary = summarizeRun(view)
  const { state } = readRecoveredLoad(view)
  const latency = readLatency(db)
  const durationMs = state?.measuredMs ?? 0
  const { sent: _ended, retried, ...ended } = summary.requests
  const counts: LoadCounts = { sent: state === null ? 0 : countSent(state).all, ...ended }
  const perS = (n: number) => (durationMs > 0 ? (n * 1000) / durationMs : 0)
  return {
    appVersion: record.appVersion,
    runId: record.runId,
    name: record.name,
    state: summary.state === 'running' ? 'interrupted' : summary.state,
    stopReason: summary.stop_reason,
    baseUrl: connection.baseUrl,
    operation: [operation.kind, summary.mode, summary.api].join(', '),
    source: showSource(record.plan.source),
    createdAt: summary.created_at,
    startedAt: state === null ? null : new Date(state.startMs).toISOString(),
    warmupMs: load.warmupMs,
    durationMs,
    plan: state?.notes ?? describeLoad(load, connection.timeoutMs),
    ...(state?.first !== undefined && { firstRequest: state.first }),
    counts,
    retried,
    rates: {
      scheduledPerS: state === null || state.scheduled === null ? null : perS(state.scheduled),
      attemptedPerS: perS(state?.within.sent ?? 0),
      answeredPerS: perS(state?.within.answered ?? 0),
      succeededPerS: perS(state?.within.succeeded ?? 0),
    },
    answered: state?.answered ?? 0,
    fromCache: state?.fromCache ?? 0,
    throttling: state?.throttling ?? { answers: 0, retryAfterAnswers: 0, askedS: 0 },
    connections: state?.connections ?? { opened: 0, reused: 0 },
    callbacks: state?.callbacks ?? null,
    thresholds: summary.thresholds ?? [],
    ...(state?.silence !== undefined && { silence: state.silence }),
    ...(state?.metrics !== undefined && { metrics: state.metrics }),
    latencyMs: { ...state?.percentiles, ...mapTrends((metric) => latency.percentiles(metric)) },
    histograms: mapTrends((metric) => latency.encode(metric)),
    seconds: [...readLoadSeconds(db)].flat().map(toLoadSecond),
    statuses: state?.statuses ?? [],
    errors: state?.errors ?? [],
    groups: readLoadGroups(db).map(({ by, label, requests, failed, histogram }) => ({
      by,
      label,
      requests,
      failed,
      httpReqDurationMs: histogram === null ? null : toPercentiles(decodeHistogram(histogram)),
    })),
    ...(state?.stages !== undefined && { stages: state.stages }),
    generator: {
      ...toLoadHealth(load, state),
      startLagP99Ms: latency.percentiles('start_lag')?.p99 ?? null,
      eventLoopMaxMs: summary.generator.event_loop_max_ms,
    },
    ...(summary.source_read !== undefined && { readAs: summary.source_read.read_as }),
    ...(summary.warnings.length > 0 && { warnings: summary.warnings }),
    comparison: null,
  }
}
