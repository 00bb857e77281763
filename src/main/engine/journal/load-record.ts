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
import { evaluateThresholds, type ThresholdResult } from '../../../shared/load/thresholds.ts'
import type { ErrorGroup, Percentiles, WithoutOwnDelays } from '../../../shared/run/run.ts'
import { type DatabaseSync, readRows, type StatementSync } from '../workspace/sqlite.ts'
import type { Journal } from './journal.ts'
import type { RunView } from './run-family.ts'
import { type SecondRecord, SecondWriter } from './seconds.ts'

/** What a second of a load test has in addition to what every second has. */
export interface LoadSecondExtras {
  /** Since measuring began, from 0. */
  second: number
  /** Requests that went out in it; those that ended in it are counted by outcome. */
  sent: number
  scheduled: number | null
  dropped: number
  inFlight: number
  gcUs: number
}

/** What is known of a load test as a whole; small, written again each second. */
export interface LoadState {
  /** When measuring began, Unix milliseconds. */
  startMs: number
  /** Measured time so far, milliseconds. */
  measuredMs: number
  scheduled: number | null
  /** Requests that went out, and those of them that were retries; without the latter, first tries as of earlier versions. */
  sent: number
  sentRetries?: number
  dropped: number
  waited: number
  /** The longest start lag that the limit of requests in flight did not cause; earlier versions did not keep it apart. */
  ownLagMaxUs?: number
  /** Answered in all, whatever the answer; the measured time's are in `within`. */
  answered: number
  /** Within the measured time: what rates are made of. */
  within: { sent: number; retries?: number; ended: number; answered: number; succeeded: number }
  maxInFlight: number
  fromCache: number
  /** Answers that prove whose they are, that repeat no post_id, and that name another; earlier versions compared none. */
  echoes?: { verified: number; alike?: number; notVerifiable: number; mismatched: number }
  retried: number
  statuses: LoadStatus[]
  errors: LoadErrorGroup[]
  throttling: LoadThrottling
  connections: { opened: number; reused: number }
  gc: { pauses: number; maxUs: number }
  limitedSeconds: number
  limitedReasons: string[]
  /** What latencies would be without delays of this machine; earlier versions did not keep it. */
  withoutOwnDelays?: WithoutOwnDelays
  /** Seconds in which less of the schedule went out than must; earlier versions did not keep them apart. */
  behindSeconds?: number
  /** The request before everything else, if there was one; earlier versions sent none. */
  first?: LoadFirstRequest
  thresholds: ThresholdResult[]
  /** Absent if answers came as they should, and of earlier versions. */
  silence?: LoadSilence
  /** Metrics that are no latencies, and the stages of a pace that has them; earlier versions wrote neither. */
  metrics?: MetricValues
  stages?: LoadStage[]
  /** Of async loads. */
  callbacks: LoadCallbackCounts | null
  /** Of results of k6 that have no distributions: latencies as they are told. */
  percentiles?: Partial<Record<TrendMetric, Percentiles>>
  /** Of an imported summary: latencies without a distribution, as far as it says. */
  partialPercentiles?: Partial<Record<TrendMetric, Partial<Percentiles>>>
  /** Of results of k6: what to know of them, a sentence each. */
  notes?: string[]
}

/** Requests of one model, or of one range of content sizes, with their http_req_duration compressed. */
export interface LoadGroupRecord {
  by: 'model' | 'size'
  label: string
  requests: number
  failed: number
  histogram: string | null
}

/** Writes what a load test measured, in a file whose size does not grow with its requests. */
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

  /** The caller has a transaction open, as for all of these. */
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

  /** Puts a request that is kept whole into its slot, in place of what was there. */
  writeSample(slot: number, sample: LoadSample): void {
    this.#sample.run(slot, JSON.stringify(sample))
  }
}

/** What is known of a load test as a whole; null before its first second is over. */
function readLoadState(db: DatabaseSync): LoadState | null {
  const row = db.prepare('SELECT state FROM load').get()
  return row === undefined ? null : (JSON.parse(String(row['state'])) as LoadState)
}

/** Requests by model and by size of content. */
export function readLoadGroups(db: DatabaseSync): LoadGroupRecord[] {
  return readRows(
    db,
    'SELECT kind AS "by", value AS label, requests, failed, histogram FROM load_group ORDER BY kind, rowid',
  )
}

/** Requests that were kept whole, a page at a time in the order of their slots. */
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

/** Requests that went out: all of them, and the first tries among them. */
export function countSent({ sent, sentRetries, retried }: LoadState): { all: number; first: number } {
  return sentRetries === undefined
    ? { all: sent + retried, first: sent }
    : { all: sent, first: sent - sentRetries }
}

/** Stop reason of a load test whose process died. */
export const LOAD_CUT_OFF_REASON =
  'its process ended before the load did (crash, kill -9 or power loss); the figures cover the whole seconds until then, and requests that were in flight are unknown and in no threshold'

/** Outcome of requests that were in flight then. */
const LOST = {
  outcome: 'unknown',
  status: null,
  message: 'the load test ended before the answer arrived',
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
 * What a journal says of a load test as a whole. If its process died, requests that had gone out by the end of the
 * last whole second and had not ended are unknown, as in any run (docs/architecture.md §2.1).
 */
export function readRecoveredLoad({ db, isCutOff }: RunView): RecoveredLoad {
  const state = readLoadState(db)
  if (state === null || !isCutOff) return { state, lost: 0 }
  const tries = state.statuses.reduce((sum, { requests }) => sum + requests, 0)
  const lost = Math.max(0, countSent(state).all - tries)
  return { state: lost === 0 ? state : withLost(state, lost, readSecondCount(db) - 1), lost }
}

/** When the last whole second of a load test ended whose process died, milliseconds; null if none did. */
export function readCutOffMs({ db, isCutOff }: RunView): number | null {
  return isCutOff ? readSecondCount(db) * 1000 : null
}

/** Whole seconds since measuring began; what came after the measured time has its own. */
function readSecondCount(db: DatabaseSync): number {
  const last = db.prepare('SELECT extras FROM second WHERE extras IS NOT NULL ORDER BY at DESC LIMIT 1').get()
  return last === undefined ? 0 : (JSON.parse(String(last['extras'])) as LoadSecondExtras).second + 1
}

/** How thresholds stand if nothing was measured. */
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
