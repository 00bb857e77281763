import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { toTable } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { writeReport } from '../../../../../src/main/engine/run/export/write-report.ts'
import {
  toResultsSheet,
  writeXlsx as writeSheet,
} from '../../../../../src/main/engine/run/export/xlsx-report.ts'
import { toExportColumns } from '../../../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { readAnySource } from '../../source/read-source.ts'
import { createWorkbook } from '../../source/workbook-files.ts'
import { buildOptions, buildResult } from './build-result.ts'

async function writeXlsx(columns: readonly string[], pages: Iterable<ExportRow[]>): Promise<string> {
  const file = join(createTemporaryFolder(), 'out.xlsx')
  await writeReport({ ...buildOptions(columns), file, pages })
  return file
}

const AWKWARD = [
  '00042',
  '12345678901234567890',
  '=1+1',
  "'=1+1",
  '+49 170 1',
  '  spaces  ',
  'a,b;"c"\td',
  'lines\nof\r\ntext\r',
  '<b>&amp;</b> ]]>',
  '_x000D_ _x0041_ _x',
  '\u0000\u0001\u001f\uffff',
  'Müller 漢 😀',
  '',
  '2024-02-29',
  ' ',
]

const APPENDED = toExportColumns('task', {}).map(({ name }) => name)

test('every cell comes back from the file unchanged, as text', async () => {
  const columns = [...AWKWARD.keys()].map((index) => `column ${index}`)
  const file = await writeXlsx(columns, [[buildResult({ cells: AWKWARD, durationMs: null })]])
  const source = await readAnySource(file)
  expect(source.columns).toEqual([...columns, ...APPENDED])
  expect(source.cells[0]?.slice(0, AWKWARD.length)).toEqual(AWKWARD)
  expect(source.cells[0]?.slice(AWKWARD.length)).toEqual([
    ...['2', 'succeeded', '200', '', '', 't1', 'p1', '', '', '1', '1', ...Array<string>(11).fill('')],
  ])
  expect(source.problems).toEqual([])
})

test('a guarded CSV export that went through a spreadsheet program loses its guard; our workbook has none', async () => {
  const toCell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const toRow = (first: string) => `<row>${toCell(first)}${APPENDED.map(toCell).join('')}</row>`
  const path = join(createTemporaryFolder(), 'saved.xlsx')
  const rows = `${toRow("'=name")}${toRow("'=1+1")}${toRow('plain')}`
  writeFileSync(path, await createWorkbook({ sheets: [{ name: 'results', rows }] }))
  const saved = await readAnySource(path)
  expect([saved.columns[0], ...saved.cells.map(([cell]) => cell)]).toEqual(['=name', '=1+1', 'plain'])
  const own = await readAnySource(await writeXlsx(["'=name"], [[buildResult({ cells: ["'+49 170"] })]]))
  expect([own.columns[0], own.cells[0]?.[0]]).toEqual(["'=name", "'+49 170"])
})

test('our numbers are numbers, and ids and source cells are text', async () => {
  const scored = toTable(['a'], toExportColumns('task', { classes: ['spam'] }))
  const result = buildResult({
    cells: ['12'],
    taskId: '0042',
    postId: '17',
    durationMs: 12.3456,
    classScores: [{ className: 'spam', score: 0.25 }],
  })
  const sheet = toResultsSheet(buildOptions(['a'], { table: scored }), [[result]])
  let cells: readonly (string | number)[] = []
  for await (const page of sheet.rows) cells = page.at(-1)?.cells ?? cells
  // Row, status, latency, tries, record and score.
  expect(cells.filter((cell) => typeof cell === 'number')).toEqual([2, 200, 12.346, 1, 1, 0.25])
  expect(cells.filter((cell) => typeof cell === 'string' && cell !== '')).toEqual([
    '12',
    'succeeded',
    '0042',
    '17',
  ])
})

test('the row number of a split record stays text', async () => {
  const halves = [
    buildResult({ cells: ['x'], place: { row: 4, line: null, half: 'text_data' } }),
    buildResult({ row: 2, place: { row: 5, line: null }, cells: ['y'] }),
  ]
  const source = await readAnySource(await writeXlsx(['a'], [halves]))
  expect(source.cells.map(([, row]) => row)).toEqual(['4a', '5'])
})

test('names of an earlier export are renamed, short rows are padded, pages follow each other', async () => {
  const second = buildResult({ row: 2, place: { row: 3, line: null }, cells: ['y', 'z'] })
  const pages = [[buildResult({ cells: ['x'] })], [], [second]]
  const source = await readAnySource(await writeXlsx(['a', 'sluice_row'], pages))
  expect(source.columns.slice(0, 3)).toEqual(['a', 'sluice_row (source)', 'sluice_row'])
  expect(source.cells.map((cells) => cells.slice(0, 3))).toEqual([
    ['x', '', '2'],
    ['y', 'z', '3'],
  ])
})

test('the result gives the written rows and bytes, and nothing else is left', async () => {
  const file = await writeXlsx(['a'], [])
  const pages = [Array.from({ length: 2500 }, (_, i) => buildResult({ row: i + 1, cells: [`text ${i}`] }))]
  const result = await writeReport({ ...buildOptions(['a']), file, pages })
  expect(result).toEqual({ file, rows: 2500, sizeBytes: readFileSync(file).length })
  expect(readdirSync(join(file, '..'))).toEqual(['out.xlsx'])
  const source = await readAnySource(file)
  expect(source.cells.map(([cell]) => cell)).toEqual(Array.from({ length: 2500 }, (_, i) => `text ${i}`))
})

test('content that a sheet cannot hold is an error that suggests .csv, and leaves no file behind', async () => {
  const long = [[buildResult({ row: 7, cells: ['ok', 'x'.repeat(32_768)] })]]
  const folder = createTemporaryFolder()
  const fail = async (columns: readonly string[], pages: Iterable<ExportRow[]>) =>
    writeReport({ ...buildOptions(columns), file: join(folder, 'out.xlsx'), pages }).then(
      () => Promise.reject(new Error('writing succeeded')),
      (error: unknown) => error,
    )
  expect(await fail(['a', 'b'], long)).toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining('cell B2 has 32768 characters, and a cell takes at most 32767'),
    hint: expect.stringContaining('.csv'),
  })
  expect(await fail(Array<string>(16_384).fill('a'), [])).toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining('it has 16406 columns'),
  })
  function* breaking(): Generator<ExportRow[]> {
    yield [buildResult()]
    throw new Error('the journal is gone')
  }
  expect(await fail(['a', 'b'], breaking())).toMatchObject({ message: 'the journal is gone' })
  expect(readdirSync(folder)).toEqual([])
})

test("rows beyond a sheet's limit are an error that suggests .csv", async () => {
  const pages = [[buildResult(), buildResult({ row: 2 })], [buildResult({ row: 3 })]]
  await expect(buffer(writeSheet(buildOptions(['a', 'b']), pages, 4))).resolves.toBeDefined()
  await expect(buffer(writeSheet(buildOptions(['a', 'b']), pages, 3))).rejects.toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining('it has more than 2 rows, and a sheet takes 3 with its header'),
    hint: expect.stringContaining('.csv'),
  })
})
