import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { Catalogue } from '../../../../src/main/engine/lookback/catalogue/catalogue.ts'
import { Ledgers, readLedger } from '../../../../src/main/engine/lookback/ledger/read-ledger.ts'
import { askSql } from '../../../../src/main/engine/lookback/sql/ask-sql.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { findLateRuns, settleCallbacks } from '../../../../src/main/engine/run/callback-settler.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { EarlierRun } from '../../../../src/main/engine/run/sent-before/earlier-runs.ts'
import { takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import { listCorrectionFiles, toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { forkProcess } from '../../../../src/main/own-process.ts'
import { SQL_PROCESS } from '../../../../src/main/program-files.ts'
import type { Fix } from '../../../../src/shared/plan/fixes.ts'
import { type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import { describeCallbacks } from '../../../../src/shared/run/run-view.ts'
import { type FaultServer, startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { judgeCounts } from '../../../helpers/history/judge-counts.ts'
import { readRunHistory } from '../../../helpers/history/read-run-history.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'

const BASE = { callbackBase: 'http://127.0.0.1:1' }
const ADD = { kind: 'index-add', indexId: 'images' } as const
const REFUSAL = { error: true, status: 400, error_code: 'BROKEN', message: 'it broke', show_alert: false }

function openRuns() {
  return createInProcessRuns(join(createTemporaryFolder(), 'work'))
}

type Runs = ReturnType<typeof openRuns>

function createIndexPlan(baseUrl: string, operation: PlanInput['operation']) {
  const path = join(createTemporaryFolder(), 'images.csv')
  writeFileSync(path, 'url\nhttps://media.example.com/a.png\n')
  return planSchema.parse({ connection: { baseUrl }, source: { path }, operation, retry: { limit: 0 } })
}

async function readIndex({ workspace }: Runs) {
  const ledgers = new Ledgers((asked) => new Catalogue(asked))
  onTestFinished(() => ledgers.forget())
  const states = ['known', 'removed', 'removal_unknown', 'add_unknown'] as const
  const query = { of: 'index', service: {}, list: null, search: null, states: [...states] } as const
  const { counts } = await readLedger(ledgers, { workspace, held: [] }, query, { offset: 0, limit: 9 })
  return counts
}

/** An async service whose callbacks the test itself stores in the inbox. */
async function startAsyncService({ workspace }: Runs) {
  const inbox = InboxWriter.open(workspace)
  if (inbox === null) throw new Error('the inbox is held')
  onTestFinished(() => inbox.close())
  const receive = (runToken: string, item: number, body: unknown) =>
    new Promise((stored) =>
      inbox.store(
        { runToken, item, receivedAtUs: Date.now() * 1000, body: Buffer.from(JSON.stringify(body)) },
        stored,
      ),
    )
  const answer: { toBody: (task: string) => unknown; refusesKey?: true } = { toBody: () => null }
  const server: FaultServer = await startFaultServer({
    onRequest: async (request, wire) => {
      if (answer.refusesKey) return wire.send(401, toErrorAnswer(401, 'INVALID_API_KEY', 'no'))
      const task = `task-${request.number}`
      const { callback_url: url } = JSON.parse(request.body) as { callback_url: string }
      const [, , runToken = '', item = ''] = new URL(url).pathname.split('/')
      const body = answer.toBody(task)
      if (body !== null) await receive(runToken, Number(item), body)
      wire.send(200, JSON.stringify({ task_id: task, message: 'accepted' }))
    },
  })
  return { server, answer, receive }
}

/** An async run with one row, p1, whose callback is overdue. */
async function startOverdue(runs: Runs) {
  const service = await startAsyncService(runs)
  const path = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(path, 'text_data,user_id,post_id\nhello,u1,p1\n')
  const plan = planSchema.parse({
    connection: { baseUrl: service.server.baseUrl },
    source: { path },
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1 },
  })
  const { run_id: runId, rows } = await runs.start(plan, BASE).ended
  expect(rows).toMatchObject({ overdue: 1 })
  return { ...service, runId }
}

const RENAMED: Fix[] = [{ kind: 'cell', row: 1, field: 'post_id', value: 'other' }]
const INVALID: Fix[] = [{ kind: 'cell', row: 1, field: 'user_id', value: 'u;1' }]
const AWAITING = { ...BASE, callbackTimeoutMs: 60_000 }

function listEffects(runs: Runs, runId: string) {
  return runs
    .read(runId, ({ db }) => db.prepare('SELECT effect FROM callback ORDER BY id').all())
    .map(({ effect }) => effect)
}

function expectCounted(runs: Runs, runId: string) {
  expect(judgeCounts(readRunHistory(toJournalFile(runs.workspace, runId)))).toEqual([])
}

test('the ledger counts an add that a callback refused before a retry as refused', async () => {
  const runs = openRuns()
  const { server, answer } = await startAsyncService(runs)
  answer.toBody = () => REFUSAL
  const plan = createIndexPlan(server.baseUrl, { ...ADD, mode: 'async' })
  const { run_id: runId, rows } = await runs.start(plan, BASE).ended
  expect(rows).toMatchObject({ rejected: 1 })
  expect(await readIndex(runs)).toEqual({})
  answer.toBody = (task) => ({ task_id: task, custom_index_item_id: 'item-a' })
  expect((await runs.retry(runId, 'skip', BASE).ended).rows).toMatchObject({ succeeded: 1 })
  expect(await readIndex(runs)).toEqual({ known: 1 })
})

test('a sent row that a correction makes invalid stays in the ledger and in SQL', async () => {
  const runs = openRuns()
  const server = await startFaultServer({
    onRequest: (_request, wire) => wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later')),
  })
  const { run_id: runId, rows } = await runs.start(createIndexPlan(server.baseUrl, ADD)).ended
  expect(rows).toMatchObject({ unknown: 1 })
  expect(await readIndex(runs)).toEqual({ add_unknown: 1 })
  const wrong: Fix[] = [{ kind: 'cell', row: 1, field: 'url', value: 'nowhere' }]
  expect((await runs.correct(runId, wrong, 'resend').ended).rows).toMatchObject({ invalid: 1 })
  expect(await readIndex(runs)).toEqual({ add_unknown: 1 })
  const said: unknown[][] = []
  await askSql({
    processUrl: SQL_PROCESS,
    startProcess: forkProcess,
    timeoutMs: 60_000,
    files: [toJournalFile(runs.workspace, runId)],
    sql: 'SELECT record, number, outcome FROM tries',
    onRow: async (row) => void said.push(row),
  })
  expect(said.slice(1)).toEqual([[1, 1, 'unknown']])
})

test('a row that waits to be corrected again shows the request that was answered', async () => {
  const runs = openRuns()
  const server = await startFaultServer({
    onRequest: (_request, wire) => wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no')),
  })
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl)
  const { run_id: runId } = await runs.start(plan).ended
  for (const value of ['first', 'second']) {
    const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value }]
    const held = runs.correct(runId, fixes, 'skip', { hold: true })
    await held.until(({ phase }) => phase === 'ready')
    held.command({ kind: 'stop' })
    await held.ended
    const { requestBody } = runs.read(runId, (view) => readRow(view, 1))
    expect(JSON.parse(requestBody ?? '')).toMatchObject({ text_data: 'text 1' })
  }
})

test('callbacks of a row that a correction makes invalid are exported', async () => {
  const runs = openRuns()
  const { server, answer } = await startAsyncService(runs)
  answer.toBody = () => REFUSAL
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
  })
  const { run_id: runId } = await runs.start(plan, BASE).ended
  const wrong: Fix[] = [{ kind: 'cell', row: 1, field: 'user_id', value: 'u;1' }]
  expect((await runs.correct(runId, wrong, 'skip', BASE).ended).rows).toMatchObject({ invalid: 1 })
  const file = join(createTemporaryFolder(), 'all.jsonl')
  await openEngine(runs.workspace).results.exportRun(runId, { file })
  const [row] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(row).toMatchObject({ callbacks: [{ body: expect.anything() }], tries: [{ number: 1 }] })
})

test('a late callback to content sent before a correction shows that request', async () => {
  const runs = openRuns()
  const { server, receive } = await startAsyncService(runs)
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1 },
  })
  const { run_id: runId, rows } = await runs.start(plan, BASE).ended
  expect(rows).toMatchObject({ overdue: 1 })
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value: 'other' }]
  const held = runs.correct(runId, fixes, 'skip', { ...BASE, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  await receive(runId, 1, { task_id: 'task-1', triggered_rules: [] })
  await held.until((snapshot) => snapshot.rows.succeeded === 1)
  held.command({ kind: 'stop' })
  await held.ended
  const detail = runs.read(runId, (view) => readRow(view, 1))
  expect(detail.result.state).toBe('succeeded')
  expect(JSON.parse(detail.requestBody ?? '')).toMatchObject({ text_data: 'text 1' })
  expect(judgeCounts(readRunHistory(toJournalFile(runs.workspace, runId)))).toEqual([])
  expect(runs.summarize(runId).corrected ?? null).toBe(null)
})

test('a late callback names the post that was sent before a correction renamed it', async () => {
  const runs = openRuns()
  const { server, receive } = await startAsyncService(runs)
  const path = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(path, 'text_data,user_id,post_id\nhello,u1,p1\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1 },
  })
  const { run_id: runId } = await runs.start(plan, BASE).ended
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'post_id', value: 'other' }]
  const held = runs.correct(runId, fixes, 'skip', { ...BASE, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  await receive(runId, 1, { task_id: 'task-1', post_id: 'p1', triggered_rules: [] })
  await held.until((snapshot) => (snapshot.callbacks?.received ?? 0) === 1)
  held.command({ kind: 'stop' })
  expect((await held.ended).rows).toMatchObject({ succeeded: 1, not_sent: 0 })
})

for (const [what, again, effects] of [
  ['that comes twice counts once', { triggered_rules: [] }, ['settled', 'doubled']],
  ['that differs from another is kept', { ...REFUSAL }, ['settled', 'differing']],
] as const) {
  test(`a late callback to content sent before a correction ${what}`, async () => {
    const runs = openRuns()
    const { receive, runId } = await startOverdue(runs)
    const held = runs.correct(runId, RENAMED, 'skip', { ...AWAITING, hold: true })
    await held.until(({ phase }) => phase === 'ready')
    await receive(runId, 1, { task_id: 'task-1', post_id: 'p1', triggered_rules: [] })
    await receive(runId, 1, { task_id: 'task-1', post_id: 'p1', ...again })
    await held.until(({ callbacks }) => callbacks?.received === 2)
    held.command({ kind: 'stop' })
    expect((await held.ended).rows).toMatchObject({ succeeded: 1 })
    expect(listEffects(runs, runId)).toEqual(effects)
    const { result } = runs.read(runId, (view) => readRow(view, 1))
    expect(result.answer).toBe(effects[1] === 'differing' ? 'differing_callbacks' : null)
    expectCounted(runs, runId)
  })
}

test('callbacks that come while a correction is held wait for the corrected run', async () => {
  const runs = openRuns()
  const { server, receive } = await startAsyncService(runs)
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1 },
  })
  const { run_id: runId } = await runs.start(plan, BASE).ended
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value: 'other' }]
  const held = runs.retryAsChild(runId, 'skip', { ...BASE, fixes, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  await receive(runId, 1, { task_id: 'task-1', triggered_rules: [] })
  const listLate = (isHeld: boolean) => {
    const pool = new ReaderPool()
    const file = toJournalFile(runs.workspace, runId)
    const family = readRunFamily(pool, file, (id) => isHeld && id === held.runId)
    const late = family === null ? [] : findLateRuns(family)
    pool.close()
    return late
  }
  expect(listLate(true)).toEqual([])
  held.command({ kind: 'stop' })
  await held.ended
  expect(listLate(false)).toEqual([runId])
})

test('callbacks still count after the process that held a correction has died', async () => {
  const runs = openRuns()
  const { receive, runId } = await startOverdue(runs)
  const held = runs.retryAsChild(runId, 'skip', { ...BASE, fixes: RENAMED, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  await held.ended
  await receive(runId, 1, { task_id: 'task-1', post_id: 'p1', triggered_rules: [] })
  const { runs: settling } = openEngine(runs.workspace)
  expect(await settling.settleLate(runId)).toBe(true)
  const states = runs.read(runId, ({ db }) => db.prepare('SELECT state FROM result').all())
  expect(states).toEqual([{ state: 'succeeded' }])
  expect(listEffects(runs, runId)).toEqual(['settled'])
})

test('the next reader of a run removes the remains of an interrupted correction', async () => {
  const runs = openRuns()
  const { runId } = await startOverdue(runs)
  const left = listCorrectionFiles(runs.workspace, runId)
  for (const file of left) writeFileSync(file, 'cells')
  const lease = takeLease(toJournalFile(runs.workspace, runId), 'the run')
  const { runs: settling } = openEngine(runs.workspace)
  await settling.settleLate()
  expect(left.filter((file) => existsSync(file))).toEqual(left)
  lease.release()
  await settling.settleLate()
  expect(left.filter((file) => existsSync(file))).toEqual([])
})

test('later runs recognise a row of unknown outcome as it was sent, after a correction has made it invalid', async () => {
  const runs = openRuns()
  const server = await startFaultServer({
    onRequest: (_request, wire) => wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later')),
  })
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId } = await runs.start(plan).ended
  const wrong: Fix[] = [
    { kind: 'cell', row: 1, field: 'user_id', value: 'u;1' },
    { kind: 'cell', row: 1, field: 'text_data', value: 'other' },
  ]
  expect((await runs.correct(runId, wrong, 'resend').ended).rows).toMatchObject({ invalid: 1 })
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const view = readRunFamily(pool, toJournalFile(runs.workspace, runId), () => false)
  if (view === null) throw new Error('the run is gone')
  const earlier = new EarlierRun(pool, view)
  const [sent] = earlier.readSent([1])
  expect(sent?.outcome).toBe('unknown')
  const { body } = earlier.toKeyed(1, sent?.cellsText ?? '', sent?.kinds ?? null)
  expect(body).toMatchObject({ text_data: 'text 1' })
  let hashes = 0
  earlier.listHashes(['text_data'], (_base, list) => {
    hashes += list.length
  })
  expect(hashes).toBeGreaterThan(0)
})

test('later runs know the content of a row of unknown outcome, both as first sent and as corrected', async () => {
  const runs = openRuns()
  const server = await startFaultServer({
    onRequest: ({ number }, wire) =>
      number === 1
        ? wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later'))
        : wire.send(200, JSON.stringify({ task_id: 'task', triggered_rules: [] })),
  })
  const folder = createTemporaryFolder()
  const toPlan = (name: string, posts: readonly string[]) => {
    const path = join(folder, name)
    writeFileSync(path, ['text_data,user_id,post_id', ...posts, ''].join('\n'))
    return planSchema.parse({
      connection: { baseUrl: server.baseUrl },
      source: { path },
      operation: { kind: 'task' },
      retry: { limit: 0 },
    })
  }
  const { run_id: runId } = await runs.start(toPlan('first.csv', ['hello,u1,p1'])).ended
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'post_id', value: 'other' }]
  expect((await runs.correct(runId, fixes, 'resend').ended).rows).toMatchObject({ succeeded: 1 })
  const plan = toPlan('second.csv', ['hello,u1,other', 'hello,u1,p1', 'hello,u1,p2'])
  const second = runs.start(plan, { hold: true, earlierRuns: [runId] })
  await second.until(({ phase }) => phase === 'ready')
  second.command({ kind: 'stop' })
  expect((await second.ended).sent_before).toMatchObject({ rows: 2, unknown: 1 })
})

test('a late refusal of content sent before a correction leaves the corrected row in the queue', async () => {
  const runs = openRuns()
  const { receive, runId } = await startOverdue(runs)
  const held = runs.correct(runId, RENAMED, 'skip', { ...AWAITING, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  await receive(runId, 1, REFUSAL)
  await held.until(({ callbacks }) => callbacks?.received === 1)
  held.command({ kind: 'begin' })
  await held.until(({ rows }) => rows.awaiting === 1)
  await receive(runId, 1, { task_id: 'task-2', post_id: 'other', triggered_rules: [] })
  expect((await held.ended).rows).toMatchObject({ succeeded: 1, rejected: 0 })
  expect(listEffects(runs, runId)).toEqual(['settled_before', 'settled'])
  expectCounted(runs, runId)
})

for (const [what, body] of Object.entries({
  'names the id': { task_id: 'another', post_id: 'p1', triggered_rules: [] },
  'names the task': { task_id: 'task-1', triggered_rules: [] },
  'refuses the task': { ...REFUSAL, task_id: 'task-1' },
})) {
  test(`a corrected row still awaits its own callback after a late one that ${what} of the earlier content`, async () => {
    const runs = openRuns()
    const { receive, runId } = await startOverdue(runs)
    const corrected = runs.correct(runId, RENAMED, 'skip', AWAITING)
    await corrected.until(({ rows }) => rows.awaiting === 1)
    await receive(runId, 1, body)
    const { rows } = await corrected.until(({ callbacks }) => callbacks?.received === 1)
    expect(rows).toMatchObject({ awaiting: 1, unknown: 0, rejected: 0, succeeded: 0 })
    await receive(runId, 1, { task_id: 'task-2', post_id: 'other', triggered_rules: [] })
    expect((await corrected.ended).rows).toMatchObject({ succeeded: 1 })
    expect(listEffects(runs, runId)).toEqual(['settled_before', 'settled'])
    expectCounted(runs, runId)
  })
}

test('a refusal that names nothing says that it may belong to content sent before a correction, and a result replaces it', async () => {
  const runs = openRuns()
  const { receive, runId } = await startOverdue(runs)
  const corrected = runs.correct(runId, RENAMED, 'skip', AWAITING)
  await corrected.until(({ rows }) => rows.awaiting === 1)
  await receive(runId, 1, REFUSAL)
  expect((await corrected.ended).rows).toMatchObject({ rejected: 1 })
  const { result } = runs.read(runId, (view) => readRow(view, 1))
  expect(result.message).toBe('it broke; it may answer what was sent before a correction')
  expect(result.answer).toBe('callback_in_doubt')
  const { callbacks } = runs.summarize(runId)
  expect(callbacks).toMatchObject({ received: 1, settled: 1, in_doubt: 1 })
  expect(callbacks && describeCallbacks(callbacks)).toBe(
    '1 received: 1 matched, 1 that may answer what was sent before a correction',
  )
  const resumed = runs.resume(runId, 'skip', { ...AWAITING, hold: true })
  await resumed.until(({ phase }) => phase === 'ready')
  await receive(runId, 1, { task_id: 'task-2', post_id: 'other', triggered_rules: [] })
  await resumed.until(({ rows }) => rows.succeeded === 1)
  resumed.command({ kind: 'stop' })
  await resumed.ended
  expectCounted(runs, runId)
})

/**
 * An async run of one row whose tries get these answers in order; 200 is an acknowledgement whose callback is
 * overdue.
 */
async function startAnswered(runs: Runs, statuses: readonly number[]) {
  const { receive } = await startAsyncService(runs)
  const server = await startFaultServer({
    onRequest: ({ number }, wire) => {
      const status = statuses[number - 1] ?? 500
      if (status === 200) wire.send(200, JSON.stringify({ task_id: `task-${number}`, message: 'accepted' }))
      else wire.send(status, toErrorAnswer(status, 'BROKEN', 'no'))
    },
  })
  const path = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(path, 'text_data,user_id,post_id\nhello,u1,p1\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    retry: { limit: 0 },
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1 },
  })
  const { run_id: runId } = await runs.start(plan, BASE).ended
  const receiveLate = async (task: string) => {
    await receive(runId, 1, { task_id: task, post_id: 'p1', triggered_rules: [] })
    const journal = new Journal(toJournalFile(runs.workspace, runId), { runId, mustExist: true })
    settleCallbacks(runs.workspace, journal)
    journal.close()
    return runs.summarize(runId)
  }
  return { runId, receiveLate }
}

const OTHER_TEXT: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value: 'corrected' }]

test('a late callback belongs to the content sent before a correction that the service refused', async () => {
  const runs = openRuns()
  const { runId, receiveLate } = await startAnswered(runs, [503, 400])
  const { rows } = await runs.correct(runId, OTHER_TEXT, 'resend', BASE).ended
  expect(rows).toMatchObject({ rejected: 1 })
  expect((await receiveLate('task-1')).rows).toMatchObject({ rejected: 1, succeeded: 0 })
  expect(listEffects(runs, runId)).toEqual(['settled_before'])
  expectCounted(runs, runId)
})

test('a result that may belong to content sent before a correction still says so after a callback that differs', async () => {
  const runs = openRuns()
  const { runId, receiveLate } = await startAnswered(runs, [503, 503])
  expect((await runs.correct(runId, OTHER_TEXT, 'resend', BASE).ended).rows).toMatchObject({ unknown: 1 })
  expect((await receiveLate('task-1')).callbacks).toMatchObject({ in_doubt: 1 })
  expect((await receiveLate('task-2')).callbacks).toMatchObject({ in_doubt: 1 })
  expect(runs.read(runId, (view) => readRow(view, 1)).result.message).toBe(
    'it may answer what was sent before a correction; another callback came that differs in task_id; the first one counts',
  )
  expect(listEffects(runs, runId)).toEqual(['settled', 'differing'])
  expectCounted(runs, runId)
})

for (const [task, state] of [
  ['task-2', 'succeeded'],
  ['task-9', 'rejected'],
] as const) {
  test(`a correction that was acknowledged as task-2 and refused later is ${state} after a late callback of ${task}`, async () => {
    const runs = openRuns()
    const { runId, receiveLate } = await startAnswered(runs, [503, 200, 400])
    const { rows } = await runs.correct(runId, OTHER_TEXT, 'resend', BASE).ended
    expect(rows).toMatchObject({ overdue: 1 })
    expect((await runs.retry(runId, 'resend', BASE).ended).rows).toMatchObject({ rejected: 1 })
    const { callbacks, rows: after } = await receiveLate(task)
    expect(after).toMatchObject({ [state]: 1 })
    expect(callbacks?.in_doubt).toBeUndefined()
    expectCounted(runs, runId)
  })
}

test('a late callback of a row that a correction made invalid reports the outcome of what was sent', async () => {
  const runs = openRuns()
  const { receive, runId } = await startOverdue(runs)
  const held = runs.correct(runId, INVALID, 'skip', { ...AWAITING, hold: true })
  await held.until(({ rows }) => rows.invalid === 1)
  const body = { task_id: 'task-1', post_id: 'p1', triggered_rules: [] }
  await receive(runId, 1, body)
  await receive(runId, 1, body)
  await held.until(({ callbacks }) => callbacks?.received === 2)
  held.command({ kind: 'stop' })
  expect((await held.ended).rows).toMatchObject({ invalid: 1, succeeded: 0 })
  expect(listEffects(runs, runId)).toEqual(['settled_before', 'doubled'])
  expectCounted(runs, runId)
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const view = readRunFamily(pool, toJournalFile(runs.workspace, runId), () => false)
  if (view === null) throw new Error('the run is gone')
  expect([...new EarlierRun(pool, view).readSent([1])].map(({ outcome }) => outcome)).toEqual(['taken'])
})

test('a correction that takes a row which was never sent keeps that a callback had settled it', async () => {
  const runs = openRuns()
  const { server, receive } = await startAsyncService(runs)
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
  })
  const held = runs.start(plan, { ...BASE, hold: true })
  await held.until(({ phase }) => phase === 'ready')
  await receive(held.runId, 1, { ...REFUSAL, language: 'en' })
  await held.until(({ rows }) => rows.rejected === 1)
  held.command({ kind: 'stop' })
  await held.ended
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value: 'other' }]
  const corrected = runs.correct(held.runId, fixes, 'skip', AWAITING)
  await corrected.until(({ rows }) => rows.awaiting === 1)
  await receive(held.runId, 1, { task_id: 'task-1', triggered_rules: [] })
  expect((await corrected.ended).rows).toMatchObject({ succeeded: 1, rejected: 0 })
  const kept = runs.read(held.runId, ({ db }) =>
    db.prepare('SELECT state, attempts, message FROM earlier').all(),
  )
  expect(kept).toEqual([{ state: 'rejected', attempts: 0, message: 'it broke' }])
  expectCounted(runs, held.runId)
})

test('a correction that is refused for its key is sent again with another, although the row may have been accepted before', async () => {
  const runs = openRuns()
  const server = await startFaultServer({
    onRequest: ({ number }, wire) => {
      if (number === 1) wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later'))
      else if (number === 2) wire.send(401, toErrorAnswer(401, 'INVALID_API_KEY', 'no'))
      else wire.send(200, JSON.stringify({ task_id: 'task', triggered_rules: [] }))
    },
  })
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ unknown: 1 })
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'text_data', value: 'other' }]
  expect((await runs.correct(runId, fixes, 'resend').ended).rows).toMatchObject({ unknown: 0, rejected: 1 })
  expect((await runs.resume(runId).ended).rows).toMatchObject({ succeeded: 1 })
})

test('a row that a callback refused is sent again with another key after a retry was refused for the key', async () => {
  const runs = openRuns()
  const { server, answer } = await startAsyncService(runs)
  answer.toBody = () => REFUSAL
  const plan = createRunPlan(createTemporaryFolder(), 1, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
  })
  const { run_id: runId, rows } = await runs.start(plan, BASE).ended
  expect(rows).toMatchObject({ rejected: 1 })
  answer.refusesKey = true
  expect((await runs.retry(runId, 'skip', AWAITING).ended).rows).toMatchObject({ rejected: 1 })
  delete answer.refusesKey
  answer.toBody = (task) => ({ task_id: task, triggered_rules: [] })
  expect((await runs.resume(runId, 'skip', AWAITING).ended).rows).toMatchObject({ succeeded: 1, rejected: 0 })
  expectCounted(runs, runId)
})

test('terms sent in one request stay in the ledger, SQL and exports as sent, whatever a correction does to them', async () => {
  const runs = openRuns()
  let isBroken = true
  const server = await startFaultServer({
    onRequest: ({ body }, wire) => {
      if (isBroken) return wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later'))
      const { watchlist, terms } = JSON.parse(body) as { watchlist: string; terms: { term: string }[] }
      const lists = { added_terms: terms, pre_existing_terms: [], failed_terms: [] }
      wire.send(200, JSON.stringify({ message: 'done', watchlist, ...lists }))
    },
  })
  const path = join(createTemporaryFolder(), 'terms.csv')
  writeFileSync(path, 'term\nfirst\nsecond\nthird\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    retry: { limit: 0 },
    operation: { kind: 'watchlist-add', watchlist: 'names', termsPerRequest: 3 },
  })
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ unknown: 3 })
  isBroken = false
  const fixes: Fix[] = [
    { kind: 'cell', row: 1, field: 'term', value: '' },
    { kind: 'cell', row: 2, field: 'term', value: 'better' },
  ]
  const corrected = await runs.correct(runId, fixes, 'resend').ended
  expect(corrected.rows).toMatchObject({ succeeded: 2, invalid: 1 })
  const ledgers = new Ledgers((asked) => new Catalogue(asked))
  onTestFinished(() => ledgers.forget())
  const states = ['known', 'unknown', 'absent', 'failed'] as const
  const query = { of: 'watchlist', service: {}, list: null, search: null, states: [...states] } as const
  const page = { offset: 0, limit: 9 }
  const { entries } = await readLedger(ledgers, { workspace: runs.workspace, held: [] }, query, page)
  const terms = entries.map((entry) => ('term' in entry ? [entry.term, entry.state] : []))
  expect(terms.sort()).toEqual([
    ['better', 'known'],
    ['first', 'unknown'],
    ['second', 'unknown'],
    ['third', 'known'],
  ])
  const said: unknown[][] = []
  await askSql({
    processUrl: SQL_PROCESS,
    startProcess: forkProcess,
    timeoutMs: 60_000,
    files: [toJournalFile(runs.workspace, runId)],
    sql: 'SELECT record, number, outcome FROM tries ORDER BY 1, 2',
    onRow: async (row) => void said.push(row),
  })
  expect(said.slice(1)).toEqual([
    [1, 1, 'unknown'],
    [2, 1, 'unknown'],
    [2, 2, 'succeeded'],
    [3, 1, 'unknown'],
    [3, 2, 'succeeded'],
  ])
  expect(judgeCounts(readRunHistory(toJournalFile(runs.workspace, runId)))).toEqual([])
})

test('a correction that sends a row again unchanged forgets no try that may have been accepted', async () => {
  const runs = openRuns()
  let status = 503
  const server = await startFaultServer({
    onRequest: (_request, wire) => wire.send(status, toErrorAnswer(status, 'SOME_CODE', 'no')),
  })
  const path = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(path, 'text_data,user_id,post_id\nhello,u1,p1\ngood day,u1,p2\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    retry: { limit: 0 },
    operation: { kind: 'task', mode: 'sync' },
  })
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ unknown: 2 })
  status = 429
  const fixes: Fix[] = [{ kind: 'cell', row: 2, field: 'text_data', value: 'other' }]
  expect((await runs.correct(runId, fixes, 'resend').ended).rows).toMatchObject({ unknown: 1, rejected: 1 })
  const states = runs.read(runId, ({ db }) => db.prepare('SELECT row, state FROM result ORDER BY row').all())
  expect(states).toEqual([
    { row: 1, state: 'unknown' },
    { row: 2, state: 'rejected' },
  ])
  expectCounted(runs, runId)
})

test('the ledger knows each item whose removal was sent, whatever a correction does to its id', async () => {
  const runs = openRuns()
  let isBroken = true
  const server = await startFaultServer({
    onRequest: ({ body }, wire) => {
      if (isBroken) return wire.send(503, toErrorAnswer(503, 'UNAVAILABLE', 'later'))
      const { custom_index_item_id: itemId } = JSON.parse(body) as { custom_index_item_id: string }
      wire.send(200, JSON.stringify({ task_id: 'task', custom_index_item_id: itemId, message: 'removed' }))
    },
  })
  const path = join(createTemporaryFolder(), 'items.csv')
  writeFileSync(path, 'custom_index_item_id\nitem-a\nitem-b\n')
  const plan = planSchema.parse({
    connection: { baseUrl: server.baseUrl },
    source: { path },
    retry: { limit: 0 },
    operation: { kind: 'index-remove', indexId: 'images', mode: 'sync' },
  })
  const { run_id: runId, rows } = await runs.start(plan).ended
  expect(rows).toMatchObject({ unknown: 2 })
  expect(await readIndex(runs)).toEqual({ removal_unknown: 2 })
  isBroken = false
  const fixes: Fix[] = [{ kind: 'cell', row: 1, field: 'custom_index_item_id', value: 'item-c' }]
  expect((await runs.correct(runId, fixes, 'resend').ended).rows).toMatchObject({ succeeded: 2 })
  expect(await readIndex(runs)).toEqual({ removal_unknown: 1, removed: 2 })
})
