import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import fc from 'fast-check'
import { parseRecords } from '../../src/main/engine/source/csv/record-parser.ts'
import { openSource } from '../../src/main/engine/source/open-source.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import type { PlanSource } from '../../src/shared/plan/plan.ts'
import { PLAIN_SYNTAX } from '../helpers/plain-syntax.ts'
import { createWorkbook } from '../main/engine/source/workbook-files.ts'
import { awkwardText, createTarget, expectSame, expectTrue, type FuzzTarget } from './fuzz-target.ts'

/**
 * Most by which reading one source may grow the process, bytes; growth from earlier sources does not count.
 */
const GROWTH_MAX_BYTES = 512 * 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** The rows of a source with their numbers and cells; null if the source was refused. */
async function readRows(
  name: string,
  content: string | Uint8Array,
  options: Partial<PlanSource> = {},
): Promise<{ columns: string[]; rows: { row: number; cells: string[] }[] } | null> {
  const path = join(folder, name)
  writeFileSync(path, content)
  const startBytes = process.memoryUsage.rss()
  try {
    const reader = await openSource({ path, header: true, ...options })
    try {
      const rows: { row: number; cells: string[] }[] = []
      for await (const batch of reader.batches()) {
        for (const { row, cells } of batch.rows) rows.push({ row, cells })
      }
      expectSame(
        rows.map(({ row }) => row),
        rows.map((_, at) => at + 1),
        'numbers of the rows',
      )
      expectTrue(process.memoryUsage.rss() - startBytes < GROWTH_MAX_BYTES, 'memory grew')
      return { columns: [...reader.columns], rows }
    } finally {
      reader.close()
    }
  } catch (error) {
    if (error instanceof SluiceError) return null
    throw error
  }
}

const cell = awkwardText.map((text) => text.toWellFormed().replaceAll('\0', '').replaceAll('\ufeff', ''))
/** At least two cells, the first of them not empty: a record of empty cells is not read. */
const table = fc
  .integer({ min: 2, max: 4 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
  )
  .map((records) => records.map(([first, ...rest], at) => [`${first}${at}`, ...rest]))

const layout = fc.record({
  table,
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  ends: fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 1, maxLength: 3 }),
  quotesAll: fc.boolean(),
  sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
})

/** Delimited text as in RFC 4180, optionally with another delimiter. */
function writeDelimited({
  table: records,
  delimiter,
  ends,
  quotesAll,
}: {
  table: string[][]
  delimiter: string
  ends: string[]
  quotesAll: boolean
}): string {
  const quote = (text: string) =>
    quotesAll || /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
  return records
    .map((record, at) => record.map(quote).join(delimiter) + (ends[at % ends.length] ?? '\n'))
    .join('')
}

/** The records of a text that arrives in chunks of these sizes. */
function parseInPieces(text: string, delimiter: string, sizes: readonly number[]): string[][] {
  let at = 0
  let turn = 0
  const readText = () => {
    if (at >= text.length) return null
    const from = at
    at += sizes[turn % sizes.length] ?? 1
    turn += 1
    return text.slice(from, at)
  }
  return [...parseRecords(readText, { ...PLAIN_SYNTAX, delimiter })].flatMap((batch) => batch.records)
}

const brokenCsv = fc.record({
  parts: fc.array(fc.constantFrom('a', '"', '""', ',', '\n', '\r', '\r\n', ' ', '😀', "'", '\\'), {
    maxLength: 30,
  }),
  sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
})

const CSV = [
  createTarget('csv: every record comes out once, as it was written', 12, layout, (drawn) => {
    const text = writeDelimited(drawn)
    expectSame(parseInPieces(text, drawn.delimiter, drawn.sizes), drawn.table, JSON.stringify(text))
  }),
  createTarget('csv: broken quotes give the same records in any pieces', 8, brokenCsv, ({ parts, sizes }) => {
    const text = parts.join('')
    expectSame(
      parseInPieces(text, ',', sizes),
      parseInPieces(text, ',', [Math.max(1, text.length)]),
      JSON.stringify(text),
    )
  }),
  createTarget('csv: a file has as many rows as were written, cell by cell', 1, layout, async (drawn) => {
    const header = (drawn.table[0] ?? []).map((_, at) => `column ${at}`)
    const text = writeDelimited({ ...drawn, table: [header, ...drawn.table] })
    const read = await readRows('rows.csv', text, { delimiter: drawn.delimiter, encoding: 'utf-8' })
    if (read === null) throw new Error('a good file was refused')
    expectSame(
      read.rows.map(({ cells }) => cells),
      drawn.table,
      JSON.stringify(text),
    )
  }),
  createTarget('csv: any bytes are read or refused', 0.4, fc.uint8Array({ maxLength: 80 }), async (bytes) => {
    await readRows('bytes.csv', bytes)
  }),
]

const KEYS = ['post_id', 'text', 'a b', 'ü', 'x.y']
const jsonRow = fc.dictionary(fc.constantFrom(...KEYS), cell, { minKeys: 1, maxKeys: 4 })

const JSONL = [
  createTarget(
    'jsonl: every line comes out once, text by text',
    1,
    fc.array(jsonRow, { minLength: 1, maxLength: 5 }),
    async (lines) => {
      const read = await readRows('rows.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      if (read === null) throw new Error('a good file was refused')
      const found = read.rows.map(({ cells }) =>
        Object.fromEntries(read.columns.flatMap((column, at) => (cells[at] ? [[column, cells[at]]] : []))),
      )
      const expected = lines.map((line) =>
        Object.fromEntries(read.columns.flatMap((column) => (line[column] ? [[column, line[column]]] : []))),
      )
      expectSame(found, expected, 'lines')
      expectSame(
        [...read.columns].sort(),
        [...new Set(lines.flatMap((line) => Object.keys(line)))].sort(),
        'columns',
      )
    },
  ),
  createTarget(
    'jsonl: broken lines are rows too, and none is lost',
    1,
    fc.array(
      fc.oneof(
        fc.constantFrom(
          '{',
          '{"a":1}',
          '[]',
          '1',
          '"x"',
          '{"a":{"b":[1]}}',
          '{"a":1,"a":2}',
          '{"__proto__":1}',
          'null',
          '\u0000',
        ),
        awkwardText.map((text) => text.toWellFormed().replace(/[\r\n\ufeff]/g, '')),
      ),
      { minLength: 1, maxLength: 6 },
    ),
    async (lines) => {
      const read = await readRows('broken.jsonl', `{"a":"first"}\n${lines.join('\n')}\n`, {
        encoding: 'utf-8',
      })
      if (read === null) return
      const filled = lines.filter((line) => line.trim() !== '').length
      expectTrue(read.rows.length >= filled + 1, `${read.rows.length} rows of ${filled + 1} lines`)
      expectTrue(
        read.rows.length <= lines.length + 1,
        `${read.rows.length} rows of ${lines.length + 1} lines`,
      )
    },
  ),
]

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;')
// Characters that XML cannot hold, and texts that look like a workbook's escape for them.
const xmlCell = cell.map((text) => text.replace(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|_x/gu, ''))

const SHEETS = fc
  .integer({ min: 1, max: 3 })
  .chain((width) =>
    fc.array(fc.array(xmlCell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
  )
  .map((records) => records.map(([first, ...rest], at) => [`${first}${at}`, ...rest]))

const toRows = (records: readonly (readonly string[])[], isShared: boolean): string =>
  records
    .map((record, row) => {
      const cells = record.map((text, at) =>
        isShared
          ? `<c t="s"><v>${row * record.length + at}</v></c>`
          : `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`,
      )
      return `<row>${cells.join('')}</row>`
    })
    .join('')

function writeWorkbook(records: readonly (readonly string[])[], isShared: boolean): Promise<Buffer> {
  const strings = records.flat().map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`)
  return createWorkbook({
    sheets: [{ name: 'S', rows: toRows(records, isShared) }],
    ...(isShared ? { strings: strings.join('') } : {}),
  })
}

const XLSX = [
  createTarget(
    'xlsx: every row comes out once, cell by cell',
    0.2,
    fc.tuple(SHEETS, fc.boolean()),
    async ([records, isShared]) => {
      const header = (records[0] ?? []).map((_, at) => `column ${at}`)
      const read = await readRows('book.xlsx', await writeWorkbook([header, ...records], isShared))
      if (read === null) throw new Error('a good workbook was refused')
      expectSame(
        read.rows.map(({ cells }) => cells),
        records,
        'rows',
      )
    },
  ),
  createTarget(
    'xlsx: a workbook with any part changed is read or refused',
    0.2,
    fc.record({
      name: fc.constantFrom(
        'xl/worksheets/sheet1.xml',
        'xl/styles.xml',
        'xl/sharedStrings.xml',
        'xl/workbook.xml',
        'xl/_rels/workbook.xml.rels',
      ),
      xml: fc.array(
        fc.constantFrom(
          ...[
            '<worksheet>',
            '<sheetData>',
            '<row>',
            '<row r="3">',
            '<c r="B2" t="s">',
            '<c t="d">',
            '<v>1</v>',
            '<v>99</v>',
          ],
          ...[
            '</c>',
            '</row>',
            '</sheetData>',
            '</worksheet>',
            '<is><t>x</t></is>',
            '<f>A1</f>',
            '<si>',
            '</si>',
            '<sst>',
            '&amp;',
          ],
          ...[
            '<xf numFmtId="14"/>',
            '<cellXfs>',
            '<numFmt numFmtId="200" formatCode="[$-409]d;@"/>',
            '<!-- x -->',
            '<![CDATA[y]]>',
            '&#0;',
            'é',
          ],
        ),
        { maxLength: 14 },
      ),
    }),
    async ({ name, xml }) => {
      const book = await createWorkbook({
        sheets: [
          { name: 'S', rows: '<row><c t="s" s="1"><v>0</v></c></row><row><c s="1"><v>44000.5</v></c></row>' },
        ],
        strings: '<si><t>a</t></si>',
        formats: [14],
        parts: { [name]: xml.join('') },
      })
      await readRows('part.xlsx', book)
    },
  ),
  createTarget(
    'xlsx: a workbook with bytes changed is read or refused',
    0.2,
    fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat()),
    async ([at, byte, cutAt]) => {
      SAMPLE ??= await writeWorkbook(
        [
          ['a', 'b'],
          ['1', 'two'],
          ['3', 'four'],
        ],
        true,
      )
      const bytes = Buffer.from(SAMPLE)
      bytes[at % bytes.length] = byte
      await readRows('bytes.xlsx', cutAt % 3 === 0 ? bytes.subarray(0, cutAt % bytes.length) : bytes)
    },
  ),
]

let SAMPLE: Buffer | undefined

/** Targets for everything that is read as a source. */
export const SOURCE_TARGETS: readonly FuzzTarget[] = [...CSV, ...JSONL, ...XLSX]
