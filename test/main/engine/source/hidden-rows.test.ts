import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { type ReadOptions, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const toCell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
const toRow = (number: number, attributes: string, ...cells: readonly string[]) =>
  `<row r="${number}" ${attributes}>${cells.map(toCell).join('')}</row>`

const FILTERED = [
  toRow(1, '', 'post_id', 'text_data'),
  toRow(2, '', 'p1', 'seen'),
  toRow(3, 'hidden="1"', 'p2', 'filtered out'),
  toRow(5, '', 'p3', 'seen, too'),
  toRow(6, 'ht="0" customHeight="1"', 'p4', 'no height'),
  toRow(7, 'hidden="true"', ''),
  toRow(8, 'hidden="0"', 'p5', 'last'),
  toRow(9, 'hidden="1"', 'p6', 'behind'),
].join('')

async function readSheet(rows: string, options: ReadOptions = {}, before = '') {
  return readAnySource(
    writeSource(await createWorkbook({ sheets: [{ name: 'S', rows, before }] }), 'b.xlsx'),
    options,
  )
}

test('hidden rows of a workbook are read, counted and reported, so that a run can ask before it sends them', async () => {
  const source = await readSheet(FILTERED)
  expect(source.cells.map(([id]) => id)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6'])
  expect(source.hidden).toEqual({ rows: 3 })
  expect(source.warnings).toEqual(['2: has only empty cells and is skipped'])
  expect(source.problems).toEqual(['hidden_rows 2 warning', 'hidden_rows 4 warning', 'hidden_rows 6 warning'])
})

test('hidden rows are excluded if only visible rows are wanted, and the others keep their numbers', async () => {
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows: FILTERED }] }), 'b.xlsx')
  const source = await readAnySource(path, { rows: 'visible' })
  expect(source.cells.map(([id]) => id)).toEqual(['p1', 'p3', 'p5'])
  expect(source.hidden).toEqual({ rows: 3 })
  expect(source.warnings).toEqual(['1: has only empty cells and is skipped'])
  const { rows } = await previewSource({ path, header: true, rows: 'visible' }, 10)
  expect(rows.map(({ place, cells }) => `${place.row} ${cells[0]}`)).toEqual(['2 p1', '5 p3', '8 p5'])
})

test('hidden rows are not asked about if a plan wants all rows', async () => {
  const source = await readSheet(FILTERED, { rows: 'all' })
  expect(source.cells).toHaveLength(6)
  expect(source.problems).toEqual([])
  expect(source.hidden).toEqual({ rows: 3 })
  expect(source.warnings).toEqual(['2: has only empty cells and is skipped'])
})

test('a sheet with only hidden rows has none to send if only visible rows are wanted', async () => {
  const rows = toRow(1, '', 'id') + toRow(2, 'hidden="1"', 'a')
  await expect(readSheet(rows, { rows: 'visible' })).rejects.toThrow('expected visible rows')
})

test('hidden columns with cells are named by their letters', async () => {
  const rows = toRow(1, '', 'a', 'b', 'c', 'd') + toRow(2, '', '1', '2', '3', '4')
  const columns =
    '<cols><col min="1" max="1" width="9"/><col min="2" max="3" hidden="1"/><col min="4" max="4" width="0" customWidth="1"/><col min="9" max="16384" hidden="1"/></cols>'
  const source = await readSheet(rows, {}, columns)
  expect(source.cells).toEqual([['1', '2', '3', '4']])
  expect(source.warnings).toEqual(['all: has hidden columns (B to D); they are read like the visible ones'])
})
