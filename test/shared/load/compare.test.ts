import type { Histogram } from 'hdr-histogram-js'
import { describe, expect, test } from 'vitest'
import { compareLatency, compareRuns, poolRuns } from '../../../src/shared/load/compare.ts'
import { describeLimited } from '../../../src/shared/load/compare-text.ts'
import { createHistogram, recordUs, toPercentiles } from '../../../src/shared/load/latency-meter.ts'
import type { ComparedRun } from '../../../src/shared/load/load-comparison.ts'
import { toLatencyHistory } from '../../../src/shared/load/statistics.ts'
import { listPlanDifferences, sayPlanDifference } from '../../../src/shared/plan/plan-differences.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

/** Thirty seconds of a service: 20 ms or more, and a tenth of a second for one request in `slowEvery`. */
function drawSeconds(seed: number, { factor = 1, perSecond = 100, slowEvery = 50 } = {}): Histogram[] {
  const draw = createDraw(seed)
  return Array.from({ length: 30 }, () => {
    const histogram = createHistogram()
    for (let i = 0; i < perSecond; i += 1) {
      const base = draw() * slowEvery < 1 ? 100_000 : 20_000
      recordUs(histogram, Math.round(base * factor * (1 + 0.02 * draw())))
    }
    return histogram
  })
}

function toHistory(seconds: readonly Histogram[]) {
  const total = createHistogram()
  for (const second of seconds) total.add(second)
  return toLatencyHistory(total, seconds)
}

const BASELINE = toHistory(drawSeconds(1))

function createRun(label: string, changes: Partial<ComparedRun> = {}): ComparedRun {
  return {
    label,
    plan: { connection: { baseUrl: 'https://service.test' }, load: { workers: 1 } },
    state: 'whole',
    durationS: 30,
    requests: 3_000,
    failed: 6,
    succeeded: 2_994,
    dropped: 0,
    missingCallbacks: 0,
    generatorLimited: false,
    fromCache: 0,
    latencies: { http_req_duration: BASELINE },
    batches: Array.from({ length: 30 }, (_, i) => ({
      durationS: 1,
      requests: 100,
      failed: i % 5 === 0 ? 1 : 0,
      succeeded: i % 5 === 0 ? 99 : 100,
    })),
    ...changes,
  }
}

const compare = (b: Partial<ComparedRun>, a: Partial<ComparedRun> = {}) =>
  compareRuns(createRun('before', a), createRun('after', b))

const toLatencies = (seconds: Histogram[]) => ({ latencies: { http_req_duration: toHistory(seconds) } })

describe('two runs', () => {
  test('of the same service are alike', () => {
    const { series, sentence, caveats, planDifferences } = compare(toLatencies(drawSeconds(2)))
    expect(series).toMatchObject([{ metric: 'http_req_duration', verdict: 'alike', isBatched: true }])
    expect(sentence).toMatch(
      /^B is as fast as A at p50, p90, p95 and p99: p50 at 1\.00 times A's \(20\.\d ms after 20\.\d ms; .* At p99\.9 it is unclear/,
    )
    expect({ caveats, planDifferences }).toEqual({ caveats: [], planDifferences: [] })
  })

  test('of which the second is slower say so, at every percentile, and by how much', () => {
    const { series, sentence } = compare(toLatencies(drawSeconds(2, { factor: 1.4 })))
    const [duration] = series
    expect(duration?.verdict).toBe('slower')
    const median = duration?.percentiles[0]
    expect(median?.ratio).toBeCloseTo(1.4, 1)
    expect(median?.low).toBeGreaterThan(1.35)
    expect(median?.high).toBeLessThan(1.45)
    expect(sentence).toMatch(/^B is slower than A at p50, p90, p95 and p99, most at p.* at 1\.40 times A's/)
  })

  test('of which the second is faster say so', () => {
    const { sentence } = compare(toLatencies(drawSeconds(2, { factor: 0.5 })))
    expect(sentence).toMatch(/^B is faster than A/)
  })

  test('that differ only in the tail say where', () => {
    const { series, sentence } = compare(toLatencies(drawSeconds(2, { slowEvery: 5 })))
    expect(series[0]?.percentiles.map(({ percentile, verdict }) => [percentile, verdict])).toEqual([
      [50, 'alike'],
      [90, 'slower'],
      [95, 'slower'],
      [99, 'alike'],
      [99.9, 'unclear'],
    ])
    expect(sentence).toMatch(/^B is slower than A at p90 and p95, most at p9\d at [45]\.\d\d times/)
  })

  test('that are both slower and faster say so', () => {
    const fasterButStalling = drawSeconds(2, { factor: 0.5, slowEvery: 3 })
    expect(compare(toLatencies(fasterButStalling)).sentence).toMatch(
      /^B is slower than A at p90.*; it is faster than A at p50/,
    )
  })

  test('with few requests cannot be distinguished', () => {
    const few = (seed: number) => toLatencies(drawSeconds(seed, { perSecond: 1, slowEvery: 2 }))
    const { sentence, series } = compare(few(2), few(3))
    expect(series[0]?.verdict).toBe('unclear')
    expect(sentence).toContain('It is unclear whether')
    expect(series[0]?.percentiles.at(-1)).toMatchObject({ low: null, high: null, verdict: 'unclear' })
  })

  test('with stalls in some seconds are distinguished with less confidence than their requests suggest', () => {
    const stalled = drawSeconds(4).map((second, index) => {
      const histogram = createHistogram()
      for (let i = 0; i < second.totalCount; i += 1) recordUs(histogram, 20_000 * (1 + (index % 7)) + 10 * i)
      return histogram
    })
    const [whole, batched] = [{ ...toHistory(stalled), batches: [] }, toHistory(stalled)].map((history) =>
      compareLatency('http_req_duration', BASELINE, history),
    )
    const width = (one: typeof whole) => {
      const p90 = one?.percentiles[1]
      return (p90?.high ?? Infinity) - (p90?.low ?? 0)
    }
    expect(width(batched)).toBeGreaterThan(2 * width(whole))
  })

  test('without a common latency say so', () => {
    expect(compare({ latencies: {} })).toMatchObject({ series: [] })
    expect(compare({ latencies: {} }).sentence).toContain('no latency that both runs measured')
  })

  test('also compare the waits if only the schedule shows them', () => {
    const scheduled = (factor: number) => ({
      latencies: {
        http_req_duration: BASELINE,
        response_time: toHistory(drawSeconds(1, { factor })),
      },
    })
    expect(compare(scheduled(3), scheduled(1)).sentence).toMatch(
      /B is as fast as A.* B is slower than A by response_time/,
    )
    expect(compare(scheduled(1), scheduled(1)).sentence).not.toContain('response_time')
  })
})

describe('errors and throughput of two runs', () => {
  test('are named if they differ beyond chance', () => {
    const failing = {
      failed: 300,
      succeeded: 2_700,
      batches: Array.from({ length: 30 }, () => ({
        durationS: 1,
        requests: 100,
        failed: 10,
        succeeded: 90,
      })),
    }
    const { sentence, failedShare, succeededPerS } = compare(failing)
    expect(failedShare.difference).toBeCloseTo(0.098, 6)
    expect(failedShare.low).toBeGreaterThan(0.08)
    expect(failedShare.high).toBeLessThan(0.12)
    expect(sentence).toMatch(/B has more requests that did not succeed: 10\.0 % after 0\.2 % \(a difference/)
    expect(succeededPerS).toMatchObject({ a: 99.8, b: 90 })
    expect(sentence).toContain('B has less throughput: 90.0 after 99.8 succeeded requests a second.')
  })

  test('of which one mostly fails are neither faster nor slower, apart from what succeeded', () => {
    const fast = toHistory(drawSeconds(2, { factor: 0.1 }))
    const failing = { failed: 2_700, succeeded: 300 }
    const latencies = { http_req_duration: fast, response_time: fast, succeeded_duration: fast }
    const all = { http_req_duration: BASELINE, response_time: BASELINE, succeeded_duration: BASELINE }
    const { series, sentence } = compare({ ...failing, latencies }, { latencies: all })
    expect(sentence).toMatch(/^Most requests of a run did not succeed.* It is unclear/)
    expect(series.map(({ metric, verdict }) => [metric, verdict])).toEqual([
      ['http_req_duration', 'unclear'],
      ['response_time', 'unclear'],
      ['succeeded_duration', 'faster'],
    ])
    expect(new Set(series[0]?.percentiles.map(({ verdict }) => verdict))).toEqual(new Set(['unclear']))
    expect(series[0]?.sentence).toMatch(/^It is unclear whether/)
    const { series: without } = compare({ latencies }, { latencies: all })
    expect(without[0]?.verdict).toBe('faster')
  })

  test('are not named if they may be chance', () => {
    const { sentence, failedShare } = compare({ failed: 8, succeeded: 2_992 })
    expect(failedShare.low).toBeLessThan(0)
    expect(failedShare.high).toBeGreaterThan(0)
    expect(sentence).not.toContain('succeed')
  })

  test('have no range of throughput if only the total is known', () => {
    expect(compare({ batches: [] }).succeededPerS).toMatchObject({ low: null, high: null })
  })
})

describe('what to keep in mind', () => {
  test('is said if the runs of one side had different plans', () => {
    const plan = { connection: { baseUrl: 'https://service.test' }, load: { workers: 2 } }
    const pooled = poolRuns([createRun('one'), createRun('two', { plan }), createRun('three', { plan })])
    const { caveats, planDifferences } = compareRuns(createRun('before'), pooled)
    expect(planDifferences).toEqual([])
    expect(caveats).toEqual(['The plans of the runs of B differ in workers.'])
  })

  test('is said: plans, drops, the cache, and taking requests as independent', () => {
    const { caveats, planDifferences } = compare(
      {
        plan: { connection: { baseUrl: 'https://other.test' }, load: { workers: 2 } },
        state: 'cut',
        generatorLimited: true,
        dropped: 1_200,
        missingCallbacks: 3,
        silence: 'No answer came for 4 s (from second 3 on) while requests were open',
        fromCache: 1,
      },
      { latencies: { http_req_duration: { ...BASELINE, batches: [] } } },
    )
    expect(planDifferences.map(({ path }) => path)).toEqual(['connection.baseUrl', 'load.workers'])
    expect(caveats).toEqual([
      'The plans differ in base URL and workers: what differs below may come from that.',
      'B ended early: it measured 30.0 s.',
      'In B: No answer came for 4 s (from second 3 on) while requests were open. Percentiles may hardly show this.',
      'B dropped 1,200 requests, which are in no percentile.',
      'B lacks 3 callbacks, which did not arrive and are in no percentile.',
      "B has 1 answer from the service's cache, with the latency of the cache.",
      expect.stringContaining('taken as independent'),
    ])
  })

  test('is said of one silent run among several', () => {
    const pooled = poolRuns([createRun('one'), createRun('two', { silence: 'No answer came for 2 s' })])
    expect(compareRuns(createRun('before'), pooled).caveats).toEqual([
      'In B: No answer came for 2 s. Percentiles may hardly show this.',
    ])
  })

  test('includes a run that is still running', () => {
    expect(compare({ state: 'going' }).caveats).toEqual(['B is still running: it measured 30.0 s.'])
  })
})

describe('plans', () => {
  test('are compared by every value that affects the measurement', () => {
    const a = {
      name: 'one',
      connection: { apiKeyEnv: 'A', deliveredCodes: ['X'] },
      load: { thresholds: [{ expression: 'p(99)<5' }], pace: { kind: 'open', ratePerSecond: 5 } },
      mapping: {},
    }
    const b = {
      name: 'two',
      connection: { apiKeyEnv: 'B', deliveredCodes: ['X', 'Y'] },
      load: { thresholds: [], pace: { kind: 'closed', concurrency: 5 } },
      mapping: { text_data: { kind: 'column', column: 2 } },
    }
    expect(listPlanDifferences(a, b)).toEqual([
      { path: 'load.pace.kind', a: 'open', b: 'closed' },
      { path: 'load.pace.ratePerSecond', a: '5', b: 'not set' },
      { path: 'connection.deliveredCodes[1]', a: 'not set', b: 'Y' },
      { path: 'load.pace.concurrency', a: 'not set', b: '5' },
      { path: 'mapping.text_data.kind', a: 'not set', b: 'column' },
      { path: 'mapping.text_data.column', a: 'not set', b: '2' },
    ])
    expect(listPlanDifferences(a, a)).toEqual([])
  })

  test('name a fix that only one of them has, wherever it is in the list', () => {
    const split = { kind: 'split' }
    const cell = { kind: 'cell', record: 12, field: 'text_data', value: 'secret' }
    const value = { kind: 'value', problem: 'cut_cell', field: 'user_id', value: '{{run}}' }
    const a = { fixes: [{ kind: 'trim', field: 'user_id' }, split, cell] }
    const b = { fixes: [split, value, { kind: 'leave_out_row', record: 1_200 }] }
    expect(listPlanDifferences(a, b).map(sayPlanDifference)).toEqual([
      {
        setting: 'fixes',
        a: 'Every user_id is sent without white space at its ends and without invisible characters',
        b: 'not set',
      },
      { setting: 'fixes', a: 'record 12: text_data is set to 6 characters', b: 'not set' },
      {
        setting: 'fixes',
        a: 'not set',
        b: expect.stringMatching(/^user_id of the rows with “.+” is set to “{{run}}”$/),
      },
      { setting: 'fixes', a: 'not set', b: 'record 1,200 is left out' },
    ])
    expect(listPlanDifferences(a, { fixes: a.fixes.toReversed() })).toEqual([])
  })

  test('name a fix that both have for one place once, and say that it differs where its words do not', () => {
    const compare = (a: object, b: object) =>
      listPlanDifferences({ fixes: [a] }, { fixes: [b] }).map((one) => [one.a, one.b])
    const cell = { kind: 'cell', record: 3, field: 'text_data', value: '🎉!' }
    expect(compare(cell, { ...cell, value: 'other' })).toEqual([
      ['record 3: text_data is set to 2 characters', 'record 3: text_data is set to 5 characters'],
    ])
    expect(compare(cell, { ...cell, value: 'no' })).toEqual([
      [
        'record 3: text_data is set to 2 characters',
        'record 3: text_data is set to 2 characters (not the same)',
      ],
    ])
    // Plans of 0.2 name the record `row`.
    expect(compare({ kind: 'leave_out_row', row: 3 }, { kind: 'leave_out_row', record: 3 })).toEqual([])
    // The cells that the row had when the fix was made are no part of what it does.
    expect(compare(cell, { ...cell, rowHash: '1f' })).toEqual([])
  })

  test('are described in words, durations with their unit', () => {
    const a = { load: { durationMs: 90_000, pace: { stages: [{ durationMs: 1_000, from: 1 }] } } }
    const b = {
      mapping: { text_data: { kind: 'template' } },
      operation: { legacy: true },
      load: { gracefulStopMs: 0, pace: { stages: [{ durationMs: 2_000, from: 1 }] } },
    }
    expect(listPlanDifferences(a, b).map(sayPlanDifference)).toEqual([
      { setting: 'duration', a: '1 min 30 s', b: 'not set' },
      { setting: 'stage 1, duration', a: '1 s', b: '2 s' },
      { setting: 'text_data, filled by', a: 'not set', b: 'template' },
      { setting: 'legacy answer', a: 'not set', b: 'yes' },
      { setting: 'graceful stop', a: 'not set', b: '0 s' },
    ])
  })
})

test('if one run has only percentiles, the common percentiles are compared', () => {
  const imported = { http_req_duration: { p50: 40, p95: 41, max: 90 } }
  const { series, sentence } = compare({ latencies: {}, percentiles: imported })
  expect(series[0]?.percentiles.map(({ percentile, bMs, low }) => [percentile, bMs, low])).toEqual([
    [50, 40, null],
    [95, 41, null],
  ])
  expect(series[0]?.percentiles[0]?.ratio).toBeCloseTo(2, 1)
  expect(sentence).toMatch(/^B has p50 at 1\.9\d times A's .* so the confidence is unknown\./)
})

/** All percentiles of a run without its machine's delays, as a share of the measured ones. */
const withoutDelays = (seconds: Histogram[], share: number): Partial<ComparedRun> => {
  const { total } = toHistory(seconds)
  const told = toPercentiles(total)
  if (told === null) throw new Error('there are samples')
  const without = Object.fromEntries(Object.entries(told).map(([point, ms]) => [point, ms * share]))
  return { withoutOwnDelays: { http_req_duration: without as typeof told }, generatorLimited: true }
}

describe('where latencies may include delays of this machine', () => {
  const slow = drawSeconds(3, { factor: 5 })

  test('a run is slower if it is slower without its own delays, however much delay the other had', () => {
    const delayed = { generatorLimited: true }
    expect(compare(toLatencies(slow), delayed).sentence).toMatch(
      /^B is slower than A at p50, p90, p95 and p99, .* Delays of this machine are too short to explain that\./,
    )
    const { sentence, series } = compare({ ...toLatencies(slow), ...withoutDelays(slow, 0.5) }, delayed)
    expect(sentence).toMatch(/^B is slower than A/)
    expect(series[0]?.percentiles.map(({ mayBeOwn }) => mayBeOwn)).not.toContain(true)
  })

  test('a run is faster if it is faster as measured, and the other was slower without its own delays', () => {
    const faster = compare({ generatorLimited: true }, { ...toLatencies(slow), ...withoutDelays(slow, 0.5) })
    expect(faster.sentence).toMatch(/^B is faster than A/)
    const unclear = compare({}, { ...toLatencies(slow), ...withoutDelays(slow, 0.2) })
    expect(unclear.sentence).toMatch(/^It is unclear whether the service is slower or faster\./)
  })

  test('it is unclear if the delays may explain the difference', () => {
    const { sentence, series } = compare({ ...toLatencies(slow), ...withoutDelays(slow, 0.2) })
    expect(sentence).toMatch(/^It is unclear whether the service is slower or faster\./)
    expect(series[0]?.percentiles[0]).toMatchObject({ verdict: 'slower', mayBeOwn: true })
  })
})

test("if the delays' share of a latency is unknown, no run is called slower", () => {
  const { sentence, caveats, limited } = compare({
    ...toLatencies(drawSeconds(3, { factor: 5 })),
    generatorLimited: true,
  })
  expect(sentence).toMatch(/^It is unclear whether the service is slower or faster\. Measured for B: p50 at /)
  expect(caveats).toEqual([])
  expect(limited).toEqual(['B'])
  expect(describeLimited(limited)).toBe('Latencies of B may include delays of this machine')
})
