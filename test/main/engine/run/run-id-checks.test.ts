import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createRowHash } from '../../../../src/main/engine/mapping/row-hash.ts'
import { readProblemGroups } from '../../../../src/main/engine/run/results/problem-groups.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createWorkbook } from '../source/workbook-files.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

let sources = 0

/** Reads a source without sending it; returns the run's id. */
async function check(
  csv: string | Uint8Array,
  parts: Partial<PlanInput> = {},
  ending = 'csv',
): Promise<string> {
  sources += 1
  const path = join(folder, `rows-${sources}.${ending}`)
  writeFileSync(path, csv)
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    operation: { kind: 'task' },
    mapping: { user_metadata: { kind: 'template', template: '{}' } },
    ...parts,
  })
  const run = runs.start(plan, { hold: true })
  const { runId } = await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'stop' })
  await run.ended
  return runId
}

/** The problems: code, subject, and number of rows. */
const listGroups = (runId: string) =>
  runs
    .read(runId, readProblemGroups)
    .map(({ code, field, args, rows }) => [code, field, args?.['as'] ?? null, rows])

const toCsv = (ids: readonly string[]) =>
  `post_id,user_id,text_data\n${ids.map((id, index) => `p${index},${id},t`).join('\n')}\n`

test('long ids that all end in 0 get a warning as a column, others do not', async () => {
  const rounded = ['1234567890123450', '1234567890123460', '1234567890123470', '9876543210987650', '7']
  expect(listGroups(await check(toCsv(rounded)))).toEqual([['lost_id', 'user_id', 'rounded', 4]])
  const whole = [
    '1234567890123450',
    '1234567890123461',
    '1234567890123470',
    '9876543210987650',
    '1234567890123480',
  ]
  expect(listGroups(await check(toCsv(whole)))).toEqual([])
})

test.each([0, 2])('a row that is reported as rounded on its own is counted once: at %d', async (at) => {
  const ids = ['1234567890123450000', '1234567890123460000', '1234567890123470000']
  ids.splice(at, 0, '1234567890123400000')
  expect(listGroups(await check(toCsv(ids)))).toEqual([['lost_id', 'user_id', 'rounded', 4]])
})

test('warnings count rows that are sent, not invalid or left out ones', async () => {
  const rows = [
    'p1,1234567890123450000,t',
    'p1,1234567890123460000,t',
    ',1234567890123470000,t',
    'p_4,NaN,t',
    'p4,NaN,t',
    'p5,1234567890123480000,t',
    'p6,1234567890123490000,t',
    'p7,1234567890123490000,t',
  ]
  const toHash = createRowHash(['post_id', 'user_id', 'text_data'])
  const rowHash = toHash(['p7', '1234567890123490000', 't'])
  const leftOut: Fix[] = [{ kind: 'leave_out_row', record: 8, rowHash }]
  const runId = await check(`post_id,user_id,text_data\n${rows.join('\n')}\n`, {
    mapping: {},
    fixes: leftOut,
  })
  const warnings = runs.read(runId, readProblemGroups).filter(({ severity }) => severity === 'warning')
  expect(
    warnings.map(({ code, field, args, rows: count, unsent }) => [code, field, args?.['as'], count, unsent]),
  ).toEqual([
    ['recommended', 'user_metadata', undefined, 4, undefined],
    ['lost_id', 'user_id', 'rounded', 3, undefined],
    ['lost_id', 'user_id', 'missing', 1, 1],
  ])
  expect(warnings.map(({ examples }) => examples.map(({ row }) => row))).toEqual([[], [1], [5]])
  expect(runs.read(runId, (view) => readRow(view, 4)).problems.map(({ code }) => code)).toContain('lost_id')
})

test('an id that a workbook stores as a number of more than 15 digits is asked about with the value that is sent', async () => {
  const toText = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const toRow = (...cells: string[]) => `<row>${cells.join('')}</row>`
  const rows = [
    toRow(...['post_id', 'user_id', 'likes', 'text_data'].map(toText)),
    toRow(toText('p1'), '<c><v>1.00000123456789E+17</v></c>', '<c><v>1E+20</v></c>', toText('t')),
    toRow(toText('p2'), toText('u2'), '<c><v>1E+20</v></c>', toText('t')),
    toRow('<c><v>1.234E+18</v></c>', '<c><v>1.23456789012345E+18</v></c>', '<c><v>7</v></c>', toText('t')),
    toRow(toText('p_4'), '<c><v>1.23456789012346E+18</v></c>', '<c><v>7</v></c>', toText('t')),
  ].join('')
  const runId = await check(await createWorkbook({ sheets: [{ name: 'a', rows }] }), {}, 'xlsx')
  const warnings = runs.read(runId, readProblemGroups).filter(({ severity }) => severity === 'warning')
  expect(
    warnings.map(({ code, field, rows: count, examples }) => [
      ...[code, field ?? null, count],
      examples.map(({ row, found }) => [row, found]),
    ]),
  ).toEqual([
    [
      'id_precision',
      'user_id',
      2,
      [
        [1, '100000123456789000'],
        [3, '1234567890123450000'],
      ],
    ],
    [
      'number_precision',
      null,
      2,
      [
        [1, '100000000000000000000'],
        [2, '100000000000000000000'],
      ],
    ],
    ['id_precision', 'post_id', 1, [[3, '1234000000000000000']]],
  ])
})

test('ids and terms that a workbook shows with fewer digits than it stores get a warning, other numbers do not', async () => {
  const toText = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const toRow = (...cells: string[]) => `<row>${cells.join('')}</row>`
  const toNumber = (style: number, number: string) => `<c s="${style}"><v>${number}</v></c>`
  const formats = ['0', '0,', '"id-"00000', '0.0%', 'dd.mm.yyyy']
  const rows = [
    toRow(...['post_id', 'user_id', 'text_data'].map(toText)),
    toRow(toText('p1'), toNumber(1, '1001.25'), toNumber(1, '2.75')),
    toRow(toText('p2'), toNumber(1, '1001'), toText('t')),
    toRow(toText('p3'), toNumber(2, '1234567'), toText('t')),
    toRow(toText('p4'), toNumber(3, '42'), toText('t')),
    toRow(toText('p5'), toNumber(4, '0.125'), toText('t')),
    toRow(toText('p6'), toNumber(5, '45351.5'), toText('t')),
    toRow(toText('p7'), toNumber(0, '0.1000000000000000055'), toText('t')),
  ].join('')
  const posts = await check(await createWorkbook({ sheets: [{ name: 'a', rows }], formats }), {}, 'xlsx')
  expect(listGroups(posts)).toEqual([
    ['lost_id', 'user_id', 'shortened', 2],
    ['lost_id', 'user_id', 'date', 1],
  ])

  const terms = [toRow(toText('term')), toRow(toNumber(1, '41791234567.4')), toRow(toText('word'))].join('')
  const list = await check(
    await createWorkbook({ sheets: [{ name: 'a', rows: terms }], formats }),
    { operation: { kind: 'watchlist-add', watchlist: 'w' }, mapping: {} },
    'xlsx',
  )
  expect(listGroups(list)).toEqual([['changed_value', 'term', 'shortened', 1]])
})

test('ids that a workbook shows with thousands separators get a warning, also among others, each row once', async () => {
  const toText = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const toNumber = (style: number, number: string) => `<c s="${style}"><v>${number}</v></c>`
  const formats = ['#,##0', '_(* #,##0.00_)', '0000000', '0.0,']
  const checkIds = async (...ids: string[]) => {
    const toRow = (...cells: string[]) => `<row>${cells.join('')}</row>`
    const header = toRow(...['post_id', 'user_id', 'text_data'].map(toText))
    const rows = ids.map((id, index) => toRow(toText(`p${index}`), id, toNumber(1, '1234567')))
    const sheet = { name: 'a', rows: header + rows.join('') }
    return listGroups(await check(await createWorkbook({ sheets: [sheet], formats }), {}, 'xlsx'))
  }
  const grouped = [toNumber(1, '1234567'), toNumber(2, '1234568')]
  expect(await checkIds(...grouped, toNumber(0, '1234569'), toNumber(3, '42'), toText('1,234,560'))).toEqual([
    ['lost_id', 'user_id', 'grouped', 3],
  ])
  expect(await checkIds(...grouped)).toEqual([['lost_id', 'user_id', 'grouped', 2]])
  expect(await checkIds(toNumber(4, '1234567'))).toEqual([['lost_id', 'user_id', 'shortened', 1]])
})

test('ids of a CSV file that all have thousands separators get a warning, also with decimals that are 0', async () => {
  expect(listGroups(await check(toCsv(['"1,234.00"', '"2,345,678.00"'])))).toEqual([
    ['lost_id', 'user_id', 'grouped', 2],
  ])
  expect(listGroups(await check(toCsv(['1.234.00', '2.345.00'])))).toEqual([])
})

test('ids that another id may look like get a warning: separate accents, full width, other digits or mixed alphabets', async () => {
  const ids = [
    'jos\u00e9',
    'jose\u0301',
    '각',
    'ｕ１',
    '각'.normalize('NFD'),
    'жук',
    '\u0430dmin',
    'u1\u00a0',
    '١٢٣',
    'রহিম১',
  ]
  const runId = await check(toCsv(ids))
  expect(listGroups(runId)).toEqual([
    ['look_alike', 'user_id', null, 5],
    ['invisible_characters', 'user_id', null, 1],
  ])
  const [group] = runs.read(runId, readProblemGroups)
  expect(group?.examples.map(({ row }) => row)).toEqual([2, 4, 5, 7, 9])
})

test('the totals row of a table in a workbook is not sent, but a row with more than totals is', async () => {
  const toText = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`
  const toRow = (number: number, ...texts: string[]) =>
    `<row r="${number}">${texts.map((text, at) => (text === '' ? '' : toText(`${'ABCD'[at]}${number}`, text))).join('')}</row>`
  const rows = [
    toRow(1, 'user_id', 'text_data', '', 'note'),
    toRow(2, 'u1', 'one'),
    toRow(3, 'Total', '1'),
    toRow(4, 'u2', 'two', '', 'mine'),
    toRow(5, 'u3', 'three'),
  ].join('')
  const relation = (id: number) =>
    `<Relationship Id="rId${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/table" Target="../tables/table${id}.xml"/>`
  const table = (ref: string, totals: string) =>
    `<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" id="1" name="t" ref="${ref}" ${totals}><tableColumns count="1"><tableColumn id="1" name="user_id" totalsRowLabel="Total"/></tableColumns></table>`
  const book = await createWorkbook({
    sheets: [{ name: 'a', rows }],
    parts: {
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${[1, 2, 3].map(relation).join('')}</Relationships>`,
      'xl/tables/table1.xml': table('A1:B3', 'totalsRowCount="1"'),
      'xl/tables/table2.xml': table('A1:B4', 'totalsRowCount="1"'),
      'xl/tables/table3.xml': table('A1:B5', 'totalsRowShown="0"'),
    },
  })
  const runId = await check(
    book,
    { mapping: { user_metadata: { kind: 'template', template: '{}' } } },
    'xlsx',
  )
  expect(listGroups(runId)).toEqual([['totals_row', null, null, 1]])
  expect(runs.read(runId, (view) => readRow(view, 2)).problems.map(({ code }) => code)).toEqual([
    'totals_row',
  ])
})

test.each([
  ['NULL', 'missing'],
  ['\\N', 'missing'],
  ['nan', 'missing'],
  ['#NAME?', 'missing'],
  ['1.23457E+11', 'rounded'],
  ['=""', 'wrapped'],
])('the term %s gets a warning and is sent', async (term, as) => {
  const cell = `"${term.replaceAll('"', '""')}"`
  const runId = await check(`term\n${cell}\nTRUE\nnull hypothesis\n`, {
    operation: { kind: 'watchlist-add', watchlist: 'w' },
    mapping: {},
  })
  expect(listGroups(runId)).toEqual([['changed_value', 'term', as, 1]])
})

test('a text that means a missing value gets a warning, one that only contains such a word does not', async () => {
  const texts = ['NULL', '\\N', 'nan', 'None', '#REF!', 'null and void', 'TRUE', '1.23457E+11', 'Nan says hi']
  const runId = await check(
    `post_id,user_id,text_data\n${texts.map((text, index) => `p${index},u${index}x1,${text}`).join('\n')}\n`,
  )
  expect(listGroups(runId)).toEqual([['changed_value', 'text_data', 'missing', 5]])
})

test('dates get a warning as a column, timestamps do not', async () => {
  expect(listGroups(await check(toCsv(['1001', '1002', '1-Feb', '1003'])))).toEqual([
    ['lost_id', 'user_id', 'date', 1],
  ])
  expect(listGroups(await check(toCsv(['2024-01-01', '2024-01-02', '7'])))).toEqual([
    ['lost_id', 'user_id', 'date', 2],
  ])
  expect(listGroups(await check(toCsv(['2024-01-01T10:07:00', '2024-01-02T07:00:01', '7'])))).toEqual([])
  expect(listGroups(await check(toCsv(['3-Jan', '5-Feb', 'Dec-12', '7'])))).toEqual([
    ['lost_id', 'user_id', 'date', 3],
  ])
})

test('terms that look alike get a warning with both rows, even with others between them', async () => {
  const terms = ['caf\u00e9', 'other', 'cafe\u0301', '\uff42ad', 'ba\u200bd', 'bad', 'cafe']
  const runId = await check(`term\n${terms.join('\n')}\n`, {
    operation: { kind: 'watchlist-add', watchlist: 'w' },
    mapping: {},
  })
  const alike = runs.read(runId, readProblemGroups).find(({ code }) => code === 'look_alike')
  expect(alike).toMatchObject({ severity: 'warning', field: 'term', rows: 3 })
  expect(
    alike?.examples.map(({ row, details, alsoAt, found }) => [row, details?.['row'], alsoAt?.row, found]),
  ).toEqual([
    [3, 1, 2, 'cafe\u0301'],
    [5, 4, 5, 'ba\\u200Bd'],
    [6, 4, 5, 'bad'],
  ])
})

test('terms that look alike and are the same are still refused as repeated', async () => {
  const terms = ['caf\u00e9', 'cafe\u0301', 'CAFE\u0301']
  const runId = await check(`term\n${terms.join('\n')}\n`, {
    operation: { kind: 'watchlist-add', watchlist: 'w' },
    mapping: {},
  })
  expect(listGroups(runId)).toEqual([
    ['not_unique', 'term', null, 1],
    ['look_alike', 'term', null, 1],
  ])
})

test.each([
  {
    operation: { kind: 'index-add', indexId: 'logos' },
    csv: 'url,media,metadata.k\nhttps://a.test/1,,a\nhttps://a.test/2,,b\nhttps://a.test/1,,c\n,https://a.test/2,d\n',
    told: [
      'row 4, url: is also in row 2, so that the index gets another item for it, found `https://a.test/1`',
      'row 5, media: is also in row 3, so that the index gets another item for it, found `https://a.test/2`',
    ],
  },
  {
    operation: { kind: 'index-remove', indexId: 'logos' },
    csv: 'custom_index_item_id\nitem1\nitem2\nitem2\n',
    told: [
      'row 4, custom_index_item_id: is also in row 3, and an item can only be removed once, found `item2`',
    ],
  },
] satisfies { operation: PlanInput['operation']; csv: string; told: string[] }[])(
  'an item that a source has twice is sent twice, with a warning of both rows: $operation.kind',
  async ({ operation, csv, told }) => {
    const runId = await check(csv, { operation, mapping: {} })
    const groups = runs.read(runId, readProblemGroups)
    expect(groups.flatMap(({ examples }) => examples.map(formatProblem)).toSorted()).toEqual(told)
    expect(new Set(groups.map(({ code, severity }) => `${code} ${severity}`))).toEqual(
      new Set(['same_item warning']),
    )
  },
)

test('a fix leaves out items that a source has again', async () => {
  const runId = await check('url\nhttps://a.test/1\nhttps://a.test/1\n', {
    operation: { kind: 'index-add', indexId: 'logos' },
    mapping: {},
    fixes: [{ kind: 'leave_out', problem: 'same_item', field: 'url' }],
  })
  expect(listSent(runId, [1, 2])).toEqual(['{"url":"https://a.test/1"}', null])
})

test('models of a column go before those of the plan, with a warning where they differ, unless the column was stated', async () => {
  const listOthers = async (parts: Partial<PlanInput>) => {
    const csv = 'user_id,text_data,models\nu1,a,text\nu2,b,\nu3,c,ocr\nu4,d,visual\nu_5,e,ocr\n'
    const runId = await check(csv, { operation: { kind: 'task', models: ['text'] }, ...parts })
    const groups = runs.read(runId, readProblemGroups).filter(({ code }) => code === 'other_models')
    const sent = listSent(runId, [1, 2, 3, 4]).map((body) => JSON.parse(body ?? '').models)
    return { sent, told: groups.map(({ rows, examples }) => [rows, ...examples.map(formatProblem)]) }
  }
  expect(await listOthers({})).toEqual({
    sent: [['text'], ['text'], ['ocr'], ['visual']],
    told: [
      [
        2,
        "row 4, models: names models of its own, which are sent instead of text; to send text with every row, add --set models='text', found `ocr`",
      ],
    ],
  })
  const stated = await listOthers({ mapping: { models: { kind: 'column', column: 'models' } } })
  expect(stated).toEqual({ sent: [['text'], ['text'], ['ocr'], ['visual']], told: [] })
  const constant = await listOthers({ mapping: { models: { kind: 'template', template: 'text' } } })
  expect(constant).toEqual({ sent: [['text'], ['text'], ['text'], ['text']], told: [] })
})

test('a run that version 0.2.0 began sends the same ids as that version would', async () => {
  const fixes: Fix[] = [{ kind: 'substitute', field: 'user_id' }]
  const runId = await check(toCsv(['a_b', 'a~5Fb']), { fixes })
  const readIds = () =>
    [1, 2].map((row) => JSON.parse(runs.read(runId, (view) => readRow(view, row)).requestBody ?? '').user_id)
  expect(readIds()).toEqual(['a~5Fb', 'a~7E5Fb'])
  const file = runs.read(runId, ({ db }) => db.location()) ?? ''
  const db = new DatabaseSync(file)
  db.exec(`UPDATE run SET plan = json_remove(plan, '$.fixes[0].escapes')`)
  db.close()
  expect(readIds()).toEqual(['a~5Fb', 'a~5Fb'])
})

const NESTED =
  '[{"id":"p1","user":{"id":"u1"},"text":{"en":"hi"}},\n{"id":"p2","user":{"id":{"n":1}},"text":{"en":"ho"}}]'

/** What each row sends; null if it is invalid. */
const listSent = (runId: string, rows: readonly number[]) =>
  rows.map((row) => runs.read(runId, (view) => readRow(view, row)).requestBody)

test('fields of objects fill fields by name and by mapping, and only the sent ones are stored', async () => {
  const mapping: PlanInput['mapping'] = {
    text_data: { kind: 'column', column: 'text.en' },
    post_id: { kind: 'template', template: '{{id}}' },
    'user_metadata.of': { kind: 'template', template: 'x' },
  }
  const runId = await check(NESTED, { mapping }, 'json')
  expect(listSent(runId, [1, 2])).toEqual([
    '{"text_data":"hi","user_id":"u1","post_id":"p1","user_metadata":{"of":"x"}}',
    null,
  ])
  expect(runs.read(runId, ({ record }) => record.columns)).toEqual([
    'id',
    'user',
    'text',
    'user.id',
    'text.en',
  ])
  expect(listGroups(runId)).toEqual([['json_in_text', 'user_id', null, 1]])
})

test('an object or array is neither text nor an id, alone or in a template', async () => {
  const runId = await check(
    '{"text_data":["a"],"user_id":{"id":"u"},"post_id":"p1"}\n{"text_data":"a","user_id":1.0,"post_id":"p2","group_id":7}\n',
    { mapping: { parent_id: { kind: 'template', template: 'x-{{user_id}}' } } },
    'jsonl',
  )
  expect(listGroups(runId).filter(([code]) => code === 'json_in_text')).toEqual([
    ['json_in_text', 'parent_id', null, 1],
    ['json_in_text', 'text_data', null, 1],
    ['json_in_text', 'user_id', null, 1],
  ])
  expect(listSent(runId, [1])).toEqual([null])
})

test('a file that lacks a column is reported if the column is sent', async () => {
  const files = [
    ['user_id,text_data\nu1,a\n', 'l1.csv'],
    ['user_id,text_data,lang,parent_id\nu2,b,de,p0\n', 'l2.csv'],
  ] as const
  const [path = '', more = ''] = files.map(([text, name]) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  })
  const source = { path, more: [more] }
  const post = { kind: 'template', template: 'p{{row}}' } as const
  const listMissing = (runId: string) =>
    runs
      .read(runId, readProblemGroups)
      .flatMap(({ code, args, rows }) => (code === 'missing_columns' ? [[args?.['columns'], rows]] : []))
  expect(listMissing(await check('', { source, mapping: { post_id: post } }))).toEqual([['parent_id', 1]])
  const mapping: PlanInput['mapping'] = {
    post_id: post,
    parent_id: { kind: 'template', template: '' },
    'user_metadata.of': { kind: 'template', template: '{{lang}}' },
  }
  expect(listMissing(await check('', { source, mapping }))).toEqual([['lang', 1]])
})

test('a warning about one of several files counts its own rows, sent or not', async () => {
  const [path = '', more = ''] = [
    ['user_id,text_data\n,a\n,b\nu3,c\n', 'n1.csv'],
    ['user_id,text_data,parent_id\nu4,d,p0\nu5,e,p0\nu6,f,p0\n', 'n2.csv'],
  ].map(([text = '', name = '']) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  })
  const source = { path, more: [more] }
  const runId = await check('', { source, mapping: { post_id: { kind: 'template', template: 'p{{row}}' } } })
  const groups = runs.read(runId, readProblemGroups)
  expect(groups.flatMap(({ code, rows }) => (code === 'missing_columns' ? [rows] : []))).toEqual([3])
})

test('fields of objects in several files are combined, and the sent ones are stored', async () => {
  const files = [
    ['{"text_data":"a","user":{"id":"u1","age":1.0}}\n', 'x1.jsonl'],
    ['{"text_data":"b","lang":"de","user":{"name":"n","id":"u2"}}\n', 'x2.jsonl'],
  ] as const
  const [path = '', more = ''] = files.map(([text, name]) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  })
  const post = { kind: 'template', template: 'p{{row}}' } as const
  const runId = await check('', { source: { path, more: [more] }, mapping: { post_id: post } })
  expect(runs.read(runId, ({ record }) => record.columns)).toEqual(['text_data', 'user', 'user.id', 'lang'])
  expect(listSent(runId, [1, 2])).toEqual([
    '{"text_data":"a","user_id":"u1","post_id":"p1"}',
    '{"text_data":"b","user_id":"u2","post_id":"p2"}',
  ])
})

test('cells that a template puts into an id are checked for changes by spreadsheets', async () => {
  const ids = ['1.23457E+11', '76561200000000000', '="001"', 'NULL', '3-Jan', 'TRUE', '7', 'abc']
  const template = (text: string) => ({
    mapping: {
      user_metadata: { kind: 'template' as const, template: '{}' },
      user_id: { kind: 'template' as const, template: text },
    },
  })
  const csv = `post_id,id,text_data\n${ids.map((id, index) => `p${index},"${id.replaceAll('"', '""')}",t`).join('\n')}\n`
  expect(listGroups(await check(csv, template('forum-{{id}}')))).toEqual([
    ['lost_id', 'user_id', 'rounded', 2],
    ['lost_id', 'user_id', 'missing', 1],
    ['lost_id', 'user_id', 'wrapped', 1],
  ])
  expect(listGroups(await check(csv, template('{{id}}-{{post_id}}')))).toEqual([
    ['lost_id', 'user_id', 'rounded', 2],
    ['lost_id', 'user_id', 'wrapped', 1],
  ])
})
