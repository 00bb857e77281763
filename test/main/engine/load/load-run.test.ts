import { expect, test } from 'vitest'
import type { LoadReport } from '../../../../src/shared/load/load-report.ts'
import { toLoadView } from '../../../../src/shared/load/load-view.ts'
import { formatShare } from '../../../../src/shared/messages/figure-text.ts'
import type { Plan } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer, toErrorAnswer, type WireRequest } from '../../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns, type LoadResult, startService, toNumbers } from './load-runs.ts'

const loads = createLoadRuns(openTestFolder())

const toPostId = ({ body }: WireRequest) => String((JSON.parse(body) as { post_id: string }).post_id)

const isWarmup = (request: WireRequest) => toPostId(request).includes('-warmup-')

test('an open pace sends exactly its schedule, each request once, from as many threads as the plan says', async () => {
  const server = await startService()
  const plan = loads.createPlan(3, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 200 },
    durationMs: 600,
    warmupMs: 400,
    workers: 2,
    sampleSize: 500,
  })
  const { summary, report, samples } = await loads.run(plan)
  const [warm, measured] = [server.requests.filter(isWarmup), server.requests.filter((one) => !isWarmup(one))]
  expect(toNumbers(measured.map(toPostId))).toEqual(Array.from({ length: 120 }, (_, i) => i + 1))
  // Requests of the warm-up that are not out when measuring begins are not caught up.
  expect(warm.length).toBeGreaterThan(0)
  expect(warm.length).toBeLessThanOrEqual(80)
  expect(new Set(warm.map(toPostId)).size).toBe(warm.length)
  expect(summary).toMatchObject({
    state: 'completed',
    rows: { read: 3, succeeded: 3, not_sent: 0 },
    requests: { sent: 120, succeeded: 120 },
    throughput: { duration_s: 0.6 },
    load: { scheduled_per_s: 200 },
  })
  // Requests that are late at the very end went out after the measured time.
  expect(summary.throughput.attempted_per_s).toBeLessThanOrEqual(200)
  expect(summary.throughput.attempted_per_s).toBeGreaterThan(0)
  expect(report.counts).toMatchObject({ sent: 120, succeeded: 120 })
  expect(report.seconds.reduce((sum, { counts }) => sum + counts.sent, 0)).toBe(120)
  expect(report.seconds.reduce((sum, { scheduled }) => sum + (scheduled ?? 0), 0)).toBe(120)
  expect(report.latencyMs.http_req_duration?.count).toBe(120)
  expect(report.latencyMs.response_time?.count).toBe(120)
  expect(report.generator).toMatchObject({ workers: 2, dropped: 0, achievedShare: 1 })
  // The rows repeat in their order.
  const texts = measured.map(({ body }) => JSON.parse(body) as { post_id: string; text_data: string })
  for (const { post_id, text_data } of texts) {
    expect(text_data).toBe(`text ${((Number(/\d+$/.exec(post_id)?.[0]) - 1) % 3) + 1}`)
  }
  expect(samples).toHaveLength(120)
  expect(new Set(samples.map(({ postId }) => postId))).toEqual(new Set(measured.map(toPostId)))
})

test('a closed pace keeps its number in flight and ends after its number of requests', async () => {
  onlyInLongForm()
  const server = await startService(20)
  const { summary, report } = await loads.run(
    loads.createPlan(5, server.baseUrl, {
      pace: { kind: 'closed', concurrency: 4 },
      requests: 40,
      workers: 2,
    }),
  )
  expect(server.maxOpen).toBe(4)
  expect(toNumbers(server.requests.map(toPostId))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  expect(summary.requests).toMatchObject({ sent: 40, succeeded: 40 })
  // Ten rounds of 20 ms: the measured time ends with the last answer, not with a whole second.
  expect(report.durationMs).toBeGreaterThan(190)
  expect(report.rates.succeededPerS).toBeCloseTo(40_000 / report.durationMs, 3)
  expect(report.rates.scheduledPerS).toBeNull()
  expect(report.latencyMs.response_time).toBeUndefined()
  expect(report.connections).toEqual({ opened: 4, reused: 36 })
})

test('nothing is sent during think time, which is not waited for at the end', async () => {
  onlyInLongForm()
  const server = await startService()
  const { report } = await loads.run(
    loads.createPlan(5, server.baseUrl, {
      pace: { kind: 'closed', concurrency: 3 },
      durationMs: 500,
      thinkTime: { minMs: 600_000, maxMs: 600_000 },
    }),
  )
  expect(report.counts.sent).toBe(3)
})

test('a closed pace in stages follows its number in flight', async () => {
  onlyInLongForm()
  const server = await startService(10)
  const stages = [
    { from: 1, to: 1, durationMs: 200 },
    { from: 6, to: 6, durationMs: 300 },
  ]
  const { summary } = await loads.run(
    loads.createPlan(5, server.baseUrl, { pace: { kind: 'stages', of: 'concurrency', stages } }),
  )
  expect(server.maxOpen).toBe(6)
  expect(summary.throughput.duration_s).toBe(0.5)
})

test('with --when-full wait, requests without a free slot wait, and only response_time includes the wait', async () => {
  onlyInLongForm()
  const server = await startService(50)
  const { report } = await loads.run(
    loads.createPlan(5, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 100 },
      durationMs: 400,
      maxInFlight: 2,
    }),
  )
  // 40 were due in 400 ms, but two slots take 40 of them in a second.
  expect(report.counts).toMatchObject({ sent: 40, succeeded: 40 })
  expect(server.maxOpen).toBe(2)
  expect(report.generator.dropped).toBe(0)
  expect(report.generator.waited).toBeGreaterThan(20)
  const { http_req_duration: duration, response_time: response } = report.latencyMs
  expect(response?.max).toBeGreaterThan(400)
  expect(response?.p50).toBeGreaterThan((duration?.p50 ?? Infinity) * 2)
  // A rate covers what was sent, or ended, within the measured time.
  expect(report.rates.scheduledPerS).toBe(100)
  expect(report.rates.attemptedPerS).toBeLessThan(60)
  expect(report.rates.succeededPerS).toBeLessThan(60)
})

test('with --when-full drop, requests without a free slot are dropped and counted', async () => {
  onlyInLongForm()
  const server = await startService(50)
  const { report, summary } = await loads.run(
    loads.createPlan(5, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 100 },
      durationMs: 400,
      maxInFlight: 2,
      whenFull: 'drop',
      thresholds: ['dropped==0', 'http_reqs:count>0'],
    }),
  )
  const { dropped } = report.generator
  expect(dropped).toBeGreaterThan(10)
  expect(report.counts.sent + dropped).toBe(40)
  expect(server.requests).toHaveLength(report.counts.sent)
  expect(summary.generator.dropped).toBe(dropped)
  expect(toLoadView(report).requests.find(({ label }) => label === 'Dropped')).toMatchObject({
    value: String(dropped),
    note: `${formatShare(dropped, 40)} of those due, too many in flight`,
  })
  expect(summary.thresholds).toEqual([
    { expression: 'dropped==0', value: dropped, limit: 0, unit: 'number', ok: false, margin: -dropped },
    expect.objectContaining({ expression: 'http_reqs:count>0', ok: true }),
  ])
})

test('a dropped request uses up no row', async () => {
  const server = await startService(50)
  const { report } = await loads.run(
    loads.createPlan(40, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 100 },
      durationMs: 400,
      maxInFlight: 1,
      whenFull: 'drop',
    }),
  )
  expect(report.generator.dropped).toBeGreaterThan(10)
  const texts = server.requests.map(({ body }) => (JSON.parse(body) as { text_data: string }).text_data)
  expect(texts).toEqual(texts.map((_, index) => `text ${index + 1}`))
})

test('requests still waiting for a slot after the load are dropped, and nothing waits forever', async () => {
  onlyInLongForm()
  const server = await startService(300)
  const { report } = await loads.run(
    loads.createPlan(5, server.baseUrl, {
      pace: { kind: 'open', ratePerSecond: 200 },
      durationMs: 300,
      maxInFlight: 1,
      gracefulStopMs: 400,
    }),
  )
  expect(report.counts.sent).toBeLessThan(8)
  expect(report.counts.sent + report.generator.dropped).toBe(60)
})

test('requests in flight after the graceful stop are given up as unknown, with their elapsed time', async () => {
  onlyInLongForm()
  const server = await startFaultServer({})
  const { report, samples } = await loads.run(
    loads.createPlan(
      5,
      server.baseUrl,
      { pace: { kind: 'closed', concurrency: 2 }, durationMs: 700, gracefulStopMs: 200 },
      { connection: { baseUrl: server.baseUrl, timeoutMs: 30_000 } },
    ),
  )
  expect(report.counts).toMatchObject({ sent: 2, unknown: 2, succeeded: 0 })
  expect(report.latencyMs.http_req_duration).toMatchObject({ count: 2 })
  // At least the graceful stop, however long opening their connections took before.
  expect(report.latencyMs.http_req_duration?.min).toBeGreaterThan(195)
  expect(samples.filter(({ kept }) => kept === 'error').map(({ outcome }) => outcome)).toEqual([
    'unknown',
    'unknown',
  ])
})

test('rows that cannot be sent are left out, and a source with no others sends nothing', async () => {
  onlyInLongForm()
  const server = await startService()
  const some = loads.createPlan(['one', '', 'three'], server.baseUrl, {
    pace: { kind: 'closed', concurrency: 1 },
    requests: 4,
  })
  const { summary } = await loads.run(some)
  expect(summary.rows).toMatchObject({ read: 3, invalid: 1, succeeded: 2 })
  expect(server.requests.map(({ body }) => (JSON.parse(body) as { text_data: string }).text_data)).toEqual([
    'one',
    'three',
    'one',
    'three',
  ])
  const none = loads.createPlan(['', ''], server.baseUrl, {
    pace: { kind: 'closed', concurrency: 1 },
    requests: 4,
    thresholds: ['p(99)<500'],
  })
  const { summary: empty, report } = await loads.run(none)
  expect(empty).toMatchObject({ state: 'completed', rows: { read: 2, invalid: 2 } })
  expect(empty.thresholds).toMatchObject([{ expression: 'p(99)<500', value: null, ok: false }])
  expect(report.counts.sent).toBe(0)
  expect(server.requests).toHaveLength(4)
})

test('a load with only error answers is measured to its end', async () => {
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(403, toErrorAnswer(403, 'INVALID_API_KEY', 'no such key')),
  })
  const { summary, report } = await loads.run(
    loads.createPlan(5, server.baseUrl, { pace: { kind: 'closed', concurrency: 2 }, requests: 60 }),
  )
  expect(summary).toMatchObject({ state: 'completed', requests: { sent: 60, rejected: 60 } })
  expect(summary.rows.rejected).toBe(5)
  expect(summary.errors).toEqual([
    { outcome: 'rejected', status: 403, error_code: 'INVALID_API_KEY', message: 'no such key', rows: 60 },
  ])
  expect(report.statuses).toEqual([{ status: 403, errorCode: 'INVALID_API_KEY', requests: 60 }])
})

/** Runs a load; returns what a process that ended after any of its commits would have left behind. */
async function watch(plan: Plan, act: (run: ReturnType<typeof loads.start>) => void = () => {}) {
  const moments: LoadResult[] = []
  let runId: string | null = null
  const run = loads.start(plan, {
    onCommit(when) {
      if (when === 'after' && runId !== null) moments.push(loads.look(runId))
    },
  })
  runId = run.runId
  act(run)
  await run.ended
  return moments.filter(({ report }) => report.durationMs > 0)
}

test('wherever a load with retries is cut off, its requests include retries, and those in flight are unknown', async () => {
  onlyInLongForm()
  const server = await startService(300, (request) => Number(/\d+$/.exec(toPostId(request))?.[0]) % 2 === 0)
  const moments = await watch(
    loads.createPlan(
      50,
      server.baseUrl,
      { pace: { kind: 'open', ratePerSecond: 50 }, durationMs: 3_000 },
      { retry: { limit: 2, baseMs: 1, maxMs: 2 } },
    ),
  )
  // On a busy machine the first second may end before the first retry.
  const going = moments.filter(
    ({ summary }) => summary.state === 'interrupted' && summary.requests.retried > 0,
  )
  expect(going.length).toBeGreaterThanOrEqual(1)
  for (const { summary, report } of going.slice(0, 2)) {
    expect(summary.requests.unknown).toBeGreaterThan(0)
    const sent = report.seconds.reduce((total, { counts }) => total + counts.sent, 0)
    expect([report.counts.sent, summary.requests.sent]).toEqual([sent, sent])
    expect((report.rates.attemptedPerS * report.durationMs) / 1000).toBeCloseTo(sent, 5)
  }
})

test('a load that dies after its interruption has the time and schedule until then, and every request', async () => {
  onlyInLongForm()
  const server = await startService(1_200)
  const plan = loads.createPlan(500, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 50 },
    durationMs: 60_000,
  })
  const moments = await watch(plan, (run) => {
    void run
      .until((snapshot) => (snapshot.load?.elapsedMs ?? 0) > 2_300)
      .then(() => run.command({ kind: 'stop' }))
  })
  const end = moments.at(-1)
  // Only whole seconds are written during the load; its interruption falls between two of them.
  const interrupted = moments.findIndex(({ report }) => report.durationMs % 1_000 !== 0)
  const dying = moments.slice(interrupted)
  // On a busy machine whole seconds may lack requests too; the interruption adds none.
  const lacking = listLacking(moments[interrupted - 1])
  expect(dying.length).toBeGreaterThan(1)
  for (const moment of dying) {
    const { report, samples, summary } = moment
    expect(report.durationMs).toBe(end?.report.durationMs)
    expect(report.rates.scheduledPerS).toBe(end?.report.rates.scheduledPerS)
    expect(listLacking(moment)).toEqual(lacking)
    const { succeeded } = summary.requests
    expect(samples.length).toBeGreaterThanOrEqual(succeeded)
  }
})

function listLacking(moment: { report: LoadReport } | undefined): string[] {
  return (moment?.report.generator.reasons ?? []).filter((reason) => reason.includes('of the schedule'))
}

test('wherever a load is cut off, everything in its journal covers the same requests, those in flight unknown', async () => {
  onlyInLongForm()
  const server = await startService(200, (request) => toPostId(request).endsWith('3'))
  const plan = loads.createPlan(100, server.baseUrl, {
    pace: { kind: 'open', ratePerSecond: 150 },
    durationMs: 3_200,
    workers: 2,
  })
  const moments = await watch(plan)
  const sum = (all: readonly { requests: number }[]) =>
    all.reduce((total, { requests }) => total + requests, 0)
  const lost = new Set<number>()
  for (const { summary, report } of moments) {
    const { sent, succeeded, unknown } = summary.requests
    const { read, not_sent, ...rows } = summary.rows
    expect(Object.values(rows).every((n) => n >= 0)).toBe(true)
    expect(read - not_sent).toBe(Math.min(100, sent))
    const whole = {
      counts: report.counts.sent,
      inSeconds: report.seconds.reduce((total, { counts }) => total + counts.sent, 0),
      inStatuses: sum(report.statuses),
      byError: sum(report.errors) + succeeded,
      bySummaryError: summary.errors.reduce((total, one) => total + one.rows, 0) + succeeded,
    }
    expect(whole).toEqual(Object.fromEntries(Object.keys(whole).map((name) => [name, sent])))
    const answered = {
      inAll: report.answered,
      inSeconds: report.seconds.reduce((total, { counts }) => total + counts.succeeded + counts.rejected, 0),
      bySize: sum(report.groups.filter(({ by }) => by === 'size')),
      byModel: sum(report.groups.filter(({ by }) => by === 'model')),
      timed: report.latencyMs.http_req_duration?.count ?? 0,
      onConnections: report.connections.opened + report.connections.reused,
      throttled: report.throttling.answers + succeeded,
    }
    expect(answered).toEqual(Object.fromEntries(Object.keys(answered).map((name) => [name, sent - unknown])))
    if (unknown > 0) {
      expect((report.rates.attemptedPerS * report.durationMs) / 1000).toBeCloseTo(sent, 5)
      expect(report.rates.scheduledPerS).toBe(150)
    }
    expect(summary.stop_reason === null).toBe(summary.state === 'completed')
    lost.add(unknown)
  }
  // Three whole seconds and the rest: in the seconds some requests were in flight, at the end none.
  expect(moments.length).toBeGreaterThanOrEqual(4)
  expect(Math.max(...lost)).toBeGreaterThan(10)
  expect(lost).toContain(0)
  expect(moments.at(-1)?.summary.requests.sent).toBe(480)
})
