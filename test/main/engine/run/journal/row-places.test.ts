import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { IntakeWriter } from '../../../../../src/main/engine/run/journal/intake-writer.ts'
import { createPlaceReader } from '../../../../../src/main/engine/run/journal/row-places.ts'
import { openSource } from '../../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../../src/main/engine/source/preview.ts'
import { planSchema } from '../../../../../src/shared/plan/plan.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { insertTestRun, openTestJournal, toIntakeRow } from '../../journal/test-journal.ts'
import { createWorkbook } from '../../source/workbook-files.ts'

/** Where the rows of a file stand by its journal, `[record, spreadsheet's row, line]`; the preview must say the same. */
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
  const writer = new IntakeWriter(journal, (_, cells) => cells[0] ?? '')
  const reader = await openSource(source)
  for await (const { rows, places } of reader.batches()) {
    writer.writeRows(
      rows.map(({ row, cells }) => toIntakeRow(row, { cells })),
      places,
    )
  }
  writer.finish([...reader.columns])
  reader.close()
  const toPlace = createPlaceReader(journal.db)
  const { rows } = await previewSource(source, 100)
  expect(rows.map(({ row }) => toPlace(row))).toEqual(rows.map(({ place }) => place))
  return rows.map(({ row, place }) => [row, place.row, place.line])
}

test('a row of a CSV has the number that a spreadsheet shows, and the line where cells before it have line breaks', async () => {
  const text = 'text,user\na,1\n"b\nover two\r\nand three",2\nc,3\n\nd,5\n'
  expect(await readPlaces('posts.csv', text)).toEqual([
    [1, 2, null],
    [2, 3, null],
    [3, 4, 6],
    [4, 5, 7],
    [5, 6, 8],
  ])
})

test('what stands above the header counts, too', async () => {
  expect(await readPlaces('posts.csv', 'made by hand\n\ntext\na\nb\n', { headerRow: 2 })).toEqual([
    [1, 4, null],
    [2, 5, null],
  ])
  expect(await readPlaces('posts.csv', 'a\nb\n', { header: false })).toEqual([
    [1, 1, null],
    [2, 2, null],
  ])
})

test('a row of JSON Lines is known by its line', async () => {
  expect(await readPlaces('posts.jsonl', '\n{"a":1}\n\n\n{"a":2}\n{"a":3}\n')).toEqual([
    [1, 2, null],
    [2, 5, null],
    [3, 6, null],
  ])
})

test('a row of a workbook has the number of the sheet', async () => {
  const row = (number: number, text: string) =>
    `<row r="${number}"><c r="A${number}" t="inlineStr"><is><t>${text}</t></is></c></row>`
  const rows = row(3, 'text') + row(4, 'a') + row(6, 'b')
  const book = await createWorkbook({ sheets: [{ name: 'S', rows }] })
  expect(await readPlaces('posts.xlsx', book)).toEqual([
    [1, 4, null],
    [2, 5, null],
    [3, 6, null],
  ])
})
