import { expect, test } from 'vitest'
import { startFaultServer, toErrorAnswer } from '../../../helpers/fault-server.ts'
import { RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const loads = createLoadRuns(folder)

/**
 * An async service that posts each result after this many milliseconds (null for never), as often as given.
 */
function startService(
  toDelays: (number: number) => readonly number[],
  toPostId: (own: string, number: number) => string = (own) => own,
  toResult: (number: number, callback: number) => object = () => ({
    triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }],
  }),
) {
  return startFaultServer({
    onRequest: (request, wire) => {
      const { callback_url: url, post_id, user_id } = JSON.parse(request.body) as Record<string, string>
      wire.send(200, { task_id: `task-${post_id}`, message: 'accepted' })
      for (const [callback, delayMs] of toDelays(request.number).entries()) {
        setTimeout(() => {
          void fetch(url ?? '', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              task_id: `task-${post_id}`,
              post_id: toPostId(post_id ?? '', request.number),
              user_id,
              ...toResult(request.number, callback),
            }),
          }).catch(() => {})
        }, delayMs)
      }
    },
  })
}

test('an async load measures acknowledgement and callback, each from when the request was sent', async () => {
  const server = await startService(() => [80])
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'open', ratePerSecond: 50 }, durationMs: 400, warmupMs: 100, workers: 2 },
    { operation: { kind: 'task', mode: 'async' } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  const summary = await handle.ended
  const report = await engine.results.readLoadReport(handle.runId)
  expect(summary).toMatchObject({ state: 'completed', mode: 'async', requests: { sent: 20, succeeded: 20 } })
  expect(report.callbacks).toMatchObject({
    received: 20,
    doubled: 0,
    rejected: 0,
    overdue: 0,
    outstanding: 0,
  })
  expect(summary.callbacks).toMatchObject({ received: 20, settled: 20 })
  expect(summary.triggered_rules).toEqual([{ rule_id: 'r1', rule_name: 'Spam', rows: 20 }])
  const { http_req_duration: acknowledged, callback_latency: called } = report.latencyMs
  expect(acknowledged?.count).toBe(20)
  expect(called?.count).toBe(20)
  expect(called?.min).toBeGreaterThan(75)
  expect(called?.min).toBeGreaterThan(acknowledged?.min ?? Infinity)
})

test('a warning counts the requests whose callback holds no result, unless one with a result replaces it', async () => {
  const delays = [[5, 60], [5], [5], [5], [300]]
  const server = await startService(
    (number) => delays[number - 1] ?? [],
    (own) => own,
    (number, callback) => (number === 2 || callback === 1 ? { triggered_rules: [] } : {}),
  )
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 1 }, requests: 5 },
    { operation: { kind: 'task', mode: 'async' } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  expect((await handle.ended).warnings).toContainEqual({
    code: 'NO_RESULT',
    message: expect.stringMatching(/^3 requests succeeded by an answer with neither rules nor scores/),
  })
})

test('missing callbacks are overdue, and repeated ones count once', async () => {
  onlyInLongForm()
  const server = await startService((number) => (number % 2 === 0 ? [5, 30] : []))
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 1 }, requests: 10 },
    { operation: { kind: 'task', mode: 'async' }, callback: { timeoutMs: 400 } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  const summary = await handle.ended
  const { callbacks, latencyMs } = await engine.results.readLoadReport(handle.runId)
  expect(callbacks).toMatchObject({ received: 10, overdue: 5, outstanding: 0, rejected: 0 })
  expect(latencyMs.callback_latency?.count).toBe(5)
  expect(summary.load?.callbacks).toEqual({ rejected: 0, overdue: 5, outstanding: 0 })
})

test('a callback that names another post leaves its own awaited, and has no latency', async () => {
  const server = await startService(
    () => [5],
    (own, number) => (number === 2 ? 'somebody-else' : own),
  )
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 1 }, requests: 4 },
    { operation: { kind: 'task', mode: 'async' }, callback: { timeoutMs: 400 } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  const summary = await handle.ended
  const { callbacks, latencyMs } = await engine.results.readLoadReport(handle.runId)
  expect(callbacks).toEqual({
    received: 4,
    doubled: 0,
    differing: 0,
    rejected: 0,
    ofRefused: 0,
    otherPost: 1,
    unreadable: 0,
    late: 0,
    overdue: 1,
    outstanding: 0,
  })
  expect(latencyMs.callback_latency?.count).toBe(3)
  expect(summary.callbacks).toMatchObject({ received: 4, settled: 3, other_post: 1 })
  expect(summary.triggered_rules).toEqual([{ rule_id: 'r1', rule_name: 'Spam', rows: 3 }])
})

test('a callback of a refused request is no duplicate, and neither is a result after an error', async () => {
  const server = await startFaultServer({
    onRequest: async ({ body, number }, wire) => {
      const { callback_url: url, post_id, user_id } = JSON.parse(body) as Record<string, string>
      const post = (result: object) =>
        fetch(url ?? '', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ task_id: `task-${number}`, post_id, user_id, ...result }),
        })
      if (number === 1) await post({ status: 'failed', error: { error_code: 'BUSY', message: 'busy' } })
      await post({ triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }] })
      if (number === 2) wire.send(400, toErrorAnswer(400, 'BAD_TEXT', 'not valid'))
      else wire.send(200, { task_id: `task-${number}`, message: 'accepted' })
    },
  })
  const plan = loads.createPlan(
    2,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 1 }, requests: 2 },
    { operation: { kind: 'task', mode: 'async' } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  const { callbacks, requests, triggered_rules } = await handle.ended
  expect(requests).toMatchObject({ sent: 2, succeeded: 1, rejected: 1 })
  expect(callbacks).toMatchObject({ received: 3, settled: 1, doubled: 0, differing: 1, of_refused: 1 })
  expect(triggered_rules).toEqual([{ rule_id: 'r1', rule_name: 'Spam', rows: 1 }])
})

test('a threshold counts a missing callback with the time waited for it', async () => {
  const server = await startService((number) => (number === 2 ? [5] : []))
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    {
      pace: { kind: 'closed', concurrency: 1 },
      requests: 4,
      firstRequest: 'skip',
      thresholds: ['callback_latency:p(50)<300', 'callback_latency:max<500'],
    },
    { operation: { kind: 'task', mode: 'async' }, callback: { timeoutMs: 400 } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  const { thresholds } = await handle.ended
  expect(thresholds?.map(({ ok }) => ok)).toEqual([false, true])
  expect(Math.round(thresholds?.[0]?.value ?? 0)).toBe(400)
})

test('an interruption waits for no callback, and says how many were awaited', async () => {
  onlyInLongForm()
  const server = await startService(() => [])
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 1 }, requests: 5 },
    { operation: { kind: 'task', mode: 'async' } },
  )
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  await new Promise<void>((resolve) => {
    handle.onSnapshot(({ load }) => {
      if (load?.awaited === 5) resolve()
    })
  })
  handle.stop()
  expect(await handle.ended).toMatchObject({ state: 'interrupted', requests: { succeeded: 5 } })
  expect(await engine.results.readLoadReport(handle.runId)).toMatchObject({
    callbacks: { received: 0, outstanding: 5 },
  })
})
