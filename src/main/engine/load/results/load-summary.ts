import type { RunSummary } from '../../../../shared/run/run.ts'
import { judgeNothing, LOAD_CUT_OFF_REASON, type ToldLoad } from '../../journal/load-state.ts'
import type { LoadState } from '../../journal/load-writer.ts'
import type { RunView } from '../../journal/run-view.ts'
import { toLoadHealth } from './load-health.ts'

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
