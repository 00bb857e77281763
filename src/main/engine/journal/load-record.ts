import type {
  LoadCallbackCounts,
  LoadErrorGroup,
  LoadFirstRequest,
  LoadSample,
  LoadSilence,
  LoadStage,
  LoadStatus,
  LoadThrottling,
} from '../../../shared/load/load-report.ts'
import { type MetricValues, NO_MEASUREMENTS, type TrendMetric } from '../../../shared/load/metrics.ts'
import type { StreamedSecond } from '../../../shared/load/streamed-second.ts'
import { evaluateThresholds, type ThresholdResult } from '../../../shared/load/thresholds.ts'
import type { ErrorGroup, Percentiles, WithoutOwnDelays } from '../../../shared/run/run.ts'
import { type DatabaseSync, readRows, type StatementSync } from '../workspace/sqlite.ts'
import type { Journal } from './journal.ts'
import type { RunView } from './run-family.ts'
import { type SecondRecord, SecondWriter } from './seconds.ts'

/** Additional values of a second of a load test. */
export interface LoadSecondExtras
  extends Pick<StreamedSecond, 'second' | 'scheduled' | 'sent' | 'dropped' | 'inFlight'> {
  gcUs: number
}

/** Overall state of a load test; small, rewritten each second. */
export interface LoadState {
  /** When measuring began, Unix milliseconds. */
  startMs: number
  /** Measured time so far, milliseconds. */
  measuredMs: number
  scheduled: number | null
  /** Requests sent, and retries among them; without `sentRetries`, as in old versions, only first tries. */
  sent: number
  sentRetries?: number
  dropped: number
  waited: number
  /** The longest start lag not caused by the limit of requests in flight; missing in earlier versions. */
  ownLagMaxUs?: number
  /** Failed requests that bursts after stalls of this machine may explain; missing in earlier versions. */
  mayBeOwnFailures?: number
  /** All requests with an answer of any kind; those of the measured time are in `within`. */
  answered: number
  /** Counts within the measured time, from which rates are computed. */
  within: { sent: number; retries?: number; ended: number; answered: number; succeeded: number }
  maxInFlight: number
  fromCache: number
  /** Successful answers and callbacks that say nothing of the content; missing in earlier versions. */
  noResult?: number
  /** Successful answers that lack a model that was requested; missing in earlier versions. */
  missingModels?: number
  /** Successful answers that repeat nothing and name another request's task; missing in earlier versions. */
  sharedTasks?: number
  /** Answers that prove whose they are, repeat no post_id, and name another; missing in earlier versions. */
  echoes?: { verified: number; alike?: number; notVerifiable: number; mismatched: number }
  retried: number
  /** How long a Retry-After put off tries, milliseconds in total; missing in earlier versions. */
  putOffMs?: number
  statuses: LoadStatus[]
  errors: LoadErrorGroup[]
  throttling: LoadThrottling
  connections: { opened: number; reused: number }
  gc: { pauses: number; maxUs: number }
  limitedSeconds: number
  limitedReasons: string[]
  /** Latencies without delays of this machine; missing in earlier versions. */
  withoutOwnDelays?: WithoutOwnDelays
  /** Seconds in which too little of the schedule was sent; missing in earlier versions. */
  behindSeconds?: number
  /** The request before all others, if any; earlier versions sent none. */
  first?: LoadFirstRequest
  /** Answers to requests of the warm-up; missing without one, and in earlier versions. */
  warmupAnswers?: number
  thresholds: ThresholdResult[]
  /** Absent if answers arrived normally, and in earlier versions. */
  silence?: LoadSilence
  /** Metrics other than latencies, and the stages of a staged pace; missing in earlier versions. */
  metrics?: MetricValues
  stages?: LoadStage[]
  /** Null unless the load is async. */
  callbacks: LoadCallbackCounts | null
  /** Latencies as reported by k6, for results without distributions. */
  percentiles?: Partial<Record<TrendMetric, Percentiles>>
  /** Latencies without a distribution, as far as an imported summary contains them. */
  partialPercentiles?: Partial<Record<TrendMetric, Partial<Percentiles>>>
  /** Notes on k6's results, one sentence each. */
  notes?: string[]
}

/** Requests of one model or range of content sizes, with their http_req_duration compressed. */
export interface LoadGroupRecord {
  by: 'model' | 'size'
  label: string
  requests: number
  failed: number
  histogram: string | null
}

/** Writes the measurements of a load test; the file's size does not grow with the requests. */
export class LoadWriter {
  readonly #seconds: SecondWriter
  readonly #extras: StatementSync
  readonly #state: StatementSync
  readonly #group: StatementSync
  readonly #sample: StatementSync

  constructor(journal: Journal) {
    const { db } = journal
    this.#seconds = new SecondWriter(journal)
    this.#extras = db.prepare('UPDATE second SET extras = ? WHERE at = ?')
    this.#state = db.prepare('INSERT OR REPLACE INTO load (id, state) VALUES (1, ?)')
    this.#group = db.prepare(
      'INSERT OR REPLACE INTO load_group (kind, value, requests, failed, histogram) VALUES (?, ?, ?, ?, ?)',
    )
    this.#sample = db.prepare('INSERT OR REPLACE INTO sample (slot, document) VALUES (?, ?)')
  }

  /** The caller has a transaction open, here and for all other methods. */
  writeSecond(second: SecondRecord, extras: LoadSecondExtras): void {
    this.#seconds.replace(second)
    this.#extras.run(JSON.stringify(extras), second.at)
  }

  writeState(state: LoadState): void {
    this.#state.run(JSON.stringify(state))
  }

  writeGroup({ by, label, requests, failed, histogram }: LoadGroupRecord): void {
    this.#group.run(by, label, requests, failed, histogram)
  }

  /** Stores a complete request in a slot, replacing the previous one. */
  writeSample(slot: number, sample: LoadSample): void {
    this.#sample.run(slot, JSON.stringify(sample))
  }
}

/** The overall state of a load test; null before its first second is over. */
function readLoadState(db: DatabaseSync): LoadState | null {
  const row = db.prepare('SELECT state FROM load').get()
  return row === undefined ? null : (JSON.parse(String(row['state'])) as LoadState)
}

export function readLoadGroups(db: DatabaseSync): LoadGroupRecord[] {
  return readRows(
    db,
    'SELECT kind AS "by", value AS label, requests, failed, histogram FROM load_group ORDER BY kind, rowid',
  )
}

/** Completely stored requests, in the order of their slots, read a page at a time. */
export function* readSamples(db: DatabaseSync): Generator<LoadSample> {
  const page = db.prepare('SELECT slot, document FROM sample WHERE slot > ? ORDER BY slot LIMIT 500')
  let last = -1
  for (let rows = page.all(last); rows.length > 0; rows = page.all(last)) {
    for (const { slot, document } of rows) {
      last = Number(slot)
      yield JSON.parse(String(document)) as LoadSample
    }
  }
}

/** Requests sent: all, and the first tries among them. */
export function countSent({ sent, sentRetries, retried }: LoadState): { all: number; first: number } {
  return sentRetries === undefined
    ? { all: sent + retried, first: sent }
    : { all: sent, first: sent - sentRetries }
}

/** Stop reason of a load test whose process died. */
export const LOAD_CUT_OFF_REASON =
  'its process ended before the load did (crash, kill -9 or power loss); the figures cover the whole seconds until then, and requests that were in flight are unknown; thresholds count those that had waited long'

/** Outcome of the requests that were in flight. */
const LOST = {
  outcome: 'unknown',
  status: null,
  message: 'the load test ended before the answer arrived',
} as const

/** The overall state of a load test, and the number of requests lost with its process. */
export interface RecoveredLoad {
  /** Null before its first second is over. */
  state: LoadState | null
  lost: number
}

/** Requests lost with their process, for a summary's list. */
export function toLostGroups(lost: number): ErrorGroup[] {
  return lost === 0 ? [] : [{ ...LOST, error_code: null, rows: lost }]
}

/**
 * The overall state of a load test. If its process died, requests sent by the end of the last whole second
 * that had not ended are unknown, as in any run (docs/architecture.md §2.1).
 */
export function readRecoveredLoad({ db, isCutOff }: RunView): RecoveredLoad {
  const state = readLoadState(db)
  if (state === null || !isCutOff) return { state, lost: 0 }
  const tries = state.statuses.reduce((sum, { requests }) => sum + requests, 0)
  const lost = Math.max(0, countSent(state).all - tries)
  return { state: lost === 0 ? state : withLost(state, lost, readSecondCount(db) - 1), lost }
}

/**
 * When the last whole second of a load test whose process died ended, milliseconds since measuring began;
 * null for any other.
 */
export function readCutOffMs({ db, isCutOff }: RunView): number | null {
  return isCutOff ? readSecondCount(db) * 1000 : null
}

/** Whole seconds since measuring began, including those after the measured time. */
function readSecondCount(db: DatabaseSync): number {
  const last = db.prepare('SELECT extras FROM second WHERE extras IS NOT NULL ORDER BY at DESC LIMIT 1').get()
  return last === undefined ? 0 : (JSON.parse(String(last['extras'])) as LoadSecondExtras).second + 1
}

/** The result of thresholds without any data. */
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
