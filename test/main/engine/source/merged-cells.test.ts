import { expect, test } from 'vitest'
import { describeFiles } from '../../../../src/main/engine/source/describe-reading.ts'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { failReadingAny, type ReadOptions, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** A row from its cells; '' has no text. */
const toRow = (number: number, cells: readonly string[], attributes = '') =>
  `<row r="${number}" ${attributes}>${cells
    .map((cell, i) => {
      const reference = `${'ABCDEF'[i]}${number}`
      if (cell.startsWith('#')) return `<c r="${reference}" t="e"><v>${cell}</v></c>`
      return cell === ''
        ? `<c r="${reference}"/>`
        : `<c r="${reference}" t="inlineStr"><is><t>${cell}</t></is></c>`
    })
    .join('')}</row>`

const toMerge = (references: readonly string[]) =>
  `<mergeCells>${references.map((reference) => `<mergeCell ref="${reference}"/>`).join('')}</mergeCells>`

async function writeMerged(rows: string, references: readonly string[], behind = ''): Promise<string> {
  const after = `<sheetProtection/>${toMerge(references)}${behind}`
  return writeSource(await createWorkbook({ sheets: [{ name: 'S', rows, after }] }), 'book.xlsx')
}

const TABLE = [
  toRow(1, ['user', 'text', 'topic']),
  toRow(2, ['u1', 'a', 'x']),
  toRow(3, ['', 'b', 'x']),
  toRow(4, ['', 'c', 'x']),
  toRow(5, ['u2', '', 'y']),
].join('')

/** Each row's number in the source, and the problems of its cells. */
async function readProblems(path: string, options: ReadOptions = {}): Promise<string[]> {
  const { rows } = await readAnySource(path, options)
  return rows.flatMap(({ row, problems }) =>
    problems.map((problem) => `${row}: ${sayExpected(problem, 'terminal')}`),
  )
}

test('a row with an empty cell because of merging names the cell it is merged with', async () => {
  const path = await writeMerged(TABLE, ['A2:A4', 'A5:B5'])
  expect(await readProblems(path)).toEqual([
    '2: A3 is empty because it is merged with A2',
    '3: A4 is empty because it is merged with A2',
    '4: B5 is empty because it is merged with A5',
  ])
  const { cells, warnings } = await readAnySource(path)
  expect(cells.map((row) => row[0])).toEqual(['u1', '', '', 'u2'])
  expect(warnings).toEqual([])
})

test("merged cells get the first one's text, down and to the right, only on request", async () => {
  const path = await writeMerged(TABLE, ['A2:A4', 'A5:B5'])
  const filled = await readAnySource(path, { merged: 'fill' })
  expect(filled.cells).toEqual([
    ['u1', 'a', 'x'],
    ['u1', 'b', 'x'],
    ['u1', 'c', 'x'],
    ['u2', 'u2', 'y'],
  ])
  expect(filled.problems).toEqual([])
  expect((await readAnySource(path, { merged: 'empty' })).problems).toEqual([])
  expect((await previewSource({ path, header: true, merged: 'fill' }, 2)).rows[1]?.cells[0]).toBe('u1')
})

test('how merged cells are read is described if a person stated it', async () => {
  const path = await writeMerged(TABLE, ['A2:A4'])
  const describe = async (options: ReadOptions) => {
    const source = { path, header: true, ...options }
    const reader = await openSource(source)
    reader.close()
    return describeFiles(reader, source)[0]?.merged
  }
  expect(await describe({})).toBeUndefined()
  expect(await describe({ merged: 'fill' })).toBe('fill')
})

test('a row without its own text is not a row when merged cells are filled', async () => {
  const rows = toRow(1, ['user', 'text']) + toRow(2, ['u1', 'a']) + toRow(3, ['', '']) + toRow(5, ['u2', 'b'])
  const { cells, warnings } = await readAnySource(await writeMerged(rows, ['A2:A4', 'B2:B4']), {
    merged: 'fill',
  })
  expect(cells).toEqual([
    ['u1', 'a'],
    ['u2', 'b'],
  ])
  expect(warnings).toEqual(['2: has only empty cells and is skipped'])
})

test('merged cells that begin in a hidden row carry its text to the visible ones', async () => {
  const rows =
    toRow(1, ['user', 'text']) +
    toRow(2, ['u1', 'a'], 'hidden="1"') +
    toRow(3, ['', 'b']) +
    toRow(4, ['', 'c'])
  const path = await writeMerged(rows, ['A2:A4'])
  expect((await readAnySource(path, { merged: 'fill', rows: 'visible' })).cells).toEqual([
    ['u1', 'b'],
    ['u1', 'c'],
  ])
})

test("a cell that is merged with the header stays empty and says so, because the header is not a row's text", async () => {
  const rows = toRow(1, ['user', 'text']) + toRow(2, ['', 'a']) + toRow(3, ['u', 'b'])
  const path = await writeMerged(rows, ['A1:A2'])
  expect((await readAnySource(path, { merged: 'fill' })).cells[0]).toEqual(['', 'a'])
  expect(await readProblems(path, { merged: 'fill' })).toEqual([
    '1: A2 is empty because it is merged with A1',
  ])
})

test('a header of two rows gets its merged names when merged cells are filled', async () => {
  const rows =
    toRow(1, ['id', 'Contact', '']) + toRow(2, ['', 'name', 'mail']) + toRow(3, ['1', 'Ann', 'a@b.test'])
  const path = await writeMerged(rows, ['A1:A2', 'B1:C1'])
  const { columns, cells } = await readAnySource(path, { merged: 'fill', headerRow: 2 })
  expect(columns).toEqual(['id', 'name', 'mail'])
  expect(cells).toEqual([['1', 'Ann', 'a@b.test']])
})

test('a title merged over the table is not repeated into columns that the table lacks', async () => {
  const rows = toRow(1, ['user', 'text']) + toRow(2, ['u1', 'a']) + toRow(3, ['note'])
  const { cells, problems } = await readAnySource(await writeMerged(rows, ['A3:F3']), { merged: 'fill' })
  expect(cells[1]).toEqual(['note', 'note'])
  expect(problems).toEqual([])
})

test('a text below a merged cell stays, and says that the spreadsheet does not show it', async () => {
  const rows = toRow(1, ['user', 'text']) + toRow(2, ['u1', 'a']) + toRow(3, ['kept', 'b'])
  const path = await writeMerged(rows, ['A2:A3'])
  const said = ['2: A3 has a text that the spreadsheet does not show, because it is merged with A2']
  expect(await readProblems(path)).toEqual(said)
  expect(await readProblems(path, { merged: 'fill' })).toEqual(said)
  expect((await readAnySource(path, { merged: 'fill' })).cells[1]).toEqual(['kept', 'b'])
})

test('an error in the first of merged cells is an error in all that are filled with it', async () => {
  const rows = toRow(1, ['user', 'text']) + toRow(2, ['#N/A', 'a']) + toRow(3, ['', 'b'])
  const { rows: read } = await readAnySource(await writeMerged(rows, ['A2:A3']), { merged: 'fill' })
  expect(read.map(({ kinds }) => kinds)).toEqual(['es', 'es'])
})

test('references that name no cells, or one cell, merge nothing', async () => {
  expect(await readProblems(await writeMerged(TABLE, ['nowhere', 'B2', 'A0:A9', 'ZZZZ1:A2']))).toEqual([])
})

test.each([
  ['a remark among the cells', { rows: `<!-- </sheetData> -->${TABLE}` }],
  ['names with a prefix', { prefix: 'x:' }],
  ['UTF-16', { encoding: 'utf16le' as const }],
])('merged cells are found after the cells of a sheet with %s', async (_what, how) => {
  const {
    rows = TABLE,
    prefix = '',
    encoding = 'utf8',
  }: { rows?: string; prefix?: string; encoding?: 'utf8' | 'utf16le' } = how
  const sheet = `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData>${toMerge(['A2:A4'])}</worksheet>`
  const named =
    prefix === ''
      ? sheet
      : sheet.replaceAll(/<(\/?)(?=[a-z])/gi, `<$1${prefix}`).replace('xmlns=', 'xmlns:x=')
  const text = encoding === 'utf8' ? named : `\uFEFF${named}`
  const workbook = await createWorkbook({
    sheets: [{ name: 'S', rows: '' }],
    parts: { 'xl/worksheets/sheet1.xml': Buffer.from(text, encoding) },
  })
  const { cells } = await readAnySource(writeSource(workbook, 'b.xlsx'), { merged: 'fill' })
  expect(cells.map(([user]) => user)).toEqual(['u1', 'u1', 'u1', 'u2'])
})

test('merged cells are filled among a hundred thousand others in any order', async () => {
  onlyInLongForm()
  const pairs = 1_000
  const rows = Array.from({ length: pairs }, (_, i) =>
    [toRow(2 * i + 2, [`u${i}`, 'a']), toRow(2 * i + 3, ['', 'b'])].join(''),
  )
  const references = Array.from({ length: pairs * 100 }, (_, i) => {
    const row = 2 * Math.floor(i / 100) + 2
    const column = i % 100 === 0 ? 'A' : `${'CDEFGHIJKL'[Math.floor((i % 100) / 10)]}${'ABCDEFGHIJ'[i % 10]}`
    return `${column}${row}:${column}${row + 1}`
  })
  const path = await writeMerged(toRow(1, ['user', 'text']) + rows.join(''), references.toReversed())
  const { cells } = await readAnySource(path, { merged: 'fill' })
  expect(cells).toHaveLength(2 * pairs)
  expect(cells.every(([user], i) => user === `u${Math.floor(i / 2)}`)).toBe(true)
})

test("unreadable data after a sheet's rows costs no row, unless merged cells are to be filled", async () => {
  const path = await writeMerged(TABLE, ['A2:A4'], `<extLst>${'<x>'.repeat(60_000)}`)
  expect((await readAnySource(path)).cells).toHaveLength(4)
  expect(await failReadingAny(path, { merged: 'fill' })).toContain('elements inside each other')
})
