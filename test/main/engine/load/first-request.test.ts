import { expect, test } from 'vitest'
import { createCertificate } from '../../../helpers/certificates.ts'
import {
  findClosedPort,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { firstOf, onlyInLongForm } from '../../../helpers/long-form.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const loads = createLoadRuns(folder)

const LOAD = { pace: { kind: 'closed', concurrency: 2 }, requests: 10, firstRequest: 'check' } as const

const toBody = ({ body }: WireRequest) => JSON.parse(body) as { post_id: string; text_data: string }

/** A service that answers its first request with a status and all others with success. */
function startAt(status: number) {
  return startFaultServer({
    onRequest: (request, wire) => {
      if (request.number > 1) wire.send(200, toTaskAnswer(request))
      else wire.send(status, toErrorAnswer(status, 'SOME_CODE', 'not like this'))
    },
  })
}

test.each(
  firstOf(1, [
    [401, /401 SOME_CODE: not like this; check the API key/],
    [403, /403 SOME_CODE: not like this; check the API key/],
    [404, /404 SOME_CODE: not like this; check the base URL$/],
  ]),
)('row 1 goes first, and an answer of %i ends the load test', async (status, reason) => {
  const server = await startAt(status)
  const plan = loads.createPlan(3, server.baseUrl, { ...LOAD, thresholds: ['p(99)<60000'] })
  const { summary, report } = await loads.run(plan)
  expect(server.requests.map(toBody)).toEqual([
    expect.objectContaining({ post_id: expect.stringMatching(/-first$/), text_data: 'text 1' }),
  ])
  expect(summary).toMatchObject({
    state: 'stopped',
    stop_reason: expect.stringMatching(/^the first request ended the load test before it began: /),
    requests: { sent: 0 },
    rows: { not_sent: 3 },
    load: { first_request: { outcome: 'rejected', status, error_code: 'SOME_CODE' } },
    generator: { limited: false },
  })
  expect(summary.stop_reason).toMatch(reason)
  expect(report.firstRequest).toMatchObject({ outcome: 'rejected', status })
})

test('a refused connection and an untrusted certificate end the load test too', async () => {
  onlyInLongForm()
  const nobody = `http://127.0.0.1:${await findClosedPort()}`
  const refused = await loads.run(loads.createPlan(3, nobody, { ...LOAD, workers: 2 }))
  expect(refused.summary).toMatchObject({ state: 'stopped', requests: { sent: 0 } })
  expect(refused.summary.stop_reason).toContain('connection refused by 127.0.0.1')
  const tls = await createCertificate({ ip: '127.0.0.1' })
  const server = await startFaultServer({ tls })
  const untrusted = await loads.run(loads.createPlan(3, server.baseUrl, LOAD))
  expect(untrusted.summary).toMatchObject({ state: 'stopped', requests: { sent: 0 } })
  expect(untrusted.summary.stop_reason).toContain('is not trusted')
})

test.each(firstOf(1, [503, 429, 400]))(
  'an answer of %i to row 1 does not end the test and counts in no figure',
  async (status) => {
    const server = await startAt(status)
    const { summary, report } = await loads.run(loads.createPlan(3, server.baseUrl, LOAD))
    expect(server.requests).toHaveLength(11)
    expect(summary).toMatchObject({
      state: 'completed',
      requests: { sent: 10, succeeded: 10 },
      load: { statuses: [{ status: 200, requests: 10 }], first_request: { status } },
    })
    expect(report.counts).toMatchObject({ sent: 10, succeeded: 10 })
    expect(report.latencyMs.http_req_duration?.count).toBe(10)
  },
)

test('the callback of row 1 of an async load test is neither counted nor awaited', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { callback_url: url, post_id, user_id } = JSON.parse(request.body) as Record<string, string>
      wire.send(200, { task_id: `task-${post_id}`, message: 'accepted' })
      void fetch(url ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ task_id: `task-${post_id}`, post_id, user_id, triggered_rules: [] }),
      }).catch(() => {})
    },
  })
  const plan = loads.createPlan(3, server.baseUrl, LOAD, { operation: { kind: 'task', mode: 'async' } })
  const handle = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  await handle.ended
  expect(server.requests).toHaveLength(11)
  expect(await engine.results.readLoadReport(handle.runId)).toMatchObject({
    callbacks: { received: 10, doubled: 0, outstanding: 0 },
    firstRequest: { outcome: 'succeeded', status: 200 },
  })
})

test('a stop does not wait for the answer to row 1', async () => {
  onlyInLongForm()
  const server = await startFaultServer({})
  const run = loads.start(loads.createPlan(3, server.baseUrl, LOAD))
  await server.arrivals(1)
  run.command({ kind: 'stop' })
  const { summary } = loads.look((await run.ended).run_id)
  expect(summary).toMatchObject({ state: 'interrupted', requests: { sent: 0 } })
})
