import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { createRowHash } from '../../../../src/main/engine/mapping/row-hash.ts'
import { readFacets } from '../../../../src/main/engine/run/results/facets.ts'
import { readProblemGroups } from '../../../../src/main/engine/run/results/problem-groups.ts'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { findTypedRow } from '../../../../src/main/engine/run/results/typed-rows.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { type Plan, planSchema } from '../../../../src/shared/plan/plan.ts'
import { toRowNumber } from '../../../../src/shared/plan/source-place.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { listSent, startRefusingService } from '../../../helpers/refusing-service.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

let sources = 0

function createPlan(baseUrl: string, csv: string, fixes: Fix[] | undefined): Plan {
  sources += 1
  const path = join(folder, `posts-${sources}.csv`)
  writeFileSync(path, csv)
  return planSchema.parse({
    connection: { baseUrl },
    source: { path },
    operation: { kind: 'task' },
    retry: { limit: 0 },
    fixes,
  })
}

const readAll = (runId: string) =>
  runs.read(runId, (view) => readPage(view, { filter: {}, offset: 0, limit: 100 })).rows

const toCsvHash = createRowHash(['text_data', 'user_id', 'post_id', 'url'])

const CSV = `text_data,user_id,post_id,url
hello,u_1,p1,
there,,p2,
both,u3,p3,https://a.test/3.png
again,u4,p1,
fine,u5,p5,
`

const FIXES: Fix[] = [
  { kind: 'substitute', field: 'user_id' },
  { kind: 'value', problem: 'required', field: 'user_id', value: 'anon-{{row}}' },
  { kind: 'split' },
  { kind: 'leave_out', problem: 'not_unique', field: 'post_id' },
]

test('the snapshot of a run that has not begun has its invalid rows by cause, like its summary', async () => {
  const server = await startRefusingService()
  const run = runs.start(createPlan(server.baseUrl, CSV, undefined), { hold: true })
  const { rows, errors } = await run.until(({ phase }) => phase === 'ready')
  expect(rows).toMatchObject({ invalid: 4, not_sent: 1 })
  run.command({ kind: 'begin' })
  const ended = await run.ended
  expect(ended.errors).toHaveLength(4)
  expect(errors).toEqual(ended.errors.map((group) => ({ ...group, messages: 1 })))
})

test('a run with fixes sends the corrected rows, and keeps the cells of the source', async () => {
  const server = await startRefusingService()
  const plan = createPlan(server.baseUrl, CSV, FIXES)
  const before = readFileSync(plan.source.path)
  const run = await runs.start(plan).ended
  expect(run).toMatchObject({
    rows: { read: 6, succeeded: 5, invalid: 0, left_out: 1, not_sent: 0 },
    corrected: { rows: 4, split: 1 },
  })
  expect(run.errors).toEqual([])
  expect(listSent(server).sort((a, b) => String(a['post_id']).localeCompare(String(b['post_id'])))).toEqual([
    { text_data: 'hello', user_id: 'u~5F1', post_id: 'p1' },
    { text_data: 'there', user_id: 'anon-2', post_id: 'p2' },
    { text_data: 'both', user_id: 'u3', post_id: 'p3', group_id: 'p3-both' },
    { url: 'https://a.test/3.png', user_id: 'u3', post_id: 'p3-url', group_id: 'p3-both' },
    { text_data: 'fine', user_id: 'u5', post_id: 'p5' },
  ])
  expect(readFileSync(plan.source.path)).toEqual(before)
  expect(
    readAll(run.run_id).map(({ row, place, state, postId, cells }) => [
      row,
      place.row,
      state,
      postId,
      cells[1],
    ]),
  ).toEqual([
    [1, 2, 'succeeded', 'p1', 'u_1'],
    [2, 3, 'succeeded', 'p2', ''],
    [3, 4, 'succeeded', 'p3', 'u3'],
    [4, 5, 'left_out', null, 'u4'],
    [5, 6, 'succeeded', 'p5', 'u5'],
    [6, 4, 'succeeded', 'p3', 'u3'],
  ])
  const detail = runs.read(run.run_id, (view) => readRow(view, 1))
  expect(detail.corrections).toEqual([{ field: 'user_id', before: 'u_1', own: 'u_1', sent: 'u~5F1' }])
  expect(JSON.parse(detail.requestBody ?? '')).toMatchObject({ user_id: 'u~5F1' })
  expect(runs.read(run.run_id, (view) => readRow(view, 6)).halfOf).toBe(3)
})

test('left out rows are counted, found and distinguished from invalid ones', async () => {
  const server = await startRefusingService()
  const fixes: Fix[] = [
    { kind: 'leave_out', problem: 'required', field: 'user_id' },
    { kind: 'leave_out_row', row: 5, rowHash: toCsvHash(['fine', 'u5', 'p5', '']) },
  ]
  const run = await runs.start(createPlan(server.baseUrl, CSV, fixes)).ended
  expect(run.rows).toMatchObject({ read: 5, succeeded: 0, invalid: 3, left_out: 2, not_sent: 0 })
  const count = (state: 'invalid' | 'left_out', search?: string) =>
    runs.read(run.run_id, (view) =>
      readPage(view, { filter: { state, ...(search !== undefined && { search }) }, offset: 0, limit: 10 }),
    )
  expect(count('left_out').rows.map(({ row }) => row)).toEqual([2, 5])
  expect(count('left_out').total).toBe(2)
  expect(count('left_out', 'there').total).toBe(1)
  expect(count('invalid').rows.map(({ row }) => row)).toEqual([1, 3, 4])
  const { facets } = runs.read(run.run_id, (view) => readFacets(view, { search: 'e' }))
  expect(facets).toContainEqual({ kind: 'state', value: 'left_out', label: 'left_out', rows: 2 })
  expect(runs.read(run.run_id, readProblemGroups).map(({ code, field }) => [code, field])).not.toContainEqual(
    ['required', 'user_id'],
  )
})

test("an export has the source's columns unchanged, original ids, and what was sent in separate columns", async () => {
  const server = await startRefusingService()
  const csv = 'text_data,user_id,post_id\nhello,u_1,p_1\nthere,u2,p2\n'
  const fixes: Fix[] = [
    { kind: 'substitute', field: 'user_id' },
    { kind: 'substitute', field: 'post_id' },
  ]
  const run = await runs.start(createPlan(server.baseUrl, csv, fixes)).ended
  const engine = openEngine(folder)
  const file = join(folder, 'fixed.csv')
  await engine.results.exportRun(run.run_id, { file })
  const { data } = Papa.parse<Record<string, string>>(readFileSync(file, 'utf8').slice(1), { header: true })
  expect(data[0]).toMatchObject({
    user_id: 'u_1',
    post_id: 'p_1',
    sluice_post_id: 'p_1',
    'sent.user_id': 'u~5F1',
    'sent.post_id': 'p~5F1',
  })
  expect(data[1]).toMatchObject({ sluice_post_id: 'p2', 'sent.user_id': '', 'sent.post_id': '' })
  const lines = join(folder, 'fixed.jsonl')
  await engine.results.exportRun(run.run_id, { file: lines })
  const [first] = readFileSync(lines, 'utf8').split('\n')
  expect(JSON.parse(first ?? '')).toMatchObject({
    cells: { user_id: 'u_1', post_id: 'p_1' },
    post_id: 'p_1',
    corrections: [
      { field: 'user_id', sent: 'u~5F1' },
      { field: 'post_id', sent: 'p~5F1' },
    ],
    request: { body: { user_id: 'u~5F1', post_id: 'p~5F1' } },
  })
})

test('each row of a split record is exported with the post_id that it was sent with', async () => {
  const server = await startRefusingService()
  const csv = 'text_data,url,user_id,post_id\nhello,https://a.test/b.png,u1,p_1\nthere,,u2,p_2\n'
  const fixes: Fix[] = [{ kind: 'split' }, { kind: 'substitute', field: 'post_id' }]
  const run = await runs.start(createPlan(server.baseUrl, csv, fixes)).ended
  const file = join(folder, 'split.jsonl')
  await openEngine(folder).results.exportRun(run.run_id, { file })
  const rows = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map((row) => [row.row, row.post_id, row.request.body.post_id])).toEqual([
    ['2a', 'p~5F1', 'p~5F1'],
    [3, 'p_2', 'p~5F2'],
    ['2b', 'p~5F1-url', 'p~5F1-url'],
  ])
})

test('a run that is stopped half-way and resumed sends each row once, as corrected', async () => {
  const server = await startRefusingService()
  const held = runs.start(createPlan(server.baseUrl, CSV, FIXES), { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'begin', limit: 2 })
  await held.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 2)
  held.command({ kind: 'stop' })
  await held.ended
  expect((await runs.resume(held.runId).ended).rows).toMatchObject({ succeeded: 5, left_out: 1, not_sent: 0 })
  expect(
    listSent(server)
      .map(({ post_id: id }) => id)
      .sort(),
  ).toEqual(['p1', 'p2', 'p3', 'p3-url', 'p5'])
})

const FAILING = `text_data,user_id,post_id
fine,u1,p1
refuse me,u2,p2
bad id,u_3,p3
twice,u4,p1
`

test('a retry with fixes sends refused and invalid rows, corrected, and leaves the run unchanged', async () => {
  const server = await startRefusingService()
  const parent = await runs.start(createPlan(server.baseUrl, FAILING, undefined)).ended
  expect(parent.rows).toMatchObject({ read: 4, succeeded: 1, rejected: 1, invalid: 2 })
  const fixes: Fix[] = [
    { kind: 'cell', row: 2, field: 'text_data', value: 'take me', was: 'refuse me' },
    { kind: 'substitute', field: 'user_id' },
    { kind: 'cell', row: 4, field: 'post_id', value: 'p4' },
  ]
  const child = await runs.retryAsChild(parent.run_id, 'skip', { fixes }).ended
  expect(child).toMatchObject({
    parent_run_id: parent.run_id,
    rows: { read: 3, succeeded: 3, invalid: 0 },
    corrected: { rows: 3, cells: 3 },
    whole_run: { rows: { read: 4, succeeded: 4, invalid: 0, rejected: 0, not_sent: 0 } },
  })
  expect(listSent(server).slice(2)).toEqual([
    { text_data: 'take me', user_id: 'u2', post_id: 'p2' },
    { text_data: 'bad id', user_id: 'u~5F3', post_id: 'p3' },
    { text_data: 'twice', user_id: 'u4', post_id: 'p4' },
  ])
  const whole = runs.summarize(parent.run_id)
  expect(whole.rows).toMatchObject({ read: 4, succeeded: 4, invalid: 0, rejected: 0 })
  expect(whole.errors).toEqual([])
  expect(readAll(parent.run_id).map(({ state, postId, cells }) => [state, postId, cells[0]])).toEqual([
    ['succeeded', 'p1', 'fine'],
    ['succeeded', 'p2', 'refuse me'],
    ['succeeded', 'p3', 'bad id'],
    ['succeeded', 'p4', 'twice'],
  ])
  const own = runs.read(parent.run_id, ({ db, record }) => ({
    plan: record.plan.fixes,
    invalid: db.prepare('SELECT count(*) AS n FROM row WHERE item IS NULL').get()?.['n'],
    states: db
      .prepare('SELECT state FROM result ORDER BY row')
      .all()
      .map(({ state }) => state),
  }))
  expect(own).toEqual({ plan: undefined, invalid: 2, states: ['succeeded', 'rejected'] })
})

test('rows that a correction does not fix stay invalid in the retry, and can be corrected again', async () => {
  const server = await startRefusingService()
  const parent = await runs.start(createPlan(server.baseUrl, FAILING, undefined)).ended
  // p1 was already sent with row 1.
  const wrong: Fix[] = [{ kind: 'cell', row: 3, field: 'post_id', value: 'p1' }]
  const first = await runs.retryAsChild(parent.run_id, 'skip', { fixes: wrong }).ended
  expect(first.rows).toMatchObject({ read: 3, rejected: 1, invalid: 2 })
  expect(
    runs
      .read(first.run_id, readProblemGroups)
      .map(({ code, field, examples }) => [
        code,
        field,
        examples.map(({ row, details }) => [row, details?.['row']]),
      ]),
  ).toEqual(
    expect.arrayContaining([
      [
        'not_unique',
        'post_id',
        [
          [3, 1],
          [4, 3],
        ],
      ],
      ['forbidden_character', 'user_id', [[3, undefined]]],
    ]),
  )
  const right: Fix[] = [
    { kind: 'cell', row: 3, field: 'user_id', value: 'u3' },
    { kind: 'leave_out_row', row: 4 },
    { kind: 'cell', row: 2, field: 'text_data', value: 'take me' },
  ]
  const second = await runs.retryAsChild(parent.run_id, 'skip', { fixes: right }).ended
  expect(second.rows).toMatchObject({ read: 3, succeeded: 2, left_out: 1, invalid: 0 })
  expect(runs.summarize(parent.run_id)).toMatchObject({
    rows: { read: 4, succeeded: 3, left_out: 1, invalid: 0, rejected: 0, not_sent: 0 },
    errors: [],
  })
  expect(listSent(server).map(({ post_id: id }) => id)).toEqual(['p1', 'p2', 'p2', 'p2', 'p3'])
})

test('a correction after a retry takes the invalid rows that the retry had left', async () => {
  const server = await startRefusingService()
  const parent = await runs.start(createPlan(server.baseUrl, FAILING, undefined)).ended
  const plain = await runs.retryAsChild(parent.run_id).ended
  expect(plain.rows).toMatchObject({ read: 1, rejected: 1 })
  const fixes: Fix[] = [{ kind: 'substitute', field: 'user_id' }]
  const corrected = await runs.retryAsChild(parent.run_id, 'skip', { fixes }).ended
  expect(corrected.rows).toMatchObject({ read: 3, succeeded: 1, rejected: 1, invalid: 1 })
  expect(runs.summarize(parent.run_id).rows).toMatchObject({ read: 4, succeeded: 2, rejected: 1, invalid: 1 })
})

test('a retry that splits a record adds a row to the whole', async () => {
  const server = await startRefusingService()
  const parent = await runs.start(createPlan(server.baseUrl, CSV, undefined)).ended
  expect(parent.rows).toMatchObject({ read: 5, succeeded: 1, invalid: 4 })
  const child = await runs.retryAsChild(parent.run_id, 'skip', { fixes: FIXES }).ended
  expect(child.rows).toMatchObject({ read: 5, succeeded: 4, left_out: 1 })
  expect(runs.summarize(parent.run_id).rows).toMatchObject({
    read: 6,
    succeeded: 5,
    left_out: 1,
    invalid: 0,
    not_sent: 0,
  })
  const shown = readAll(parent.run_id)
  expect(shown.map(({ row, place, state }) => [row, String(toRowNumber(place)), state])).toEqual([
    [1, '2', 'succeeded'],
    [2, '3', 'succeeded'],
    [3, '4a', 'succeeded'],
    [4, '5', 'left_out'],
    [5, '6', 'succeeded'],
    [6, '4b', 'succeeded'],
  ])
  const find = (row: string) => runs.read(parent.run_id, (family) => findTypedRow(family, row))
  expect(['2', '3', '4a', '4B', '5', ' 6 '].map(find)).toEqual([1, 2, 3, 6, 4, 5])
  expect(() => find('4')).toThrow(/can be 4a or 4b/)
  for (const row of ['1', '2a', '7', 'x']) expect(() => find(row)).toThrow(/has no row/)
})

test('a correction that is deleted before it has sent anything gives all rows back', async () => {
  const server = await startRefusingService()
  const parent = await runs.start(createPlan(server.baseUrl, FAILING, undefined)).ended
  const held = runs.retryAsChild(parent.run_id, 'skip', { fixes: [], hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  await held.ended
  const { deleteJournal } = await import('../../../../src/main/engine/journal/delete-journal.ts')
  deleteJournal(folder, held.runId)
  expect(runs.summarize(parent.run_id).rows).toMatchObject({ rejected: 1, invalid: 2 })
  const fixes: Fix[] = [{ kind: 'substitute', field: 'user_id' }]
  expect((await runs.retryAsChild(parent.run_id, 'skip', { fixes }).ended).rows).toMatchObject({
    read: 3,
    succeeded: 1,
  })
})

test('a row whose text has unquoted delimiters is invalid, and is sent in full once its cells are joined', async () => {
  const csv = 'post_id,user_id,text_data\np1,u1,nice photo, kill "them, all"\np2,u2,fine\n'
  const server = await startRefusingService()
  const plain = await runs.start(createPlan(server.baseUrl, csv, undefined)).ended
  expect(readAll(plain.run_id).map(({ state }) => state)).toEqual(['invalid', 'succeeded'])
  const fixes: Fix[] = [{ kind: 'join_cells', from: 3, with: ',' }]
  const joined = await runs.start(createPlan(server.baseUrl, csv, fixes)).ended
  expect(readAll(joined.run_id).map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
  expect(listSent(server).map(({ text_data: text }) => text)).toEqual([
    'fine',
    'nice photo, kill "them, all"',
    'fine',
  ])
  const detail = runs.read(joined.run_id, (view) => readRow(view, 1))
  expect(detail.corrections).toEqual([
    {
      field: 'text_data',
      before: 'nice photo',
      own: 'nice photo, kill "them, all"',
      sent: 'nice photo, kill "them, all"',
    },
  ])
})

test('the first rows of a cause are rows that it counts, not left out ones', async () => {
  const server = await startRefusingService()
  const csv = 'text_data,user_id,post_id,url\nhello,,p1,\nthere,,p2,\nfine,u3,p3,\n'
  const fixes: Fix[] = [{ kind: 'leave_out_row', row: 1, rowHash: toCsvHash(['hello', '', 'p1', '']) }]
  const run = await runs.start(createPlan(server.baseUrl, csv, fixes)).ended
  const groups = runs.read(run.run_id, readProblemGroups).filter(({ code }) => code === 'required')
  expect(groups.map(({ rows, examples }) => [rows, examples.map(({ row }) => row)])).toEqual([[1, [2]]])
})

test('joining cells leaves rows alone whose surplus cells are empty', async () => {
  const csv = 'post_id,user_id,text_data,\np1,u1,nice photo, kill\np2,u2,fine,\np3,u3,well,,\n'
  const server = await startRefusingService()
  const fixes: Fix[] = [{ kind: 'join_cells', from: 3, with: ',' }]
  const plan = createPlan(server.baseUrl, csv, fixes)
  expect((await runs.start(plan).ended).rows).toMatchObject({ read: 3, succeeded: 3 })
  expect(listSent(server).map(({ text_data: text }) => text)).toEqual(['nice photo, kill', 'fine', 'well'])
})

test('half of a split row says that the other half is not sent, whatever the reason', async () => {
  const server = await startRefusingService()
  const csv = `text_data,user_id,post_id,url
first,u1,p1,
repeated id,u2,p1,https://a.test/2.png
no address,u3,p3,nowhere
whole,u4,p4,https://a.test/4.png
repeated half,u5,p5,https://a.test/5.png
other,u6,p5-url,
no address either,u7,p7,elsewhere
neither,,p8,https://a.test/8.png
`
  const read = async (fixes: Fix[]) => {
    const { run_id: runId, warnings } = await runs.start(createPlan(server.baseUrl, csv, fixes)).ended
    const groups = runs.read(runId, readProblemGroups).filter(({ code }) => code === 'half_row')
    return {
      warnings: warnings
        .filter(({ code }) => code === 'half_row')
        .map(({ rows, message }) => [rows, message]),
      rows: groups.flatMap(({ examples }) =>
        examples.map(({ place, args }) => [place?.row, place?.half, args?.['without']]),
      ),
    }
  }
  const told = {
    warnings: [
      [3, 'is sent without the url of its row, which is invalid or left out'],
      [1, 'is sent without the text_data of its row, which is invalid or left out'],
    ],
    rows: [
      [4, 'text_data', 'url'],
      [6, 'text_data', 'url'],
      [8, 'text_data', 'url'],
      [3, 'url', 'text_data'],
    ],
  }
  expect(await read([{ kind: 'split' }])).toEqual(told)
  const leaveOut: Fix = { kind: 'leave_out', problem: 'not_a_url', field: 'url' }
  const { rows } = await read([{ kind: 'split' }, leaveOut])
  expect(rows.sort()).toEqual(told.rows.sort())
})

test('a half that a retry sends says that the other half is not sent', async () => {
  const server = await startRefusingService()
  const csv = 'text_data,user_id,post_id,url\nboth,u_1,p1,nowhere\nwhole,u_2,p2,https://a.test/2.png\n'
  const first = await runs.start(createPlan(server.baseUrl, csv, [{ kind: 'split' }])).ended
  expect(first.rows).toMatchObject({ read: 4, invalid: 4 })
  const fixes: Fix[] = [{ kind: 'split' }, { kind: 'substitute', field: 'user_id' }]
  const retry = await runs.retryAsChild(first.run_id, 'skip', { fixes }).ended
  expect(retry.warnings.filter(({ code }) => code === 'half_row')).toMatchObject([{ rows: 1 }])
})

test('neither half of a split row is sent if the row could not be read', async () => {
  const server = await startRefusingService()
  const csv =
    'text_data,user_id,post_id,url\nsound,u1,p1,https://a.test/1.png\nlong,u2,p2,https://a.test/2.png,more\n' +
    'user_id,text_data,post_id,url\nu3,swapped,p3,https://a.test/3.png\n'
  const run = await runs.start(createPlan(server.baseUrl, csv, [{ kind: 'split' }])).ended
  expect(listSent(server).map(({ post_id: postId }) => postId)).toEqual(['p1', 'p1-url'])
  expect(run.rows).toMatchObject({ read: 8, invalid: 6 })
})
