import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { isRetriedInPlace } from '../../../../src/main/engine/journal/run-family.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { settleCallbacks } from '../../../../src/main/engine/run/callback-settler.ts'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { listRunIds, toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import {
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { judgeCounts } from '../../../helpers/history/judge-counts.ts'
import { readRunHistory } from '../../../helpers/history/read-run-history.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, listBodies, toRow } from './wire-record.ts'

const folder = openTestFolder()

/** A separate workspace, so that the test sees which journals exist. */
function openRuns() {
  return createInProcessRuns(join(createTemporaryFolder(), 'work'))
}

type Runs = ReturnType<typeof openRuns>

/** A service that refuses row 2, breaks on row 4 and accepts all others, until it is fixed. */
async function startBrokenService() {
  const service = { isMended: false }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (service.isMended || (row !== 2 && row !== 4)) return wire.send(200, toTaskAnswer(request))
      if (row === 2) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else wire.reset()
    },
  })
  return Object.assign(service, { server })
}

/** Content that must be sent again unchanged: commas, quotes, line breaks, white space, emoji. */
const TEXTS = ['"a, b"', '"say ""hi"""', '"two\nlines"', '  kept as it is ', 'ümläut 🙂', '=1+1']

/** Differences between a run's tables and its counters and summary. */
function findMiscounts(runs: Runs, runId: string): string[] {
  return judgeCounts(readRunHistory(toJournalFile(runs.workspace, runId))).map(({ message }) => message)
}

/** The sessions of a summary without values that differ each time. */
function listSessions({ sessions }: RunSummary) {
  return sessions.map(({ kind, rows_taken: taken, requests: { sent } }) => ({ kind, taken, sent }))
}

test('a row with a lost result is counted once, however often it and others are sent again', async () => {
  const runs = openRuns()
  const tries = new Map<number, number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const number = (tries.get(row) ?? 0) + 1
      tries.set(row, number)
      if (row === 2) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else if (row !== 3) wire.send(200, toTaskAnswer(request))
      else if (number === 1) wire.reset()
      else wire.send(400, toErrorAnswer(400, 'DUPLICATE_POST_ID', 'again'))
    },
  })
  const plan = createRunPlan(folder, TEXTS, server.baseUrl, { retry: { limit: 0 } })
  plan.connection.deliveredCodes = ['DUPLICATE_POST_ID']
  const { run_id: runId } = await runs.start(plan).ended
  const first = await runs.retry(runId, 'resend').ended
  const second = await runs.retry(runId, 'resend').ended
  for (const { rows, result_lost, echoes } of [first, second]) {
    expect({ rows, result_lost, echoes }).toMatchObject({
      rows: { succeeded: 5, rejected: 1 },
      result_lost: { rows: 1 },
      echoes: { verified: 4, not_verifiable: 1, mismatched: 0 },
    })
  }
  expect([2, 3].map((row) => tries.get(row))).toEqual([3, 2])
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('a retry sends unsuccessful rows again in the run itself, byte for byte the same', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const before = await runs.start(plan).ended
  expect(before.rows).toMatchObject({ succeeded: 4, rejected: 1, unknown: 1 })
  service.isMended = true
  const after = await runs.retry(before.run_id, 'resend').ended
  expect(after).toMatchObject({
    run_id: before.run_id,
    state: 'completed',
    parent_run_id: null,
    retries: [],
    rows: { read: 6, succeeded: 6, rejected: 0, unknown: 0, not_sent: 0 },
    requests: { sent: 8, succeeded: 6, rejected: 1, unknown: 1, retried: 2 },
    errors: [],
  })
  expect(listSessions(after)).toEqual([
    { kind: 'start', taken: 0, sent: 6 },
    { kind: 'retry', taken: 2, sent: 2 },
  ])
  expect(listRunIds(runs.workspace)).toEqual([before.run_id])
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 2, 1, 1])
  for (const bodies of listBodies(service.server).values()) expect(new Set(bodies).size).toBe(1)
  expect(findMiscounts(runs, before.run_id)).toEqual([])
})

test('every try of a retried row keeps its answer, and the row shows the newest', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const plan = createRunPlan(folder, 3, service.server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId } = await runs.start(plan).ended
  service.isMended = true
  await runs.retry(runId).ended
  const detail = runs.read(runId, (view) => readRow(view, 2))
  expect(
    detail.attempts.map(({ number, outcome, response }) => [number, outcome, response?.body ?? null]),
  ).toEqual([
    [1, 'rejected', expect.stringContaining('INVALID_PARAM')],
    [2, 'succeeded', null],
  ])
  expect(detail.responseBody).not.toContain('INVALID_PARAM')
  const [stood] = runs.read(runId, ({ db }) => db.prepare('SELECT * FROM earlier').all())
  expect(stood).toMatchObject({
    row: 2,
    session: 2,
    state: 'rejected',
    attempts: 1,
    status: 400,
    error_code: 'INVALID_PARAM',
  })
})

test('a retry leaves rows of unknown outcome alone unless asked to send them', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId } = await runs.start(plan).ended
  service.isMended = true
  expect(await runs.retry(runId, 'skip').ended).toMatchObject({ rows: { succeeded: 5, unknown: 1 } })
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 1, 1, 1])
  expect(await runs.retry(runId, 'resend').ended).toMatchObject({ rows: { succeeded: 6, unknown: 0 } })
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 2, 1, 1])
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('rows that fail again can be retried again, and each time is a session', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const { run_id: runId } = await runs.start(plan).ended
  expect((await runs.retry(runId, 'resend').ended).rows).toMatchObject({ rejected: 1, unknown: 1 })
  service.isMended = true
  const last = await runs.retry(runId, 'resend').ended
  expect(last.rows).toMatchObject({ succeeded: 6 })
  expect(listSessions(last)).toEqual([
    { kind: 'start', taken: 0, sent: 6 },
    { kind: 'retry', taken: 2, sent: 2 },
    { kind: 'retry', taken: 2, sent: 2 },
  ])
  const tries = runs.read(runId, (view) => readRow(view, 2).attempts)
  expect(tries.map(({ outcome }) => outcome)).toEqual(['rejected', 'rejected', 'succeeded'])
  for (const bodies of listBodies(service.server).values()) expect(new Set(bodies).size).toBe(1)
})

test('a retry also sends rows that were never sent, and its run can be resumed like any other', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const held = runs.start(createRunPlan(folder, 12, service.server.baseUrl, { retry: { limit: 0 } }), {
    hold: true,
  })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'begin', limit: 5 })
  await held.until(({ phase, rows }) => phase === 'ready' && rows.not_sent === 7)
  held.command({ kind: 'stop' })
  await held.ended
  service.isMended = true
  const retry = runs.retry(held.runId, 'resend', { hold: true })
  await retry.until(({ phase }) => phase === 'ready')
  retry.command({ kind: 'stop' })
  expect(await retry.ended).toMatchObject({ state: 'interrupted', rows: { succeeded: 3, not_sent: 9 } })
  expect(findMiscounts(runs, held.runId)).toEqual([])
  const resumed = await runs.resume(held.runId).ended
  expect(resumed).toMatchObject({ state: 'completed', rows: { succeeded: 12 } })
  expect(listSessions(resumed)).toEqual([
    { kind: 'start', taken: 0, sent: 5 },
    { kind: 'retry', taken: 2, sent: 0 },
    { kind: 'resume', taken: 0, sent: 9 },
  ])
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 2, ...Array(8).fill(1)])
})

test('a run in which all rows succeeded has nothing to retry, and is unchanged', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  service.isMended = true
  const before = await runs.start(createRunPlan(folder, ['one', ''], service.server.baseUrl)).ended
  expect(before.rows).toMatchObject({ succeeded: 1, invalid: 1 })
  await expect(runs.retry(before.run_id).ended).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    message: expect.stringContaining('nothing is left to retry'),
  })
  expect(runs.summarize(before.run_id)).toEqual(before)
  expect(service.server.requests).toHaveLength(1)
})

test('a retry whose transaction fails leaves the run unchanged', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const before = await runs.start(createRunPlan(folder, 5, service.server.baseUrl, { retry: { limit: 0 } }))
    .ended
  const onCommit = (when: 'before' | 'after') => {
    if (when === 'before') throw new Error('the disk is gone')
  }
  await expect(runs.retry(before.run_id, 'resend', { onCommit }).ended).rejects.toThrow('the disk is gone')
  expect(runs.summarize(before.run_id)).toEqual(before)
  expect(findMiscounts(runs, before.run_id)).toEqual([])
  service.isMended = true
  expect((await runs.retry(before.run_id, 'resend').ended).rows).toMatchObject({ succeeded: 5 })
})

test('a retry of a run whose process died first settles the rows that it left', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const { run_id: runId } = await runs.start(
    createRunPlan(folder, 6, service.server.baseUrl, { retry: { limit: 0 } }),
  ).ended
  // Row 6 was marked, but its outcome was not recorded.
  const journal = new Journal(toJournalFile(runs.workspace, runId), { runId })
  journal.transact('power', () => {
    journal.db.exec(
      "DELETE FROM result WHERE row = 6; DELETE FROM attempt WHERE item = 6; UPDATE run SET state = 'running'",
    )
    journal.counters.add('state', 'succeeded', -1)
    journal.counters.add('request', 'succeeded', -1)
  })
  journal.close()
  service.isMended = true
  expect((await runs.retry(runId, 'skip').ended).rows).toMatchObject({ succeeded: 4, unknown: 2 })
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 1, 1, 1])
})

type ToBody = (item: number, task: string) => unknown

const BASE = { callbackBase: 'http://127.0.0.1:1' }
const REFUSAL = { error: true, status: 400, error_code: 'BROKEN', message: 'it broke', show_alert: false }

/** An async service whose callbacks are in the inbox before their acknowledgement goes out; null for none. */
async function startAsyncService(workspace: string) {
  const inbox = InboxWriter.open(workspace)
  if (inbox === null) throw new Error('the inbox is held')
  onTestFinished(() => inbox.close())
  const answer: { toBody: ToBody } = { toBody: (_item, task) => ({ task_id: task, triggered_rules: [] }) }
  const receive = (runToken: string, item: number, body: unknown, stored: () => void) =>
    inbox.store(
      { runToken, item, receivedAtUs: Date.now() * 1000, body: Buffer.from(JSON.stringify(body)) },
      stored,
    )
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { runToken, item } = toTarget(request)
      const task = `task-${request.number}`
      const acknowledge = () => wire.send(200, JSON.stringify({ task_id: task, message: 'accepted' }))
      const body = answer.toBody(item, task)
      if (body === null) return acknowledge()
      receive(runToken, item, body, acknowledge)
    },
  })
  return {
    server,
    answer,
    receive: (runId: string, item: number, body: unknown) =>
      new Promise<void>((stored) => receive(runId, item, body, stored)),
  }
}

function toTarget({ body }: WireRequest): { runToken: string; item: number } {
  const { callback_url } = JSON.parse(body) as { callback_url: string }
  const [, , runToken = '', item = ''] = new URL(callback_url).pathname.split('/')
  return { runToken, item: Number(item) }
}

const toAsyncPlan = (baseUrl: string, timeoutMs: number) =>
  createRunPlan(folder, 4, baseUrl, { operation: { kind: 'task', mode: 'async' }, callback: { timeoutMs } })

test('a row that its callback refused is settled by the callback of its retry', async () => {
  const runs = openRuns()
  const { server, answer } = await startAsyncService(runs.workspace)
  const { toBody } = answer
  answer.toBody = (item, task) => (item === 2 ? REFUSAL : toBody(item, task))
  const { run_id: runId, rows } = await runs.start(toAsyncPlan(server.baseUrl, 60_000), BASE).ended
  expect(rows).toMatchObject({ succeeded: 3, rejected: 1 })
  answer.toBody = toBody
  const after = await runs.retry(runId, 'skip', BASE).ended
  expect(after).toMatchObject({
    state: 'completed',
    rows: { succeeded: 4, rejected: 0 },
    requests: { sent: 5 },
    callbacks: { received: 5, settled: 5, doubled: 0, differing: 0 },
  })
  const { callbacks } = runs.read(runId, (view) => readRow(view, 2))
  expect(callbacks.map(({ effect }) => effect)).toEqual(['settled_before', 'settled'])
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('a late callback to a try before a retry still settles its row', async () => {
  const runs = openRuns()
  const { server, answer, receive } = await startAsyncService(runs.workspace)
  const { toBody } = answer
  answer.toBody = (item, task) => (item === 3 ? null : toBody(item, task))
  const { run_id: runId, rows } = await runs.start(toAsyncPlan(server.baseUrl, 50), BASE).ended
  expect(rows).toMatchObject({ succeeded: 3, overdue: 1 })
  expect((await runs.retry(runId, 'skip', BASE).ended).rows).toMatchObject({ overdue: 1 })
  // The task of the first try, which the retry did not know.
  await receive(runId, 3, toBody(3, 'task-3'))
  const journal = new Journal(toJournalFile(runs.workspace, runId), { runId })
  settleCallbacks(runs.workspace, journal)
  journal.close()
  expect(runs.summarize(runId)).toMatchObject({
    rows: { succeeded: 4, overdue: 0 },
    callbacks: { settled: 4, late: 1 },
  })
  const { result } = runs.read(runId, (view) => readRow(view, 3))
  expect(result).toMatchObject({ state: 'succeeded', taskId: 'task-3' })
  expect(findMiscounts(runs, runId)).toEqual([])
})

test('a retry while callbacks are awaited sends the rest and waits for them too', async () => {
  const runs = openRuns()
  const { server, answer, receive } = await startAsyncService(runs.workspace)
  const { toBody } = answer
  answer.toBody = (item, task) => (item === 1 ? null : item === 2 ? REFUSAL : toBody(item, task))
  const first = runs.start(toAsyncPlan(server.baseUrl, 60_000), BASE)
  await first.until(({ phase, rows }) => phase === 'awaiting' && rows.awaiting === 1)
  first.command({ kind: 'stop' })
  expect(await first.ended).toMatchObject({ state: 'interrupted', rows: { awaiting: 1, rejected: 1 } })
  answer.toBody = toBody
  const retry = runs.retry(first.runId, 'skip', BASE)
  await retry.until(({ rows }) => rows.succeeded === 3)
  await receive(first.runId, 1, toBody(1, 'task-1'))
  expect(await retry.ended).toMatchObject({ state: 'completed', rows: { succeeded: 4 } })
  expect(server.requests).toHaveLength(5)
})

test('of all retries, only corrections have journals of their own', async () => {
  const runs = openRuns()
  const service = await startBrokenService()
  const { run_id: runId } = await runs.start(
    createRunPlan(folder, 5, service.server.baseUrl, { retry: { limit: 0 } }),
  ).ended
  service.isMended = true
  expect(runs.read(runId, isRetriedInPlace)).toBe(true)
  const child = await runs.retryAsChild(runId, 'skip', { fixes: [] }).ended
  expect(existsSync(toJournalFile(runs.workspace, child.run_id))).toBe(true)
  expect(runs.read(runId, isRetriedInPlace)).toBe(false)
})
