import type { Histogram } from 'hdr-histogram-js'
import {
  decodeHistogram,
  LATENCY_SERIES,
  type LatencySeriesName,
  toPercentiles,
} from '../../../shared/load/latency-meter.ts'
import type { Load } from '../../../shared/load/load.ts'
import { isOpen } from '../../../shared/load/load-pace.ts'
import type { LoadSecond } from '../../../shared/load/load-report.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { judgeNothing, LOAD_CUT_OFF_REASON, type ToldLoad } from '../journal/load-state.ts'
import type { LoadSecondExtras, LoadState } from '../journal/load-writer.ts'
import type { RunView } from '../journal/run-view.ts'
import type { DatabaseSync } from '../workspace/sqlite-types.ts'

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
function toHistograms(second: StoredLoadSecond): Partial<Record<LatencySeriesName, Histogram>> {
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

/** The whole schedule must have gone out to this share, or the generator limited the whole (docs/load-tests.md §1). */
const ACHIEVED_SHARE = 0.98

/** How the machine did that sent a load, as far as its journal's state tells. */
export interface LoadHealth {
  limited: boolean
  limitedSeconds: number
  /** Why it was limited, a sentence each. */
  reasons: string[]
  dropped: number
  waited: number
  gcPauses: number
  gcMaxMs: number | null
  /** Share of the schedule that was sent, 0 to 1; null at a closed pace. */
  achievedShare: number | null
  workers: number
}

/** How the machine did that sent a load (docs/load-tests.md §1); `state` is null before its first second is over. */
export function toLoadHealth(load: Load, state: LoadState | null): LoadHealth {
  const scheduled = isOpen(load.pace) ? (state?.scheduled ?? null) : null
  const sent = (state?.sent ?? 0) + (state?.dropped ?? 0)
  const achievedShare = scheduled === null || scheduled === 0 ? null : Math.min(1, sent / scheduled)
  const reasons = [...(state?.limitedReasons ?? [])]
  // What waited for the cap until the end was the service's doing.
  if (achievedShare !== null && achievedShare < ACHIEVED_SHARE && state?.waited === 0) {
    reasons.push(`Only ${Math.floor(achievedShare * 1000) / 10} % of the schedule went out.`)
  }
  return {
    limited: reasons.length > 0,
    limitedSeconds: state?.limitedSeconds ?? 0,
    reasons,
    dropped: state?.dropped ?? 0,
    waited: state?.waited ?? 0,
    gcPauses: state?.gc.pauses ?? 0,
    gcMaxMs: state === null ? null : state.gc.maxUs / 1000,
    achievedShare,
    workers: load.workers,
  }
}

/** What is different in the summary of a load test. */
export type LoadSummaryParts = Pick<
  RunSummary,
  | 'stop_reason'
  | 'throughput'
  | 'retry_after'
  | 'from_cache'
  | 'callbacks'
  | 'load'
  | 'thresholds'
  | 'generator'
>

/**
 * What the summary of a load test says otherwise than that of another run: it counts requests, not rows. Null where the
 * run is none.
 */
export function toLoadSummary(
  view: RunView,
  { state }: ToldLoad,
  generator: RunSummary['generator'],
): Partial<LoadSummaryParts> | null {
  const { load } = view.record.plan
  if (load === undefined) return null
  const { limited, reasons, dropped, waited } = toLoadHealth(load, state)
  const health = {
    generator: { ...generator, limited, reasons, dropped, waited },
    ...(view.isCutOff ? { stop_reason: LOAD_CUT_OFF_REASON } : {}),
  }
  if (state === null) {
    // Nothing can be said yet of a load that has not begun, or whose first second is not over.
    const { state: stored, startedAtMs } = view.record
    const isYetToCome = view.isHeld || (startedAtMs === null && stored !== 'completed')
    return { ...health, thresholds: isYetToCome ? [] : judgeNothing(view) }
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
    // A load test asks no more than it is told: nothing was waited, but by retries where the plan has them.
    retry_after: { answers: throttling.retryAfterAnswers, waited_s: 0 },
    from_cache: { rows: state.fromCache },
    load: {
      scheduled_per_s: scheduled === null ? null : perS(scheduled),
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

function toCallbackCounts({ received, doubled }: NonNullable<LoadState['callbacks']>) {
  return {
    received,
    settled: received - doubled,
    early: 0,
    late: 0,
    doubled,
    unreadable: 0,
  }
}
