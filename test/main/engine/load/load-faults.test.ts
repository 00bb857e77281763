import { expect, test } from 'vitest'
import { toExitCode } from '../../../../src/main/cli/session/settle-run.ts'
import { judgeProbe } from '../../../../src/shared/load/capacity-report.ts'
import { toLoadView } from '../../../../src/shared/load/load-view.ts'
import { EXIT } from '../../../../src/shared/messages/error-entry.ts'
import {
  findClosedPort,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
} from '../../../helpers/fault-server.ts'
import { firstOf, onlyInLongForm } from '../../../helpers/long-form.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns, startService } from './load-runs.ts'

const loads = createLoadRuns(openTestFolder())

const STALLED_WORKER = new URL('../../../helpers/stalled-load-worker.ts', import.meta.url).href

test('requests that time out are measured with the elapsed time', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 2 === 0) wire.send(200, toTaskAnswer(request))
    },
  })
  const { report } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'open', ratePerSecond: 50 }, durationMs: 400 },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 250 } },
    ),
  )
  const { sent, succeeded, unknown } = report.counts
  // On a busy machine more of them may be late.
  expect(unknown).toBeGreaterThanOrEqual(10)
  expect([sent, succeeded + unknown]).toEqual([20, 20])
  const { http_req_duration: duration, response_time: response } = report.latencyMs
  expect(duration?.count).toBe(20)
  expect(duration?.p95).toBeGreaterThan(245)
  expect(response?.count).toBe(20)
  expect(report.statuses).toContainEqual({ status: null, errorCode: 'TIMEOUT', requests: unknown })
  expect(report.errors).toMatchObject([{ outcome: 'unknown', errorCode: 'TIMEOUT', requests: unknown }])
})

test('429 and Retry-After are counted separately, and nothing is tried again', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 4 === 0) wire.send(200, toTaskAnswer(request))
      else {
        const headers = request.number % 4 === 1 ? { 'retry-after': '2' } : {}
        wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'), headers)
      }
    },
  })
  const { report, summary } = await loads.run(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 40 }),
  )
  expect(server.requests).toHaveLength(40)
  expect(report.throttling).toEqual({ answers: 30, retryAfterAnswers: 10, askedS: 20 })
  expect(report.counts).toMatchObject({ sent: 40, succeeded: 10, rejected: 30 })
  expect(summary).toMatchObject({
    retry_after: { answers: 10, waited_s: 0 },
    requests: { retried: 0 },
    load: { throttling: { answers: 30, retry_after_answers: 10, asked_s: 20 } },
  })
})

test('a plan may allow retries, each of which is a separate request with the same body', async () => {
  const refused = new Set<string>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (refused.has(request.body)) wire.send(200, toTaskAnswer(request))
      else wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'), { 'retry-after': '1' })
      refused.add(request.body)
    },
  })
  const { report, summary } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 1 }, requests: 10 },
      { retry: { limit: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 40 } },
    ),
  )
  // Each first try waits 40 ms of the second that it is asked to, and up to 1 ms more.
  expect(summary.retry_after.answers).toBe(10)
  expect(summary.retry_after.waited_s).toBeGreaterThanOrEqual(0.4)
  expect(summary.retry_after.waited_s).toBeLessThanOrEqual(0.41)
  expect(summary.requests).toMatchObject({ sent: 20, succeeded: 10, unknown: 10, retried: 10 })
  expect(report.counts).toMatchObject({ sent: 20, succeeded: 10, unknown: 10 })
  expect(summary.load).toMatchObject({ iterations: 10 })
  expect(refused.size).toBe(10)
})

test('a wait that the end of a load test cuts short was not sat out', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'), { 'retry-after': '3600' }),
  })
  const { summary } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 1 }, requests: 1, gracefulStopMs: 500 },
      { retry: { limit: 1, baseMs: 1, maxMs: 2, maxRetryAfterMs: 3_600_000 } },
    ),
  )
  expect(summary.requests).toMatchObject({ sent: 1, retried: 0 })
  expect(summary.retry_after.waited_s).toBe(0)
})

test('broken and refused connections are separate errors, without a time if nothing was sent', async () => {
  onlyInLongForm()
  const server = await startFaultServer({ onRequest: (_, wire) => wire.reset() })
  const broken = await loads.run(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 2 }, requests: 10 }),
  )
  expect(broken.report.counts).toMatchObject({ sent: 10, unknown: 10 })
  expect(broken.report.latencyMs.http_req_duration?.count).toBe(10)
  const nobody = `http://127.0.0.1:${await findClosedPort()}`
  const refused = await loads.run(
    loads.createPlan(3, nobody, { pace: { kind: 'open', ratePerSecond: 50 }, durationMs: 200 }),
  )
  expect(refused.report.counts).toMatchObject({ sent: 10, failed: 10 })
  expect(refused.report.latencyMs.http_req_duration).toBeUndefined()
  expect(refused.report.errors).toMatchObject([
    { outcome: 'failed', errorCode: 'ECONNREFUSED', requests: 10 },
  ])
})

test('a crossed threshold ends the load after its delay, and says which one and by how much', async () => {
  const server = await startService(30)
  const plan = loads.createPlan(3, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 50 },
    durationMs: 60_000,
    thresholds: [
      'p(99)<10000',
      { expression: 'p(50)<5', abortOnFail: true, delayAbortEvalMs: 1_000 },
      'http_req_failed:rate<0.01',
    ],
  })
  const { summary, report } = await loads.run(plan)
  expect(summary.state).toBe('stopped')
  expect(summary.stop_reason).toMatch(
    /^the threshold p\(50\)<5 ended the load after \d+ s: [\d.]+ ms, [\d.]+ ms over the limit of 5 ms/,
  )
  expect(summary.thresholds?.map(({ ok }) => ok)).toEqual([true, false, true])
  // Not before its second second is over, and measured no longer than that.
  expect(report.durationMs).toBeGreaterThan(2_000)
  expect(report.durationMs).toBeLessThan(20_000)
  expect(report.rates.attemptedPerS).toBeGreaterThan(40)
  expect(report.counts.succeeded).toBe(report.counts.sent)
})

test('a threshold that ended the load has failed, even if requests in flight make it hold afterwards', async () => {
  onlyInLongForm()
  const held: (() => void)[] = []
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number === 1) wire.send(400, toErrorAnswer(400, 'BAD_REQUEST', 'no'))
      else held.push(() => wire.send(200, toTaskAnswer(request)))
    },
  })
  const run = loads.start(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'closed', concurrency: 10 },
      durationMs: 60_000,
      thresholds: ['http_reqs:count>1', { expression: 'http_req_failed:rate<0.5', abortOnFail: true }],
    }),
  )
  await run.until(({ load }) => load?.phase === 'stopping')
  for (const answer of held) answer()
  const { summary, report } = loads.look((await run.ended).run_id)
  expect(report.counts).toMatchObject({ sent: 11, succeeded: 10, rejected: 1 })
  expect(summary.state).toBe('stopped')
  expect(summary.thresholds).toMatchObject([
    { ok: true, value: 11 },
    { ok: false, value: 1, margin: -0.5 },
  ])
  expect(toExitCode(summary)).toBe(EXIT.thresholdCrossed)
})

test.each([
  [1_000, 'Every request that was due meanwhile was sent, and is in percentiles and shares.'],
  [3, 'percentiles and shares are mostly of the rest of the time'],
])(
  'the effect of a silence on percentiles depends on whether a rate held up requests in it (%i in flight)',
  async (maxInFlight, meaning) => {
    onlyInLongForm()
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        if (request.number <= 20) wire.send(200, toTaskAnswer(request))
      },
    })
    const { report } = await loads.run(
      loads.createPlan(3, server.baseUrl, {
        pace: { kind: 'open', ratePerSecond: 20 },
        durationMs: 3_500,
        gracefulStopMs: 300,
        maxInFlight,
      }),
    )
    const [notice] = toLoadView(report).notices
    expect(notice).toMatchObject({ kind: 'silent', text: expect.stringContaining(meaning) })
    const { counts } = report
    const cutOff = { ...report, counts: { ...counts, sent: counts.sent + 5, unknown: counts.unknown + 5 } }
    const isAllCounted = toLoadView(cutOff).notices[0]?.text.includes('is in percentiles')
    expect(isAllCounted).toBe(false)
  },
)

test('a service that stops answering passes no threshold, and the report says so first', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number <= 200) wire.send(200, toTaskAnswer(request))
    },
  })
  const { report, summary } = await loads.run(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'closed', concurrency: 2 },
      durationMs: 2_500,
      gracefulStopMs: 600,
      thresholds: ['p(95)<2000', 'http_req_failed<0.5', 'http_reqs:count>1000'],
    }),
  )
  expect(report.counts).toMatchObject({ sent: 202, succeeded: 200, unknown: 2 })
  expect(report.silence).toMatchObject({ unanswered: 2, isMost: true })
  expect(summary.load?.silence).toMatchObject({
    requests: 2,
    message: expect.stringMatching(
      /^No answer came for [23] s \(from second 0 on\) while 2 requests were open$/,
    ),
  })
  expect(summary.thresholds).toMatchObject([
    { ok: false, unanswered: true, margin: expect.any(Number) },
    { ok: false, unanswered: true },
    { ok: false, value: 202 },
  ])
  expect(toExitCode(summary)).toBe(EXIT.thresholdCrossed)
  const { notices, thresholds, errors } = toLoadView(report)
  expect(notices[0]).toMatchObject({
    kind: 'silent',
    title: summary.load?.silence?.message,
    text: expect.stringContaining('percentiles and shares are mostly of the rest of the time'),
  })
  expect(thresholds.rows.map(({ word }) => word)).toEqual(['not judged', 'not judged', 'crossed'])
  expect(errors).toMatchObject([
    {
      status: 'no answer: ended by the graceful stop',
      message:
        'not answered before the load test ended it, after its graceful stop of 600 ms (GRACEFUL_STOP)',
      when: 'after the measured time',
    },
  ])
})

test('a silence that ends with answers that all succeed is said as well', async () => {
  onlyInLongForm()
  const held: (() => void)[] = []
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = () => wire.send(200, toTaskAnswer(request))
      if (request.number !== 51 && request.number !== 52) return answer()
      held.push(answer)
      if (held.length === 2) setTimeout(() => held.map((later) => later()), 1_500)
    },
  })
  const { report } = await loads.run(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 2 }, requests: 400 }),
  )
  expect(report.counts).toMatchObject({ sent: 400, succeeded: 400 })
  expect(report.silence).toMatchObject({ unanswered: 0 })
  expect(toLoadView(report).notices[0]).toMatchObject({ kind: 'silent' })
})

test('how long a service has been silent is reported until it answers again', async () => {
  onlyInLongForm()
  const held: (() => void)[] = []
  let isHeard = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = () => wire.send(200, toTaskAnswer(request))
      if (request.number <= 50 || isHeard) answer()
      else held.push(answer)
    },
  })
  const run = loads.start(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 2 }, durationMs: 60_000 }),
  )
  const { load } = await run.until((snapshot) => snapshot.load?.silentMs != null)
  expect(load).toMatchObject({ requests: 50, phase: 'measuring' })
  expect(load?.silentMs).toBeGreaterThanOrEqual(1_000)
  isHeard = true
  for (const answer of held) answer()
  await run.until((snapshot) => snapshot.load?.silentMs === null)
  run.command({ kind: 'stop' })
  await run.ended
})

test('unanswered requests count in thresholds while they wait, and what only they would cross is not judged', async () => {
  onlyInLongForm()
  const held: (() => void)[] = []
  let isHeard = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = () => wire.send(200, toTaskAnswer(request))
      // One row in three gets no answer while the others do: the service is not silent.
      if (isHeard || !request.body.includes('"text 2"')) answer()
      else held.push(answer)
    },
  })
  const run = loads.start(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 60 },
      durationMs: 60_000,
      thresholds: [
        'p(90)<900',
        'response_time:p(90)<900',
        'succeeded_duration:p(90)<900',
        'http_req_failed:rate<0.05',
        'http_req_duration{expected_response:true}:p(90)<900',
      ],
    }),
  )
  const { load } = await run.until(({ load: now }) => {
    const [duration, response, , failed] = now?.thresholds ?? []
    const isLong = [duration, response].every((one) => Number(one?.value) >= 1_000)
    return isLong && failed?.unanswered === true
  })
  expect(load?.silentMs).toBeNull()
  expect(load?.thresholds.map(({ ok, unanswered }) => [ok, unanswered])).toEqual([
    [false, undefined],
    [false, undefined],
    [true, undefined],
    [false, true],
    [true, undefined],
  ])
  expect(load?.thresholds[3]).toMatchObject({ value: 0, open: expect.any(Number) })
  isHeard = true
  for (const answer of held) answer()
  await run.until((snapshot) => snapshot.load?.thresholds[3]?.ok === true)
  run.command({ kind: 'stop' })
  await run.ended
})

test('a threshold ends a load test of a silent service before its requests time out', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number <= 30) wire.send(200, toTaskAnswer(request))
    },
  })
  const { summary } = await loads.run(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 30 },
      durationMs: 60_000,
      gracefulStopMs: 100,
      thresholds: [{ expression: 'p(90)<800', abortOnFail: true }],
    }),
  )
  expect(summary).toMatchObject({ state: 'stopped', thresholds: [{ ok: false }] })
  expect(summary.throughput.duration_s).toBeLessThan(20)
  expect(toExitCode(summary)).toBe(EXIT.thresholdCrossed)
})

test('a service that never answers is reported as silent all the time', async () => {
  onlyInLongForm()
  const server = await startFaultServer({ onRequest: () => {} })
  const { report } = await loads.run(
    loads.createPlan(
      3,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 2 }, durationMs: 2_500, thresholds: ['http_reqs:count>1'] },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 1_000 } },
    ),
  )
  expect(report.counts.succeeded).toBe(0)
  expect(report.silence).toMatchObject({ fromMs: expect.closeTo(0, -3), isMost: true })
  expect(report.silence?.durationMs).toBeGreaterThan(2_000)
  expect(report.thresholds).toMatchObject([{ ok: false, unanswered: true }])
})

test('an interrupted load writes what it measured until then', async () => {
  const server = await startService(5)
  const run = loads.start(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 100 },
      durationMs: 60_000,
      thresholds: ['p(99)<10000'],
    }),
  )
  const { load } = await run.until((snapshot) => (snapshot.load?.requests ?? 0) >= 30)
  expect(load).toMatchObject({ phase: 'measuring', scheduledPerS: 100, measuredMs: 60_000 })
  run.command({ kind: 'stop' })
  const { summary, report } = loads.look((await run.ended).run_id)
  expect(summary).toMatchObject({ state: 'interrupted', thresholds: [{ ok: true }] })
  expect(report.counts.sent).toBeGreaterThanOrEqual(30)
  expect(report.counts.succeeded).toBe(report.counts.sent)
  expect(report.latencyMs.http_req_duration?.count).toBe(report.counts.sent)
  // The measured time ends with the interruption, not with its second.
  expect(Number.isInteger(report.durationMs / 1000)).toBe(false)
  // Requests that went out before the sending thread heard of it count in no rate.
  const durationS = report.durationMs / 1000
  // A rate is rounded to a tenth.
  const [sentWithin, rounding] = [report.rates.attemptedPerS * durationS, 0.05 * durationS]
  expect(sentWithin - rounding).toBeLessThanOrEqual(report.counts.sent)
  expect(sentWithin + rounding).toBeGreaterThanOrEqual(load?.requests ?? Number.POSITIVE_INFINITY)
})

test('whole answers of the warm-up are counted, and are in no other figure', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const { post_id: post } = JSON.parse(request.body) as { post_id: string }
      if (post.endsWith('-warmup-2')) {
        wire.raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{')
        wire.socket.end()
      } else if (post.includes('-warmup-')) wire.send(503, toErrorAnswer(503, 'BUSY', 'not now'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const { summary } = await loads.run(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 40 },
      durationMs: 200,
      warmupMs: 100,
    }),
  )
  expect(summary).toMatchObject({
    requests: { sent: 8, succeeded: 8 },
    load: { warmup_answered: 3, statuses: [{ status: 200, requests: 8 }] },
  })
})

test('an interruption during the warm-up leaves nothing measured, and says so', async () => {
  onlyInLongForm()
  const server = await startService()
  const run = loads.start(
    loads.createPlan(3, server.baseUrl, {
      pace: { kind: 'closed', concurrency: 2 },
      durationMs: 60_000,
      warmupMs: 60_000,
      thresholds: ['p(99)<500'],
    }),
  )
  await server.arrivals(5)
  run.command({ kind: 'stop' })
  const { summary, report } = loads.look((await run.ended).run_id)
  expect(summary).toMatchObject({ state: 'interrupted', requests: { sent: 0 } })
  expect(summary.thresholds).toMatchObject([{ expression: 'p(99)<500', value: null, ok: false }])
  expect(report).toMatchObject({ durationMs: 0, counts: { sent: 0 }, rates: { attemptedPerS: 0 } })
})

test('a load test that has not started has no threshold results', async () => {
  const server = await startService()
  const plan = loads.createPlan(3, server.baseUrl, {
    pace: { kind: 'closed', concurrency: 2 },
    durationMs: 60_000,
    thresholds: ['p(99)<500'],
  })
  const run = loads.start(plan, { hold: true })
  await run.until(({ phase }) => phase === 'ready')
  run.command({ kind: 'stop' })
  const { summary } = loads.look((await run.ended).run_id)
  expect(summary).toMatchObject({ state: 'interrupted', started_at: null, thresholds: [] })
  expect(server.requests).toHaveLength(0)
})

test.each(firstOf(1, ['open', 'closed'] as const))(
  'a stalled generator is reported (%s pace)',
  async (kind) => {
    const server = await startService(20)
    const { summary, report } = await loads.run(
      loads.createPlan(3, server.baseUrl, {
        pace: kind === 'open' ? { kind, ratePerSecond: 50 } : { kind, concurrency: 8 },
        durationMs: 1_500,
      }),
      { loadWorkerUrl: STALLED_WORKER },
    )
    expect(summary.generator.limited).toBe(true)
    expect(report.generator).toMatchObject({ limited: true, reasons: expect.any(Array) })
    expect(report.generator.reasons[0]).toMatch(
      /of (http_req_duration|response_time) p\d+ may be delays of this machine/,
    )
    expect(report.generator.eventLoopMaxMs).toBeGreaterThan(200)
    expect(report.seconds.filter(({ limited }) => limited).length).toBe(report.generator.limitedSeconds)
    expect(report.generator.limitedSeconds).toBeGreaterThan(0)
  },
)

/** Allows 200 requests a second, and four at once. */
function createTokenBucket(): () => boolean {
  let [tokens, lastMs] = [4, performance.now()]
  return () => {
    const nowMs = performance.now()
    tokens = Math.min(4, tokens + (nowMs - lastMs) / 5)
    lastMs = nowMs
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

test('a probe is void if a rate limit refused the bursts after stalls, and fails by more than these', async () => {
  const allow = createTokenBucket()
  const probe = async (isRefused: () => boolean) => {
    const server = await startService(0, isRefused)
    const { summary } = await loads.run(
      loads.createPlan(3, server.baseUrl, {
        pace: { kind: 'open', ratePerSecond: 80 },
        durationMs: 2_000,
        // The bursts are a quarter of all. Of other requests, some come together if this process stalls, too.
        thresholds: ['http_req_failed:rate<0.1'],
      }),
      { loadWorkerUrl: STALLED_WORKER },
    )
    return judgeProbe(80, summary)
  }
  const limited = await probe(() => !allow())
  expect(limited.thresholds).toMatchObject([{ ok: false }])
  expect(limited.verdict).toBe('void')
  expect(limited.reasons.join()).toMatch(/failed requests may be due to bursts/)
  expect((await probe(() => true)).verdict).toBe('failed')
})

test('stalls that no percentile shows are reported where they lower the rate of a closed pace', async () => {
  const server = await startService(2)
  const { report } = await loads.run(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 8 }, durationMs: 1_500 }),
    { loadWorkerUrl: STALLED_WORKER },
  )
  expect(report.generator).toMatchObject({ limited: true, reasons: expect.any(Array) })
  expect(report.generator.reasons.at(-1)).toMatch(
    /^Without delays of this machine, up to \d+ % more requests a second may have gone out\.$/,
  )
})

test('a thread that cannot start ends the load with its error, and the journal keeps what there is', async () => {
  const server = await startService()
  const plan = loads.createPlan(
    3,
    server.baseUrl,
    { pace: { kind: 'closed', concurrency: 2 }, requests: 5, workers: 2 },
    {
      connection: {
        baseUrl: server.baseUrl,
        proxy: { url: 'http://127.0.0.1:1', credentialsEnv: 'NO_SUCH_VARIABLE_HERE' },
      },
    },
  )
  await expect(loads.start(plan).ended).rejects.toMatchObject({
    code: 'BAD_PLAN',
    message: expect.stringContaining('credentials'),
  })
  expect(server.requests).toHaveLength(0)
})
