import { expect, test } from 'vitest'
import { IntakeWriter } from '../../../../../src/main/engine/run/journal/intake-writer.ts'
import { SeenIds } from '../../../../../src/main/engine/run/journal/seen-ids.ts'
import type { Problem } from '../../../../../src/shared/run/problem.ts'
import {
  insertTestRun,
  openReadyJournal,
  openTestJournal,
  readRecord,
  toIntakeRow,
} from '../../journal/test-journal.ts'

const toUniqueId = (_: number, cells: string[]): string => cells[0] ?? ''
const withId = (row: number, id: string) =>
  toIntakeRow(row, { cells: [id], uniqueKey: { field: 'post_id', value: id } })
const toError = (row: number, parts: Partial<Problem> = {}): Problem => ({
  row,
  severity: 'error',
  code: 'required',
  field: 'user_id',
  message: 'must be given',
  ...parts,
})

test('valid rows become items, invalid ones do not, and every row is kept with its cells', () => {
  const journal = openReadyJournal([
    toIntakeRow(1, { cells: ['a, "b"\n', ' 7 ', ''] }),
    toIntakeRow(2, { problems: [toError(2)] }),
    toIntakeRow(3, { problems: [toError(3, { severity: 'warning', code: 'recommended' })] }),
  ])
  const rows = journal.db.prepare('SELECT id, cells, item FROM row ORDER BY id').all()
  expect(rows.map(({ id, cells, item }) => [id, JSON.parse(String(cells)), item])).toEqual([
    [1, ['a, "b"\n', ' 7 ', ''], 1],
    [2, ['text 2'], null],
    [3, ['text 3'], 3],
  ])
  expect(readRecord(journal)).toMatchObject({
    state: 'ready',
    columns: ['text_data'],
    rowsRead: 3,
    items: 2,
    claimed: 0,
  })
  expect(journal.counters.get('state', 'invalid')).toBe(1)
})

test('a post_id that an earlier row has makes the later row invalid, and names the first', () => {
  const journal = openReadyJournal([withId(1, 'a'), withId(2, 'b'), withId(3, 'a'), withId(4, 'a')])
  const problems = journal.db
    .prepare('SELECT row, code, field, message, found FROM problem ORDER BY id')
    .all()
  expect(problems.map((problem) => ({ ...problem }))).toEqual(
    [3, 4].map((row) => ({
      row,
      code: 'not_unique',
      field: 'post_id',
      message: 'must be unique within the source, is also in row 1',
      found: 'a',
    })),
  )
  expect(readRecord(journal)).toMatchObject({ rowsRead: 4, items: 2 })
  expect(journal.counters.get('state', 'invalid')).toBe(2)
})

test('a value whose case does not count is shown as the row has it', () => {
  const withTerm = (row: number, shown: string) =>
    toIntakeRow(row, {
      cells: [shown.toLowerCase()],
      uniqueKey: { field: 'term', value: shown.toLowerCase(), shown },
    })
  const journal = openReadyJournal([withTerm(1, 'Gift card'), withTerm(2, 'GIFT Card')])
  const message = 'must be unique within the source, where upper and lower case are the same'
  expect({ ...journal.db.prepare('SELECT message, found FROM problem').get() }).toEqual({
    message: `${message}, is also in row 1`,
    found: 'GIFT Card',
  })
  expect([...journal.counters.entries('problem')]).toEqual([
    [JSON.stringify(['error', 'not_unique', 'term', message]), 1],
  ])
})

test('ids that differ in case, white space or Unicode form only are different', () => {
  const journal = openReadyJournal([
    withId(1, 'a'),
    withId(2, 'A'),
    withId(3, ' a'),
    withId(4, 'ä'),
    withId(5, 'a\u0308'),
  ])
  expect(readRecord(journal).items).toBe(5)
})

test('the id of a row that is invalid for another reason still counts as used', () => {
  const journal = openReadyJournal([{ ...withId(1, 'a'), problems: [toError(1)] }, withId(2, 'a')])
  expect(readRecord(journal)).toMatchObject({ rowsRead: 2, items: 0 })
})

test('problems are counted by cause, those that name other rows as one', () => {
  const journal = openReadyJournal([
    { ...withId(1, 'a'), problems: [toError(1)] },
    { ...withId(2, 'a'), problems: [toError(2), toError(2, { field: 'url', message: 'must be a URL' })] },
    withId(3, 'b'),
    withId(4, 'b'),
  ])
  const counts = [...journal.counters.entries('problem')].map(([cause, n]) => [...JSON.parse(cause), n])
  expect(counts).toEqual([
    ['error', 'required', 'user_id', 'must be given', 2],
    ['error', 'required', 'url', 'must be a URL', 1],
    ['error', 'not_unique', 'post_id', 'must be unique within the source', 2],
  ])
})

test('intake that was cut off begins afresh, with nothing counted twice', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const first = new IntakeWriter(journal, toUniqueId)
  first.writeRows([withId(1, 'a'), { ...withId(2, 'a'), problems: [toError(2)] }])
  // A few thousand rows make a group that is committed.
  first.writeRows(Array.from({ length: 12_000 }, (_, i) => withId(i + 3, `id ${i}`)))
  const { file } = journal
  journal.close()
  const again = openTestJournal({ file })
  expect(readRecord(again).state).toBe('intake')
  const second = new IntakeWriter(again, toUniqueId)
  second.writeRows([withId(1, 'a'), { ...withId(2, 'a'), problems: [toError(2)] }, withId(3, 'b')])
  second.finish(['text_data'])
  expect(readRecord(again)).toMatchObject({ state: 'ready', rowsRead: 3, items: 2 })
  expect(again.db.prepare('SELECT count(*) AS n FROM row').get()?.['n']).toBe(3)
  expect(again.counters.get('state', 'invalid')).toBe(1)
  expect([...again.counters.entries('problem').values()].filter((n) => n !== 0)).toEqual([1, 1])
})

test('uniqueness holds across groups of a long source', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, toUniqueId)
  for (let start = 0; start < 14_000; start += 1_000) {
    // Every row of the second half repeats the id of a row of the first.
    writer.writeRows(
      Array.from({ length: 1_000 }, (_, i) => withId(start + i + 1, `id ${(start + i) % 7_000}`)),
    )
  }
  writer.finish(['text_data'])
  expect(readRecord(journal)).toMatchObject({ rowsRead: 14_000, items: 7_000 })
  const [last] = journal.db.prepare('SELECT row, message FROM problem ORDER BY row DESC LIMIT 1').all()
  expect(last).toMatchObject({
    row: 14_000,
    message: 'must be unique within the source, is also in row 7000',
  })
})

test('ids are found again when the table of them has grown', () => {
  const seen = new SeenIds({
    idOf: (row) => `id ${row}`,
    spill: () => {
      throw new Error('there is room for far more')
    },
  })
  const count = 120_000
  let found = 0
  for (let row = 1; row <= count; row += 1) if (seen.add(`id ${row}`, row) !== null) found += 1
  expect(found).toBe(0)
  for (const row of [1, 2, 49_152, 49_153, 65_536, count]) expect(seen.add(`id ${row}`, count + 1)).toBe(row)
})
