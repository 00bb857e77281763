import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type CommitHook, Journal } from '../../../../src/main/engine/journal/journal.ts'
import {
  insertRunRecord,
  type RunRecord,
  readRunRecord,
} from '../../../../src/main/engine/journal/run-record.ts'
import { type IntakeRow, IntakeWriter } from '../../../../src/main/engine/run/journal/intake-writer.ts'
import type { AttemptRecord } from '../../../../src/main/engine/run/recorder.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { NO_NAMES } from '../../../../src/shared/service/answer-findings.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** Opens a journal that closes after the running test, in a folder of its own unless a file is given. */
export function openTestJournal(options: { file?: string; onCommit?: CommitHook } = {}): Journal {
  const { file = join(createTemporaryFolder(), 'run.journal'), onCommit } = options
  const journal = new Journal(file, { runId: 'run-1', onCommit })
  onTestFinished(() => {
    if (journal.db.isOpen) journal.close()
  })
  return journal
}

/** Writes the run's own row. */
export function insertTestRun(journal: Journal, baseUrl = 'http://127.0.0.1:1'): void {
  const plan = planSchema.parse({
    connection: { baseUrl },
    source: { path: '/source.csv' },
    operation: { kind: 'task' },
    mapping: { user_id: { kind: 'template', template: 'user' } },
  })
  journal.transact('power', () =>
    insertRunRecord(journal.db, {
      runId: 'run-1',
      runToken: 'run-1',
      parentRunId: null,
      name: 'a run',
      plan,
      createdAtMs: 1_700_000_000_000,
      appVersion: '0',
    }),
  )
}

/** A valid row with one cell. */
export function toIntakeRow(row: number, parts: Partial<IntakeRow> = {}): IntakeRow {
  return { row, cells: [`text ${row}`], uniqueKey: null, problems: [], ...parts }
}

/** A journal after its intake, with these rows or with that many valid ones. */
export function openReadyJournal(
  rows: number | IntakeRow[],
  options: { onCommit?: CommitHook } = {},
): Journal {
  const journal = openTestJournal(options)
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, (_, cells) => ({ field: 'post_id', value: cells[0] ?? '' }))
  writer.writeRows(
    typeof rows === 'number' ? Array.from({ length: rows }, (_, i) => toIntakeRow(i + 1)) : rows,
    (row) => row,
  )
  writer.finish(['text_data'])
  return journal
}

/** The run's row, which must exist. */
export function readRecord(journal: Journal): RunRecord {
  const record = readRunRecord(journal.db)
  if (record === null) throw new Error('the journal has no run')
  return record
}

/** A successful first try with the given changes. */
export function toAttempt(item: number, parts: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    item,
    rows: [item],
    number: 1,
    state: 'succeeded',
    outcome: 'succeeded',
    sentAtUs: 1_700_000_000_000_000,
    status: 200,
    errorCode: null,
    message: null,
    taskId: `task-${item}`,
    customIndexItemId: null,
    answer: null,
    rowOutcomes: null,
    durationUs: 1_500,
    waitingUs: 1_000,
    connectUs: null,
    tlsUs: null,
    traceparent: null,
    response: '{}',
    rules: [],
    classes: [],
    names: NO_NAMES,
    isMarked: (parts.number ?? 1) > 1,
    ...parts,
  }
}

/** The rules that rows triggered: a table of `row`, `rule_id` and `rule_name`. */
export const RULES_OF_ROWS = `(SELECT found.row, rule_id, rule_name FROM found
  JOIN term ON term.kind = 'rules' AND term.id = found.rules
  JOIN json_each(term.value) AS own JOIN rule ON rule.id = own.value)`

/** The states of the items that have a result, and the counters of states. */
export function readStates(journal: Journal): {
  items: Record<number, string>
  counted: Record<string, number>
} {
  const items = journal.db.prepare('SELECT row, state FROM result ORDER BY row').all()
  return {
    items: Object.fromEntries(items.map(({ row, state }) => [Number(row), String(state)])),
    counted: Object.fromEntries([...journal.counters.entries('state')].filter(([, n]) => n !== 0)),
  }
}
