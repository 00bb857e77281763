import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { createCsvWriter, toTable } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { chooseColumns } from '../../../../../src/shared/run/choose-columns.ts'
import { toExportColumns } from '../../../../../src/shared/run/export-columns.ts'
import type { ExportRow } from '../../../../../src/shared/run/results.ts'
import { AnswerContent } from '../../../../../src/shared/service/answer-content.ts'
import { readText } from '../../source/read-source.ts'
import { buildOptions, buildResult } from './build-result.ts'

const OWN =
  'sluice_row,sluice_state,sluice_status,sluice_error_code,sluice_message,sluice_task_id,sluice_post_id,' +
  'sluice_triggered_rules,sluice_duration_ms,sluice_attempts,sluice_record,sluice_rule_ids,sluice_from_cache,sluice_language,' +
  'sluice_pii,sluice_urls,sluice_text_filters,sluice_custom_classes,sluice_moderated_classes,' +
  'sluice_model_results,sluice_index_matches,sluice_callback_latency_ms'

function write(columns: string[], results: ExportRow[], lossless = false): string {
  const writer = createCsvWriter(buildOptions(columns, { lossless }))
  return writer.header() + results.map((result) => writer.row(result)).join('')
}

test('the original columns and cells come first, then ours, with a byte-order mark and CRLF', () => {
  const rules = [
    { ruleId: 'r1', ruleName: 'Spam' },
    { ruleId: 'r2', ruleName: '' },
  ]
  const failed = buildResult({
    row: 2,
    place: { row: 3, line: null },
    state: 'rejected',
    status: 400,
    errorCode: 'PARAM_REQUIRED',
    message: 'text, or "url"',
    taskId: null,
    durationMs: null,
    attempts: 3,
  })
  expect(write(['id', 'text'], [buildResult({ triggeredRules: rules }), failed])).toBe(
    `\uFEFFid,text,${OWN}\r\n` +
      'a,b,2,succeeded,200,,,t1,p1,"Spam; r2",12.346,1,1,"r1; r2",,,,,,,,,,\r\n' +
      'a,b,3,rejected,400,PARAM_REQUIRED,"text, or ""url""",,p1,,,3,2,,,,,,,,,,,\r\n',
  )
})

test('an invalid row was never sent, so it has neither status nor ids', () => {
  const invalid = buildResult({
    state: 'invalid',
    status: null,
    taskId: null,
    postId: null,
    durationMs: null,
    attempts: 0,
  })
  expect(write(['a', 'b'], [invalid]).split('\r\n')[1]).toBe('a,b,2,invalid,,,,,,,,0,1,,,,,,,,,,,')
})

test('the sent value of a field is empty for a row that was not sent', () => {
  const table = toTable([], toExportColumns('task', { corrected: ['user_id'] }))
  const at = table.findIndex((column) => typeof column !== 'number' && column.name === 'sent.user_id')
  const writer = createCsvWriter(buildOptions([], { table }))
  const corrections = [{ field: 'user_id', before: 'u_1', own: 'u_1', sent: 'u~5F1' }] as const
  const sent = (attempts: number) =>
    writer.row(buildResult({ cells: [], corrections, attempts })).split(',')[at]
  expect([sent(1), sent(0)]).toEqual(['u~5F1', ''])
})

const ADDED = new AnswerContent('{"message":"Added."}', 'item')

test.each([
  ['index-add', { customIndexItemId: 'item-1', content: ADDED }, ['item-1', 'Added.']],
  [
    'watchlist-add',
    { answer: 'pre_existing', termNotes: 'as we have it', content: ADDED },
    ['pre_existing', 'as we have it', 'Added.'],
  ],
  ['appeal-status', { answer: 'overturned' }, ['overturned', '', '', '', '', '', '']],
] as const)('the data of %s has columns of its own', (operation, parts, cells) => {
  const table = toTable(['a', 'b'], toExportColumns(operation, {}))
  const writer = createCsvWriter(buildOptions(['a', 'b'], { table }))
  const line = writer.row(buildResult(parts)).trimEnd()
  expect(line.split(',').slice(13, -1)).toEqual(cells)
})

test('short rows are padded so that our columns line up, and no cell of a wide row is lost', () => {
  const text = write(
    ['a', 'b', 'Column 3'],
    [buildResult({ cells: ['1'] }), buildResult({ cells: ['1', '2', '3'] })],
  )
  const records = Papa.parse<string[]>(text.trimEnd(), { delimiter: ',' }).data
  expect(records.map((record) => record.indexOf('succeeded'))).toEqual([-1, 4, 4])
  expect(records.map((record) => record.length)).toEqual([25, 25, 25])
  expect(records[2]?.slice(0, 3)).toEqual(['1', '2', '3'])
})

test('a row wider than the columns is reported as a bug, not written as a shifted line', () => {
  const wide = buildResult({ row: 9, place: { row: 10, line: 12 }, cells: ['1', '2'] })
  expect(() => write(['a'], [wide])).toThrow('row 10 (line 12) has 2 cells')
})

test.each([
  '=1+1',
  '+1+1',
  '-5+3',
  '@SUM(A1)',
  '  =1',
  '\u00a0=cmd',
  '\u200b=1',
  '＝1',
  '－1',
  '＋1',
  '＠x',
  '\ttab',
  ' \ttab',
])('the cell %j is guarded by one apostrophe, but not in a lossless export', (cell) => {
  const parse = (text: string) => Papa.parse<string[]>(text, { delimiter: ',', newline: '\r\n' }).data[1]?.[0]
  expect(parse(write(['a'], [buildResult({ cells: [cell] })]))).toBe(`'${cell}`)
  expect(parse(write(['a'], [buildResult({ cells: [cell] })], true))).toBe(cell)
})

test.each(['-5', '+491701234567', '-1,5 %', '-', 'a;=1+1;b', 'a,b|@c', 'RT\n=1', '!!! RT @a; @b'])(
  'the cell %j is written unchanged',
  (cell) => {
    const parse = (text: string) =>
      Papa.parse<string[]>(text, { delimiter: ',', newline: '\r\n' }).data[1]?.[0]
    expect(parse(write(['a'], [buildResult({ cells: [cell] })]))).toBe(cell)
  },
)

test('guarded cells are counted, including those of the header and of our own columns', () => {
  const writer = createCsvWriter(buildOptions(['=a', 'b']))
  writer.header()
  writer.row(buildResult({ cells: ['=1+1', 'a;=1'], message: '-x' }))
  writer.row(buildResult({ cells: ['-5', "'@b"] }))
  expect(writer.guardedCells).toBe(4)
  const lossless = createCsvWriter(buildOptions(['=a'], { lossless: true }))
  lossless.header()
  lossless.row(buildResult({ cells: ['=1+1'] }))
  expect(lossless.guardedCells).toBe(0)
})

test('column names and messages are guarded too', () => {
  const [header, row] = write(['=A1'], [buildResult({ cells: ['x'], message: '=evil' })]).split('\r\n')
  expect(header).toMatch(/^\uFEFF'=A1,/)
  expect(row).toContain(",'=evil,")
})

const AWKWARD = [
  [
    '=1',
    "'=1",
    "''=1",
    "'",
    "'x",
    '',
    "'\t",
    "' =1",
    " '=1",
    '-',
    "it's",
    '"quoted"',
    '\'"=',
    'a,b;c',
    'two\r\nlines\r',
  ],
  [
    '\uFFFD',
    ' padded ',
    '\uFEFFx',
    '😀',
    '＝1',
    "'＝1",
    '\r',
    '\n',
    '\u0000=1',
    '007',
    'TRUE',
    '1e5',
    '…',
    "'+",
    '+',
  ],
]

test.each([false, true])(
  'reading our own export gives every cell back unchanged (lossless: %s)',
  (lossless) => {
    const columns = AWKWARD[0]?.map((_, index) => (index === 0 ? "'=name" : `c${index}`)) ?? []
    const text = write(
      columns,
      AWKWARD.map((cells, index) => buildResult({ row: index + 1, cells })),
      lossless,
    )
    const source = readText(text, { encoding: 'utf-8' })
    expect(source.cells.map((cells) => cells.slice(0, columns.length))).toEqual(AWKWARD)
    expect(source.columns.slice(0, columns.length)).toEqual(columns)
    expect(source.columns.slice(columns.length)).toEqual(OWN.split(','))
  },
)

test('chosen columns are guarded, padded and renamed like all columns', () => {
  const asked = ['sluice_row', 'text', 'source.sluice_row', 'rules']
  const table = chooseColumns({
    asked,
    rulesAsColumns: false,
    operation: 'task',
    columns: ['id', 'sluice_row', 'text'],
    classes: [],
    rules: [{ ruleId: 'r1', ruleName: 'x,=1' }],
  })
  const writer = createCsvWriter(buildOptions(['id', 'sluice_row', 'text'], { table }))
  const rows = [
    buildResult({ cells: ['1', '9', '=1+1'] }),
    buildResult({ row: 2, place: { row: 3, line: null }, cells: ['2'] }),
  ]
  expect(writer.header() + rows.map((row) => writer.row(row)).join('')).toBe(
    '\uFEFFsluice_row,text,sluice_row (source),"rule.x,=1"\r\n' + "2,'=1+1,9,false\r\n" + '3,,,false\r\n',
  )
  expect(() => writer.row(buildResult({ cells: ['1', '2', '3', '4'] }))).toThrow('row 2 has 4 cells')
})

test('reading an export of chosen columns that end like ours gives every cell back', () => {
  const asked = ['source', ...OWN.split(',').slice(0, 10), 'sluice_language']
  const table = chooseColumns({
    asked,
    rulesAsColumns: false,
    operation: 'task',
    columns: ['a'],
    classes: [],
    rules: [],
  })
  for (const lossless of [false, true]) {
    const writer = createCsvWriter(buildOptions(['a'], { table, lossless }))
    const text = writer.header() + writer.row(buildResult({ cells: ["'=1"] }))
    expect(readText(text, { encoding: 'utf-8' }).cells[0]?.[0], String(lossless)).toBe("'=1")
  }
})

test.each([',', ';', '|', '\t'])(
  'reading a report with the delimiter %j gives its cells back',
  (delimiter) => {
    const cells = ['a,b', 'a;b', 'a|b', 'a\tb', '=1', 'a|=1', "a|'=1", '-5', "'-5", 'plain']
    const columns = cells.map((_, index) => `c${index}`)
    const writer = createCsvWriter(buildOptions(columns, { delimiter }))
    const source = readText(writer.header() + writer.row(buildResult({ cells })), { encoding: 'utf-8' })
    expect(source.columns).toEqual([...columns, ...OWN.split(',')])
    expect(source.cells[0]?.slice(0, cells.length)).toEqual(cells)
  },
)

test('a file that is not an export of Sluice keeps its apostrophes', () => {
  expect(readText("a,sluice_row\n'=1,2\n").cells).toEqual([["'=1", '2']])
})

test('exporting an export renames its old columns each time', () => {
  const again = write(
    ['text', 'sluice_row', 'sluice_row (source)'],
    [buildResult({ cells: ['a', '1', '2'] })],
  )
  const [header] = Papa.parse<string[]>(again.slice(1), { delimiter: ',' }).data
  expect(header?.slice(0, 4)).toEqual(['text', 'sluice_row (source 2)', 'sluice_row (source)', 'sluice_row'])
})

test.each([false, true])(
  'an export with columns that a person appended gives every cell back unchanged (lossless: %s)',
  (lossless) => {
    const cells = ["'=1", '=1+1', 'plain']
    const columns = ['a', 'b', 'c']
    const text = write(columns, [buildResult({ cells })], lossless)
    const [header = '', row = ''] = text.split('\r\n')
    const read = readText(`${header},my note,rating\r\n${row},=odd,5\r\n`, { encoding: 'utf-8' })
    expect(read.cells[0]?.slice(0, 3)).toEqual(cells)
    expect(read.cells[0]?.slice(-2)).toEqual(['=odd', '5'])
    expect(read.columns.slice(-2)).toEqual(['my note', 'rating'])
  },
)

const WITHOUT_RECORD = OWN.split(',').filter((name) => name !== 'sluice_record')

test('an export of version 0.2 is read with the guard of that version', () => {
  const header = ['text', 'more', ...WITHOUT_RECORD].join(',')
  const own = WITHOUT_RECORD.map(() => '').join(',')
  const read = readText(`${header}\r\n"a;'=1+1",'-5,${own}\r\n`, { encoding: 'utf-8' })
  expect(read.cells[0]?.slice(0, 2)).toEqual(['a;=1+1', '-5'])
})

test.each([
  ['chosen columns', [...WITHOUT_RECORD.slice(0, 10), 'sluice_language']],
  ['a sample', ['sluice_stratum', 'sluice_stratum_rows']],
  ['a ledger', ['sluice_ledger_state', 'sluice_ledger_outcome']],
])('reading a file of %s gives every cell back, although it looks like one of version 0.2', (_, own) => {
  const cells = ["a;'=1+1", '-5', "'-5", '=1', "'=1"]
  const columns = cells.map((_cell, index) => `c${index}`)
  const table = toTable(
    columns,
    own.map((name) => ({ name, read: () => '' })),
  )
  const writer = createCsvWriter(buildOptions(columns, { table }))
  const read = readText(writer.header() + writer.row(buildResult({ cells })), { encoding: 'utf-8' })
  expect(read.columns).toEqual([...columns, ...own])
  expect(read.cells[0]?.slice(0, cells.length)).toEqual(cells)
})
