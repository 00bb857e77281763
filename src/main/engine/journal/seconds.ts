import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  createHistogram,
  decodeHistogram,
  LatencyMeter,
  toPercentiles,
} from '../../../shared/load/latency-meter.ts'
import {
  COURSE_METRICS,
  PHASE_METRICS,
  TREND_METRICS,
  type TrendMetric,
} from '../../../shared/load/metrics.ts'
import { COURSE_POINTS } from '../../../shared/lookback/run-list.ts'
import { OUTCOMES, type Outcome } from '../../../shared/run/item-state.ts'
import { readNumber, readValues } from '../workspace/sqlite.ts'
import type { Journal } from './journal.ts'
import type { RunView } from './run-family.ts'
import { type RunRecord, updateRunRecord } from './run-record.ts'
import { readSessions } from './sessions.ts'

/** One second of a run: the tries that ended in it. */
export interface SecondRecord {
  /** Unix seconds. */
  at: number
  succeeded: number
  rejected: number
  failed: number
  unknown: number
  /** Longest delay of the sending thread's event loop, microseconds; null if it was not watched. */
  eventLoopMaxUs: number | null
  /** Whether this machine was too slow in that second (docs/load-tests.md §1). */
  generatorLimited: boolean
  latency: LatencyMeter
}

/** A second recounted from the journaled tries. */
export type RecountedSecond = Omit<SecondRecord, 'eventLoopMaxUs' | 'generatorLimited'>

/** Series that can be measured again from journaled tries. */
const SERIES_OF_TRIES: readonly TrendMetric[] = [
  'http_req_duration',
  'succeeded_duration',
  ...PHASE_METRICS.map(({ metric }) => metric),
]

/** Writes the run's seconds. */
export class SecondWriter {
  readonly #insert: StatementSync
  readonly #recount: StatementSync
  readonly #select: StatementSync

  constructor(journal: Journal) {
    this.#select = journal.db.prepare('SELECT * FROM second WHERE at = ?')
    this.#insert = journal.db.prepare(
      `INSERT OR REPLACE INTO second (at, sent, succeeded, rejected, failed, unknown, event_loop_max_us,
       generator_limited, ${COURSE_METRICS.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?${', ?'.repeat(COURSE_METRICS.length)})`,
    )
    const counted = ['sent', ...OUTCOMES, ...SERIES_OF_TRIES]
    this.#recount = journal.db.prepare(
      `INSERT INTO second (at, ${counted.join(', ')}) VALUES (?${', ?'.repeat(counted.length)})
       ON CONFLICT (at) DO UPDATE SET ${counted.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    )
  }

  /** Writes one second, adding it to what an earlier session recorded. The caller has a transaction open. */
  write(second: SecondRecord): void {
    const earlier = this.#select.get(second.at)
    this.replace(earlier === undefined ? second : addUp(second, earlier))
  }

  /**
   * Recounts all tries of one second. Values that only the measuring process knew stay as journaled. The
   * caller has a transaction open.
   */
  recount({ at, succeeded, rejected, failed, unknown, latency }: RecountedSecond): void {
    const sent = succeeded + rejected + failed + unknown
    const histograms = SERIES_OF_TRIES.map((series) => latency.encode(series))
    this.#recount.run(at, sent, succeeded, rejected, failed, unknown, ...histograms)
  }

  /** Replaces the journal's record of one second. The caller has a transaction open. */
  replace(second: SecondRecord): void {
    const { at, succeeded, rejected, failed, unknown, latency } = second
    this.#insert.run(
      at,
      succeeded + rejected + failed + unknown,
      succeeded,
      rejected,
      failed,
      unknown,
      second.eventLoopMaxUs,
      second.generatorLimited ? 1 : 0,
      ...COURSE_METRICS.map((metric) => latency.encode(metric)),
    )
  }
}

function addUp(second: SecondRecord, row: Record<string, unknown>): SecondRecord {
  const latency = new LatencyMeter()
  latency.addAll(second.latency)
  for (const series of COURSE_METRICS) {
    const encoded = row[series]
    if (typeof encoded === 'string') latency.add(series, decodeHistogram(encoded))
  }
  return {
    at: second.at,
    succeeded: second.succeeded + Number(row['succeeded']),
    rejected: second.rejected + Number(row['rejected']),
    failed: second.failed + Number(row['failed']),
    unknown: second.unknown + Number(row['unknown']),
    eventLoopMaxUs: Math.max(second.eventLoopMaxUs ?? 0, Number(row['event_loop_max_us'] ?? 0)),
    generatorLimited: second.generatorLimited || Number(row['generator_limited']) === 1,
    latency,
  }
}

/** The run's total latency: as stored when sending last ended, or added up from its seconds. */
export function readLatency(db: DatabaseSync): LatencyMeter {
  const meter = new LatencyMeter()
  const totals = db.prepare('SELECT series, histogram FROM latency').all()
  for (const { series, histogram } of totals) {
    meter.add(series as TrendMetric, decodeHistogram(String(histogram)))
  }
  return totals.length > 0 ? meter : addUpSeconds(db)
}

/** Stores the run's total latency when sending ends. The caller has a transaction open. */
export function writeLatency(db: DatabaseSync, meter: LatencyMeter): void {
  const insert = db.prepare('INSERT OR REPLACE INTO latency (series, histogram) VALUES (?, ?)')
  for (const series of TREND_METRICS) {
    const histogram = meter.encode(series)
    if (histogram !== null) insert.run(series, histogram)
  }
}

/** Deletes the soon outdated data of {@link writeLatency}. The caller has a transaction open. */
export function clearLatency(db: DatabaseSync): void {
  db.exec('DELETE FROM latency')
}

/** Number of newest seconds that a running run still adds to. */
export const OPEN_SECONDS = 5

/** Sum of a journal's seconds at a reader's last request, without the newest ones. */
interface AddedUp {
  upTo: number
  check: string
  meter: LatencyMeter
}

const addedUp = new WeakMap<DatabaseSync, AddedUp>()

/** Adds only new seconds to this reader's earlier sum: decompressing an hour of them takes many seconds. */
function addUpSeconds(db: DatabaseSync): LatencyMeter {
  const upTo = readNumber(db, 'SELECT max(at) FROM second') - OPEN_SECONDS
  const before = addedUp.get(db)
  const isSame =
    before !== undefined && before.upTo <= upTo && before.check === describeSeconds(db, before.upTo)
  const known = isSame ? before : undefined
  // Forget the sum first, in case reading fails half-way.
  addedUp.delete(db)
  const settled = { upTo, check: describeSeconds(db, upTo), meter: known?.meter ?? new LatencyMeter() }
  addSeconds(db, settled.meter, [known?.upTo ?? 0, upTo])
  addedUp.set(db, settled)
  const meter = new LatencyMeter()
  meter.addAll(settled.meter)
  addSeconds(db, meter, [upTo, Number.MAX_SAFE_INTEGER])
  return meter
}

/** Changes once a try or a latency is added to a second, as recovery does. */
function describeSeconds(db: DatabaseSync, upTo: number): string {
  const sizes = COURSE_METRICS.map((series) => `total(octet_length(${series})) AS ${series}`)
  const found = db.prepare(
    `SELECT count(*) AS n, total(sent) AS sent, ${sizes.join(', ')} FROM second WHERE at <= ?`,
  )
  return JSON.stringify(found.get(upTo))
}

function addSeconds(db: DatabaseSync, meter: LatencyMeter, [above, upTo]: readonly [number, number]): void {
  // Pages, not an open cursor: a reader that stays open keeps the WAL from being emptied.
  const page = db.prepare('SELECT * FROM second WHERE at > ? AND at <= ? ORDER BY at LIMIT 200')
  let lastAt = above
  for (let rows = page.all(lastAt, upTo); rows.length > 0; rows = page.all(lastAt, upTo)) {
    for (const row of rows) {
      lastAt = Number(row['at'])
      for (const series of COURSE_METRICS) {
        const encoded = row[series]
        if (typeof encoded === 'string') meter.add(series, decodeHistogram(encoded))
      }
    }
  }
}

/**
 * The time a run has spent sending, milliseconds. The time of a session that is sending, or was cut off, is
 * not stored yet: it counts up to its last second with a try.
 */
export function readSendingMs(
  db: DatabaseSync,
  { state, sendingMs, startedAtMs, plan }: Pick<RunRecord, 'state' | 'sendingMs' | 'startedAtMs' | 'plan'>,
): number {
  if (state !== 'running') return sendingMs
  const seconds = readNumber(db, 'SELECT count(*) FROM second WHERE sent > 0')
  const knownMs = Math.max(seconds * 1000, sendingMs)
  const session = readSessions(db).at(-1)
  // A load test does not measure from its start on, and earlier versions wrote all sessions as one.
  if (plan.load !== undefined || session === undefined) return knownMs
  const pausedAtMs = session.endedAtMs
  if (pausedAtMs === null && session.sendingMs !== sendingMs) return knownMs
  const sinceMs = Math.max(pausedAtMs ?? session.startedAtMs, startedAtMs ?? 0)
  const found = db.prepare('SELECT min(at) AS first, max(at) AS last FROM second WHERE sent > 0 AND at >= ?')
  const { first, last } = found.get(Math.floor(sinceMs / 1000)) ?? {}
  if (typeof first !== 'number' || typeof last !== 'number') return knownMs
  // When a pause ended is not known.
  const startMs = pausedAtMs === sinceMs ? Math.max(first * 1000, sinceMs) : sinceMs
  return Math.max(knownMs, sendingMs + (last + 1) * 1000 - startMs)
}

/** Writes the time that a cut-off session spent sending. */
export function restoreSendingTime(journal: Journal, record: RunRecord): void {
  const sendingMs = readSendingMs(journal.db, record)
  journal.transact('process', () => updateRunRecord(journal.db, { sending_ms: sendingMs }))
}

/** Most seconds read for each point of a course. */
const SECONDS_OF_POINT = 2

/**
 * The p95 of http_req_duration over the course of a run and its retries, milliseconds, at most
 * {@link COURSE_POINTS} points. In a long run a few seconds stand for each part, so that reading takes no
 * longer than for a short run.
 */
export function readLatencyCourse(members: readonly Pick<RunView, 'db'>[]): number[] {
  const seconds = members.flatMap(({ db }) =>
    readValues<number>(db, 'SELECT at FROM second WHERE sent > 0 ORDER BY at').map((at) => ({ db, at })),
  )
  const points = Math.min(COURSE_POINTS, seconds.length)
  return Array.from({ length: points }, (_, point) => {
    const first = Math.floor((point * seconds.length) / points)
    const end = Math.floor(((point + 1) * seconds.length) / points)
    const histogram = createHistogram()
    for (const { db, at } of seconds.slice(first, Math.min(end, first + SECONDS_OF_POINT))) {
      const [encoded] = readValues<string | null>(db, 'SELECT http_req_duration FROM second WHERE at = ?', at)
      if (typeof encoded === 'string') histogram.add(decodeHistogram(encoded))
    }
    return toPercentiles(histogram)?.p95
  }).filter((p95) => p95 !== undefined)
}

/** Error codes of tries that timed out unsent: our own timeout and the one for opening a connection. */
const TIME_OUT_CODES: ReadonlySet<string> = new Set(['TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])

/**
 * Whether a try has an http_req_duration: it was sent, or it timed out before (docs/load-tests.md §1).
 * `failed` means not sent, so this also works for a journaled try.
 */
export function isTimed(attempt: { outcome: Outcome; errorCode: string | null }): boolean {
  return attempt.outcome !== 'failed' || TIME_OUT_CODES.has(attempt.errorCode ?? '')
}
