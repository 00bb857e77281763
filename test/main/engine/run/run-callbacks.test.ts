import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { settleCallbacks } from '../../../../src/main/engine/run/callback-settler.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { listRunNotices } from '../../../../src/shared/report/report-head.ts'
import { describeExtent } from '../../../../src/shared/run/run-view.ts'
import { startFaultServer, type WireRequest } from '../../../helpers/fault-server.ts'
import { createInProcessRuns, RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)
const BASE = { callbackBase: 'http://127.0.0.1:1' }

/** Decides the callback by the numbers of the row and of the request. */
type ToBody = (item: number, task: string) => unknown

/** The run after new callbacks were processed, as before every read. */
function settle(runId: string) {
  const journal = new Journal(toJournalFile(folder, runId), { runId, mustExist: true })
  try {
    settleCallbacks(folder, journal)
  } finally {
    journal.close()
  }
  return runs.summarize(runId)
}

/** An async service whose callbacks are in the inbox before their acknowledgement goes out; null for none. */
async function startAsyncService() {
  const inbox = InboxWriter.open(folder)
  if (inbox === null) throw new Error('the inbox is held')
  onTestFinished(() => inbox.close())
  const answer: { toBody: ToBody } = { toBody: (_item, task) => ({ task_id: task, triggered_rules: [] }) }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { runToken, item } = toTarget(request)
      const task = `task-${request.number}`
      const acknowledge = () => wire.send(200, JSON.stringify({ task_id: task, message: 'accepted' }))
      const body = answer.toBody(item, task)
      if (body === null) return acknowledge()
      const bytes = Buffer.from(JSON.stringify(body))
      inbox.store({ runToken, item, receivedAtUs: Date.now() * 1000, body: bytes }, acknowledge)
    },
  })
  const receive = (runToken: string, item: number, body: unknown) =>
    new Promise((stored) =>
      inbox.store(
        { runToken, item, receivedAtUs: Date.now() * 1000, body: Buffer.from(JSON.stringify(body)) },
        stored,
      ),
    )
  return { server, answer, receive }
}

function toTarget({ body }: WireRequest): { runToken: string; item: number } {
  const { callback_url } = JSON.parse(body) as { callback_url: string }
  const [, , runToken = '', item = ''] = new URL(callback_url).pathname.split('/')
  return { runToken, item: Number(item) }
}

const REFUSAL = { error: true, status: 400, error_code: 'BROKEN', message: 'it broke', show_alert: false }

const toPlan = (baseUrl: string) =>
  createRunPlan(folder, 4, baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 60_000 },
  })

test('a retry resends rows that a callback refused, and ignores all earlier callbacks', async () => {
  const { server, answer } = await startAsyncService()
  const { toBody } = answer
  answer.toBody = (item, task) => (item === 2 ? REFUSAL : toBody(item, task))
  const parent = await runs.start(toPlan(server.baseUrl), BASE).ended
  expect(parent).toMatchObject({ rows: { read: 4, succeeded: 3, rejected: 1 }, requests: { sent: 4 } })
  answer.toBody = toBody
  const child = await runs.retryAsChild(parent.run_id, 'skip', BASE).ended
  expect(child).toMatchObject({
    state: 'completed',
    rows: { read: 1, succeeded: 1, rejected: 0, not_sent: 0 },
    requests: { sent: 1 },
    callbacks: { received: 1, settled: 1, doubled: 0 },
  })
  expect(server.requests).toHaveLength(5)
})

test('answers to the rows that a retry took are counted once with its run', async () => {
  const { server, answer } = await startAsyncService()
  const { toBody } = answer
  const isLate = { value: true }
  answer.toBody = (item, task) => (item % 2 === 1 && isLate.value ? null : toBody(item, task))
  const plan = { ...toPlan(server.baseUrl), callback: { ...toPlan(server.baseUrl).callback, timeoutMs: 50 } }
  const parent = await runs.start(plan, BASE).ended
  expect(parent.rows).toMatchObject({ read: 4, succeeded: 2, overdue: 2 })
  isLate.value = false
  const child = await runs.retryAsChild(parent.run_id, 'skip', BASE).ended
  expect(child).toMatchObject({ rows: { read: 2, succeeded: 2 }, callbacks: { received: 2, settled: 2 } })
  const later = settle(parent.run_id)
  expect(later.rows).toMatchObject({ read: 4, succeeded: 4, overdue: 0 })
  expect(parent.callbacks).toMatchObject({ received: 2, settled: 2 })
  expect(later.callbacks).toMatchObject({ received: 4, settled: 4, doubled: 0, late: 0 })
  expect(settle(child.run_id).callbacks).toEqual(child.callbacks)
})

test('a retry while callbacks are awaited is refused, since those rows could not be helped afterwards', async () => {
  const { server, answer } = await startAsyncService()
  const { toBody } = answer
  answer.toBody = (item, task) => (item === 1 ? null : item === 2 ? REFUSAL : toBody(item, task))
  const first = runs.start(toPlan(server.baseUrl), BASE)
  await first.until(({ phase, rows }) => phase === 'awaiting' && rows.awaiting === 1)
  first.command({ kind: 'stop' })
  expect(await first.ended).toMatchObject({ state: 'interrupted', rows: { awaiting: 1, rejected: 1 } })
  await expect(runs.retryAsChild(first.runId, 'resend', BASE).ended).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    hint: expect.stringContaining(`sluice resume ${first.runId}`),
  })
  answer.toBody = toBody
  const again = runs.resume(first.runId, 'skip', BASE)
  await again.until(({ phase }) => phase === 'awaiting')
  again.command({ kind: 'stop' })
  expect(await again.ended).toMatchObject({ rows: { awaiting: 1, rejected: 1 } })
})

test('a run that was stopped while it waited is completed by the last callback', async () => {
  const { server, answer, receive } = await startAsyncService()
  answer.toBody = () => null
  const run = runs.start(toPlan(server.baseUrl), BASE)
  await run.until(({ phase, rows }) => phase === 'awaiting' && rows.awaiting === 4)
  run.command({ kind: 'stop' })
  const stopped = await run.ended
  expect(stopped).toMatchObject({ state: 'interrupted', rows: { awaiting: 4, not_sent: 0 } })
  expect(describeExtent(stopped)).toBe('all rows sent')
  expect(listRunNotices(stopped)[0]?.title).toBe('All rows were sent, but callbacks are missing')
  for (const item of [1, 2, 3])
    await receive(run.runId, item, { task_id: `task-${item}`, triggered_rules: [] })
  expect(settle(run.runId)).toMatchObject({ state: 'interrupted', rows: { succeeded: 3, awaiting: 1 } })
  await receive(run.runId, 4, { task_id: 'task-4', triggered_rules: [] })
  expect(settle(run.runId)).toMatchObject({ state: 'completed', rows: { succeeded: 4, awaiting: 0 } })
})

test('callbacks do not complete a run that has rows left to send', async () => {
  const { server, answer, receive } = await startAsyncService()
  answer.toBody = () => null
  const run = runs.start(toPlan(server.baseUrl), { ...BASE, hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 1 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.awaiting === 1)
  run.command({ kind: 'stop' })
  const stopped = await run.ended
  expect(stopped).toMatchObject({ state: 'interrupted', rows: { awaiting: 1, not_sent: 3 } })
  expect(describeExtent(stopped)).toBeNull()
  await receive(run.runId, 1, { task_id: 'task-1', triggered_rules: [] })
  expect(settle(run.runId)).toMatchObject({ state: 'interrupted', rows: { succeeded: 1, not_sent: 3 } })
})

test('a disk that was full briefly while a run was held does not end the resumed run', async () => {
  const { server, answer, receive } = await startAsyncService()
  const { toBody } = answer
  const fault = { isNext: false, happened: false }
  const onCommit = (when: 'before' | 'after') => {
    if (when === 'after' || !fault.isNext) return
    Object.assign(fault, { isNext: false, happened: true })
    throw new Error('no room')
  }
  answer.toBody = () => null
  const run = runs.start(toPlan(server.baseUrl), { ...BASE, hold: true, onCommit })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 1 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.awaiting === 1)
  fault.isNext = true
  await receive(run.runId, 1, toBody(1, 'task-1'))
  await run.until(({ rows }) => rows.succeeded === 1)
  expect(fault.happened).toBe(true)
  answer.toBody = toBody
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 4 } })
})

test('a stop that comes just when everything is sent still applies while callbacks are awaited', async () => {
  const { server, answer } = await startAsyncService()
  answer.toBody = () => null
  let commits = 0
  const onCommit = (when: 'before' | 'after') => {
    if (when === 'before' || server.requests.length < 4) return
    commits += 1
    // The previous report says that nothing is left to send; this one ends the sending.
    if (commits === 2) run.command({ kind: 'stop' })
  }
  const plan = toPlan(server.baseUrl)
  const run = runs.start(
    { ...plan, callback: { ...plan.callback, timeoutMs: 2_000 }, pace: { kind: 'closed', concurrency: 1 } },
    { ...BASE, onCommit },
  )
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { awaiting: 4, overdue: 0 } })
})

/** Everything in a run's journal, as text. */
function readWhole(runId: string): string {
  return runs.read(runId, ({ db }) => {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    const rows = tables.flatMap(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all())
    const values = rows.flatMap((row) => Object.values(row))
    return values
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value))
      .join('\n')
  })
}

test('a callback that another process stored with the key in it is processed without the key', async () => {
  const { server, answer } = await startAsyncService()
  answer.toBody = () => ({ error: true, status: 400, error_code: 'BAD', message: `bad key ${RUN_KEY}` })
  const plan = createRunPlan(folder, 2, server.baseUrl, { operation: { kind: 'task', mode: 'async' } })
  const { runId, ended } = runs.start(plan, BASE)
  expect(await ended).toMatchObject({ rows: { rejected: 2 } })
  const held = readWhole(runId)
  expect(held).toContain('bad key [redacted]')
  expect(held).not.toContain(RUN_KEY)
})
