import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toRowsPerItem } from '../../../../shared/operations/operations.ts'
import type { Fix } from '../../../../shared/plan/fixes.ts'
import { Journal } from '../../journal/journal.ts'
import { refuseDamagedCells } from '../../journal/journal-damage.ts'
import {
  describeSuccessor,
  findSuccessor,
  isDeleted,
  readRecordOf,
  readWholeRun,
  toRetriedStates,
} from '../../journal/run-family.ts'
import {
  insertRunRecord,
  type RunChanges,
  type RunRecord,
  readRunRecord,
  updateRunRecord,
} from '../../journal/run-record.ts'
import { toJournalFile } from '../../workspace/workspace-files.ts'
import { Recheck } from '../recheck.ts'
import { recoverUnknown } from './recovery.ts'

interface CopyOptions {
  runId: string
  /** Any run of the whole. */
  parentRunId: string
  workspace: string
  onUnknown: 'resend' | 'skip'
  /** Fixes of a correcting retry, which also takes over invalid and left-out rows. */
  fixes?: readonly Fix[] | undefined
  appVersion: string
  nowMs: number
}

/** A run that gives rows to a retry, and the states of these rows. */
interface RetriedRun {
  journal: Journal
  record: RunRecord
  states: readonly string[]
  /** Whether to take rows, too, that were never sent because of their problems. */
  takesInvalid: boolean
  changes: RunChanges
}

/**
 * Fills the journal of a retry with the rows that did not succeed in the whole, whichever of its runs is
 * named; with invalid ones only if it corrects, in which case all are checked again. Rows keep their numbers,
 * so that post_ids and bodies stay the same. From then on the retry stands for them: a run it took rows from
 * cannot be resumed. A later retry can take skipped unknown rows. Throws `RUN_BUSY`, or `RUN_NOT_RESUMABLE`
 * if there is nothing to send.
 */
export function copyUnsucceeded(child: Journal, options: CopyOptions): void {
  const members = readWholeRun(options.parentRunId, options.workspace, (runId) =>
    runId === options.runId ? null : readRecordOf(options.workspace, runId),
  ).map(({ record }) => record)
  const own = readRunRecord(child.db)
  const corrects = own?.corrects ?? options.fixes !== undefined
  const retriedRuns: RetriedRun[] = []
  try {
    for (const member of members) {
      const retried = openRetriedRun(child, member, { ...options, corrects })
      if (retried !== null) retriedRuns.push(retried)
    }
    const newest = retriedRuns.at(-1)
    if (newest === undefined) throw toNothingLeft(options, members)
    // First the retry's own record, so that it can be resumed; then the marks; then the rows. After a crash
    // in between, the retry copies the missing rows when it is resumed, and no two runs send the same row.
    if (own === null) insertChild(child, newest.record, options)
    for (const { journal, changes } of retriedRuns) {
      journal.transact('power', () => updateRunRecord(journal.db, changes))
    }
    const [whole] = members
    if (!corrects) fillChild(child, retriedRuns)
    else if (whole !== undefined) fillCorrected(child, retriedRuns, options.workspace, whole)
  } finally {
    for (const { journal } of retriedRuns) journal.close()
  }
}

/** Opens a run that has rows to give; null if it has none, or other retries took them. Throws `RUN_BUSY`. */
function openRetriedRun(
  child: Journal,
  { runId, ...known }: RunRecord,
  options: CopyOptions & { corrects: boolean },
): RetriedRun | null {
  if (known.state === 'intake') throw notRead(runId)
  const isFree = (named: string | null) => {
    const successor = findSuccessor(named, options.workspace)
    return successor === null || successor === options.runId
  }
  const mayTake = (record: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy' | 'invalidTakenBy'>) => ({
    rest: isFree(record.supersededBy),
    unknown: options.onUnknown === 'resend' && isFree(record.unknownTakenBy),
    invalid: options.corrects && isFree(record.invalidTakenBy),
  })
  if (!Object.values(mayTake(known)).includes(true)) return null
  const file = toJournalFile(options.workspace, runId)
  const journal = new Journal(file, { runId, mustExist: true, onCommit: child.onCommit })
  try {
    recoverUnknown(journal)
    const record = readRunRecord(journal.db)
    if (record === null) throw notRead(runId)
    const retried = toRetriedStates(record)
    const may = mayTake(record)
    const takesRest = may.rest && hasRows(journal, retried.certain)
    const takesUnknown = may.unknown && hasRows(journal, retried.unknown)
    const takesInvalid = may.invalid && hasInvalid(journal)
    if (!takesRest && !takesUnknown && !takesInvalid) {
      journal.close()
      return null
    }
    const awaited = journal.counters.get('state', 'acknowledged')
    // A parent cannot be resumed while it has a child, so these rows could never be sent again.
    if (awaited > 0 && takesRest) throw new SluiceError({ id: 'retry_while_awaiting', runId, rows: awaited })
    return {
      journal,
      record,
      takesInvalid,
      states: [...(takesRest ? retried.certain : []), ...(takesUnknown ? retried.unknown : [])],
      changes: {
        ...(takesRest ? { superseded_by: options.runId } : {}),
        ...(takesUnknown ? { unknown_taken_by: options.runId } : {}),
        ...(takesInvalid ? { invalid_taken_by: options.runId } : {}),
      },
    }
  } catch (error) {
    journal.close()
    throw error
  }
}

/** What an earlier run sent is not corrected. */
const NOT_SKIPPED = "result.state IS NOT 'skipped'"

export function hasInvalid({ db }: Journal): boolean {
  const unsent = `SELECT 1 FROM row LEFT JOIN result ON result.row = row.id WHERE item IS NULL
    AND ${NOT_SKIPPED} LIMIT 1`
  return db.prepare(unsent).get() !== undefined
}

/** Whether any valid row is in one of the states; rows never tried are `pending`. */
function hasRows({ db }: Journal, states: readonly string[]): boolean {
  const tried = `SELECT 1 FROM result WHERE state IN (${toPlaceholders(states)}) LIMIT 1`
  if (db.prepare(tried).get(...states) !== undefined) return true
  return states.includes('pending') && hasUntried({ db })
}

/** Rows never tried are above the watermark. */
export function hasUntried({ db }: Pick<Journal, 'db'>): boolean {
  const untried = `SELECT 1 FROM row WHERE id > (SELECT claimed FROM run) AND item IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id) LIMIT 1`
  return db.prepare(untried).get() !== undefined
}

function insertChild(
  child: Journal,
  parent: RunRecord,
  options: Pick<CopyOptions, 'runId' | 'parentRunId' | 'fixes' | 'appVersion' | 'nowMs'>,
): void {
  const { fixes } = options
  child.transact('power', () =>
    insertRunRecord(child.db, {
      runId: options.runId,
      runToken: parent.runToken,
      parentRunId: options.parentRunId,
      name: parent.name,
      plan: fixes === undefined ? parent.plan : { ...parent.plan, fixes: [...fixes] },
      corrects: fixes !== undefined,
      createdAtMs: options.nowMs,
      callbackBase: parent.callbackBase,
      mediaBase: parent.mediaBase,
      appVersion: options.appVersion,
    }),
  )
}

/** Copies the rows, run by run; until all are there, the retry stays in intake and copies again on resume. */
function fillChild(child: Journal, retriedRuns: readonly RetriedRun[]): void {
  child.transact('power', () =>
    child.db.exec('DELETE FROM row; DELETE FROM lost_try; DELETE FROM row_place; DELETE FROM source_file'),
  )
  for (const retried of retriedRuns) copyRows(child, retried, 'main.row')
  const [first] = retriedRuns
  if (first === undefined) return
  const { columns, header, plan, readAs } = first.record
  child.transact('power', () => {
    if (toRowsPerItem(plan.operation) > 1) regroup(child)
    noteLostTries(child)
    const counted = child.db
      .prepare('SELECT count(*) AS rows, count(DISTINCT item) AS items FROM main.row')
      .get()
    updateRunRecord(child.db, {
      state: 'ready',
      columns: JSON.stringify(columns),
      header: header === null ? null : JSON.stringify(header),
      read_as: readAs === null ? null : JSON.stringify(readAs),
      rows_read: Number(counted?.['rows']),
      items: Number(counted?.['items']),
      inbox_read: toInboxRead(retriedRuns),
    })
  })
}

/**
 * Copies rows as {@link fillChild} does, and those never sent, and checks all of them again. `whole` is the
 * run whose journal has every other row.
 */
export function fillCorrected(
  child: Journal,
  retriedRuns: readonly RetriedRun[],
  workspace: string,
  whole: RunRecord,
): void {
  const [first] = retriedRuns
  const own = readRunRecord(child.db)
  if (first === undefined || own === null) return
  const { columns, header, readAs } = first.record
  child.transact('power', () => child.db.exec('DELETE FROM lost_try'))
  const recheck = new Recheck(child, { ...own, columns, header }, whole, workspace)
  for (const retried of retriedRuns) copyRows(child, retried, 'temp.candidate', () => recheck.takeProblems())
  recheck.checkAll(toJournalFile(workspace, whole.runId))
  recheck.finish(columns, header, () => {
    noteLostTries(child)
    updateRunRecord(child.db, {
      inbox_read: toInboxRead(retriedRuns),
      read_as: readAs === null ? null : JSON.stringify(readAs),
    })
  })
}

/** Callbacks processed before are reflected in the rows' states; later ones are for the retry. */
function toInboxRead(retriedRuns: readonly RetriedRun[]): number {
  return Math.max(...retriedRuns.map(({ record }) => record.inboxRead))
}

/** Turns the rows that {@link copyRows} noted into items, once these are known. */
function noteLostTries({ db }: Journal): void {
  db.exec(
    `CREATE TEMP TABLE lost AS SELECT DISTINCT row.item FROM lost_try JOIN main.row ON row.id = lost_try.item
       WHERE row.item IS NOT NULL;
     DELETE FROM lost_try;
     INSERT INTO lost_try SELECT item FROM temp.lost;
     DROP TABLE temp.lost`,
  )
}

/** Copies rows; with the state `pending` also rows never tried. `alongside` reads more of the journal. */
function copyRows(
  child: Journal,
  { journal, states, takesInvalid }: RetriedRun,
  into: 'main.row' | 'temp.candidate',
  alongside: () => void = () => {},
): void {
  const untried = states.includes('pending') ? 'state IS NULL OR ' : ''
  const invalid = takesInvalid ? `(item IS NULL AND ${NOT_SKIPPED}) OR ` : ''
  child.db.prepare('ATTACH ? AS parent').run(journal.file)
  try {
    child.transact('power', () => {
      child.db.exec('INSERT OR IGNORE INTO main.row_place SELECT * FROM parent.row_place')
      child.db.exec('INSERT OR IGNORE INTO main.source_file SELECT * FROM parent.source_file')
      child.db
        .prepare(
          `INSERT INTO ${into} (id, cells, item, kinds) SELECT id, cells, item, kinds FROM parent.row AS row
           LEFT JOIN parent.result AS result ON result.row = row.id WHERE ${invalid}item IS NOT NULL
           AND (${untried}state IN (${toPlaceholders(states)})) ORDER BY id`,
        )
        .run(...states)
      refuseDamagedCells(child.db, into)
      child.db.exec(
        `INSERT OR IGNORE INTO lost_try SELECT row.id FROM ${into} AS row JOIN parent.row AS old ON old.id = row.id
         WHERE EXISTS (SELECT 1 FROM parent.attempt WHERE attempt.item = old.item AND outcome = 'unknown')
         OR EXISTS (SELECT 1 FROM parent.lost_try WHERE lost_try.item = old.item)`,
      )
      alongside()
    })
  } finally {
    child.db.exec('DETACH parent')
  }
}

/** Perhaps only some rows of an item are left: neighbours stay together under the first one's number. */
function regroup({ db }: Journal): void {
  db.exec(
    `CREATE TEMP TABLE regrouped AS SELECT id, max(first) OVER (ORDER BY id) AS item FROM (
       SELECT id, CASE WHEN lag(item) OVER (ORDER BY id) IS item THEN NULL ELSE id END AS first FROM main.row);
     CREATE UNIQUE INDEX temp.regrouped_by_id ON regrouped (id);
     UPDATE main.row SET item = (SELECT item FROM temp.regrouped WHERE regrouped.id = main.row.id);
     DROP TABLE temp.regrouped`,
  )
}

function toPlaceholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

function notRead(runId: string): SluiceError {
  return new SluiceError({ id: 'rows_unread', runId })
}

function toNothingLeft({ parentRunId, onUnknown }: CopyOptions, members: readonly RunRecord[]): SluiceError {
  const deleted = members.find(({ supersededBy }) => supersededBy !== null && isDeleted(supersededBy))
  if (deleted !== undefined) {
    return new SluiceError({
      id: 'retry_taken_over',
      runId: deleted.runId,
      ...describeSuccessor(deleted.supersededBy ?? ''),
    })
  }
  return new SluiceError({ id: 'nothing_to_retry', runId: parentRunId, onUnknown })
}
