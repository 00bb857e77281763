import type { LoadStatus } from '../../../shared/load/load-report.ts'
import { NO_MEASUREMENTS } from '../../../shared/load/metrics.ts'
import { evaluateThresholds } from '../../../shared/load/thresholds.ts'
import type { ErrorGroup } from '../../../shared/run/run.ts'
import type { DatabaseSync } from '../workspace/sqlite-types.ts'
import { type LoadSecondExtras, type LoadState, readLoadState } from './load-writer.ts'
import type { RunView } from './run-view.ts'

/** Stop reason of a load test whose process died. */
export const LOAD_CUT_OFF_REASON =
  'its process ended before the load did (crash, kill -9 or power loss); the figures cover the whole seconds until then, and requests that were in flight are unknown and in no threshold'

/** Outcome of requests that were in flight then. */
const LOST = {
  outcome: 'unknown',
  status: null,
  message: 'the load was cut off before the answer came',
} as const

/** A load test as a whole, and how many of its requests were lost with its process. */
export interface RecoveredLoad {
  /** Null before its first second is over. */
  state: LoadState | null
  lost: number
}

/** Requests that were lost with the process that had sent them, as a summary lists them. */
export function toLostGroups(lost: number): ErrorGroup[] {
  return lost === 0 ? [] : [{ ...LOST, error_code: null, rows: lost }]
}

/**
 * What a journal says of a load test as a whole. Where its process died, requests that had gone out by the end of the
 * last whole second and had not ended are unknown, as in any run (docs/architecture.md §2.1).
 */
export function readRecoveredLoad({ db, isCutOff }: RunView): RecoveredLoad {
  const state = readLoadState(db)
  if (state === null || !isCutOff) return { state, lost: 0 }
  const tries = state.statuses.reduce((sum, { requests }) => sum + requests, 0)
  // What was sent counts first attempts only; retries that were in flight are told nowhere.
  const lost = Math.max(0, state.sent - (tries - state.retried))
  return { state: lost === 0 ? state : withLost(state, lost, readSecondCount(db) - 1), lost }
}

/** When the last whole second of a load test ended whose process died, milliseconds; null where none did. */
export function readCutOffMs({ db, isCutOff }: RunView): number | null {
  return isCutOff ? readSecondCount(db) * 1000 : null
}

/** Whole seconds since measuring began; what came after the measured time has its own. */
function readSecondCount(db: DatabaseSync): number {
  const last = db.prepare('SELECT extras FROM second WHERE extras IS NOT NULL ORDER BY at DESC LIMIT 1').get()
  return last === undefined ? 0 : (JSON.parse(String(last['extras'])) as LoadSecondExtras).second + 1
}

/** How thresholds stand where nothing was measured. */
export function evaluateWithoutData({ record }: RunView): LoadState['thresholds'] {
  return evaluateThresholds(record.plan.load?.thresholds ?? [], NO_MEASUREMENTS)
}

function withLost(state: LoadState, lost: number, second: number): LoadState {
  const isAlike = ({ status, errorCode }: LoadStatus) => status === null && errorCode === null
  const unanswered = lost + (state.statuses.find(isAlike)?.requests ?? 0)
  const mostFirst = (a: { requests: number }, b: { requests: number }) => b.requests - a.requests
  return {
    ...state,
    statuses: [
      ...state.statuses.filter((one) => !isAlike(one)),
      { status: null, errorCode: null, requests: unanswered },
    ].sort(mostFirst),
    errors: [
      ...state.errors,
      { ...LOST, errorCode: null, requests: lost, firstSecond: second, lastSecond: second },
    ].sort(mostFirst),
  }
}
