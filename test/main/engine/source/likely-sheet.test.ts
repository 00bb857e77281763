import { expect, test } from 'vitest'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { sayFoundSheets } from '../../../../src/shared/messages/mapping-messages.ts'
import { findSheetChoice } from '../../../../src/shared/plan/source-place.ts'
import { failReadingAny, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const toRow = (...cells: readonly string[]) =>
  `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`
const POSTS = toRow('post_id', 'text_data') + toRow('p', 'hi').repeat(20)
const LIST = toRow('text_data') + toRow('hi').repeat(30)
const NOTES = toRow('Export of March') + toRow('Do not share')

async function writeSheets(sheets: Record<string, string>): Promise<string> {
  const list = Object.entries(sheets).map(([name, rows]) => ({ name, rows }))
  return writeSource(await createWorkbook({ sheets: list }), 'book.xlsx')
}

test.each([
  ['an empty sheet is passed over', { Empty: '', Posts: POSTS }, 'Posts', [0, 20]],
  [
    'a sheet of one row is passed over',
    { Cover: toRow('Messages of March'), Posts: POSTS },
    'Posts',
    [0, 20],
  ],
  ['notes above a table are passed over', { Notes: NOTES, Posts: POSTS }, 'Posts', [1, 20]],
  [
    'the first of two tables is read',
    { Few: toRow('a', 'b') + toRow('1', '2'), Posts: POSTS },
    'Few',
    [1, 20],
  ],
  ['a list goes before a shorter table', { List: LIST, Codes: POSTS }, 'List', [30, 20]],
  ['the first list is read where no table is', { Notes: NOTES, List: LIST }, 'Notes', [1, 30]],
])(
  'of several sheets the likely one is read, and all are offered with their rows: %s',
  async (_what, sheets, sheet, sheetRows) => {
    const path = await writeSheets(sheets)
    expect(await previewSource({ path, header: true }, 5)).toMatchObject({
      sheets: Object.keys(sheets),
      sheet,
      sheetRows,
    })
    expect((await readAnySource(path)).cells).toHaveLength(sheetRows[Object.keys(sheets).indexOf(sheet)] ?? 0)
  },
)

test('a hidden sheet is offered as such with its rows, and never guessed', async () => {
  const sheets = [
    { name: 'Old', rows: LIST, state: 'hidden' as const },
    { name: 'Notes', rows: NOTES },
  ]
  const path = await writeSource(await createWorkbook({ sheets }), 'book.xlsx')
  const preview = await previewSource({ path, header: true }, 5)
  expect(preview).toMatchObject({ sheet: 'Notes', sheetRows: [30, 1], hiddenSheets: ['Old'] })
  const choice = findSheetChoice(
    { sheets: ['Old', 'Notes'], sheet: 'Notes', rows: [30, 1], hidden: ['Old'] },
    {},
  )
  expect(choice && sayFoundSheets(choice)).toBe(
    'Reading the sheet "Notes" (1 row). The workbook also has "Old" (hidden, 30 rows)',
  )
})

test('a stated sheet is read, whatever the others contain', async () => {
  const path = await writeSheets({ Notes: NOTES, Posts: POSTS })
  expect((await readAnySource(path, { sheet: 'Notes' })).cells).toEqual([['Do not share']])
  expect(await previewSource({ path, header: true, sheet: 'Notes' }, 5)).toMatchObject({
    sheet: 'Notes',
    sheetRows: [1, 20],
  })
})

test('a workbook whose sheets have no rows is refused with the name of the first', async () => {
  const path = await writeSheets({ Empty: '', Cover: toRow('Messages of March') })
  expect(await failReadingAny(path)).toContain('found an empty sheet "Empty"')
  expect(await previewSource({ path, header: true }, 5)).toMatchObject({
    sheet: 'Empty',
    rows: [],
    sheetRows: [0, 0],
  })
})

test('rows of a sheet with most of the columns are reported, although each sheet has one of its own', async () => {
  const months = {
    Jan: toRow('post_id', 'text_data', 'likes') + toRow('p', 'hi', '1').repeat(5),
    Feb: toRow('post_id', 'text_data', 'shares') + toRow('p', 'hi', '2').repeat(4),
    Users: toRow('user_id', 'name', 'likes') + toRow('u', 'Ann', '3').repeat(3),
    Titled:
      toRow('Report of March') + toRow('post_id', 'text_data', 'likes') + toRow('p', 'hi', '3').repeat(2),
    Reworded: toRow('id', 'message') + toRow('p', 'hi'),
  }
  const { told } = await readAnySource(await writeSheets(months))
  expect(told).toMatchObject([
    {
      code: 'other_sheets',
      args: { sheet: 'Jan', others: '"Feb" (4 rows), "Titled" (2 rows), "Reworded" (1 row)' },
      rows: 7,
    },
  ])
})

test('rows of other sheets with the same columns are reported with their number, unless a person named the sheet', async () => {
  const again = (rows: number, ...names: string[]) => toRow(...names) + toRow('p', 'hi').repeat(rows)
  const path = await writeSheets({
    Jan: POSTS,
    Feb: again(3, 'Post ID', 'TEXT_DATA'),
    Mar: again(2, 'text_data', 'post_id', 'note'),
    Rules: again(2, 'post_id', 'rule'),
    Notes: NOTES,
  })
  const { told } = await readAnySource(path)
  expect(told.filter(({ code }) => code === 'other_sheets')).toEqual([
    {
      severity: 'warning',
      code: 'other_sheets',
      args: { sheet: 'Jan', others: '"Feb" (3 rows), "Mar" (2 rows)' },
      rows: 5,
    },
  ])
  expect((await readAnySource(path, { sheet: 'Jan' })).told).toEqual([])
  const unnamed = await readAnySource(path, { header: false })
  expect(unnamed.told).toMatchObject([{ args: { others: '"Feb" (4 rows), "Rules" (3 rows)' }, rows: 7 }])
})

test('rows of other sheets are reported wherever their headers are, if a person named the row of the header', async () => {
  const titles = toRow('Report') + toRow('by the team')
  const again = (rows: number) => toRow('post_id', 'text_data') + toRow('p', 'hi').repeat(rows)
  const path = await writeSheets({
    Jan: titles + again(5),
    Short: again(1),
    Plain: again(4),
    Titled: titles + again(3),
    'Later title': `${titles}${toRow('of March')}${again(2)}`,
    'Bare rows': [7, 8, 9].map((id) => toRow(`p${id}`, `text ${id}`)).join(''),
  })
  const { told } = await readAnySource(path, { headerRow: 3 })
  const others =
    '"Short" (1 row), "Plain" (4 rows), "Titled" (3 rows), "Later title" (2 rows), "Bare rows" (3 rows)'
  expect(told).toMatchObject([{ code: 'other_sheets', args: { sheet: 'Jan', others }, rows: 13 }])
})

test('rows of a sheet that continues the first, without its own header, are reported', async () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => toRow(`u${from + index}`, `text ${from + index}`)).join(
      '',
    )
  const path = await writeSheets({
    'Part 1': toRow('user_id', 'text_data') + rows(0, 5),
    'Part 2': rows(5, 9),
    Wider: toRow('u9', 'text 9', 'x') + toRow('u10', 'text 10', 'y').repeat(3),
    Codes: toRow('code', 'meaning') + toRow('a', 'one') + toRow('b', 'two'),
  })
  const { told } = await readAnySource(path)
  expect(told).toMatchObject([
    { code: 'other_sheets', args: { sheet: 'Part 1', others: '"Part 2" (4 rows)' }, rows: 4 },
  ])
})
