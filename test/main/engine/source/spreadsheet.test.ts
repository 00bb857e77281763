import { expect, test } from 'vitest'
import { openSource } from '../../../../src/main/engine/source/open-source.ts'
import { previewSource } from '../../../../src/main/engine/source/preview.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { failReadingAny, type ReadOptions, readAnySource, writeSource } from './read-source.ts'
import { createWorkbook, type HandmadeWorkbook } from './workbook-files.ts'

async function writeWorkbook(workbook: HandmadeWorkbook): Promise<string> {
  return writeSource(await createWorkbook(workbook), 'book.xlsx')
}

/** Reads the rows of a sheet without a header. */
async function readCells(
  rows: string,
  rest: Omit<HandmadeWorkbook, 'sheets'> = {},
  options: ReadOptions = {},
) {
  const path = await writeWorkbook({ sheets: [{ name: 'Sheet1', rows }], ...rest })
  return readAnySource(path, { header: false, ...options })
}

const toInline = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`
const toRow = (...cells: readonly string[]) => `<row>${cells.map(toInline).join('')}</row>`

test('shared, rich, inline and formula texts keep every space and line break', async () => {
  const source = await readCells(
    '<row r="1"><c r="A1" t="s"><v>1</v></c><c r="B1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><r><t>x </t></r><r><t xml:space="preserve"> y</t></r></is></c><c r="D1" t="str"><f>A1&amp;" "</f><v> z </v></c></row>',
    {
      strings:
        '<si><t xml:space="preserve">  spaces  </t></si><si><r><rPr><b/></rPr><t>bo</t></r><r><t xml:space="preserve">ld </t></r><rPh sb="0" eb="1"><t>spoken</t></rPh></si>',
    },
  )
  expect(source.cells).toEqual([['bold ', '  spaces  ', 'x  y', ' z ']])
  expect(source.problems).toEqual([])
})

test('escapes of characters that XML cannot hold are read, and XML’s own entities', async () => {
  const source = await readCells(
    toRow('a_x000D_&#10;b', '_x005F_x000D_', '&lt;b&gt; &amp;amp; &quot;', '😀é&#x1F600;'),
  )
  expect(source.cells).toEqual([['a\r\nb', '_x000D_', '<b> &amp; "', '😀é😀']])
})

test.each([
  [1, '00000', '42', '00042'],
  [2, '00000', '-7', '-00007'],
  [2, '00000', '-0', '00000'],
  [3, '0.00', '1.005', '1.01'],
  [4, '#,##0', '1234567', '1,234,567'],
  [5, 9, '0.256', '26%'],
  [6, 10, '0.1234', '12.34%'],
  [7, 14, '45351', '2/29/2024'],
  [8, 15, '45351', '29-Feb-24'],
  [9, 16, '45351', '29-Feb'],
  [10, 17, '45351', 'Feb-24'],
  [11, 18, '0.75', '6:00 PM'],
  [12, 19, '0.750011574', '6:00:01 PM'],
  [13, 20, '0.5208333333333334', '12:30'],
  [14, 21, '0.5208333333333334', '12:30:00'],
  [15, 22, '45351.5', '2/29/2024 12:00'],
  [16, 45, '0.0034722222', '05:00'],
  [17, 46, '1.5', '36:00:00'],
  [18, 47, '0.001', '01:26.4'],
  [19, 49, '007', '7'],
  [20, 'yyyy-mm-dd', '45351', '2024-02-29'],
  [21, 'dd.mm.yyyy hh:mm', '45351.54513888889', '29.02.2024 13:05'],
  [22, '[$-407]d. mmmm yyyy', '45351', '29. Februar 2024'],
  [23, '_-* #,##0.00 "€"_-', '12.5', '12.50 €'],
  [24, '"id-"000000000000000000', '5', 'id-000000000000000005'],
  [25, '000-000-0000', '5551234567', '555-123-4567'],
  [26, '0', '12345678901234567', '12345678901234567'],
  [27, '00000000000000000000', '12345678901234567', '00012345678901234567'],
  [28, '[no such format', '5', '5'],
  [29, 'yyyy-mm-dd', '-1', '-1'],
  [30, 30, '45351', '2/29/2024'],
])('a number is read as displayed in its format (%i: %s, %s → %s)', async (_case, code, value, shown) => {
  const source = await readCells(`<row><c s="1"><v>${value}</v></c></row>`, { formats: [code] })
  expect(source.cells).toEqual([[shown]])
})

test.each([
  ['1234567890123', '1234567890123'],
  ['123456789012345678901', '123456789012345678901'],
  ['0.30000000000000004', '0.3'],
  ['0.1', '0.1'],
  ['1.2345678901234567E16', '12345678901234600'],
  ['1E21', '1E+21'],
  ['1E-7', '1E-07'],
  ['-0', '0'],
  ['0', '0'],
  ['3.14159265358979', '3.14159265358979'],
])('a number without a format is shown in full: %s → %s', async (value, shown) => {
  expect((await readCells(`<row><c><v>${value}</v></c></row>`)).cells).toEqual([[shown]])
})

test('an integer with more digits than a spreadsheet keeps is a warning', async () => {
  const source = await readCells(
    '<row><c><v>1234567890123456</v></c></row><row><c><v>123456789012345</v></c></row>',
  )
  expect(source.rows.flatMap((row) => row.problems.map(formatProblem))).toEqual([
    'row 1: is stored as a number with more than 15 digits; spreadsheets change all digits after the 15th, found `1234567890123456`',
  ])
  expect(source.problems).toEqual(['number_precision 1 warning'])
})

test('dates of a workbook that counts from 1904 are four years and a day later, durations are not', async () => {
  const rows = '<row><c s="1"><v>43889</v></c><c s="2"><v>1.5</v></c><c s="3"><v>43889</v></c></row>'
  const workbook = { formats: ['yyyy-mm-dd', '[h]:mm', '0'], is1904: true }
  expect((await readCells(rows, workbook)).cells).toEqual([['2024-02-29', '36:00', '43889']])
})

test('ISO dates of a workbook that counts from 1904 are taken literally', async () => {
  const rows = '<row><c t="d" s="1"><v>2024-02-29</v></c><c t="d" s="2"><v>2024-02-29</v></c></row>'
  const workbook = { formats: ['yyyy-mm-dd', '0'], is1904: true }
  expect((await readCells(rows, workbook)).cells).toEqual([['2024-02-29', '43889']])
})

test('booleans, errors, ISO dates and formulas are shown by their values', async () => {
  const source = await readCells(
    '<row r="2"><c r="A2" t="b"><v>1</v></c><c r="B2" t="b"><v>0</v></c><c r="C2" t="e"><v>#N/A</v></c><c r="D2" t="d" s="1"><v>2024-02-29T12:00:00</v></c><c r="E2"><f>6*7</f><v>42</v></c><c r="F2"><f>1+1</f></c><c r="G2" t="str"><f>""</f><v></v></c><c r="H2" t="inlineStr"><is><t>end</t></is></c></row>',
    { formats: ['yyyy-mm-dd hh:mm'] },
    { header: false },
  )
  expect(source.cells[0]).toEqual(['TRUE', 'FALSE', '#N/A', '2024-02-29 12:00', '42', '', '', 'end'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has a formula that was never calculated; the cell is read as empty. Open and save the workbook in a spreadsheet program, found `F2`',
  ])
})

test('cells missing in the file are empty, and rows without text are not rows and are counted', async () => {
  const source = await readCells(
    '<row r="2"><c r="B2"><v>1</v></c><c r="AA2"><v>2</v></c></row><row r="3"><c r="A3" s="1"/></row><row r="5"><c r="A5"><v>3</v></c></row><row r="6"/><row r="9"><c r="Z9" t="inlineStr"><is><t/></is></c></row>',
  )
  expect(source.rows.map(({ row }) => row)).toEqual([1, 2])
  expect(source.places.map(({ row, sheetRow }) => [row, sheetRow])).toEqual([
    [1, 2],
    [2, 5],
  ])
  expect(source.told).toEqual([{ severity: 'warning', code: 'empty_records', rows: 2 }])
  expect(
    source.cells.map((cells) => cells.flatMap((cell, i) => (cell === '' ? [] : [`${i}=${cell}`]))),
  ).toEqual([['1=1', '26=2'], ['0=3']])
  expect(source.cells.map((cells) => cells.length)).toEqual([27, 27])
})

test('the header is the first non-empty row or the stated one; nothing above it is a row', async () => {
  const rows = `<row r="2">${toInline('Report of 2024')}</row><row r="4">${toInline('id')}${toInline('')}${toInline('text')}</row><row r="5">${toInline('1')}</row><row r="6">${toInline('2')}${toInline('x')}${toInline('y')}${toInline('z')}</row>`
  const first = await readCells(rows, {}, { header: true })
  expect(first.columns).toEqual(['Report of 2024', 'Column 2', 'Column 3', 'Column 4'])
  const named = await readCells(rows, {}, { header: true, headerRow: 4 })
  expect(named.columns).toEqual(['id', 'Column 2', 'text', 'Column 4'])
  expect(named.cells).toEqual([
    ['1', '', '', ''],
    ['2', 'x', 'y', 'z'],
  ])
  expect(named.problems).toEqual([])
})

test('a row that is wider than all first rows is named, and keeps its cells', async () => {
  const rows = `${toRow('a', 'b')}${toRow('1', '2').repeat(600)}${toRow('1', '2', '3')}`
  const source = await readCells(rows, {}, { header: true })
  expect(source.columns).toEqual(['a', 'b', 'Column 3'])
  expect(source.problems).toEqual(['ragged_row 601 warning'])
  expect(source.cells.at(-1)).toEqual(['1', '2', '3'])
})

test('a sheet is chosen by name or by its position among visible ones, by default the first', async () => {
  const path = await writeWorkbook({
    sheets: [
      { name: 'Secret', rows: toRow('s'), state: 'veryHidden' },
      { name: 'Posts & "more"', rows: toRow('p') },
      { name: '2', rows: toRow('two') },
      { name: 'Blank', rows: '' },
    ],
  })
  const read = async (sheet?: string | number) =>
    (await readAnySource(path, { header: false, ...(sheet === undefined ? {} : { sheet }) })).cells
  expect(await read()).toEqual([['p']])
  expect(await read('Secret')).toEqual([['s']])
  expect(await read('posts & "MORE"')).toEqual([['p']])
  expect(await read(2)).toEqual([['two']])
  expect(await read('2')).toEqual([['two']])
  expect(await read('1')).toEqual([['p']])
  expect(await failReadingAny(path, { sheet: 'Gone' })).toContain(
    'the sheet "Gone" does not exist | Choose another sheet. Sheets: "Secret" (hidden), "Posts & \\"more\\"", "2", "Blank".',
  )
  expect(await failReadingAny(path, { sheet: 4 })).toContain('the sheet 4 does not exist')
  expect(await failReadingAny(path, { sheet: 'Blank' })).toContain('found an empty sheet "Blank"')
  expect(await failReadingAny(path)).toContain('found only a row with column names in the sheet')
  const preview = await previewSource({ path, header: false, sheet: 'Secret' }, 5)
  expect(preview).toMatchObject({
    format: 'xlsx',
    sheet: 'Secret',
    sheets: ['Secret', 'Posts & "more"', '2', 'Blank'],
  })
})

test('a header row that is empty or below the last row is reported', async () => {
  const path = await writeWorkbook({
    sheets: [{ name: 'S', rows: `${toRow('a')}<row r="5"><c><v>1</v></c></row>` }],
  })
  expect(await failReadingAny(path, { headerRow: 3 })).toContain(
    'in row 3 of the sheet "S", but that row is empty',
  )
  expect(await failReadingAny(path, { headerRow: 9 })).toContain(
    'in row 9 of the sheet "S", but its last row is 5',
  )
})

test('parts may have prefixes, other encodings and their own names', async () => {
  const workbook =
    '<x:workbook xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main" xmlns:rel="http://purl.oclc.org/ooxml/officeDocument/relationships"><x:sheets><x:sheet name="S" sheetId="1" rel:id="rId1"/></x:sheets></x:workbook>'
  const sheet =
    '<?xml version="1.0" encoding="UTF-16"?><x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t><![CDATA[<é>]]></x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>'
  const path = await writeWorkbook({
    sheets: [{ name: 'S', rows: '' }],
    parts: {
      'xl/workbook.xml': workbook,
      'xl/worksheets/sheet1.xml': Buffer.from(`\uFEFF${sheet}`, 'utf16le'),
    },
  })
  expect((await readAnySource(path, { header: false })).cells).toEqual([['<é>']])
})

test('a reader can be stopped early and read again from the start, with the shared texts it knows', async () => {
  const strings = Array.from({ length: 5000 }, (_, i) => `<si><t>text ${i}</t></si>`).join('')
  const rows = Array.from({ length: 5000 }, (_, i) => `<row><c t="s"><v>${4999 - i}</v></c></row>`).join('')
  const path = await writeWorkbook({ sheets: [{ name: 'S', rows }], strings })
  const reader = await openSource({ path, header: true })
  for await (const batch of reader.batches()) {
    expect(batch.bytesRead).toBeLessThan(reader.sizeBytes)
    break
  }
  const cells: string[] = []
  let bytesRead = 0
  for await (const batch of reader.batches()) {
    cells.push(...batch.rows.map((row) => row.cells.join()))
    bytesRead = batch.bytesRead
  }
  expect(cells).toEqual(Array.from({ length: 4999 }, (_, i) => `text ${4998 - i}`))
  expect(bytesRead).toBe(reader.sizeBytes)
  reader.close()
})

test('a repeated header row is an error, as in delimited text', async () => {
  const rows = `${toRow('id', 'text')}${toRow('1', 'a')}${toRow('id', 'text')}`
  expect((await readCells(rows, {}, { header: true })).problems).toEqual(['repeated_header 2 error'])
})
