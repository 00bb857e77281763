import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { failReadingAny, type ReadOptions, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook, createZip, type HandmadeWorkbook, toWorkbookParts } from './workbook-files.ts'

async function readRows(
  rows: string,
  rest: Omit<HandmadeWorkbook, 'sheets'> = {},
  options: ReadOptions = {},
) {
  const path = writeSource(await createWorkbook({ sheets: [{ name: 'S', rows }], ...rest }), 'book.xlsx')
  return readAnySource(path, { header: false, ...options })
}

const toCell = (reference: string, text: string) =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`

test.each([
  ['h:mm', '13:05', '13:05'],
  ['h:mm:ss', '13:05:30', '13:05:30'],
  ['h:mm:ss', 'T13:05:30.000Z', '13:05:30'],
  ['[h]:mm', 'PT26H30M', '26:30'],
  ['[h]:mm:ss', 'P1DT2H0M1S', '26:00:01'],
  ['yyyy-mm-dd', '2024-02-29Z', '2024-02-29'],
  ['yyyy-mm-dd hh:mm:ss', '2024-02-29T13:05:30.000Z', '2024-02-29 13:05:30'],
  ['yyyy-mm-dd', '1900-01-01', '1900-01-01'],
  ['yyyy-mm-dd', '1900-03-01', '1900-03-01'],
  ['h:mm', '1899-12-30T13:05:00', '13:05'],
  ['yyyy', 'some day', 'some day'],
])(
  'a timestamp or duration that a strict file has as ISO 8601 is shown in its format (%s: %s)',
  async (format, iso, shown) => {
    const source = await readRows(`<row><c s="1" t="d"><v>${iso}</v></c></row>`, { formats: [format] })
    expect(source.cells).toEqual([[shown]])
  },
)

test('cells of a row that the file has in several elements are one row', async () => {
  const source = await readRows(
    `<row r="1">${toCell('A1', 'a')}</row><row r="1">${toCell('B1', 'b')}</row><row r="2">${toCell('A2', 'c')}</row><row r="2">${toCell('C2', 'd')}</row>`,
  )
  expect(source.cells).toEqual([
    ['a', 'b', ''],
    ['c', '', 'd'],
  ])
})

test('a cell that the file has twice is refused, since one of them would be lost', async () => {
  const path = writeSource(
    await createWorkbook({
      sheets: [{ name: 'S', rows: `<row r="1">${toCell('A1', 'a')}${toCell('A1', 'b')}</row>` }],
    }),
    'book.xlsx',
  )
  expect(await failReadingAny(path, { header: false })).toContain('row 1 has the cell "A1" twice')
})

test.each([
  ['counted from 0', [0, 1, 2]],
  ['all numbered 0', [0, 0, 0]],
])('rows that are %s are read in order', async (_what, numbers) => {
  const rows = numbers.map(
    (number, index) => `<row r="${number}">${toCell(`A${number}`, `row ${index}`)}</row>`,
  )
  expect((await readRows(rows.join(''))).cells).toEqual([['row 0'], ['row 1'], ['row 2']])
})

test('a workbook without its styles part is read without formats', async () => {
  const parts = toWorkbookParts({ sheets: [{ name: 'S', rows: '<row><c s="1"><v>0.5</v></c></row>' }] })
  delete parts['xl/styles.xml']
  const path = writeSource(await createZip(parts), 'book.xlsx')
  expect((await readAnySource(path, { header: false })).cells).toEqual([['0.5']])
})

test("empty rows are not rows without a header either, and numbers remain the spreadsheet's", async () => {
  const source = await readRows(`<row r="4">${toCell('B4', 'x')}</row><row r="6">${toCell('A6', 'y')}</row>`)
  expect(source.cells).toEqual([
    ['', 'x'],
    ['y', ''],
  ])
  expect(source.places.map(({ row, sheetRow }) => [row, sheetRow])).toEqual([
    [1, 4],
    [2, 6],
  ])
})

test.each([
  ['[$€-413] #,##0.00', '1234.5', '€ 1,234.50'],
  ['#,##0.00 [$€-407];-#,##0.00 [$€-407]', '-1234.5', '-1,234.50 €'],
  ['[$-40C]0.0', '0.5', '0.5'],
  ['[$-407]d. mmmm yyyy', '45351', '29. Februar 2024'],
])(
  'a format that names a language keeps the decimal separator (%s: %s → %s)',
  async (format, value, shown) => {
    const source = await readRows(`<row><c s="1"><v>${value}</v></c></row>`, { formats: [format] })
    expect(source.cells).toEqual([[shown]])
  },
)

test.each([
  ['#', '0', '0'],
  [';;;', '42', '42'],
  ['#,##0;-#,##0;', '0', '0'],
  ['0.00%;\\-0.00%;\\%', '0', '%'],
  ['#', '7', '7'],
])('a number that its format hides is not lost (%s: %s → %s)', async (format, value, shown) => {
  const source = await readRows(`<row><c s="1"><v>${value}</v></c></row>`, { formats: [format] })
  expect(source.cells).toEqual([[shown]])
})

test('an escaped lone surrogate is reported where it is replaced, in a shared and in an own text', async () => {
  const source = await readRows(
    '<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row><row><c t="inlineStr"><is><t>x_xDC00_</t></is></c></row>',
    { strings: '<si><t>a_xD83D__xDE00_</t></si><si><t>b_xD800_</t></si>' },
  )
  expect(source.cells).toEqual([['a😀'], ['b\uFFFD'], ['x\uFFFD']])
  expect(source.rows.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([
    'row 2: has an escape of half a character (an unpaired surrogate), which was replaced by U+FFFD, found `b\uFFFD`',
    'row 3: has an escape of half a character (an unpaired surrogate), which was replaced by U+FFFD, found `x\uFFFD`',
  ])
})

test.each([
  ['<c t="inlineStr"><is><t>1.</t></is><v>01.</v></c>', '1.'],
  ['<c t="inlineStr"><v>01.</v><is><t>1.</t></is></c>', '1.'],
  ['<c t="str"><v>value</v><is><t>inline</t></is></c>', 'value'],
  ['<c t="inlineStr"><v>only a value</v></c>', 'only a value'],
])('for a cell with both a text of its own and a value, its type decides: %s', async (cell, shown) => {
  expect((await readRows(`<row>${cell}</row>`)).cells).toEqual([[shown]])
})
