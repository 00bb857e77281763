import type { Histogram } from 'hdr-histogram-js'
import { describe, expect, test } from 'vitest'
import { compareRuns } from '../../../src/shared/load/compare.ts'
import { createHistogram, recordUs } from '../../../src/shared/load/latency-meter.ts'
import type { ComparedRun } from '../../../src/shared/load/load-comparison.ts'
import { judgeSpeed } from '../../../src/shared/load/speed-gate.ts'
import { toLatencyHistory, toNormalQuantile } from '../../../src/shared/load/statistics.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

interface Drawn {
  factor?: number
  requests?: number
  seconds?: number
  /** Whether one second in ten is four times as slow as the others. */
  isBursty?: boolean
}

/** Seconds of a service whose latencies are log-normal around 20 ms. */
function drawSeconds(
  seed: number,
  { factor = 1, requests = 2_000, seconds = 20, isBursty = false }: Drawn = {},
): Histogram[] {
  const draw = createDraw(seed)
  return Array.from({ length: seconds }, () => {
    const histogram = createHistogram()
    const slow = isBursty && draw() < 0.1 ? 4 : 1
    for (let i = 0; i < requests / seconds; i += 1) {
      const spread = Math.exp(0.5 * toNormalQuantile(Math.min(1 - 1e-9, Math.max(1e-9, draw()))))
      recordUs(histogram, Math.round(20_000 * spread * slow * factor))
    }
    return histogram
  })
}

function toHistory(seconds: readonly Histogram[]) {
  const total = createHistogram()
  for (const second of seconds) total.add(second)
  return toLatencyHistory(total, seconds)
}

function createRun(seed: number, drawn: Drawn = {}, changes: Partial<ComparedRun> = {}): ComparedRun {
  const { requests = 2_000, seconds = 20 } = drawn
  return {
    label: `run ${seed}`,
    plan: null,
    state: 'whole',
    durationS: seconds,
    requests,
    failed: 0,
    succeeded: requests,
    dropped: 0,
    generatorLimited: false,
    fromCache: 0,
    latencies: { http_req_duration: toHistory(drawSeconds(seed, drawn)) },
    batches: Array.from({ length: seconds }, () => ({
      durationS: 1,
      requests: requests / seconds,
      failed: 0,
      succeeded: requests / seconds,
    })),
    ...changes,
  }
}

const judge = (a: ComparedRun, b: ComparedRun) => judgeSpeed(compareRuns(a, b), 10)

/** Requests of which a share fails, evenly over the run. */
const failing = (share: number): Partial<ComparedRun> => ({
  failed: 2_000 * share,
  succeeded: 2_000 * (1 - share),
  batches: Array.from({ length: 20 }, () => ({
    durationS: 1,
    requests: 100,
    failed: 100 * share,
    succeeded: 100 * (1 - share),
  })),
})

describe('the gate of a comparison', () => {
  test('passes equal services, and fails one that is half again as slow', () => {
    expect(judge(createRun(1), createRun(2))).toMatchObject({ isPassed: true, slower: [] })
    const slower = judge(createRun(1), createRun(2, { factor: 1.5 }))
    expect(slower.isPassed).toBe(false)
    expect(slower.slower).toMatchObject([
      { metric: 'http_req_duration', percentile: 50 },
      { metric: 'http_req_duration', percentile: 90 },
      { metric: 'http_req_duration', percentile: 95 },
      { metric: 'http_req_duration', percentile: 99 },
    ])
  })

  test('takes a percentile without known bounds for no difference', () => {
    const few = { requests: 20, seconds: 10 }
    const verdict = judge(createRun(1, few), createRun(3, few))
    expect(verdict).toMatchObject({ isPassed: true, slower: [] })
    expect(verdict.unjudged).toContainEqual({
      metric: 'http_req_duration',
      percentiles: [90, 95, 99],
      reason: 'too-few',
    })
  })

  test.each(['http_req_connecting', 'http_req_tls_handshaking', 'start_lag', 'response_time'] as const)(
    'does not judge %s, which is not the time of the service alone',
    (metric) => {
      const withSeries = (run: ComparedRun, factor: number): ComparedRun => ({
        ...run,
        latencies: { ...run.latencies, [metric]: toHistory(drawSeconds(9, { factor })) },
      })
      const verdict = judge(withSeries(createRun(1), 1), withSeries(createRun(2), 5))
      expect(verdict).toMatchObject({ isPassed: true, slower: [] })
    },
  )

  test('judges the latency of callbacks, too', () => {
    const withCallbacks = (run: ComparedRun, factor: number): ComparedRun => ({
      ...run,
      latencies: { ...run.latencies, callback_latency: toHistory(drawSeconds(9, { factor })) },
    })
    expect(judge(withCallbacks(createRun(1), 1), withCallbacks(createRun(2), 5)).slower).toMatchObject([
      { metric: 'callback_latency', percentile: 50 },
      {},
      {},
      {},
    ])
  })

  test('does not fail for less than a millisecond, which the sending machine may add', () => {
    const fast = { factor: 0.03 }
    expect(judge(createRun(1, fast), createRun(2, { factor: 0.04 }))).toMatchObject({ isPassed: true })
  })

  test('judges only the median of a run that this machine limited, or that is too short to tell dependence', () => {
    const limited = judge(createRun(1), createRun(2, { factor: 1.5 }, { generatorLimited: true }))
    expect(limited.slower).toMatchObject([{ percentile: 50 }])
    expect(limited.unjudged).toEqual([
      { metric: 'http_req_duration', percentiles: [90, 95, 99], reason: 'limited' },
    ])
    const short = judge(createRun(1, { seconds: 4 }), createRun(2, { factor: 1.5, seconds: 4 }))
    expect(short.slower).toMatchObject([{ percentile: 50 }])
    expect(short.unjudged).toEqual([
      { metric: 'http_req_duration', percentiles: [90, 95, 99], reason: 'too-short' },
    ])
  })

  test('fails a B that has more failures, however fast they are', () => {
    const refusing = createRun(2, { factor: 0.05 }, failing(1))
    expect(judge(createRun(1), refusing)).toMatchObject({ isPassed: false, hasMoreFailures: true })
    expect(judge(createRun(1), createRun(2, {}, failing(0.05)))).toMatchObject({ hasMoreFailures: true })
    expect(judge(createRun(1, {}, failing(0.07)), createRun(2, {}, failing(0.08)))).toMatchObject({
      isPassed: true,
      hasMoreFailures: false,
    })
  })

  test('fails if there is nothing to judge: no request succeeded, no latency in common, no known range', () => {
    const failed = judge(createRun(1, {}, failing(1)), createRun(2, {}, failing(1)))
    expect(failed).toMatchObject({ isPassed: false, nothing: 'no-success' })
    const empty = judge(createRun(1, {}, { latencies: {} }), createRun(2))
    expect(empty).toMatchObject({ isPassed: false, nothing: 'no-latency' })
    const imported = judge(
      createRun(1, {}, { latencies: {}, percentiles: { http_req_duration: { p50: 40, p95: 41 } } }),
      createRun(2),
    )
    expect(imported).toMatchObject({ isPassed: false, nothing: 'no-range', slower: [] })
  })
})

describe('false alarms of the gate', () => {
  // Each run of A meets each of B: drawing a run takes longer than comparing two.
  const runs = 12
  test.each([
    { requests: 500, isBursty: false },
    { requests: 2_000, isBursty: true },
  ])('are at most 1 of 100 pairs whose difference is exactly the allowed one: %o', (drawn) => {
    const draw = (first: number, factor: number) =>
      Array.from({ length: runs }, (_, index) => createRun(first + index, { ...drawn, factor }))
    const [all, slower] = [draw(1, 1), draw(1_001, 1.1)]
    const failed = all.flatMap((a) => slower.filter((b) => !judge(a, b).isPassed))
    expect(failed.length).toBeLessThanOrEqual((runs * runs) / 100)
  })
})
