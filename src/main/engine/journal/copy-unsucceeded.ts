import { SluiceError } from '../../../shared/errors.ts'
import { toRowsPerItem } from '../../../shared/operation.ts'
import { Journal } from './journal.ts'
import { recoverUnknown } from './recovery.ts'
import {
  insertRunRecord,
  type RunChanges,
  type RunRecord,
  readRunRecord,
  updateRunRecord,
} from './run-record.ts'
import { findSuccessor, toRetriedStates, toSuccessorHint } from './successor.ts'
import { toJournalFile } from './workspace-files.ts'

/**
 * Fills a child run's journal with the rows of its parent that did not succeed, invalid ones apart, under their own
 * numbers, so that post_ids and bodies stay what they were. From then on the child stands for them: the parent can
 * not be resumed. Unknown rows that are skipped can be taken by a later child. Throws `RUN_BUSY`, or `RUN_NOT_RESUMABLE` where there is nothing to send or another child has it.
 */
export function copyUnsucceeded(
  child: Journal,
  options: {
    runId: string
    parentRunId: string
    workspace: string
    onUnknown: 'resend' | 'skip'
    appVersion: string
    nowMs: number
  },
): void {
  const parentFile = toJournalFile(options.workspace, options.parentRunId)
  const parent = new Journal(parentFile, {
    runId: options.parentRunId,
    mustExist: true,
    onCommit: child.onCommit,
  })
  try {
    recoverUnknown(parent)
    const record = readRunRecord(parent.db)
    if (record === null || record.state === 'intake') throw notRead(options.parentRunId)
    const taken = takeOver(record, options)
    const awaited = parent.counters.get('state', 'acknowledged')
    if (awaited > 0 && taken.states.includes('pending')) throw toAwaiting(options.parentRunId, awaited)
    // First the child's own record, so that it can be resumed; then the parent's mark; then the rows. A crash in between
    // leaves rows that the child copies when it is resumed, never rows that both would send.
    if (readRunRecord(child.db) === null) insertChild(child, record, options)
    parent.transact('power', () => updateRunRecord(parent.db, taken.changes))
    fillChild(child, record, { parentFile, states: taken.states })
    if (readRunRecord(child.db)?.rowsRead === 0) {
      if (!taken.states.includes('pending')) throw toTakenOver(record)
      parent.transact('power', () =>
        updateRunRecord(parent.db, {
          superseded_by: record.supersededBy,
          unknown_taken_by: record.unknownTakenBy,
        }),
      )
      throw new SluiceError({
        code: 'RUN_NOT_RESUMABLE',
        message: `run ${options.parentRunId} has no row to send again`,
        hint: 'Rows that are invalid must be corrected in the source; rows of unknown fate are sent again with --on-unknown resend.',
      })
    }
  } finally {
    parent.close()
  }
}

/** Which rows of its parent a child takes, and what the parent is told. Throws where other children have them all. */
function takeOver(
  record: RunRecord,
  options: { runId: string; workspace: string; onUnknown: 'resend' | 'skip' },
): { states: string[]; changes: RunChanges } {
  const isFree = (named: string | null) => {
    const successor = findSuccessor(named, options.workspace)
    return successor === null || successor === options.runId
  }
  const takesRest = isFree(record.supersededBy)
  const takesUnknown = options.onUnknown === 'resend' && isFree(record.unknownTakenBy)
  if (!takesRest && !takesUnknown) throw toTakenOver(record)
  const states = toRetriedStates(record)
  return {
    states: [...(takesRest ? states.certain : []), ...(takesUnknown ? states.unknown : [])],
    changes: {
      ...(takesRest ? { superseded_by: options.runId } : {}),
      ...(takesUnknown ? { unknown_taken_by: options.runId } : {}),
    },
  }
}

function insertChild(
  child: Journal,
  parent: RunRecord,
  options: { runId: string; parentRunId: string; appVersion: string; nowMs: number },
): void {
  child.transact('power', () =>
    insertRunRecord(child.db, {
      runId: options.runId,
      runToken: parent.runToken,
      parentRunId: options.parentRunId,
      name: parent.name,
      plan: parent.plan,
      createdAtMs: options.nowMs,
      callbackBase: parent.callbackBase,
      mediaBase: parent.mediaBase,
      appVersion: options.appVersion,
    }),
  )
}

/** Copies rows; with the state `pending` among `states`, also those that were never tried. */
function fillChild(
  child: Journal,
  parent: RunRecord,
  options: { parentFile: string; states: readonly string[] },
): void {
  const { states } = options
  const untried = states.includes('pending') ? 'state IS NULL OR ' : ''
  child.db.prepare('ATTACH ? AS parent').run(options.parentFile)
  try {
    child.transact('power', () => {
      child.db.exec('DELETE FROM row; DELETE FROM lost_try; DELETE FROM row_place')
      child.db.exec('INSERT INTO main.row_place SELECT * FROM parent.row_place')
      const { changes } = child.db
        .prepare(
          `INSERT INTO row (id, cells, item, kinds) SELECT id, cells, item, kinds FROM parent.row AS row
           LEFT JOIN parent.result AS result ON result.row = row.id WHERE item IS NOT NULL
           AND (${untried}state IN (${states.map(() => '?').join(', ')})) ORDER BY id`,
        )
        .run(...states)
      // Of a watchlist's item only some rows may be left; the first of them gives it its number.
      if (toRowsPerItem(parent.plan.operation) > 1) {
        child.db.exec(
          `CREATE TEMP TABLE first AS SELECT item, min(id) AS id FROM main.row GROUP BY item;
           CREATE UNIQUE INDEX temp.first_by_item ON first (item);
           UPDATE main.row SET item = (SELECT first.id FROM temp.first WHERE first.item = main.row.item);
           DROP TABLE temp.first`,
        )
      }
      child.db.exec(
        `INSERT INTO lost_try SELECT DISTINCT row.item FROM main.row JOIN parent.row AS old ON old.id = row.id
         WHERE EXISTS (SELECT 1 FROM parent.attempt WHERE attempt.item = old.item AND outcome = 'unknown')
         OR EXISTS (SELECT 1 FROM parent.lost_try WHERE lost_try.item = old.item)`,
      )
      const { items } = child.db.prepare('SELECT count(DISTINCT item) AS items FROM main.row').get() ?? {}
      updateRunRecord(child.db, {
        state: 'ready',
        columns: JSON.stringify(parent.columns),
        header: parent.header === null ? null : JSON.stringify(parent.header),
        rows_read: Number(changes),
        items: Number(items),
        // What the parent has taken in is behind the states its rows have; what comes after is for the child.
        inbox_read: parent.inboxRead,
      })
    })
  } finally {
    child.db.exec('DETACH parent')
  }
}

function notRead(runId: string): SluiceError {
  return new SluiceError({
    code: 'RUN_NOT_RESUMABLE',
    message: `the source of run ${runId} was not read to its end`,
    hint: `Nothing of it was sent; go on with: sluice resume ${runId}`,
  })
}

/** A parent is not resumed beside its child, so nobody could ever send these rows again. */
function toAwaiting(runId: string, rows: number): SluiceError {
  return new SluiceError({
    code: 'RUN_NOT_RESUMABLE',
    message: `${rows} ${rows === 1 ? 'row' : 'rows'} of run ${runId} still ${rows === 1 ? 'awaits its callback' : 'await their callbacks'}`,
    hint: `Wait for them with: sluice resume ${runId}. What is overdue then is sent again by a retry.`,
  })
}

function toTakenOver({ runId, supersededBy }: RunRecord): SluiceError {
  const successor = supersededBy ?? 'another'
  return new SluiceError({
    code: 'RUN_NOT_RESUMABLE',
    message: `what did not succeed in run ${runId} was taken over by run ${successor}`,
    hint: toSuccessorHint(successor, 'retry'),
  })
}
