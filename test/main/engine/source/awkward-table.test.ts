import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import writeXlsxFile from 'write-excel-file/node'
import { createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { buildPlan } from '../mapping/build-plan.ts'
import { readAnySource, writeSource } from './read-source.ts'
import { createWorkbook } from './workbook-files.ts'

const COLUMNS = [
  'post_id',
  'user_id',
  'text_data',
  'group_id',
  'user_metadata',
  'content_metadata.when',
  'content_metadata.n',
]

const ROWS = [
  [
    '00042',
    '007',
    'plain',
    '12345678901234567890',
    '{"country": "NZ", "n": [1, 2]}',
    '2024-02-29',
    '1,234.50',
  ],
  ['00043', '1e5', '  spaces at both ends  ', '1.0', '', '29.02.2024 13:05', '10%'],
  ['00044', '-0', 'a,b;c\td|e "quoted" \'single\' ""', '+1', '', '36:00', '0.30'],
  ['00045', 'ü', 'first\nsecond\n\n fourth \n', '01/02/2003', '', '2/29/2024', '5'],
  ['00046', '=1+1', 'Müller “crème” – déjà vu, 5 € garçon', "'=1+1", '', '', 'TRUE'],
  ['00047', '@u', '<b>&amp;</b> \\n \\ #N/A null', 'null', '{"a": "é \\" b"}', '12:30', '#N/A'],
]

/** Characters that only some encodings have. */
const EMOJI_ROW = ['00048', '漢', '😀👩‍👩‍👧 漢字 ⚡️', 'Ω', '{"k": "😀"}', '29-Feb-24', '-7']
const ALL_ROWS = [...ROWS, EMOJI_ROW]

function toText(rows: readonly (readonly string[])[], delimiter: string, newline: string): string {
  const quote = (cell: string) => (/["\n\r\t,;|]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return [COLUMNS, ...rows].map((row) => row.map(quote).join(delimiter) + newline).join('')
}

function toJsonLines(rows: readonly (readonly string[])[]): string {
  const toObject = (row: readonly string[]) => Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]))
  return rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join('')
}

async function toXlsx(): Promise<Buffer> {
  const data = [COLUMNS, ...ALL_ROWS].map((row) => row.map((value) => ({ value, type: String })))
  return writeXlsxFile(data).toBuffer()
}

/** As a spreadsheet program writes typed values: numbers, dates and booleans, displayed in their formats. */
function toTypedXlsx(): Promise<Buffer> {
  const formats = [
    '00000',
    'yyyy-mm-dd',
    '#,##0.00',
    'dd.mm.yyyy hh:mm',
    9,
    46,
    '0.00',
    14,
    20,
    15,
    '[h]:mm',
    '000',
  ]
  const toTyped = (text: string, column: number): string | null => {
    if (column === 0) return `<c s="1"><v>${Number(text)}</v></c>`
    const typed: Record<string, string> = {
      '2024-02-29': '<c s="2"><v>45351</v></c>',
      '1,234.50': '<c s="3"><v>1234.5</v></c>',
      '29.02.2024 13:05': '<c s="4"><v>45351.545138888891</v></c>',
      '10%': '<c s="5"><v>0.1</v></c>',
      '36:00': '<c s="11"><v>1.5</v></c>',
      '0.30': '<c s="7"><f>0.1+0.2</f><v>0.30000000000000004</v></c>',
      '2/29/2024': '<c s="8"><v>45351</v></c>',
      '5': '<c><v>5</v></c>',
      TRUE: '<c t="b"><v>1</v></c>',
      '12:30': '<c s="9"><v>0.5208333333333334</v></c>',
      '#N/A': '<c t="e"><f>NA()</f><v>#N/A</v></c>',
      '29-Feb-24': '<c s="10"><v>45351</v></c>',
      '-7': '<c><v>-7</v></c>',
      '007': '<c s="12"><v>7</v></c>',
    }
    return typed[text] ?? null
  }
  const strings: string[] = []
  const escapeXml = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const toShared = (text: string) => `<c t="s"><v>${strings.push(text) - 1}</v></c>`
  const rows = [COLUMNS, ...ALL_ROWS].map(
    (row, index) =>
      `<row>${row.map((text, column) => (text === '' ? '<c/>' : ((index === 0 ? null : toTyped(text, column)) ?? toShared(text)))).join('')}</row>`,
  )
  return createWorkbook({
    sheets: [{ name: 'Tabelle1', rows: rows.join('') }],
    strings: strings.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`).join(''),
    formats,
  })
}

const FORMATS: Record<
  string,
  { name: string; content: () => Uint8Array | Promise<Uint8Array>; rows?: string[][] }
> = {
  CSV: { name: 'a.csv', content: () => Buffer.from(toText(ALL_ROWS, ',', '\r\n')) },
  'CSV with a byte-order mark': {
    name: 'a.csv',
    content: () => Buffer.from(`\uFEFF${toText(ALL_ROWS, ',', '\n')}`),
  },
  TSV: { name: 'a.tsv', content: () => Buffer.from(toText(ALL_ROWS, '\t', '\n')) },
  'a semicolon file': { name: 'a.csv', content: () => Buffer.from(toText(ALL_ROWS, ';', '\r\n')) },
  'a semicolon file that says so': {
    name: 'a.csv',
    content: () => Buffer.from(`sep=;\r\n${toText(ALL_ROWS, ';', '\r\n')}`),
  },
  'UTF-16, as Excel saves Unicode text': {
    name: 'a.txt',
    content: () => Buffer.from(`\uFEFF${toText(ALL_ROWS, '\t', '\r\n')}`, 'utf16le'),
  },
  'big-endian UTF-16': {
    name: 'a.csv',
    content: () => Buffer.from(`\uFEFF${toText(ALL_ROWS, ',', '\r\n')}`, 'utf16le').swap16(),
  },
  'Windows-1252': {
    name: 'a.csv',
    content: () => iconv.encode(toText(ROWS, ';', '\r\n'), 'windows-1252'),
    rows: ROWS,
  },
  'JSON Lines': { name: 'a.jsonl', content: () => Buffer.from(toJsonLines(ALL_ROWS)) },
  'JSON Lines in UTF-16': {
    name: 'a.ndjson',
    content: () => Buffer.from(`\uFEFF${toJsonLines(ALL_ROWS)}`, 'utf16le'),
  },
  'a workbook of texts': { name: 'a.xlsx', content: toXlsx },
  'a workbook of numbers and dates': { name: 'a.xlsx', content: toTypedXlsx },
}

test.each(Object.keys(FORMATS))('%s gives the same cells and the same request bodies', async (format) => {
  const { name = '', content = () => Buffer.of(), rows = ALL_ROWS } = FORMATS[format] ?? {}
  const source = await readAnySource(writeSource(await content(), name))
  expect(source.columns).toEqual(COLUMNS)
  expect(source.cells).toEqual(rows)
  expect(source.problems).toEqual([])
  const toBodies = (columns: readonly string[], cells: readonly (readonly string[])[]) => {
    const mapRow = createRowMapper(buildPlan(), columns, 'token')
    return cells.map((row, index) => JSON.stringify(mapRow(index + 1, row).body))
  }
  const bodies = toBodies(source.columns, source.cells)
  expect(bodies).toEqual(toBodies(COLUMNS, rows))
  expect(JSON.parse(bodies[0] ?? '')).toEqual({
    text_data: 'plain',
    user_id: '007',
    post_id: '00042',
    group_id: '12345678901234567890',
    user_metadata: { country: 'NZ', n: [1, 2] },
    content_metadata: { when: '2024-02-29', n: '1,234.50' },
  })
})
