import { expect, test } from 'vitest'
import type { Slowdown } from '../../../../src/shared/run/snapshot.ts'
import {
  type FaultServer,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
} from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { createTestSender } from './test-sender.ts'
import { countArrivals } from './wire-record.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const inFlight = (concurrency: number) => ({ pace: { kind: 'closed' as const, concurrency } })

/** A service that accepts that many requests in each window, and answers 429 to the others. */
function startLimitedService(perWindow: number, windowMs: number): Promise<FaultServer> {
  let window = 0
  let taken = 0
  return startFaultServer({
    onRequest: (request, wire) => {
      const now = Math.floor(performance.now() / windowMs)
      if (now !== window) {
        window = now
        taken = 0
      }
      taken += 1
      if (taken <= perWindow) wire.send(200, toTaskAnswer(request))
      else wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'), { 'retry-after': '0.04' })
    },
  })
}

test('a service that accepts far less than is sent gets every row in the end, none rejected', async () => {
  const server = await startLimitedService(10, 50)
  const summary = await runs.start(createRunPlan(folder, 150, server.baseUrl, inFlight(64))).ended
  expect(summary).toMatchObject({
    state: 'completed',
    stop_reason: null,
    rows: { succeeded: 150, rejected: 0, not_sent: 0 },
    requests: { succeeded: 150 },
  })
  const { rejected, retried } = summary.requests
  expect(retried).toBe(rejected)
  expect(summary.retry_after.answers).toBe(rejected)
  // All 64 run into the limit at first; then it is approached step by step.
  expect(server.requests.length).toBeLessThan(150 * 2.5)
})

test('a throttled run keeps its pace while earlier requests wait for answers', async () => {
  const held: (() => void)[] = []
  let isOpen = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number <= 8) {
        wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'))
        return
      }
      held.push(() => wire.send(200, toTaskAnswer(request)))
      isOpen ||= held.length === 8
      if (isOpen) for (const answer of held.splice(0)) answer()
    },
  })
  // Without retries, whose back-off would wake others.
  const retry = { limit: 0, baseMs: 1, maxMs: 5, maxRetryAfterMs: 40 }
  const parts = { retry, ...inFlight(8) }
  const { sender } = createTestSender({ rows: 60, baseUrl: server.baseUrl, parts })
  expect(await sender.send()).toMatchObject({ kind: 'done' })
})

test('only 429s stop the run after a while with that reason, and every row is kept', async () => {
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow')),
  })
  const { sender, journal } = createTestSender({
    rows: 40,
    baseUrl: server.baseUrl,
    throttledMaxMs: 300,
    parts: { retry: { limit: 3, baseMs: 1, maxMs: 5, maxRetryAfterMs: 20 }, ...inFlight(8) },
  })
  const end = await sender.send()
  expect(end).toMatchObject({
    kind: 'failing',
    reason: { code: 'throttled', reason: expect.stringContaining('nothing but 429') },
  })
  const states = journal.db.prepare('SELECT state, count(*) AS n FROM result GROUP BY state').all()
  expect(states.map(({ state }) => state)).toEqual(['pending'])
  // Eight at first, eight at a lower pace, then one probe for each wait.
  expect(server.requests.length).toBeLessThan(8 + 8 + 300 / 20 + 3)
})

test('a run that gets only 429s stops at the announced time, and waits for no probe', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (_, wire) =>
      wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'), { 'retry-after': '3600' }),
  })
  const { sender } = createTestSender({
    rows: 40,
    baseUrl: server.baseUrl,
    throttledMaxMs: 1_500,
    parts: { retry: { limit: 3, baseMs: 1, maxMs: 5, maxRetryAfterMs: 3_600_000 }, ...inFlight(8) },
  })
  const startMs = Date.now()
  const ended = sender.send()
  const said: (Slowdown | null)[] = []
  const timer = setInterval(() => said.push(sender.slowdown), 5)
  expect(await ended).toMatchObject({ kind: 'failing' })
  clearInterval(timer)
  const held = said.find((slowdown) => slowdown?.kind === 'throttled' && slowdown.pacePerS === null)
  if (held?.kind !== 'throttled') throw new Error('it was never said')
  expect(held.givesUpAtMs).toBeGreaterThanOrEqual(startMs + 1_500)
  expect(held.nextTryAtMs).toBeGreaterThan(startMs + 3_000_000)
  expect(sender.slowdown).toBeNull()
})

test('a throttled run says so in its snapshots and its summary', async () => {
  onlyInLongForm()
  const server = await startLimitedService(10, 50)
  const run = runs.start(createRunPlan(folder, 150, server.baseUrl, inFlight(64)))
  const { slowdown } = await run.until((snapshot) => snapshot.slowdown !== null)
  expect(slowdown).toMatchObject({ kind: 'throttled' })
  const { throttling, requests } = await run.ended
  expect(throttling?.answers).toBe(requests.rejected)
  expect(throttling?.throttled_s).toBeGreaterThan(0)
})

test('an unavailable service is reported at once, with the time until the run gives up and no expected end', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      wire.send(200, toTaskAnswer(request), { connection: 'close' })
      wire.socket.end()
      if (request.number === 20) void server.close()
    },
  })
  const run = runs.start(createRunPlan(folder, 200, server.baseUrl, inFlight(4)))
  const { slowdown, etaMs } = await run.until((snapshot) => snapshot.slowdown !== null)
  expect(slowdown).toMatchObject({
    kind: 'unreachable',
    reason: expect.stringContaining('connection refused'),
  })
  expect(etaMs).toBeNull()
  run.command({ kind: 'stop' })
  expect(await run.ended).toMatchObject({ state: 'interrupted' })
})

test('a single row that gets 429s uses up its retries, and the others continue', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.body.includes('"text 3"')) wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = await runs.start(createRunPlan(folder, 20, server.baseUrl, inFlight(4))).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 19, rejected: 1 } })
  expect(countArrivals(server)).toEqual([1, 1, 4, ...Array(17).fill(1)])
})
