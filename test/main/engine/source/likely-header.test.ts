import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { readAnySource, readText, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const TITLES = 'Report: November;;\n;;\npost_id;user_id;text_data\np1;u1;hi\np2;u2;ho\n'
const told = (row: number) => expect.objectContaining({ code: 'title_rows', args: { row } })

test.each([
  ['titles with as many delimiters as rows', TITLES, 3],
  ['a title without a delimiter', 'Report: November\n\npost_id,user_id,text_data\np1,u1,hi\np2,u2,ho\n', 3],
  ['several titles', 'Posts\nby team A\npost_id\tuser_id\ttext_data\np1\tu1\thi\n', 3],
])('%s name the row that looks like the header', (_, text, row) => {
  expect(readText(text).told).toContainEqual(told(row))
})

test.each([
  ['a usual table', 'id,text\np1,a\np2,b\n'],
  ['prose of one column with commas', 'text\nhello, world\nno, not you\nfoo,bar\n'],
  ['prose with two commas', 'comment\nwell,then\nwell,then,now\n'],
  ['numbers below a name', 'text\n1,2\n3,4\n'],
  ['a header with an empty name', 'id,text,\np1,a,x\np2,b,y\n'],
])('%s name none', (_, text) => {
  expect(readText(text).told.map(({ code }) => code)).not.toContain('title_rows')
})

test('a stated header row gives its columns without a warning', () => {
  const source = readText(TITLES, { headerRow: 3 })
  expect(source.told.map(({ code }) => code)).not.toContain('title_rows')
  expect(source.columns).toEqual(['post_id', 'user_id', 'text_data'])
  expect(source.cells).toEqual([
    ['p1', 'u1', 'hi'],
    ['p2', 'u2', 'ho'],
  ])
})

test('titles above the table of a workbook name the row of the sheet, in the preview too', async () => {
  const toRow = (number: number, ...cells: readonly string[]) =>
    `<row r="${number}">${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
  const rows = [
    toRow(2, 'November'),
    toRow(5, 'post_id', 'user_id', 'text_data'),
    toRow(6, 'p1', 'u1', 'hi'),
    toRow(7, 'p2', 'u2', 'ho'),
  ].join('')
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows }] }), 'b.xlsx')
  expect((await readAnySource(path)).told).toContainEqual(told(5))
  const preview = await previewSource({ path, header: true }, 10)
  expect(preview.likelyHeaderRow).toBe(5)
})
