import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { toTable } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { writeReport } from '../../../../../src/main/engine/run/export/write-report.ts'
import { toExportColumns } from '../../../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { readAnySource } from '../../source/read-source.ts'
import { buildOptions, buildResult } from './build-result.ts'

const BEGINNINGS = [
  '',
  '',
  '',
  '=',
  '+',
  '-',
  '@',
  "'",
  "'=",
  "''+",
  "'-5",
  '＝',
  '\t',
  '\r',
  '\n',
  ' ',
  '\u200b',
  '"',
  '[',
  '{',
  '#',
]
const PIECES = [
  ...[
    ',',
    ';',
    '|',
    '\t',
    '\n',
    '\r\n',
    '\r',
    '"',
    "'",
    '""',
    ';=1',
    ",'-x",
    "\n'@b",
    ' ',
    '\u00a0',
    '\\',
    '=',
    '-',
    '+',
  ],
  ...[
    'a',
    'Müller',
    '漢字',
    '😀',
    'ﬁ',
    '\u0301',
    '\u202e',
    '\ufeff',
    '\u2028',
    '\u0007',
    'true',
    'null',
    '0',
    '5',
    '.5',
  ],
]
const WHOLE = [
  ...[
    '-5',
    '+49 170 1234567',
    '007',
    '1e5',
    '12345678901234567890',
    '1.0',
    '2024-02-29',
    '29.02.2024',
    '12:30',
    'TRUE',
  ],
  ...[
    'null',
    'nan',
    '#N/A',
    '{"a":1}',
    '[1,2]',
    '["a; b"]',
    '"x"',
    '_x000D_',
    '-',
    "'",
    'sluice_row',
    'x'.repeat(300),
  ],
]

/** Cells of all kinds, including a trailing carriage return, which quoted CSV keeps too. */
const cell = fc.oneof(
  fc
    .tuple(fc.constantFrom(...BEGINNINGS), fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }))
    .map(([begin, pieces]) => begin + pieces.join('')),
  fc.constantFrom(...WHOLE),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.toWellFormed().replaceAll('\0', '')),
)

const COLUMNS = ['id', '=odd name', 'text, long', "it's"]

/** The first cell names its row, because a row of empty cells is not read. */
const rows = fc.array(
  fc.tuple(cell, cell, cell).map((cells) => cells),
  { minLength: 1, maxLength: 8 },
)

const verdict = fc.record({
  verdict: fc.constantFrom('should', 'should-not'),
  rule: fc.constantFrom('Spam', 'a; b', '["x"]', '=1'),
  note: fc.option(fc.constantFrom('quotes an advert', '-5', "'=x", 'a; b', '[]'), { nil: null }),
})

function toResults(drawn: readonly (readonly string[])[], verdicts: readonly object[]): ExportRow[] {
  return drawn.map((cells, index) =>
    buildResult({
      row: index + 1,
      place: { row: index + 2, line: null },
      cells: [`r${index}`, ...cells],
      message: cells[0] ?? null,
      verdicts: verdicts as NonNullable<ExportRow['verdicts']>,
    }),
  )
}

test.each([
  ...[',', ';', '|', '\t'].map((delimiter) => ['rows.csv', false, delimiter] as const),
  ['rows.csv', true, ','],
  ['rows.csv.gz', false, ','],
  ['rows.xlsx', false, ','],
] as const)(
  'an export as %s (lossless: %s, delimiter %j) read as a source and exported again has the same rows',
  async (name, lossless, delimiter) => {
    await fc.assert(
      fc.asyncProperty(rows, fc.array(verdict, { maxLength: 2 }), async (drawn, verdicts) => {
        const results = toResults(drawn, verdicts)
        const file = (text: string) => join(createTemporaryFolder(), `${text}-${name}`)
        const own = toExportColumns('task', { hasVerdicts: true })
        const first = file('first')
        await writeReport({
          ...buildOptions(COLUMNS, { table: toTable(COLUMNS, own), lossless, delimiter }),
          file: first,
          pages: [results],
        })
        const read = await readAnySource(first)
        const expected = results.map((result) => [
          ...result.cells,
          ...own.map((column) => String(column.read(result))),
        ])
        expect(read.columns).toEqual([...COLUMNS, ...own.map((column) => column.name)])
        expect(read.cells).toEqual(expected)
        // In the second export, our old columns are among those of the source.
        const again = file('again')
        const reread = read.rows.map(({ row, cells }) => buildResult({ row, cells, verdicts: [] }))
        await writeReport({
          ...buildOptions(read.columns, { table: toTable(read.columns, own), lossless, delimiter }),
          file: again,
          pages: [reread],
        })
        const second = await readAnySource(again)
        expect(second.cells.map((cells) => cells.slice(0, read.columns.length))).toEqual(expected)
      }),
      { numRuns: inject('isLong') ? 200 : 20, seed: 33, endOnFailure: true },
    )
  },
)

test.each(['rows.jsonl', 'rows.jsonl.gz'])(
  'an export as %s read as a source has the cells of its rows',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(rows, async (drawn) => {
        const results = toResults(drawn, [])
        const file = join(createTemporaryFolder(), name)
        await writeReport({ ...buildOptions(COLUMNS), file, pages: [results] })
        const read = await readAnySource(file)
        const at = COLUMNS.map((column) => read.columns.indexOf(`cells.${column}`))
        expect(read.cells.map((cells) => at.map((index) => cells[index]))).toEqual(
          results.map(({ cells }) => cells),
        )
      }),
      { numRuns: inject('isLong') ? 200 : 20, seed: 33, endOnFailure: true },
    )
  },
)
