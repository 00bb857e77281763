import { rmSync } from 'node:fs'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toRowsPerItem } from '../../../../shared/operations/operations.ts'
import type { Fix } from '../../../../shared/plan/fixes.ts'
import { toStoredFixes } from '../../../../shared/plan/fixes.ts'
import { UNSUCCESSFUL_STATES } from '../../../../shared/run/item-state.ts'
import { FoundWriter } from '../../journal/found-writer.ts'
import { selectSentItem } from '../../journal/item-rows.ts'
import { Journal } from '../../journal/journal.ts'
import { toRetriedStates } from '../../journal/run-family.ts'
import {
  insertRunRecord,
  type RunRecord,
  readRunRecord,
  toStoredPlan,
  updateRunRecord,
} from '../../journal/run-record.ts'
import { insertSession, type NewSession } from '../../journal/sessions.ts'
import { TryAnswers } from '../../journal/stored-bodies.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { writeBody } from '../../mapping/json-text.ts'
import { createRowMapper } from '../../mapping/row-mapper.ts'
import { markFixed } from '../../mapping/row-marks.ts'
import { readValues } from '../../workspace/sqlite.ts'
import { listCorrectionFiles, toCorrectionFile } from '../../workspace/workspace-files.ts'
import { addUpTaken, type Counts } from '../results/family-counts.ts'
import { fillCorrected, hasInvalid } from './copy-unsucceeded.ts'
import { isUnsentCause, PROBLEM_COLUMNS, readCauseKey } from './stored-problems.ts'

interface CorrectOptions {
  workspace: string
  /** All fixes in force from now on. */
  fixes: readonly Fix[]
  onUnknown: 'resend' | 'skip'
  session: NewSession
  /** Receives the journal with the checked rows; throws if they must not be sent. */
  check: (checked: Journal) => void
}

/**
 * Begins a correction: rechecks rows that did not succeed or were never sent, with other fixes, and queues
 * those that can be sent. They are checked in a separate file; the result goes into the journal in one
 * transaction, so a kill leaves the run unchanged or corrected. Earlier states are kept, and rows that are
 * not resent are mapped with the earlier fixes. Throws `RUN_NOT_RESUMABLE` if there is nothing to correct.
 */
export function correctRows(journal: Journal, options: CorrectOptions): void {
  const record = readRunRecord(journal.db)
  if (record === null) throw new Error('the journal has no run')
  const { workspace, fixes, onUnknown } = options
  const { runId } = record
  const removeChecked = () => {
    for (const file of listCorrectionFiles(workspace, runId)) rmSync(file, { force: true })
  }
  removeChecked()
  const checked = new Journal(toCorrectionFile(workspace, runId), { runId })
  try {
    const { earlierFixes: _earlier, ...plan } = record.plan
    checked.transact('process', () =>
      insertRunRecord(checked.db, {
        ...record,
        parentRunId: null,
        plan: { ...plan, fixes: [...fixes] },
        corrects: true,
      }),
    )
    const retried = toRetriedStates(record)
    const states = [...retried.certain, ...(onUnknown === 'resend' ? retried.unknown : [])]
    const given = { journal, record, states, takesInvalid: hasInvalid(journal), changes: {} }
    fillCorrected(checked, [given], workspace, record)
    if (checked.db.prepare('SELECT 1 FROM row LIMIT 1').get() === undefined) {
      throw new SluiceError({ id: 'nothing_to_retry', runId, onUnknown })
    }
    options.check(checked)
    takeChecked(journal, checked, record, options)
  } finally {
    checked.close()
    removeChecked()
  }
}

/** A callback settled a row that was never tried. */
const IS_SETTLED_UNTRIED = `(result.attempts = 0 AND result.state IN (${UNSUCCESSFUL_STATES.map((state) => `'${state}'`).join(', ')}))`

/** Checked rows that can be sent, and the others. */
const SENDABLE = 'SELECT id FROM checked.row WHERE item IS NOT NULL'
const UNSENDABLE = 'SELECT id FROM checked.row WHERE item IS NULL'

function takeChecked(
  journal: Journal,
  checked: Journal,
  record: RunRecord,
  { session, fixes }: CorrectOptions,
): void {
  const { db } = journal
  const newPlan = readRunRecord(checked.db)?.plan
  if (newPlan === undefined) throw new Error('the checked rows have no plan')
  db.prepare('ATTACH ? AS checked').run(checked.file)
  try {
    const before = addUpTaken({ db }, [{ db: checked.db, record: { corrects: true } }])
    countErrors(journal, before)
    const correctedBefore = countCorrected(journal, record)
    const count = (sql: string, ...values: number[]) => Number(db.prepare(sql).get(...values)?.['n'])
    const wasSendable = `SELECT count(*) AS n FROM main.row WHERE item IS NOT NULL
      AND id IN (SELECT id FROM checked.row)`
    const isSendable = 'SELECT count(*) AS n FROM checked.row WHERE item IS NOT NULL'
    const { claimed } = record
    const isAlone = toRowsPerItem(record.plan.operation) === 1
    const items = isAlone ? record.items + count(isSendable) - count(wasSendable) : null
    const claimedRows =
      count(`${isSendable} AND id <= ? AND id IN (SELECT id FROM main.row)`, claimed) -
      count(`${wasSendable} AND id <= ?`, claimed) -
      // Settled by a callback, but never sent.
      count(
        `SELECT count(*) AS n FROM main.result WHERE row > ? AND state NOT IN ('left_out', 'invalid')
         AND row IN (SELECT id FROM checked.row) AND (attempts = 0 OR row IN (${UNSENDABLE}))`,
        claimed,
      )
    const rowsRead = count('SELECT count(*) AS n FROM checked.row WHERE id NOT IN (SELECT id FROM main.row)')
    const taken = count(isSendable)
    const plan = { ...newPlan, fixes: [...fixes] }
    journal.transact(
      'power',
      () => {
        const number = insertSession(db, { ...session, taken })
        db.function('mark_fixed', (kinds: unknown) =>
          markFixed(typeof kinds === 'string' ? kinds : null, number),
        )
        const earlierFixes = [
          ...(record.plan.earlierFixes ?? []),
          { until: number, fixes: record.plan.fixes ?? [] },
        ]
        const mapBefore = createRowMapper(record.plan, record.columns, record.runToken)
        const mapCorrected = createRowMapper({ ...plan, earlierFixes }, record.columns, record.runToken)
        db.function('is_unchanged', (id: unknown, text: unknown, was: unknown, now: unknown) => {
          const [row, cells] = [Number(id), parseCells(String(text))]
          const toBody = (mapRow: typeof mapBefore, kinds: unknown) =>
            writeBody(mapRow(row, cells, kinds === null ? null : String(kinds)).body)
          return toBody(mapBefore, was) === toBody(mapCorrected, now) ? 1 : 0
        })
        placeRows(journal, claimed)
        db.prepare(
          `INSERT INTO main.earlier (row, session, state, attempts, status, error_code, message, task_id, duration_us,
           answer, acknowledged_at, callback_us, kinds, sent_item) SELECT result.row, ?, state, attempts, status, error_code,
           message, task_id, duration_us, answer, acknowledged_at, callback_us,
           iif(row.id IN (SELECT id FROM temp.placed WHERE is_unchanged), NULL, coalesce(row.kinds, '')),
           nullif(${selectSentItem('row')}, row.id) FROM main.result AS result JOIN main.row AS row ON row.id = result.row
           WHERE (attempts > 0 OR ${IS_SETTLED_UNTRIED}) AND result.row IN (SELECT id FROM checked.row)
           ORDER BY result.row`,
        ).run(number)
        db.exec(
          `UPDATE main.callback SET effect = 'settled_before' WHERE effect = 'settled'
           AND item IN (SELECT id FROM checked.row)`,
        )
        takeResults(journal, claimed)
        db.exec(
          `UPDATE main.row SET (item, kinds) = (SELECT placed.item,
             iif(placed.is_unchanged, main.row.kinds, mark_fixed(now.kinds)) FROM checked.row AS now
             LEFT JOIN temp.placed ON placed.id = now.id WHERE now.id = main.row.id)
             WHERE id IN (SELECT id FROM checked.row);
           INSERT INTO main.row (id, cells, item, kinds) SELECT now.id, cells, placed.item, mark_fixed(kinds)
             FROM checked.row AS now LEFT JOIN temp.placed ON placed.id = now.id
             WHERE now.id NOT IN (SELECT id FROM main.row) ORDER BY now.id;
           DROP TABLE temp.placed;
           INSERT INTO main.row_place SELECT * FROM checked.row_place WHERE row NOT IN (SELECT row FROM main.row_place);
           INSERT INTO main.source_file SELECT * FROM checked.source_file
             WHERE row NOT IN (SELECT row FROM main.source_file);
           DELETE FROM main.problem WHERE row IN (SELECT id FROM checked.row);
           INSERT INTO main.problem (${PROBLEM_COLUMNS}) SELECT ${PROBLEM_COLUMNS} FROM checked.problem ORDER BY id;
           -- Later runs read the rows themselves: what they are recognized by may be another text now.
           DELETE FROM main.row_key`,
        )
        addCounts(journal, checked, before, correctedBefore)
        updateRunRecord(db, {
          state: 'interrupted',
          plan: toStoredPlan(plan),
          earlier_fixes: JSON.stringify(
            earlierFixes.map((one) => ({ ...one, fixes: toStoredFixes(one.fixes) })),
          ),
          rows_read: record.rowsRead + rowsRead,
          items: items ?? count('SELECT count(DISTINCT item) AS n FROM main.row'),
          claimed_rows: record.claimedRows + claimedRows,
          superseded_by: null,
          unknown_taken_by: null,
          invalid_taken_by: null,
        })
      },
      true,
    )
  } finally {
    db.exec('DETACH checked')
  }
}

/**
 * Assigns items to the rows that can be sent. A row sent before stays with its request, whose count of tries
 * goes on. Others are sent together as checked, those below the watermark apart, since they are marked one by
 * one. A row resent unchanged is mapped as before, so that its earlier tries still tell what may have
 * happened to it.
 */
function placeRows({ db }: Journal, claimed: number): void {
  db.exec('CREATE TEMP TABLE placed (id INTEGER PRIMARY KEY, item INTEGER NOT NULL, is_unchanged INTEGER)')
  db.prepare(
    `INSERT INTO temp.placed SELECT id, iif(is_sent, sent_item, min(id) OVER (PARTITION BY item, is_sent, id > ?)),
       is_sent AND was_sendable AND is_unchanged(id, cells, was, mark_fixed(kinds)) FROM (
       SELECT now.id, now.item, now.cells, now.kinds, row.kinds AS was, row.item IS NOT NULL AS was_sendable,
       coalesce(result.attempts, 0) > 0 AS is_sent, ${selectSentItem('row')} AS sent_item
       FROM checked.row AS now LEFT JOIN main.row AS row ON row.id = now.id
       LEFT JOIN main.result AS result ON result.row = now.id WHERE now.item IS NOT NULL)`,
  ).run(claimed)
}

/** Updates the results of the checked rows to their new state; their tries and answers stay. */
function takeResults(journal: Journal, claimed: number): void {
  const { db } = journal
  // A row that is not sent no longer has an answer of its own, and a first try has none from a callback.
  const answered = readValues<number>(
    db,
    `SELECT row FROM main.result AS result WHERE (row IN (${UNSENDABLE}) AND attempts > 0)
     OR (${IS_SETTLED_UNTRIED} AND row IN (SELECT id FROM checked.row))`,
  )
  const answers = new TryAnswers(db)
  const found = new FoundWriter(journal)
  for (const row of answered) {
    answers.keep(row)
    found.take(row)
  }
  found.flush()
  const nothing = `status = NULL, error_code = NULL, message = NULL, task_id = NULL, duration_us = NULL, response = NULL,
    custom_index_item_id = NULL, answer = NULL, acknowledged_at = NULL, callback_us = NULL`
  db.exec(
    `DELETE FROM main.long_answer WHERE id IN (${UNSENDABLE});
     DELETE FROM main.result WHERE attempts = 0 AND row IN (SELECT id FROM checked.row);
     UPDATE main.result SET state = 'invalid', ${nothing} WHERE row IN (${UNSENDABLE});
     UPDATE main.result SET state = 'pending', answer = NULL, callback_us = NULL WHERE row IN (${SENDABLE});
     INSERT INTO main.result (row, state, attempts) SELECT row, state, 0 FROM checked.result WHERE TRUE
       ON CONFLICT (row) DO UPDATE SET state = excluded.state`,
  )
  // Rows below the watermark are marked when they are sent, even if they were never sent before.
  db.prepare(
    `INSERT INTO main.result (row, state, attempts) SELECT id, 'pending', 0 FROM checked.row
     WHERE item IS NOT NULL AND id <= ? AND NOT EXISTS (SELECT 1 FROM main.result WHERE result.row = checked.row.id)`,
  ).run(claimed)
}

/** Counts the rows in their new state instead of their old one. */
function addCounts(
  { db, counters }: Journal,
  checked: Journal,
  before: Counts,
  correctedBefore: ReadonlyMap<string, number>,
): void {
  for (const kind of ['state', 'answer', 'error', 'problem'] as const) {
    for (const [value, n] of before.get(kind) ?? []) counters.add(kind, value, n)
  }
  // Causes that nobody was asked about before are asked about now.
  for (const [value, n] of [...counters.entries('unasked')]) counters.add('unasked', value, -n)
  for (const [value, n] of correctedBefore) counters.add('corrected', value, -n)
  for (const kind of ['state', 'problem', 'unasked', 'corrected'] as const) {
    for (const [value, n] of checked.counters.entries(kind)) counters.add(kind, value, n)
  }
  const pending = db
    .prepare(`SELECT count(*) AS n FROM main.result WHERE state = 'pending' AND row IN (${SENDABLE})`)
    .get()
  counters.add('state', 'pending', Number(pending?.['n']))
}

/**
 * Subtracts what keeps rows from being sent, and those rows' warnings: all of them are checked again, even if
 * more was found than is kept.
 */
function countErrors({ counters }: Journal, counts: Counts): void {
  const problems = counts.get('problem') ?? new Map<string, number>()
  counts.set('problem', problems)
  for (const [key, n] of counters.entries('problem')) {
    const cause = readCauseKey(key)
    if (cause.severity === 'error' || isUnsentCause(cause)) problems.set(key, -n)
  }
}

/** What counters hold for the checked rows as corrected before, as intake and earlier corrections counted. */
function countCorrected({ db }: Journal, { plan, columns, runToken }: RunRecord): Map<string, number> {
  const counts = new Map<string, number>()
  if ((plan.fixes ?? []).length + (plan.earlierFixes ?? []).length === 0) return counts
  const mapRow = createRowMapper(plan, columns, runToken)
  const add = (value: string) => counts.set(value, (counts.get(value) ?? 0) + 1)
  const page = db.prepare(
    `SELECT row.id, row.cells, row.kinds FROM main.row AS row LEFT JOIN main.result AS result ON result.row = row.id
     WHERE row.id > ? AND row.id IN (SELECT id FROM checked.row) AND state IS NOT 'left_out' ORDER BY row.id LIMIT 1000`,
  )
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
    for (const { id, cells, kinds } of rows) {
      const own = kinds === null ? null : String(kinds)
      const { corrections } = mapRow(Number(id), parseCells(String(cells)), own)
      if (corrections === undefined) continue
      add('rows')
      for (const { field } of corrections) add(`cell ${field}`)
    }
  }
  return counts
}
