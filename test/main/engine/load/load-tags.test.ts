import { expect, test } from 'vitest'
import {
  formatThresholdResult,
  readExpression,
  toNeededRequests,
} from '../../../../src/shared/load/thresholds.ts'
import {
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type Wire,
  type WireRequest,
} from '../../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const loads = createLoadRuns(openTestFolder())

/** A service in which one request in ten succeeds, more slowly than any failure. */
function startFailing() {
  return startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 10 !== 0) wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'))
      else setTimeout(() => wire.send(200, toTaskAnswer(request)), 1_500)
    },
  })
}

const readBody = ({ body }: WireRequest) => JSON.parse(body) as Record<string, unknown>

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

const LOAD = { pace: { kind: 'closed', concurrency: 4 }, requests: 40 } as const

test('thresholds with tags apply to the requests with these tags, in addition to those for all', async () => {
  onlyInLongForm()
  const server = await startFailing()
  const thresholds = [
    'p(50)<1400',
    'http_req_duration{expected_response:true}:p(50)<1400',
    'http_req_duration{status:200}:min>=1400',
    'http_req_waiting{expected_response:false}:p(95)<1400',
    'http_reqs{status:503}:count==36',
    'http_reqs{status:0}<1',
    'http_req_failed{status:503}:rate==1',
    'http_req_failed{expected_response:true}:rate==0',
    'http_req_duration{expected_response:true,status:503}:max<1',
    'succeeded_duration:p(50)<1400',
  ]
  const { summary, report } = await loads.run(loads.createPlan(5, server.baseUrl, { ...LOAD, thresholds }))
  const ok = summary.thresholds?.map(({ ok: holds }) => holds)
  expect(ok).toEqual([true, false, true, true, true, true, true, true, false, false])
  const { http_req_duration: all, succeeded_duration: succeeded } = summary.latency_ms
  expect([all?.count, succeeded?.count]).toEqual([40, 4])
  // Stored histograms keep only three significant digits of their maximum.
  expect(succeeded?.p50).toBeCloseTo(summary.thresholds?.[1]?.value ?? 0, -1)
  expect(report.latencyMs.succeeded_duration).toEqual(succeeded)
  expect(all?.p50).toBeLessThan(succeeded?.min ?? 0)
  expect(readExpression(thresholds[8] ?? '').tags).toHaveLength(2)
})

test('a latency threshold over mostly failed requests never passes without a remark', async () => {
  onlyInLongForm()
  const server = await startFailing()
  const run = async (...thresholds: string[]) =>
    (await loads.run(loads.createPlan(5, server.baseUrl, { ...LOAD, requests: 12, thresholds }))).summary
      .warnings
  expect(await run('p(50)<1400', 'http_req_failed:rate<1')).toEqual([
    {
      code: 'LATENCY_OF_FAILURES',
      message: expect.stringMatching(
        /^1[01] of 12 requests did not succeed, so the threshold p\(50\)<1400 is mostly about/,
      ),
    },
  ])
  expect(await run('http_req_duration{expected_response:true}:max<9999', 'http_req_failed:rate<1')).toEqual(
    [],
  )
  expect(await run('http_req_duration{status:503}:p(50)<9999', 'http_req_failed:rate<1')).toEqual([])
})

test('a threshold that few requests met does not hold without a remark', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const thresholds = [
    'p(95)<30000',
    'p(99)<30000',
    'http_req_duration{expected_response:true}:p(99.9)<30000',
    'http_req_duration{user_id:user0}:p(90)<30000',
    'http_req_failed:rate<0.01',
    'checks:rate>0.95',
    'http_req_duration:max<30000',
    'http_reqs:count>1',
  ]
  const { summary } = await loads.run(loads.createPlan(5, server.baseUrl, { ...LOAD, thresholds }))
  expect(summary.thresholds?.every(({ ok }) => ok)).toBe(true)
  expect(summary.warnings.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'FEW_REQUESTS: The threshold p(99)<30000 was judged on 40 requests but needs at least 100. Measure longer.',
    `FEW_REQUESTS: The threshold ${thresholds[2]} was judged on 40 requests but needs at least 1,000. Measure longer.`,
    `FEW_REQUESTS: The threshold ${thresholds[3]} was judged on 8 requests but needs at least 10. Measure longer.`,
    'FEW_REQUESTS: The threshold http_req_failed:rate<0.01 was judged on 40 requests but needs at least 100. Measure longer.',
  ])
  const needed = { limit: 500, unit: 'ms' } as const
  expect(toNeededRequests({ expression: 'p(99.9)<500', ...needed })).toBe(1_000)
})

test('if every request succeeded, their latency is not shown twice, and a threshold on it holds', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const thresholds = [
    'succeeded_duration:p(99)<30000',
    'http_req_duration{expected_response:true}:p(99)<30000',
  ]
  const { summary } = await loads.run(loads.createPlan(5, server.baseUrl, { ...LOAD, thresholds }))
  expect(summary.thresholds?.map(({ ok }) => ok)).toEqual([true, true])
  expect(summary.latency_ms.http_req_duration?.count).toBe(40)
  expect(summary.latency_ms.succeeded_duration).toBeUndefined()
})

test('thresholds select rows by their columns, stages by number or name, and causes by their code', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (readBody(request)['user_id'] === 'user1')
        wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const stage = { from: 100, to: 100, durationMs: 500 }
  const thresholds = [
    'http_reqs{user_id:user1}:count==20',
    'http_req_failed{user_id:user1}:rate==1',
    'http_req_failed{user_id:user0}:rate==0',
    'checks{user_id:user1}:rate==0',
    'http_reqs{user_id:user1,stage:peak}:count==10',
    'http_reqs{stage:0}:count==50',
    'http_reqs{stage:1}:count==50',
    'http_reqs{error_code:RATE_LIMITED}:count==20',
    'http_reqs{error_code:1429,scenario:main,method:POST}:count==20',
    'iterations{user_id:user2}:count==20',
    'http_req_blocked{user_id:user0}:max>=0',
    'http_req_duration{user_id:user0}:p(90)<30000',
    'http_req_duration{user_id:user1}:p(90)<30000',
  ]
  const rows = ['zero', 'one', 'two', 'three', 'four']
  const { summary, report } = await loads.run(
    loads.createPlan(rows, server.baseUrl, {
      pace: { kind: 'stages', of: 'rate', stages: [stage, { ...stage, name: 'peak' }] },
      thresholds,
    }),
  )
  expect(summary.thresholds?.filter(({ ok }) => !ok)).toEqual([])
  expect(summary.thresholds?.slice(-2)).toMatchObject([{ failed: 0 }, { requests: 20, failed: 20 }])
  expect(summary.warnings).toEqual([
    {
      code: 'LATENCY_OF_FAILURES',
      message: expect.stringContaining(
        '20 of 20 requests with its tags did not succeed, so the threshold http_req_duration{user_id:user1}:p(90)<30000 is',
      ),
    },
  ])
  const { stages = [], metrics, connections } = summary.load ?? {}
  expect(stages).toMatchObject([
    { number: 0, name: null, from: 100, to: 100, duration_s: 0.5, scheduled: 50, requests: 50, failed: 10 },
    {
      number: 1,
      name: 'peak',
      duration_s: 0.5,
      scheduled: 50,
      requests: 50,
      failed: 10,
      requests_per_s: 100,
    },
  ])
  for (const { latency_ms: latency } of stages) {
    expect(latency.http_req_duration?.count).toBe(50)
    expect(latency.succeeded_duration?.count).toBe(40)
    expect(latency.response_time?.count).toBe(50)
  }
  expect(report.stages?.map(({ name }) => name)).toEqual([undefined, 'peak'])
  expect(metrics).toMatchObject({
    http_reqs: { count: 100 },
    iterations: { count: 100 },
    checks: { rate: 0.8 },
    http_req_failed: { rate: 0.2 },
    dropped_iterations: { count: 0 },
  })
  expect(summary.latency_ms.http_req_blocked?.count).toBe(100)
  expect(summary.latency_ms.iteration_duration?.count).toBe(100)
  expect(connections?.opened).toBe(summary.latency_ms.http_req_connecting?.count)
})

test('bytes are counted as on the wire, and a retried row is one iteration', async () => {
  onlyInLongForm()
  const sockets = new Set<Wire['socket']>()
  const answered = new Set<unknown>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      sockets.add(wire.socket)
      const id = readBody(request)['post_id']
      if (answered.has(id)) wire.send(200, toTaskAnswer(request))
      else wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'))
      answered.add(id)
    },
  })
  const { summary } = await loads.run(
    loads.createPlan(
      ['grüße', 'plain'],
      server.baseUrl,
      { ...LOAD, requests: 6 },
      { retry: { limit: 1, baseMs: 40, maxMs: 40 } },
    ),
  )
  expect(summary.load?.metrics).toMatchObject({
    http_reqs: { count: 12 },
    iterations: { count: 6 },
    data_sent: { count: sum([...sockets].map(({ bytesRead }) => bytesRead)) },
    data_received: { count: sum([...sockets].map(({ bytesWritten }) => bytesWritten)) },
  })
  // Both tries and the wait between them.
  expect(summary.latency_ms.iteration_duration?.count).toBe(6)
  expect(summary.latency_ms.iteration_duration?.min).toBeGreaterThan(
    summary.latency_ms.http_req_duration?.min ?? 0,
  )
})

test.each([
  ['http_reqs{lang:de}:count>1', { said: { id: 'load_column_missing', unnamed: ['lang'] } }],
  ['http_reqs{name:/v1/others}:count>1', { said: { id: 'load_other_url', named: '/v1/others' } }],
  [
    'http_reqs{user_id:user_1}:count<9',
    { said: { id: 'load_tag_missing', column: 'user_id', named: 'user_1' } },
  ],
])(
  'a threshold `%s` that no request can match ends the load test before anything is sent',
  async (threshold, error) => {
    const server = await startFaultServer({
      onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
    })
    const plan = loads.createPlan(5, server.baseUrl, { ...LOAD, thresholds: [threshold] })
    await expect(loads.run(plan)).rejects.toMatchObject(error)
    expect(server.requests).toHaveLength(0)
  },
)

test('a threshold that holds because no request has its tags says so', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const thresholds = [
    'http_reqs{error_code:RATE_LIMITD}:count<1',
    'http_reqs{status:200}:count==40',
    'http_reqs:count==40',
  ]
  const { summary } = await loads.run(loads.createPlan(5, server.baseUrl, { ...LOAD, thresholds }))
  expect(summary.thresholds?.map(({ ok, requests }) => [ok, requests])).toEqual([
    [true, 0],
    [true, 40],
    [true, undefined],
  ])
  expect(summary.thresholds?.map(formatThresholdResult)).toEqual([
    '✓ http_reqs{error_code:RATE_LIMITD}:count<1: 0, 1 under the limit of 1; no request has these tags',
    '✓ http_reqs{status:200}:count==40: 40, exactly',
    '✓ http_reqs:count==40: 40, exactly',
  ])
})
