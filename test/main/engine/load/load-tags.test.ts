import { expect, test } from 'vitest'
import { readExpression } from '../../../../src/shared/load/thresholds.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

const loads = createLoadRuns(openTestFolder())

/** A service of which one request in ten succeeds, after so long that no failure takes as long. */
function startFailing() {
  return startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 10 !== 0) wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'))
      else setTimeout(() => wire.send(200, toTaskAnswer(request)), 1_500)
    },
  })
}

const LOAD = { pace: { kind: 'closed', concurrency: 4 }, requests: 40 } as const

test('thresholds with tags are of the requests that have these, beside those of all', async () => {
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
  expect(succeeded?.p50).toBe(summary.thresholds?.[1]?.value)
  expect(report.latencyMs.succeeded_duration).toEqual(succeeded)
  expect(all?.p50).toBeLessThan(succeeded?.min ?? 0)
  expect(readExpression(thresholds[8] ?? '').tags).toHaveLength(2)
})

test('a latency threshold over mostly failed requests is never green without a word', async () => {
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
  expect(await run('http_req_duration{expected_response:true}:p(50)<9999', 'http_req_failed:rate<1')).toEqual(
    [],
  )
})

test('where every request succeeded, their latency is not shown twice, and a threshold on it holds', async () => {
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
