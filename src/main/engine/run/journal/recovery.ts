import { LatencyMeter } from '../../../../shared/load/latency-meter.ts'
import { toErrorKey } from '../../../../shared/run/counts.ts'
import { INVALID_API_KEY, isKeyRefusal } from '../../../../shared/service/errors.ts'
import { type ErrorCause, uncountError } from '../../journal/counters.ts'
import type { Journal } from '../../journal/journal.ts'
import { readRunRecord, updateRunRecord } from '../../journal/run-record.ts'
import { isTimed, type RecountedSecond, SecondWriter } from '../../journal/seconds.ts'
import { selectReplacedTries } from '../../journal/sent-as.ts'
import { recordPhases } from '../../sending/second-meter.ts'
import { type DatabaseSync, readRows } from '../../workspace/sqlite.ts'
import type { AttemptRecord } from '../recorder.ts'
import { TRIES_OF_ITEM } from './item-claims.ts'

/** Message of a row whose request may have been sent just before its run was cut off. */
export const CUT_OFF_MESSAGE =
  'the run was cut off before the answer was journaled; it may or may not have been sent'

/** Its cause, as errors are counted. */
export const CUT_OFF_CAUSE = toErrorKey('unknown', null, null, CUT_OFF_MESSAGE)

/**
 * Repairs a journal whose process died: every item marked without an outcome becomes `unknown`, never failed,
 * and is never silently resent. Leaves a run that ended in order alone. Returns the number of items found.
 */
export function recoverUnknown(journal: Journal): number {
  const { db, counters } = journal
  const record = readRunRecord(db)
  if (record === null || record.state !== 'running') return 0
  const unmarked = readRows<CutOffRow>(
    db,
    `SELECT id AS row, item, 1 AS number FROM row WHERE id <= ? AND item IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) ORDER BY id`,
    record.claimed,
  )
  const marked = readRows<CutOffRow>(
    db,
    `SELECT result.row, row.item, ${TRIES_OF_ITEM} + 1 AS number FROM result JOIN row ON row.id = result.row
     WHERE state = 'sending' ORDER BY result.row`,
  )
  const settle = db.prepare(
    `INSERT INTO result (row, state, attempts, message) VALUES (?, 'unknown', ?, ?) ON CONFLICT (row) DO UPDATE SET
     state = 'unknown', attempts = excluded.attempts, message = excluded.message, status = NULL, error_code = NULL,
     task_id = NULL`,
  )
  const attempt = db.prepare(
    "INSERT INTO attempt (item, number, outcome, message) VALUES (?, ?, 'unknown', ?)",
  )
  const cutOff = [...unmarked, ...marked]
  counters.add('state', 'sending', -marked.length)
  counters.add('state', 'unknown', cutOff.length)
  counters.add('error', CUT_OFF_CAUSE, cutOff.length)
  const items = [...new Map(cutOff.map((row) => [row.item, row])).values()]
  const tries = [...items, ...findSettledTries(db)]
  counters.add('request', 'unknown', tries.length)
  counters.add('request', 'retried', tries.filter(({ number }) => number > 1).length)
  journal.transact('power', () => {
    for (const { row, number } of cutOff) settle.run(row, number, CUT_OFF_MESSAGE)
    for (const { item, number } of tries) attempt.run(item, number, CUT_OFF_MESSAGE)
    updateRunRecord(db, { state: 'interrupted' })
  })
  return items.length
}

/** A row of an item whose last try, by number, has no outcome. */
interface CutOffRow {
  row: number
  item: number
  number: number
}

/** Tries whose callback was journaled but not their own end. */
function findSettledTries(db: DatabaseSync): Omit<CutOffRow, 'row'>[] {
  return readRows(
    db,
    `SELECT DISTINCT item, attempts AS number FROM callback JOIN result ON result.row = callback.item
     WHERE effect = 'settled' AND attempts > 0 AND NOT EXISTS (SELECT 1 FROM attempt
       WHERE attempt.item = callback.item AND attempt.number = result.attempts)`,
  )
}

/** Requeues every item of unknown outcome, with the same post_id and body. */
export function resendUnknown(journal: Journal): void {
  const { db, counters } = journal
  const rows = counters.get('state', 'unknown')
  if (rows === 0) return
  counters.add('state', 'unknown', -rows)
  counters.add('state', 'pending', rows)
  for (const [group, n] of counters.entries('error')) {
    if (group.startsWith('["unknown"')) counters.add('error', group, -n)
  }
  journal.transact('power', () => {
    // Only the state says that a try may have been accepted whose answer or callback did not tell. Each try
    // of an index add counts by itself, since each may have added an item.
    if (readRunRecord(db)?.plan.operation.kind !== 'index-add') {
      db.exec(`INSERT OR IGNORE INTO lost_try SELECT item FROM result JOIN row ON row.id = result.row
        WHERE state = 'unknown' AND item IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.item = row.item AND outcome = 'unknown')`)
    }
    db.exec("UPDATE result SET state = 'pending' WHERE state = 'unknown'")
    // A completed run is no longer complete.
    updateRunRecord(db, { state: 'interrupted' })
  })
}

/** Requeues rows refused only for the key, so that no try can have been accepted; returns how many. */
export function resendKeyRefused(journal: Journal): number {
  const { db, counters } = journal
  const refused = readRows<ErrorCause & { row: number }>(
    db,
    `SELECT result.row, state, status, error_code AS errorCode, message FROM result JOIN row ON row.id = result.row
     WHERE state = 'rejected' AND (status IN (401, 403) OR error_code = '${INVALID_API_KEY}')
     AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.item = row.item AND outcome = 'unknown'
       AND number > ${selectReplacedTries('result.row')})
     AND NOT EXISTS (SELECT 1 FROM lost_try WHERE lost_try.item = row.item AND ${selectReplacedTries('result.row')} = 0)
     AND NOT EXISTS (SELECT 1 FROM callback WHERE callback.item = row.item AND effect <> 'settled_before')`,
  ).filter(({ status, errorCode }) => isKeyRefusal(status, errorCode))
  if (refused.length === 0) return 0
  const setPending = db.prepare("UPDATE result SET state = 'pending' WHERE row = ?")
  journal.transact(
    'power',
    () => {
      for (const cause of refused) {
        setPending.run(cause.row)
        uncountError(counters, cause, 1)
      }
      counters.add('state', 'rejected', -refused.length)
      counters.add('state', 'pending', refused.length)
    },
    true,
  )
  return refused.length
}

/** A try as it is needed here. */
interface JournaledAttempt
  extends Pick<
    AttemptRecord,
    'item' | 'number' | 'outcome' | 'errorCode' | 'waitingUs' | 'connectUs' | 'tlsUs'
  > {
  at: number
  durationUs: number
}

/**
 * Writes the seconds that were open when the process died, from their journaled tries. Values that only the
 * dead process knew (start_lag, response_time, the event loop) stay unknown.
 */
export function rebuildSeconds(journal: Journal): void {
  const { db } = journal
  const seconds = new Map(findSecondsToRebuild(db).map((at) => [at, createSecond(at)]))
  if (seconds.size === 0) return
  for (const attempt of readAttemptsFrom(journal, Math.min(...seconds.keys()))) {
    const second = seconds.get(attempt.at)
    if (second === undefined) continue
    second[attempt.outcome] += 1
    if (isTimed(attempt)) second.latency.record('http_req_duration', attempt.durationUs)
    if (attempt.outcome === 'succeeded') second.latency.record('succeeded_duration', attempt.durationUs)
    recordPhases(second.latency, attempt)
  }
  const writer = new SecondWriter(journal)
  journal.transact('process', () => {
    for (const second of seconds.values()) writer.recount(second)
  })
}

/**
 * The seconds with tries that no second counts. Any second may be one, since the clock may have been set back
 * between two sessions. A try that ended just before a second may be counted in that one: going back from the
 * newest, such pairs even out, and only uncounted tries remain.
 */
function findSecondsToRebuild(db: DatabaseSync): number[] {
  const rows = readRows<{ at: number; uncounted: number }>(
    db,
    `SELECT at, sum(tries) AS uncounted FROM (
       SELECT (sent_at_us + duration_us) / 1000000 AS at, count(*) AS tries FROM attempt
       WHERE sent_at_us IS NOT NULL GROUP BY 1
       UNION ALL SELECT at, -sent FROM second
     ) GROUP BY at HAVING uncounted <> 0 ORDER BY at DESC`,
  )
  const found: number[] = []
  let left = rows.reduce((sum, { uncounted }) => sum + uncounted, 0)
  let since = 0
  for (const { at, uncounted } of rows) {
    if (left <= 0) break
    since += uncounted
    if (since <= 0) continue
    found.push(at)
    left -= since
    since = 0
  }
  return found
}

function* readAttemptsFrom(journal: Journal, at: number): Generator<JournaledAttempt> {
  const page = `SELECT item, number, (sent_at_us + duration_us) / 1000000 AS at, outcome, error_code AS errorCode,
    duration_us AS durationUs, waiting_us AS waitingUs, connect_us AS connectUs, tls_us AS tlsUs
    FROM attempt WHERE (item, number) > (?, ?) AND sent_at_us IS NOT NULL
    AND (sent_at_us + duration_us) / 1000000 >= ? ORDER BY item, number LIMIT 10000`
  let last = { item: 0, number: 0 }
  for (;;) {
    const attempts = readRows<JournaledAttempt>(journal.db, page, last.item, last.number, at)
    yield* attempts
    const newest = attempts.at(-1)
    if (newest === undefined) return
    last = newest
  }
}

function createSecond(at: number): RecountedSecond {
  return {
    at,
    succeeded: 0,
    rejected: 0,
    failed: 0,
    unknown: 0,
    latency: new LatencyMeter(),
  }
}
