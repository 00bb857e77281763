import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { insertRunRecord } from '../../../../src/main/engine/journal/run-record.ts'
import { IntakeWriter } from '../../../../src/main/engine/run/journal/intake-writer.ts'
import { readFacets } from '../../../../src/main/engine/run/results/facets.ts'
import { readProblemGroups } from '../../../../src/main/engine/run/results/problem-groups.ts'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { listRunIds, toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { type Plan, planSchema } from '../../../../src/shared/plan/plan.ts'
import { toRowNumber } from '../../../../src/shared/plan/source-place.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import { startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { judgeCounts } from '../../../helpers/history/judge-counts.ts'
import { readRunHistory } from '../../../helpers/history/read-run-history.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { listSent, startRefusingService } from '../../../helpers/refusing-service.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()

function openRuns() {
  return createInProcessRuns(join(createTemporaryFolder(), 'work'))
}

type Runs = ReturnType<typeof openRuns>

let sources = 0

function createPlan(baseUrl: string, csv: string, fixes?: Fix[]): Plan {
  sources += 1
  const path = join(folder, `posts-${sources}.csv`)
  writeFileSync(path, csv)
  return planSchema.parse({
    connection: { baseUrl },
    source: { path },
    operation: { kind: 'task' },
    pace: { kind: 'closed', concurrency: 1 },
    retry: { limit: 0 },
    fixes,
  })
}

/** Differences between a run's tables and its counters and summary. */
const findMiscounts = (runs: Runs, runId: string): string[] =>
  judgeCounts(readRunHistory(toJournalFile(runs.workspace, runId))).map(({ message }) => message)

const FAILING = `text_data,user_id,post_id
fine,u1,p1
refuse me,u2,p2
bad id,u_3,p3
twice,u4,p1
`

test('a correction continues the run: it sends refused and invalid rows, corrected', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const before = await runs.start(createPlan(server.baseUrl, FAILING)).ended
  expect(before.rows).toMatchObject({ read: 4, succeeded: 1, rejected: 1, invalid: 2 })
  const fixes: Fix[] = [
    { kind: 'cell', row: 2, field: 'text_data', value: 'take me', was: 'refuse me' },
    { kind: 'substitute', field: 'user_id' },
    { kind: 'cell', row: 4, field: 'post_id', value: 'p4' },
  ]
  const after = await runs.correct(before.run_id, fixes).ended
  expect(after).toMatchObject({
    run_id: before.run_id,
    parent_run_id: null,
    retries: [],
    state: 'completed',
    errors: [],
    rows: { read: 4, succeeded: 4, invalid: 0, rejected: 0, not_sent: 0 },
    requests: { sent: 5, succeeded: 4, rejected: 1, retried: 1 },
    corrected: { rows: 3, cells: 3 },
  })
  expect(after.sessions.map(({ kind, rows_taken: taken }) => [kind, taken])).toEqual([
    ['start', 0],
    ['correction', 3],
  ])
  expect(listSent(server).slice(2)).toEqual([
    { text_data: 'take me', user_id: 'u2', post_id: 'p2' },
    { text_data: 'bad id', user_id: 'u~5F3', post_id: 'p3' },
    { text_data: 'twice', user_id: 'u4', post_id: 'p4' },
  ])
  expect(listRunIds(runs.workspace)).toEqual([before.run_id])
  expect(findMiscounts(runs, before.run_id)).toEqual([])
  const detail = runs.read(before.run_id, (view) => readRow(view, 2))
  expect(detail.attempts.map(({ number, outcome, response }) => [number, outcome, response?.body])).toEqual([
    [1, 'rejected', expect.stringContaining('INVALID_PARAM')],
    [2, 'succeeded', undefined],
  ])
  expect(JSON.parse(detail.requestBody ?? '')).toMatchObject({ text_data: 'take me' })
  expect(detail.result).toMatchObject({ attempts: 2, cells: ['refuse me', 'u2', 'p2'] })
  expect(runs.read(before.run_id, (view) => readRow(view, 3).result.attempts)).toBe(1)
})

test('a corrected row whose id the service already has does not count as sent with the corrected content', async () => {
  const runs = openRuns()
  const seen = new Map<string, number>()
  const server = await startFaultServer({
    onRequest: ({ body }, wire) => {
      const { post_id: id, text_data: text } = JSON.parse(body) as { post_id: string; text_data: string }
      seen.set(id, (seen.get(id) ?? 0) + 1)
      if (text === 'lost' || seen.get(id) === 3) wire.send(503, toErrorAnswer(503, 'BUSY', 'later'))
      else wire.send(409, toErrorAnswer(409, 'POST_EXISTS', 'exists'))
    },
  })
  const csv = `text_data,user_id,post_id\nlost,u1,p1\nlost,u2,p2\nlost,u3,p3\nlost,u_4,p4\n`
  const plan = createPlan(server.baseUrl, csv)
  plan.connection.deliveredCodes = ['POST_EXISTS']
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ unknown: 3, invalid: 1 })
  await runs.retry(runId, 'resend').ended
  const fixes: Fix[] = [
    { kind: 'cell', row: 2, field: 'text_data', value: 'corrected' },
    { kind: 'cell', row: 3, field: 'text_data', value: 'corrected' },
    { kind: 'cell', row: 3, field: 'post_id', value: 'p3-corrected' },
    { kind: 'cell', row: 4, field: 'text_data', value: 'corrected' },
    { kind: 'substitute', field: 'user_id' },
  ]
  const readResults = () =>
    [2, 3, 4]
      .map((row) => runs.read(runId, (view) => readRow(view, row)).result)
      .map(({ state, message }) => ({ state, message }))
  await runs.correct(runId, fixes, 'resend').ended
  // The third request of a row has no usable answer, the fourth has one.
  expect(readResults().map(({ state }) => state)).toEqual(['unknown', 'succeeded', 'succeeded'])
  const again = await runs.retry(runId, 'resend').ended
  expect(again).toMatchObject({ result_lost: { rows: 2 } })
  const [unclear, renamed, first] = readResults()
  expect(unclear).toEqual({
    state: 'unknown',
    message:
      'the service has this post_id already; it may be what was sent before a correction: correct post_id, too',
  })
  expect([renamed?.state, first?.state]).toEqual(['succeeded', 'succeeded'])
  await runs.correct(
    runId,
    [...fixes, { kind: 'cell', row: 2, field: 'text_data', value: 'once more' }],
    'resend',
  ).ended
  expect(readResults()[0]).toEqual({
    state: 'rejected',
    message: 'the service has this post_id already, as it was sent before a correction: correct post_id, too',
  })
  // A person says that they arrived corrected.
  await runs.retry(runId, 'resend', { deliveredCodes: ['POST_EXISTS'] }).ended
  expect(readResults()[0]).toMatchObject({ state: 'succeeded' })
  expect(findMiscounts(runs, runId)).toEqual([])
})

const MIXED = `text_data,user_id,post_id,url
hello,u1,p1,
there,,p2,
both,u3,p3,https://a.test/3.png
again,u4,p1,
fine,u5,p5,
refuse this,u6,p6,
  spaced ,u_7,p7,
`

const FIRST: Fix[] = [{ kind: 'value', problem: 'required', field: 'user_id', value: 'anon-{{row}}' }]
const SECOND: Fix[] = [
  ...FIRST,
  { kind: 'substitute', field: 'user_id' },
  { kind: 'split' },
  { kind: 'leave_out', problem: 'not_unique', field: 'post_id' },
]
const THIRD: Fix[] = [
  ...SECOND,
  { kind: 'cell', row: 6, field: 'text_data', value: 'take this', was: 'refuse this' },
]

/** All reported data of a run and its rows, without names of runs and times. */
async function tell(runs: Runs, runId: string) {
  const { rows, errors, warnings, from_cache, to_repeat }: RunSummary = runs.summarize(runId)
  const file = join(createTemporaryFolder(), 'all.jsonl')
  const engine = openEngine(runs.workspace)
  await engine.results.exportRun(runId, { file })
  const exported = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { tries, duration_ms: _took, run_id: _run, task_id: _task, ...row } = JSON.parse(line)
      return {
        ...row,
        tries: tries.map(({ outcome, status, number }: Record<string, unknown>) => [number, outcome, status]),
      }
    })
  return {
    rows,
    errors,
    warnings: warnings.map(({ code, message }) => [code, message]),
    from_cache,
    to_repeat,
    sent: { ...runs.summarize(runId).requests, retried: null },
    facets: runs.read(runId, (view) => readFacets(view, {})).facets,
    page: runs
      .read(runId, (view) => readPage(view, { filter: {}, offset: 0, limit: 100 }))
      .rows.map(({ row, place, state, postId, cells, attempts, message }) => [
        ...[row, String(toRowNumber(place)), state, postId, cells, attempts, message],
      ]),
    invalid: runs.read(
      runId,
      (view) => readPage(view, { filter: { state: 'invalid' }, offset: 0, limit: 100 }).total,
    ),
    exported,
  }
}

const listErrors = (runs: Runs, runId: string) =>
  runs.read(runId, readProblemGroups).filter(({ severity }) => severity === 'error')

test('corrections in the run itself show the same as those with runs of their own', async () => {
  onlyInLongForm()
  const inPlace = openRuns()
  const apart = openRuns()
  const server = await startRefusingService()
  const plan = createPlan(server.baseUrl, MIXED, FIRST)
  const [a, b] = [await inPlace.start(plan).ended, await apart.start(plan).ended]
  expect(a.rows).toEqual(b.rows)
  for (const fixes of [SECOND, THIRD]) {
    const from = server.requests.length
    await inPlace.correct(a.run_id, fixes).ended
    const middle = server.requests.length
    await apart.retryAsChild(b.run_id, 'skip', { fixes }).ended
    const bodies = server.requests.map(({ body }) => body)
    expect(bodies.slice(from, middle)).toEqual(bodies.slice(middle))
    expect(await tell(inPlace, a.run_id)).toEqual(await tell(apart, b.run_id))
    expect(findMiscounts(inPlace, a.run_id)).toEqual([])
    expect(listErrors(inPlace, a.run_id)).toEqual([])
  }
  expect(inPlace.summarize(a.run_id).rows).toMatchObject({ read: 8, succeeded: 7, left_out: 1 })
})

test('rows that a correction does not send again are shown as they were sent', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const plan = createPlan(server.baseUrl, 'text_data,user_id,post_id\nhello,u_1,a_1\nrefuse,u_2,a_2\n', [
    { kind: 'substitute', field: 'user_id' },
    { kind: 'substitute', field: 'post_id' },
  ])
  const { run_id: runId } = await runs.start(plan).ended
  await runs.correct(runId, [
    { kind: 'cell', row: 1, field: 'text_data', value: 'other' },
    { kind: 'cell', row: 2, field: 'text_data', value: 'hi' },
    { kind: 'cell', row: 2, field: 'user_id', value: 'u2' },
    { kind: 'cell', row: 2, field: 'post_id', value: 'a2' },
  ]).ended
  const bodies = [1, 2].map((row) =>
    JSON.parse(runs.read(runId, (view) => readRow(view, row)).requestBody ?? ''),
  )
  expect(bodies).toEqual([listSent(server)[0], listSent(server)[2]])
  expect(bodies).toEqual([
    { text_data: 'hello', user_id: 'u~5F1', post_id: 'a~5F1' },
    { text_data: 'hi', user_id: 'u2', post_id: 'a2' },
  ])
})

test('an unsent correction shows the request that was answered, and what it corrects', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const { run_id: runId } = await runs.start(createPlan(server.baseUrl, FAILING)).ended
  const fixes: Fix[] = [
    { kind: 'cell', row: 2, field: 'text_data', value: 'take me' },
    { kind: 'substitute', field: 'user_id' },
  ]
  const held = runs.correct(runId, fixes, 'skip', { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  expect(await held.ended).toMatchObject({
    state: 'interrupted',
    rows: { read: 4, succeeded: 1, invalid: 1, not_sent: 2 },
    to_repeat: { rows: 1 },
  })
  const detail = runs.read(runId, (view) => readRow(view, 2))
  expect(detail.result.state).toBe('pending')
  expect(JSON.parse(detail.requestBody ?? '')).toMatchObject({ text_data: 'refuse me' })
  expect(detail.responseBody).toContain('INVALID_PARAM')
  expect(detail.corrections).toMatchObject([{ field: 'text_data', sent: 'take me' }])
  expect((await runs.resume(runId).ended).rows).toMatchObject({ succeeded: 3, invalid: 1, not_sent: 0 })
  expect(listSent(server).slice(2)).toMatchObject([{ text_data: 'take me' }, { user_id: 'u~5F3' }])
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('a correction that makes a sent row invalid keeps its tries, and the next one sends it again', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const { run_id: runId } = await runs.start(createPlan(server.baseUrl, FAILING)).ended
  const wrong: Fix[] = [{ kind: 'cell', row: 2, field: 'user_id', value: 'u;2' }]
  const invalid = await runs.correct(runId, wrong).ended.catch((error: unknown) => error)
  expect(invalid).toMatchObject({ rows: { read: 4, succeeded: 1, rejected: 0, invalid: 3 } })
  const detail = runs.read(runId, (view) => readRow(view, 2))
  expect(detail.result).toMatchObject({ state: 'invalid', attempts: 1 })
  expect(detail.attempts).toMatchObject([
    { number: 1, outcome: 'rejected', response: { body: expect.stringContaining('INVALID_PARAM') } },
  ])
  expect(findMiscounts(runs, runId)).toEqual([])
  const right: Fix[] = [{ kind: 'cell', row: 2, field: 'text_data', value: 'take me' }]
  expect((await runs.correct(runId, right).ended).rows).toMatchObject({ succeeded: 2, invalid: 2 })
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('a correction in which nothing passes leaves the run unchanged', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const { run_id: runId } = await runs.start(createPlan(server.baseUrl, 'text_data,user_id\nfine,u1\n')).ended
  const before = runs.summarize(runId)
  await expect(runs.correct(runId, []).ended).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(runs.summarize(runId)).toEqual(before)
})

test('a correction knows the ids with which an earlier one sent other rows', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const rows = ['post_id,user_id,text_data', 'b,u_2,two', 'c,u_3,three', 'd,u_4,four', '']
  const { run_id: runId } = await runs.start(createPlan(server.baseUrl, rows.join('\n'))).ended
  const rename = (row: number, post: string): Fix[] => [
    { kind: 'cell', row, field: 'user_id', value: `u${row}` },
    { kind: 'cell', row, field: 'post_id', value: post },
  ]
  expect((await runs.correct(runId, rename(1, 'q')).ended).rows).toMatchObject({ succeeded: 1, invalid: 2 })
  // The new fixes no longer contain what row 1 was sent with.
  expect((await runs.correct(runId, rename(2, 'q')).ended).rows).toMatchObject({ succeeded: 1, invalid: 2 })
  expect((await runs.correct(runId, rename(3, 'b')).ended).rows).toMatchObject({ succeeded: 2, invalid: 1 })
  expect(listSent(server)).toMatchObject([{ post_id: 'q' }, { post_id: 'b' }])
})

test('a correction sends no row whose error only the reader finds, however many problems there were', async () => {
  const runs = openRuns()
  const server = await startRefusingService()
  const runId = 'run-of-many-problems'
  const journal = new Journal(toJournalFile(runs.workspace, runId), { runId })
  const plan = createPlan(server.baseUrl, FAILING)
  const created = { name: runId, plan, createdAtMs: Date.now(), appVersion: '0' }
  journal.transact('power', () =>
    insertRunRecord(journal.db, { runId, runToken: runId, parentRunId: null, ...created }),
  )
  const writer = new IntakeWriter(journal, () => null, { problemsMax: 1 })
  const columns = ['text_data', 'user_id']
  const ragged = { severity: 'error', code: 'ragged_row', args: { cells: 2, than: 'header' } } as const
  const found = { severity: 'error', code: 'required', field: 'user_id', args: { lack: 'value' } } as const
  const toRow = (row: number, cells: string[], problem: typeof ragged | typeof found) => ({
    row,
    cells,
    uniqueKey: null,
    problems: [{ row, ...problem }],
  })
  const rows = [1, 2, 3].map((row) => toRow(row, [`text ${row}`, 'u'], ragged))
  rows.push(...[4, 5].map((row) => toRow(row, [`text ${row}`, ''], found)))
  writer.writeRows(rows, (row) => row)
  writer.finish(columns)
  journal.close()
  const fixes: Fix[] = [{ kind: 'cell', row: 4, field: 'user_id', value: 'u4' }]
  expect((await runs.correct(runId, fixes).ended).rows).toMatchObject({ succeeded: 1, invalid: 4 })
  expect(listSent(server)).toMatchObject([{ text_data: 'text 4' }])
  const counted = runs.read(runId, ({ db }) =>
    db.prepare("SELECT n FROM facet WHERE kind = 'problem' AND n <> 0 ORDER BY n").all(),
  )
  expect(counted).toEqual([{ n: 1 }, { n: 3 }])
})
