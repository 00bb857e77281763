import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { toTable } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { writeReport } from '../../../../../src/main/engine/run/export/write-report.ts'
import { type ExportColumn, toExportColumns } from '../../../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { AnswerContent } from '../../../../../src/shared/service/answer-content.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { buildOptions, buildResult } from './build-result.ts'

async function writeParquet(
  columns: readonly string[],
  pages: Iterable<ExportRow[]>,
  parts: Parameters<typeof buildOptions>[1] = {},
) {
  const file = join(createTemporaryFolder(), 'out.parquet')
  await writeReport({ ...buildOptions(columns, parts), file, pages })
  const buffer = await asyncBufferFromFile(file)
  return { file: buffer, rows: await parquetReadObjects({ file: buffer }) }
}

const RULE = { ruleId: 'r1', ruleName: 'Spam' }

test('a Parquet file has typed numbers and booleans, and null where nothing applies', async () => {
  const table = toTable(['text'], toExportColumns('task', { classes: ['hate'], rules: [RULE] }))
  const content = new AnswerContent('{"from_cache":true}', 'content')
  const results = [
    buildResult({ cells: ['one'], content, triggeredRules: [RULE] }),
    buildResult({
      row: 2,
      place: { row: 3, line: null },
      cells: ['two'],
      status: null,
      durationMs: null,
      ...{ state: 'failed', errorCode: 'BUSY', attempts: 3 },
      classScores: [{ className: 'hate', score: 0.1234567890123 }],
    }),
  ]
  const { rows } = await writeParquet(['text'], [results], { table })
  expect(rows).toMatchObject([
    {
      ...{ text: 'one', sluice_row: 2, sluice_record: 1, sluice_status: 200, sluice_attempts: 1 },
      ...{ sluice_duration_ms: 12.346, sluice_from_cache: true, sluice_error_code: null },
      ...{ 'score.hate': null, 'rule.Spam': true, sluice_callback_latency_ms: null },
    },
    {
      ...{ text: 'two', sluice_row: 3, sluice_record: 2, sluice_status: null, sluice_attempts: 3 },
      ...{ sluice_duration_ms: null, sluice_from_cache: null, sluice_error_code: 'BUSY' },
      ...{ 'score.hate': 0.1234567890123, 'rule.Spam': null },
    },
  ])
})

test('source cells are unchanged texts in a Parquet file, and null only if they are missing', async () => {
  const awkward = ['00042', '=1+1', 'a,b;"c"\td', 'lines\nof\r\ntext', 'Müller 漢 😀', '', ' ', '\u0000']
  const columns = awkward.map((_, index) => `c${index}`)
  const { rows } = await writeParquet(columns, [
    [
      buildResult({ cells: awkward }),
      buildResult({ cells: awkward.slice(0, 2) }),
      buildResult({ cells: ['null', '', '12', ''], kinds: 'n-js' }),
    ],
  ])
  const toCells = (row: Record<string, unknown> | undefined) => columns.map((name) => row?.[name])
  expect(toCells(rows[0])).toEqual(awkward)
  expect(toCells(rows[1])).toEqual(['00042', '=1+1', ...Array(6).fill(null)])
  expect(toCells(rows[2])).toEqual([null, null, '12', '', ...Array(4).fill(null)])
})

test('a long Parquet file is written in groups of rows, and keeps them all in order', async () => {
  onlyInLongForm()
  function* listPages() {
    for (let from = 0; from < 45_000; from += 500) {
      yield Array.from({ length: 500 }, (_, index) =>
        buildResult({ row: from + index + 1, cells: [`text ${from + index}`] }),
      )
    }
  }
  const { file, rows } = await writeParquet(['text'], listPages())
  const { row_groups: groups } = await parquetMetadataAsync(file)
  expect(groups.map(({ num_rows: count }) => Number(count))).toEqual([10_000, 10_000, 10_000, 10_000, 5_000])
  expect(rows).toHaveLength(45_000)
  expect(
    rows.every((row, index) => row['text'] === `text ${index}` && row['sluice_record'] === index + 1),
  ).toBe(true)
})

test.each([
  ['one alone', () => 0],
  ['three of them', (row: number) => row % 3],
  ['half of them', (row: number) => row % 6_000],
  [
    'nearly all different at first, then alike',
    (row: number) => (row < 1_000 ? row - (row % 20 === 0 ? 1 : 0) : 7),
  ],
  ['alike at first, then all different', (row: number) => Math.max(row, 6_000)],
  ['all different', (row: number) => row],
])('values of a Parquet file come back unchanged, with nulls between them: %s', async (_, toKey) => {
  const at = (key: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, 0, key * 1_001))
  const expected = Array.from({ length: 12_000 }, (__, row) => {
    const key = toKey(row)
    if (row % 7 === 0) return { text: null, number: null, at: null, truth: null }
    return {
      text: `Müller ${'漢😀'.repeat(key % 5)} ${key}`,
      number: key / -7,
      at: at(key),
      truth: key % 2 === 1,
    }
  })
  const read = (name: 'text' | 'number' | 'truth') => (row: ExportRow) => {
    const value = expected[row.row - 1]?.[name] ?? ''
    return typeof value === 'boolean' ? String(value) : value
  }
  const table: ExportColumn[] = [
    { name: 'text', read: read('text') },
    { name: 'number', type: 'number', read: read('number') },
    { name: 'at', type: 'timestamp', read: ({ row }) => expected[row - 1]?.at?.toISOString() ?? '' },
    { name: 'truth', type: 'boolean', read: read('truth') },
  ]
  const results = expected.map((__, index) => buildResult({ row: index + 1, cells: [] }))
  const { rows } = await writeParquet([], [results], { table })
  expect(rows).toEqual(expected)
})

test('a Parquet file without rows still has its columns, each with a unique name', async () => {
  const { file, rows } = await writeParquet(['sluice_row', 'b'], [], { lossless: true, header: ['', ''] })
  const { schema } = await parquetMetadataAsync(file)
  expect(rows).toEqual([])
  expect(schema.slice(1, 4).map(({ name }) => name)).toEqual(['sluice_row (source)', 'b', 'sluice_row'])
})

test('row numbers are texts in a Parquet file of a run that may have split records', async () => {
  const results = [buildResult({ place: { row: 4, line: null, half: 'url' }, cells: ['a'] })]
  const { rows } = await writeParquet(['text'], [results], { rowsHaveLetters: true })
  expect(rows).toMatchObject([{ sluice_row: '4b' }])
  await expect(writeParquet(['text'], [results])).rejects.toThrow(
    'the column sluice_row of a Parquet file cannot hold `4b`',
  )
})
