import { expect, test } from 'vitest'
import {
  PROBLEM_COLUMNS,
  toStoredProblem,
} from '../../../../../src/main/engine/run/journal/stored-problems.ts'
import { readProblemGroups } from '../../../../../src/main/engine/run/results/problem-groups.ts'
import {
  type FoundProblem,
  formatProblem,
  sayExpected,
} from '../../../../../src/shared/messages/problem-messages.ts'
import { openReadyJournal, toIntakeRow } from '../../journal/test-journal.ts'

const toFault = (row: number): FoundProblem => ({
  row,
  severity: 'error',
  code: 'not_json',
  args: { expected: 'colon' },
  details: { line: row + 1, character: 7 },
  found: '{"a"}',
})

test('rows whose problems differ only in details are one group, and each shows its own', () => {
  const journal = openReadyJournal([1, 2].map((row) => toIntakeRow(row, { problems: [toFault(row)] })))
  const groups = readProblemGroups(journal)
  expect(groups.map((group) => [group.rows, sayExpected(group, 'terminal')])).toEqual([
    [2, 'must be one JSON object; expected a colon after the key'],
  ])
  expect(groups[0]?.examples.map(formatProblem)).toEqual([
    'row 1: must be one JSON object; line 2, character 7: expected a colon after the key, found `{"a"}`',
    'row 2: must be one JSON object; line 3, character 7: expected a colon after the key, found `{"a"}`',
  ])
})

test('problems that an earlier version stored in words read as before', () => {
  const journal = openReadyJournal(3)
  const unique = 'must be unique in the source'
  const insert = journal.db.prepare(
    "INSERT INTO problem (row, severity, code, field, message, found) VALUES (?, 'error', ?, ?, ?, ?)",
  )
  journal.transact('power', () => {
    insert.run(2, 'required', 'user_id', 'is required but empty', null)
    insert.run(3, 'not_unique', 'post_id', `${unique}, is also in row 1`, 'a')
    journal.counters.add(
      'problem',
      JSON.stringify(['error', 'required', 'user_id', 'is required but empty']),
      2,
    )
    journal.counters.add('problem', JSON.stringify(['error', 'not_unique', 'post_id', unique]), 1)
  })
  const groups = readProblemGroups(journal)
  expect(groups.map((group) => sayExpected(group, 'window'))).toEqual(['is required but empty', unique])
  expect(groups.flatMap(({ examples }) => examples.map(formatProblem))).toEqual([
    'row 2, user_id: is required but empty',
    'row 3, post_id: must be unique in the source, but is also in row 1, found `a`',
  ])
  expect(groups[1]?.examples[0]?.alsoAt).toEqual({ row: 1, line: null })
  const stored = journal.db.prepare(`SELECT ${PROBLEM_COLUMNS} FROM problem ORDER BY id`).all()
  expect(stored.map(toStoredProblem).map(({ details }) => details)).toEqual([undefined, { row: 1 }])
})
