import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { CommitHook } from '../../../../src/main/engine/journal/journal.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { canResume } from '../../../../src/shared/run/run.ts'
import { describeExtent } from '../../../../src/shared/run/run-view.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { startHoldingService } from './holding-service.ts'
import { countArrivals, listBodies, toRow } from './wire-record.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const closed = (concurrency: number) => ({ pace: { kind: 'closed' as const, concurrency } })
const startTakingService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

test('a held run sends nothing until it is begun', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 5, server.baseUrl), { hold: true })
  const ready = await run.until(({ phase }) => phase === 'ready')
  expect(ready).toMatchObject({ rows: { read: 5, not_sent: 5 }, requests: { sent: 0 } })
  expect(server.connections).toBe(0)
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 5 } })
})

test('a run that ends before it is begun says that it sent nothing, and can be resumed', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 3, server.baseUrl), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'stop' })
  const ended = await run.ended
  expect([ended.state, describeExtent(ended), canResume(ended)]).toEqual([
    'interrupted',
    'nothing sent',
    true,
  ])
  expect(server.connections).toBe(0)
  expect(describeExtent(await runs.resume(run.runId).ended)).toBeNull()
})

test('a run that is begun with a limit sends exactly that many rows, in order, and holds again', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 30, server.baseUrl, closed(8)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 7 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 7)
  expect(server.requests.map(toRow).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7])
  run.command({ kind: 'begin', limit: 1 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 8)
  expect(server.requests).toHaveLength(8)
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 30 } })
  expect(countArrivals(server)).toEqual(Array(30).fill(1))
})

test('the time left of a run with a limit is that of its rows, not of the whole source', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 400, server.baseUrl, closed(1)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 2 })
  await expect.poll(() => server.requests.length).toBe(1)
  server.answer(1)
  const { etaMs, elapsedMs } = await run.until(({ rows }) => rows.succeeded === 1)
  // One row took all the time so far, and one is left.
  expect(etaMs).toBeLessThanOrEqual(elapsedMs)
  server.release()
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 2)
  run.command({ kind: 'stop' })
  await run.ended
})

test('a limit counts rows, not tries', async () => {
  const seen = new Set<number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const isNew = !seen.has(toRow(request))
      seen.add(toRow(request))
      if (isNew) wire.send(503, '')
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(2)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 3 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 3)
  expect(server.requests).toHaveLength(6)
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 3, not_sent: 6 } })
})

test('a trial of the first rows is completed, even while the rest is held, and the rest can be sent later', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 4 })
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 4)
  // What a process that is killed now would leave.
  const held = runs.summarize(run.runId)
  expect(held).toMatchObject({ state: 'completed', stop_reason: null })
  expect([describeExtent(held), canResume(held)]).toEqual(['trial of the first 4 rows', true])
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 4, not_sent: 5 } })

  const rest = await runs.resume(run.runId).ended
  expect(rest).toMatchObject({ state: 'completed', rows: { succeeded: 9, not_sent: 0 } })
  expect([describeExtent(rest), canResume(rest)]).toEqual([null, false])
  expect(countArrivals(server)).toEqual(Array(9).fill(1))
})

test('a run that is begun during its trial sends the rest once the trial is over', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(2)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 4 })
  await server.arrivals(2)
  run.command({ kind: 'begin' })
  server.release()
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 9, not_sent: 0 } })
  expect(countArrivals(server)).toEqual(Array(9).fill(1))
})

test.each(['at once', 'once it has drained'])(
  'a run that is begun during its trial, paused and resumed %s, also sends the rest',
  async (when) => {
    const server = await startHoldingService()
    const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(2)), { hold: true })
    await run.until(({ phase }) => phase === 'ready')
    run.command({ kind: 'begin', limit: 4 })
    await server.arrivals(2)
    run.command({ kind: 'begin' })
    run.command({ kind: 'pause' })
    if (when === 'at once') run.command({ kind: 'resume' })
    server.release()
    if (when !== 'at once') {
      await run.until(({ phase, rows }) => phase === 'paused' && rows.succeeded === 2)
      run.command({ kind: 'resume' })
    }
    expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 9, not_sent: 0 } })
    expect(countArrivals(server)).toEqual(Array(9).fill(1))
  },
)

test('a trial that fails pauses the run, even if the rest was to follow', async () => {
  const waiting: (() => void)[] = []
  const server = await startFaultServer({
    onRequest: (_request, wire) => {
      waiting.push(() => wire.send(401, toErrorAnswer(401, 'INVALID_API_KEY', 'no')))
    },
  })
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(6)), {
    hold: true,
    whenFailing: 'pause',
  })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 6 })
  await server.arrivals(6)
  run.command({ kind: 'begin' })
  for (const answer of waiting) answer()
  expect(await run.until(({ phase }) => phase === 'paused')).toMatchObject({
    notice: { code: 'key_refused' },
  })
  expect(server.requests).toHaveLength(6)
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'interrupted' })
})

test('a trial that is paused and resumed stays a trial, even when it is resumed while it drains', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(2)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 5 })
  await server.arrivals(2)
  run.command({ kind: 'pause' })
  server.answer(2)
  await run.until(({ phase, rows }) => phase === 'paused' && rows.succeeded === 2)
  run.command({ kind: 'resume' })
  await server.arrivals(4)
  run.command({ kind: 'pause' })
  run.command({ kind: 'resume' })
  server.release()
  await run.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 5)
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 5, not_sent: 4 } })
  expect(server.requests).toHaveLength(5)
})

test('a trial that is stopped before its end is interrupted', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 9, server.baseUrl, closed(2)), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'begin', limit: 4 })
  await server.arrivals(2)
  run.command({ kind: 'stop' })
  server.answer(2)
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { succeeded: 2, not_sent: 7 } })
})

test('a paused run finishes requests in flight, sends nothing new, and resumes where it was', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 20, server.baseUrl, closed(3)))
  await server.arrivals(3)
  run.command({ kind: 'pause' })
  const draining = run.until(({ phase }) => phase === 'draining')
  expect(await draining).toMatchObject({ inFlight: 3 })
  server.answer(3)
  const paused = await run.until(({ phase }) => phase === 'paused')
  expect(paused).toMatchObject({ inFlight: 0, notice: null, rows: { succeeded: 3, not_sent: 17 } })
  expect(server.requests).toHaveLength(3)
  server.release()
  run.command({ kind: 'resume' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 20 } })
  expect(countArrivals(server)).toEqual(Array(20).fill(1))
})

test('a run resumed while it is still draining continues', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 10, server.baseUrl, closed(2)))
  await server.arrivals(2)
  run.command({ kind: 'pause' })
  run.command({ kind: 'resume' })
  server.release()
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 10 } })
  expect(countArrivals(server)).toEqual(Array(10).fill(1))
})

test('a run that is paused while its source is read waits before it sends anything', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 5, server.baseUrl))
  run.command({ kind: 'pause' })
  await run.until(({ phase }) => phase === 'paused')
  expect(server.connections).toBe(0)
  run.command({ kind: 'resume' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 5 } })
})

test('a stopped run journals requests in flight, keeps the rest, and a resume sends exactly the rest', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 40, server.baseUrl, closed(6)))
  await server.arrivals(6)
  server.answer(4)
  await server.arrivals(10)
  run.command({ kind: 'stop' })
  server.release()
  const stopped = await run.ended
  expect(stopped).toMatchObject({
    state: 'interrupted',
    stop_reason: null,
    rows: { succeeded: 10, unknown: 0, not_sent: 30 },
    requests: { sent: 10 },
  })
  expect(server.requests).toHaveLength(10)
  const resumed = await runs.resume(run.runId).ended
  expect(resumed).toMatchObject({ state: 'completed', rows: { succeeded: 40, not_sent: 0 } })
  expect(countArrivals(server)).toEqual(Array(40).fill(1))
})

test('a run that is stopped between two tries of a row tries it again after a resume', async () => {
  let isBroken = true
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      // Without a time to wait, the next try may come at once.
      if (isBroken) wire.send(503, toErrorAnswer(503, 'BUSY', 'busy'), { 'retry-after': '3600' })
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const plan = createRunPlan(folder, 4, server.baseUrl, {
    retry: { limit: 5, maxRetryAfterMs: 3_600_000 },
  })
  const run = runs.start(plan)
  const waiting = await run.until(({ requests }) => requests.sent === 4)
  expect(waiting).toMatchObject({ rows: { not_sent: 4 }, toRepeat: 4 })
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({
    state: 'interrupted',
    rows: { unknown: 0, not_sent: 4 },
    to_repeat: { rows: 4 },
    requests: { sent: 4, unknown: 4 },
  })
  isBroken = false
  expect(await runs.resume(run.runId).ended).toMatchObject({
    state: 'completed',
    rows: { succeeded: 4 },
    requests: { sent: 8, retried: 4 },
  })
})

test('rows of unknown outcome are sent again only on request, with the same body', async () => {
  let isBroken = true
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (isBroken) wire.reset()
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const first = await runs.start(createRunPlan(folder, 3, server.baseUrl, { retry: { limit: 0 } })).ended
  expect(first).toMatchObject({ state: 'completed', rows: { unknown: 3 }, errors: [{ rows: 3 }] })
  isBroken = false
  expect(await runs.resume(first.run_id, 'skip').ended).toMatchObject({ rows: { unknown: 3 } })
  expect(server.requests).toHaveLength(3)
  const resent = await runs.resume(first.run_id, 'resend').ended
  expect(resent).toMatchObject({
    state: 'completed',
    rows: { unknown: 0, succeeded: 3 },
    requests: { sent: 6, retried: 3 },
    errors: [],
  })
  for (const [body, again] of listBodies(server).values()) expect(again).toBe(body)
})

test('a held run can be stopped, and resumed later', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 3, server.baseUrl), { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { read: 3, not_sent: 3 } })
  expect(await runs.resume(run.runId).ended).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
})

test('a run that is stopped while its source is read rereads it after a resume', async () => {
  const server = await startTakingService()
  const run = runs.start(createRunPlan(folder, 3_000, server.baseUrl))
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { succeeded: 0 } })
  expect(server.connections).toBe(0)
  const resumed = runs.resume(run.runId, 'skip', { hold: true })
  expect(await resumed.until(({ phase }) => phase === 'ready')).toMatchObject({
    rows: { read: 3_000, not_sent: 3_000 },
  })
  resumed.command({ kind: 'stop' })
  await resumed.ended
})

test('the service never sees more requests at once than the pace allows', async () => {
  const server = await startTakingService()
  const summary = await runs.start(createRunPlan(folder, 200, server.baseUrl, closed(5))).ended
  expect(summary.rows.succeeded).toBe(200)
  expect(server.maxOpen).toBeLessThanOrEqual(5)
  expect(server.connections).toBeLessThanOrEqual(5)
})

test('the number of requests in flight can be raised and lowered during the run', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 60, server.baseUrl, closed(2)))
  await server.arrivals(2)
  run.command({ kind: 'set_concurrency', concurrency: 10 })
  await server.arrivals(10)
  expect(server.open).toBe(10)
  run.command({ kind: 'set_concurrency', concurrency: 3 })
  server.answer(9)
  await server.arrivals(12)
  expect(server.open).toBe(3)
  server.maxOpen = 0
  server.release()
  expect(await run.ended).toMatchObject({ rows: { succeeded: 60 } })
  expect(server.maxOpen).toBeLessThanOrEqual(3)
})

test('a number of requests in flight that was set during the run applies to the resumed run', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 40, server.baseUrl, closed(2)))
  run.command({ kind: 'set_concurrency', concurrency: 7 })
  await server.arrivals(7)
  run.command({ kind: 'stop' })
  server.answer(7)
  expect(await run.ended).toMatchObject({ state: 'interrupted' })
  const resumed = runs.resume(run.runId)
  await server.arrivals(14)
  expect(server.open).toBe(7)
  server.release()
  expect(await resumed.ended).toMatchObject({ rows: { succeeded: 40 } })
})

test('no row is counted before its outcome is written, even if the number in flight is changed meanwhile', async () => {
  const torn: string[] = []
  let file: string | null = null
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      wire.send(200, toTaskAnswer(request))
      run.command({ kind: 'set_concurrency', concurrency: 4 + (request.number % 2) })
    },
  })
  const onCommit: CommitHook = (when) => {
    if (when === 'before' || file === null) return
    const db = new DatabaseSync(file, { readOnly: true })
    const counted = db.prepare("SELECT coalesce(sum(n), 0) AS n FROM facet WHERE kind = 'request'").get()
    const written = db.prepare("SELECT count(*) AS n FROM result WHERE state = 'succeeded'").get()
    db.close()
    if (counted?.['n'] !== written?.['n']) torn.push(`${counted?.['n']} counted, ${written?.['n']} written`)
  }
  const run = runs.start(createRunPlan(folder, 60, server.baseUrl, closed(4)), { onCommit })
  file = toJournalFile(folder, run.runId)
  expect(await run.ended).toMatchObject({ rows: { succeeded: 60 } })
  expect(torn).toEqual([])
})

test('a paused run whose concurrency is raised uses all of it when resumed', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 30, server.baseUrl, closed(1)))
  await server.arrivals(1)
  run.command({ kind: 'pause' })
  server.answer(1)
  await run.until(({ phase }) => phase === 'paused')
  run.command({ kind: 'set_concurrency', concurrency: 6 })
  run.command({ kind: 'resume' })
  await server.arrivals(7)
  expect(server.open).toBe(6)
  server.release()
  expect(await run.ended).toMatchObject({ rows: { succeeded: 30 } })
})

test('the number of requests in flight can be set before the source is read', async () => {
  const server = await startHoldingService()
  const run = runs.start(createRunPlan(folder, 30, server.baseUrl, closed(1)))
  run.command({ kind: 'set_concurrency', concurrency: 5 })
  await server.arrivals(5)
  expect(server.open).toBe(5)
  server.release()
  expect(await run.ended).toMatchObject({ rows: { succeeded: 30 } })
})

test('a run paused while throttled can be resumed after the throttling ends', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number > 10) wire.send(200, toTaskAnswer(request))
      else wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'), { 'retry-after': '0.2' })
    },
  })
  const plan = createRunPlan(folder, 16, server.baseUrl, {
    ...closed(1),
    retry: { limit: 0, maxRetryAfterMs: 1_000 },
  })
  const run = runs.start(plan)
  await run.until(({ slowdown }) => slowdown?.kind === 'throttled')
  run.command({ kind: 'pause' })
  await run.until(({ phase }) => phase === 'paused')
  run.command({ kind: 'resume' })
  expect(await run.ended).toMatchObject({
    state: 'completed',
    rows: { succeeded: 6, rejected: 10 },
    requests: { sent: 16 },
  })
})

test('an open pace sends every row once, in order, and measures from when it was due', async () => {
  const server = await startTakingService()
  const plan = createRunPlan(folder, 120, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 600, maxInFlight: 20 },
  })
  const summary = await runs.start(plan).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 120 }, requests: { sent: 120 } })
  expect(summary.latency_ms.response_time?.count).toBe(120)
  expect(summary.latency_ms.start_lag?.count).toBe(120)
  // 119 intervals of 1/600 s lie between the first and the last request.
  expect(summary.throughput.duration_s).toBeGreaterThanOrEqual(0.19)
  expect(server.maxOpen).toBeLessThanOrEqual(20)
})

test('an open pace at its limit waits, and includes the wait in the response time', async () => {
  const server = await startHoldingService()
  const plan = createRunPlan(folder, 12, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 1_000, maxInFlight: 2 },
  })
  const run = runs.start(plan)
  await server.arrivals(2)
  await run.until(({ inFlight, elapsedMs }) => inFlight === 2 && elapsedMs > 100)
  expect(server.requests).toHaveLength(2)
  server.release()
  const summary = await run.ended
  expect(summary.rows.succeeded).toBe(12)
  expect(server.maxOpen).toBe(2)
  // The last ten were due in the first 12 ms, and had to wait for the first two.
  expect(summary.latency_ms.response_time?.p50).toBeGreaterThan(80)
  expect(summary.latency_ms.start_lag?.p50).toBeGreaterThan(80)
  // All but the first two found the limit reached, which is not this machine's lateness.
  expect(summary.generator.waited).toBe(10)
})
