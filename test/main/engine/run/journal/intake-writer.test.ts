import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  createPlaceReader,
  type IntakeRow,
  IntakeWriter,
} from '../../../../../src/main/engine/run/journal/intake-writer.ts'
import { SeenIds } from '../../../../../src/main/engine/run/journal/seen-ids.ts'
import { toStoredProblem } from '../../../../../src/main/engine/run/journal/stored-problems.ts'
import { openSource } from '../../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../../src/main/engine/source/preview.ts'
import {
  type FoundProblem,
  type ProblemCause,
  sayExpected,
} from '../../../../../src/shared/messages/problem-messages.ts'
import { planSchema } from '../../../../../src/shared/plan/plan.ts'
import type { Problem } from '../../../../../src/shared/run/problem.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import {
  insertTestRun,
  openReadyJournal,
  openTestJournal,
  readRecord,
  toIntakeRow,
} from '../../journal/test-journal.ts'
import { createWorkbook } from '../../source/workbook-files.ts'

const toUniqueKey = (_: number, cells: string[]) => ({ field: 'post_id', value: cells[0] ?? '' })
const withId = (row: number, id: string) =>
  toIntakeRow(row, { cells: [id], uniqueKey: { field: 'post_id', value: id } })
const asGiven = (row: IntakeRow): IntakeRow => row
const toError = (
  row: number,
  cause: ProblemCause = { code: 'required', args: { lack: 'value' } },
  severity: Problem['severity'] = 'error',
): FoundProblem => ({ row, severity, field: 'user_id', ...cause })

test('valid rows become items, invalid ones do not, and every row is stored with its cells', () => {
  const journal = openReadyJournal([
    toIntakeRow(1, { cells: ['a, "b"\n', ' 7 ', ''] }),
    toIntakeRow(2, { problems: [toError(2)] }),
    toIntakeRow(3, { problems: [toError(3, { code: 'recommended', args: { lack: 'value' } }, 'warning')] }),
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

test('a post_id of an earlier row makes the later row invalid, and names the first', () => {
  const journal = openReadyJournal([withId(1, 'a'), withId(2, 'b'), withId(3, 'a'), withId(4, 'a')])
  const problems = journal.db
    .prepare('SELECT row, code, field, message, args, details, found FROM problem ORDER BY id')
    .all()
  expect(problems.map((problem) => ({ ...problem }))).toEqual(
    [3, 4].map((row) => ({
      row,
      code: 'not_unique',
      field: 'post_id',
      message: '',
      args: '{"ignoresCase":false}',
      details: '{"row":1}',
      found: 'a',
    })),
  )
  expect(readRecord(journal)).toMatchObject({ rowsRead: 4, items: 2 })
  expect(journal.counters.get('state', 'invalid')).toBe(2)
})

test('a case-insensitive value is shown as in its row', () => {
  const withTerm = (row: number, shown: string) =>
    toIntakeRow(row, {
      cells: [shown.toLowerCase()],
      uniqueKey: { field: 'term', value: shown.toLowerCase(), shown },
    })
  const journal = openReadyJournal([withTerm(1, 'Gift card'), withTerm(2, 'GIFT Card')])
  const args = { ignoresCase: true }
  expect({ ...journal.db.prepare('SELECT args, details, found FROM problem').get() }).toEqual({
    args: JSON.stringify(args),
    details: '{"row":1}',
    found: 'GIFT Card',
  })
  expect([...journal.counters.entries('problem')]).toEqual([
    [JSON.stringify(['error', 'not_unique', 'term', args]), 1],
  ])
})

test('ids that differ only in case, white space or Unicode form are different', () => {
  const journal = openReadyJournal([
    withId(1, 'a'),
    withId(2, 'A'),
    withId(3, ' a'),
    withId(4, 'ä'),
    withId(5, 'a\u0308'),
  ])
  expect(readRecord(journal).items).toBe(5)
})

test('the id of an invalid row counts as used, and duplicates say that it is invalid', () => {
  const journal = openReadyJournal([
    { ...withId(1, 'a'), problems: [toError(1)] },
    withId(2, 'a'),
    withId(3, 'b'),
    withId(4, 'b'),
  ])
  expect(readRecord(journal)).toMatchObject({ rowsRead: 4, items: 1 })
  const problems = journal.db.prepare("SELECT * FROM problem WHERE code = 'not_unique' ORDER BY id").all()
  expect(problems.map((problem) => sayExpected(toStoredProblem(problem), 'terminal'))).toEqual([
    'must be unique in the source, but is also in row 1, which is invalid, too. Leave that row out, or change its value there',
    'must be unique in the source, but is also in row 3',
  ])
})

test('problems are counted by cause; those that name other rows count as one', () => {
  const journal = openReadyJournal([
    { ...withId(1, 'a'), problems: [toError(1)] },
    { ...withId(2, 'a'), problems: [toError(2), { ...toError(2, { code: 'not_a_url' }), field: 'url' }] },
    withId(3, 'b'),
    withId(4, 'b'),
  ])
  const counts = [...journal.counters.entries('problem')].map(([cause, n]) => [...JSON.parse(cause), n])
  expect(counts).toEqual([
    ['error', 'required', 'user_id', { lack: 'value' }, 2],
    ['error', 'not_a_url', 'url', {}, 1],
    ['error', 'not_unique', 'post_id', { ignoresCase: false }, 2],
  ])
})

test('interrupted intake starts over, with nothing counted twice', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const first = new IntakeWriter(journal, toUniqueKey)
  first.writeRows([withId(1, 'a'), { ...withId(2, 'a'), problems: [toError(2)] }], asGiven)
  // A few thousand rows make a group that is committed.
  first.writeRows(
    Array.from({ length: 12_000 }, (_, i) => withId(i + 3, `id ${i}`)),
    asGiven,
  )
  const { file } = journal
  journal.close()
  const again = openTestJournal({ file })
  expect(readRecord(again)).toMatchObject({ state: 'intake', rowsRead: 12_002 })
  const second = new IntakeWriter(again, toUniqueKey)
  // A process that ends here leaves a journal that claims no row.
  expect(readRecord(again)).toMatchObject({ state: 'intake', rowsRead: 0, items: 0 })
  expect(again.db.prepare('SELECT count(*) AS n FROM row').get()?.['n']).toBe(0)
  second.writeRows([withId(1, 'a'), { ...withId(2, 'a'), problems: [toError(2)] }, withId(3, 'b')], asGiven)
  second.finish(['text_data'])
  expect(readRecord(again)).toMatchObject({ state: 'ready', rowsRead: 3, items: 2 })
  expect(again.db.prepare('SELECT count(*) AS n FROM row').get()?.['n']).toBe(3)
  expect(again.counters.get('state', 'invalid')).toBe(1)
  expect([...again.counters.entries('problem').values()].filter((n) => n !== 0)).toEqual([1, 1])
})

test('rows are stored in order, whatever lies between those that are written together', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, toUniqueKey)
  // One row in each of some series is invalid or JSON, and a batch ends within a series.
  const rows = Array.from({ length: 500 }, (_, i) => {
    const row = i + 1
    if (row % 47 === 0) return toIntakeRow(row, { problems: [toError(row)] })
    return row % 71 === 0 ? toIntakeRow(row, { kinds: 'j' }) : toIntakeRow(row)
  })
  writer.writeRows(rows.slice(0, 333), asGiven)
  writer.writeRows(rows.slice(333), asGiven)
  writer.finish(['text_data'])
  expect(journal.db.prepare('SELECT id, cells, item, kinds FROM row ORDER BY id').all()).toEqual(
    rows.map(({ row, cells, kinds = null, problems }) => ({
      id: row,
      cells: JSON.stringify(cells),
      item: problems.length === 0 ? row : null,
      kinds,
    })),
  )
})

test('ids that differ only in their last character are distinguished, and found again', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, toUniqueKey)
  const ids = Array.from({ length: 3_000 }, (_, i) => String.fromCodePoint(0x20 + i))
  const repeated = ['', ...ids.slice(0, 3)]
  writer.writeRows(
    [...ids, ...repeated].map((id, at) => withId(at + 1, id)),
    asGiven,
  )
  writer.finish(['text_data'])
  const found = journal.db.prepare("SELECT row FROM problem WHERE code = 'not_unique' ORDER BY row").all()
  expect(found.map(({ row }) => row)).toEqual([3_002, 3_003, 3_004])
})

test('uniqueness holds across groups of a long source', () => {
  const journal = openTestJournal()
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, toUniqueKey)
  for (let start = 0; start < 14_000; start += 1_000) {
    // Every row of the second half repeats the id of a row in the first.
    writer.writeRows(
      Array.from({ length: 1_000 }, (_, i) => withId(start + i + 1, `id ${(start + i) % 7_000}`)),
      asGiven,
    )
  }
  writer.finish(['text_data'])
  expect(readRecord(journal)).toMatchObject({ rowsRead: 14_000, items: 7_000 })
  const [last] = journal.db.prepare('SELECT row, details FROM problem ORDER BY row DESC LIMIT 1').all()
  expect(last).toMatchObject({
    row: 14_000,
    details: '{"row":7000}',
  })
})

test('ids are found again after their table has grown', () => {
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

/** Row positions of a file in its journal, `[record, spreadsheet's row, line]`; the preview must agree. */
async function readPlaces(name: string, content: string | Uint8Array, options: object = {}) {
  const path = join(createTemporaryFolder(), name)
  writeFileSync(path, content)
  const { source } = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:1' },
    source: { path, ...options },
    operation: { kind: 'task' },
  })
  const journal = openTestJournal()
  insertTestRun(journal)
  const writer = new IntakeWriter(journal, (_, cells) => ({ field: 'post_id', value: cells[0] ?? '' }))
  const reader = await openSource(source)
  for await (const { rows, places } of reader.batches()) {
    writer.writeRows(rows, ({ row, cells }) => toIntakeRow(row, { cells }), places)
  }
  writer.finish([...reader.columns])
  reader.close()
  const toPlace = createPlaceReader(journal.db)
  const { rows } = await previewSource(source, 100)
  expect(rows.map(({ row }) => toPlace(row))).toEqual(rows.map(({ place }) => place))
  return rows.map(({ row, place }) => [row, place.row, place.line])
}

test('a row of a CSV has the number that a spreadsheet shows, and its line if earlier cells have line breaks', async () => {
  const text = 'text,user\na,1\n"b\nover two\r\nand three",2\nc,3\n\nd,5\n'
  expect(await readPlaces('posts.csv', text)).toEqual([
    [1, 2, null],
    [2, 3, null],
    [3, 4, 6],
    [4, 6, 8],
  ])
})

test('lines above the header count too', async () => {
  expect(await readPlaces('posts.csv', 'made by hand\n\ntext\na\nb\n', { headerRow: 2 })).toEqual([
    [1, 4, null],
    [2, 5, null],
  ])
  expect(await readPlaces('posts.csv', 'a\nb\n', { header: false })).toEqual([
    [1, 1, null],
    [2, 2, null],
  ])
})

test('a row of JSON Lines is identified by its line', async () => {
  expect(await readPlaces('posts.jsonl', '\n{"a":1}\n\n\n{"a":2}\n{"a":3}\n')).toEqual([
    [1, 2, null],
    [2, 5, null],
    [3, 6, null],
  ])
})

test('a row of a workbook has the number in its sheet', async () => {
  const row = (number: number, text: string) =>
    `<row r="${number}"><c r="A${number}" t="inlineStr"><is><t>${text}</t></is></c></row>`
  const rows = row(3, 'text') + row(4, 'a') + row(6, 'b')
  const book = await createWorkbook({ sheets: [{ name: 'S', rows }] })
  expect(await readPlaces('posts.xlsx', book)).toEqual([
    [1, 4, null],
    [2, 6, null],
  ])
})
