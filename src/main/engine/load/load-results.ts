import type { Histogram } from 'hdr-histogram-js'
import { decodeHistogram, toPercentiles } from '../../../shared/load/latency-meter.ts'
import type {
  LoadFirstRequest,
  LoadSecond,
  LoadSilence,
  LoadStage,
} from '../../../shared/load/load-report.ts'
import { sayLoadSilence } from '../../../shared/load/load-silence.ts'
import { COURSE_METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import {
  countSent,
  evaluateWithoutData,
  LOAD_CUT_OFF_REASON,
  type LoadSecondExtras,
  type LoadState,
  type RecoveredLoad,
} from '../journal/load-record.ts'
import type { RunView } from '../journal/run-family.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { toLoadHealth } from './generator-health.ts'

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/** A journal's record of a load test's second, with compressed histograms. */
export interface StoredLoadSecond {
  extras: LoadSecondExtras
  counts: Record<Outcome, number>
  eventLoopMaxUs: number | null
  limited: boolean
  histograms: Partial<Record<TrendMetric, string>>
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
function toHistograms(second: StoredLoadSecond): Partial<Record<TrendMetric, Histogram>> {
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
  for (const series of COURSE_METRICS) {
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

export type LoadSummaryParts = Pick<
  RunSummary,
  | 'stop_reason'
  | 'throughput'
  | 'retry_after'
  | 'from_cache'
  | 'echoes'
  | 'callbacks'
  | 'load'
  | 'thresholds'
  | 'generator'
>

/** What differs in a load test's summary, which counts requests, not rows. Null for other runs. */
export function toLoadSummary(
  view: RunView,
  { state }: RecoveredLoad,
  generator: RunSummary['generator'],
): Partial<LoadSummaryParts> | null {
  const { load } = view.record.plan
  if (load === undefined) return null
  const { limited, reasons, dropped, waited } = toLoadHealth(load, state)
  const { ownLagMaxUs, mayBeOwnFailures } = state ?? {}
  const own = {
    ...(ownLagMaxUs !== undefined && { own_start_lag_max_ms: ownLagMaxUs / 1000 }),
    ...(mayBeOwnFailures !== undefined && { may_be_own_failures: mayBeOwnFailures }),
  }
  const health = {
    generator: { ...generator, limited, reasons, dropped, waited, ...own, ...toWithoutDelays(state) },
    ...(view.isCutOff ? { stop_reason: LOAD_CUT_OFF_REASON } : {}),
  }
  if (state === null) {
    // A load that has not begun, or is in its first second, cannot be judged yet.
    const { state: stored, startedAtMs } = view.record
    const isYetToCome = view.isHeld || (startedAtMs === null && stored !== 'completed')
    return { ...health, thresholds: isYetToCome ? [] : evaluateWithoutData(view) }
  }
  const { measuredMs, scheduled, within, throttling, callbacks } = state
  const perS = (n: number) => (measuredMs > 0 ? Math.round((n * 10_000) / measuredMs) / 10 : 0)
  return {
    ...health,
    thresholds: state.thresholds,
    throughput: {
      duration_s: measuredMs / 1000,
      attempted_per_s: perS(within.sent),
      succeeded_per_s: perS(within.succeeded),
    },
    // A load test sends at its own pace: only retries wait, if the plan has them.
    retry_after: { answers: throttling.retryAfterAnswers, waited_s: (state.putOffMs ?? 0) / 1000 },
    from_cache: { rows: state.fromCache },
    ...toEchoes(state),
    load: {
      scheduled_per_s: scheduled === null ? null : perS(scheduled),
      iterations: countSent(state).first,
      iterations_per_s: perS(within.sent - (within.retries ?? 0)),
      answered_per_s: perS(within.answered),
      statuses: state.statuses.map(({ status, errorCode, requests }) => ({
        status,
        error_code: errorCode,
        requests,
      })),
      throttling: {
        answers: throttling.answers,
        retry_after_answers: throttling.retryAfterAnswers,
        asked_s: throttling.askedS,
      },
      connections: state.connections,
      ...(state.silence !== undefined && { silence: toSilenceSummary(state.silence) }),
      ...(state.metrics !== undefined && { metrics: state.metrics }),
      ...(state.stages !== undefined && { stages: state.stages.map(toStageSummary) }),
      ...(load.order !== 'source' && {
        order: { order: load.order, seed: load.seed, weight: load.weight ?? null },
      }),
      ...(state.first !== undefined && { first_request: toFirstRequest(state.first) }),
      ...(state.warmupAnswers !== undefined && { warmup_answered: state.warmupAnswers }),
      ...(callbacks === null
        ? {}
        : {
            callbacks: {
              rejected: callbacks.rejected,
              overdue: callbacks.overdue,
              outstanding: callbacks.outstanding,
            },
          }),
    },
    ...(callbacks === null ? {} : { callbacks: toCallbackCounts(callbacks) }),
  }
}

function toStageSummary({ number, name, from, to, ranMs, latencyMs, ...counts }: LoadStage) {
  const { scheduled, requests, failed } = counts
  return {
    number,
    name: name ?? null,
    from,
    to,
    duration_s: ranMs / 1000,
    scheduled,
    requests,
    failed,
    requests_per_s: ranMs > 0 ? Math.round((requests * 10_000) / ranMs) / 10 : 0,
    latency_ms: latencyMs,
  }
}

function toWithoutDelays(state: LoadState | null): Pick<RunSummary['generator'], 'without_own_delays_ms'> {
  const without = state?.withoutOwnDelays
  return without === undefined ? {} : { without_own_delays_ms: without }
}

function toSilenceSummary(silence: LoadSilence) {
  const { fromMs, durationMs, unanswered } = silence
  const message = sayLoadSilence(silence)
  return { from_s: fromMs / 1000, duration_s: durationMs / 1000, requests: unanswered, message }
}

function toFirstRequest({ errorCode, durationMs, ...first }: LoadFirstRequest) {
  const { outcome, status, message, traceparent } = first
  return {
    outcome,
    status,
    error_code: errorCode,
    message,
    duration_ms: durationMs,
    ...(traceparent !== undefined && { traceparent }),
  }
}

function toEchoes({ echoes }: LoadState): Pick<RunSummary, 'echoes'> {
  if (echoes === undefined) return {}
  const { verified, alike = 0, notVerifiable, mismatched } = echoes
  const counts = { verified, alike, not_verifiable: notVerifiable, mismatched }
  return verified + notVerifiable + mismatched === 0 ? {} : { echoes: counts }
}

function toCallbackCounts({
  received,
  doubled,
  differing = 0,
  otherPost = 0,
  unreadable = 0,
  late = 0,
  ofRefused = 0,
}: NonNullable<LoadState['callbacks']>) {
  return {
    received,
    settled: received - doubled - differing - otherPost - unreadable - ofRefused,
    early: 0,
    late,
    doubled,
    differing,
    other_post: otherPost,
    unreadable,
    ...(ofRefused > 0 && { of_refused: ofRefused }),
  }
}
