import { describe, expect, test } from 'vitest'
import {
  describeVerdict,
  JUDGED_PERCENTILES,
  type JudgedRun,
  judgeSpeed,
} from '../../../src/shared/load/speed-gate.ts'
import { toBetaShare, toNormalQuantile, toStudentTail } from '../../../src/shared/load/statistics.ts'
import { createDraw } from '../../helpers/seeded-draw.ts'

/** A run of a service with log-normal latencies around 20 ms, evenly spread over its seconds. */
function createRun(
  seed: number,
  { factor = 1, requests = 2_000, seconds = 20, failedShare = 0 } = {},
  changes: Partial<JudgedRun> = {},
): JudgedRun {
  const draw = createDraw(seed)
  const perSecond = requests / seconds
  return {
    seconds,
    limitedSeconds: 0,
    requests,
    failed: requests * failedShare,
    failures: Array.from({ length: seconds }, () => ({ count: perSecond, hits: perSecond * failedShare })),
    latencies: {
      http_req_duration: Array.from({ length: seconds }, () => ({
        us: Array.from({ length: perSecond }, () =>
          Math.round(20_000 * factor * Math.exp(0.5 * toNormalQuantile(0.000_1 + 0.999_8 * draw()))),
        ).sort((a, b) => a - b),
        counts: Array.from({ length: perSecond }, (_, index) => index + 1),
      })),
    },
    ...changes,
  }
}

/** A run of 100 requests a second, all of which fail from one second until another. */
function createBreak(seconds: number, from: number, to = seconds): JudgedRun {
  const failures = Array.from({ length: seconds }, (_, second) => ({
    count: 100,
    hits: second >= from && second < to ? 100 : 0,
  }))
  return createRun(
    2,
    { seconds, requests: seconds * 100 },
    { failures, failed: Math.max(0, to - from) * 100 },
  )
}

const judge = (a: JudgedRun | JudgedRun[], b: JudgedRun | JudgedRun[], percentiles = JUDGED_PERCENTILES) =>
  judgeSpeed([a].flat(), [b].flat(), { margin: 10, percentiles })

const listResults = (verdict: ReturnType<typeof judge>) =>
  Object.fromEntries(
    verdict.percentiles.map(({ percentile, result, reason }) => [percentile, reason ?? result]),
  )

describe('the check of speed', () => {
  test('passes equal services, and fails one that is 50 % slower at every percentile', () => {
    const equal = judge(createRun(1), createRun(2))
    expect(equal.result).toBe('passed')
    expect(listResults(equal)).toEqual({ 50: 'within', 95: 'within', 99: 'within' })
    const slower = judge(createRun(1), createRun(2, { factor: 1.5 }))
    expect(slower.result).toBe('failed')
    expect(listResults(slower)).toEqual({ 50: 'slower', 95: 'slower', 99: 'slower' })
    expect(describeVerdict(slower)[0]).toMatch(
      /^B is slower than A by more than 10 %: http_req_duration p50 \d+\.\d % \(.* ms after .* ms\), /,
    )
  })

  test('finds a service of constant latency slower, whatever the percentile', () => {
    const toConstant = (us: number) =>
      createRun(
        1,
        {},
        {
          latencies: { http_req_duration: Array.from({ length: 20 }, () => ({ us: [us], counts: [100] })) },
        },
      )
    expect(judge(toConstant(20_000), toConstant(20_900)).result).toBe('passed')
    expect(listResults(judge(toConstant(20_000), toConstant(22_500)))).toEqual({
      50: 'slower',
      95: 'slower',
      99: 'slower',
    })
  })

  test('does not judge a percentile of callbacks that too many missing ones would change', () => {
    const toAsync = (seed: number, missingCallbacks: number) => {
      const { latencies } = createRun(seed)
      const { http_req_duration: durations = [] } = latencies
      const callbacks = missingCallbacks === 1 ? {} : { callback_latency: durations }
      return createRun(seed, {}, { latencies: { ...latencies, ...callbacks }, missingCallbacks })
    }
    const listCallbacks = (missing: number) => {
      const { result, percentiles } = judge(toAsync(1, 0), toAsync(2, missing))
      const callbacks = percentiles.filter(({ metric }) => metric === 'callback_latency')
      return [result, ...callbacks.map((one) => one.reason ?? one.result)]
    }
    expect(listCallbacks(0)).toEqual(['passed', 'within', 'within', 'within'])
    expect(listCallbacks(0.01)).toEqual(['not_judged', 'within', 'within', 'missing_callbacks'])
    expect(listCallbacks(0.75)).toEqual(['not_judged', ...Array(3).fill('missing_callbacks')])
    expect(judge(toAsync(1, 1), toAsync(2, 1)).result).toBe('not_judged')
    expect(describeVerdict(judge(toAsync(1, 0), toAsync(2, 0.75))).join('\n')).toContain(
      'cannot judge p50, p95 and p99 of callback_latency: so many callbacks of a run did not arrive',
    )
  })

  test('says of an A in which everything fails that no B could fail more, not that it lacks requests', () => {
    const failing = createRun(1, { failedShare: 1 })
    const verdicts = [createRun(2), createRun(2, { failedShare: 1 })].map((b) => judge(failing, b))
    expect(verdicts.map(({ failures: { result, reason } }) => [result, reason])).toEqual([
      ['not_judged', 'mostly_failures'],
      ['not_judged', 'mostly_failures'],
    ])
    expect(describeVerdict(verdicts[0] as (typeof verdicts)[0]).join('\n')).toContain(
      'cannot judge failures (0 % after 100 %): most requests of A did not succeed, so no B could plainly fail more',
    )
  })

  test('says from which difference on it would have failed', () => {
    const { percentiles } = judge(createRun(1), createRun(2))
    const [median, , tail] = percentiles.map(({ fails_from: from }) => from ?? 0)
    expect(median).toBeGreaterThan(1.1)
    expect(median).toBeLessThan(1.3)
    expect(tail).toBeGreaterThan(median ?? 0)
  })

  test('does not fail for less than a millisecond, which the sending machine may add', () => {
    expect(judge(createRun(1, { factor: 0.03 }), createRun(2, { factor: 0.04 })).result).toBe('passed')
  })

  test('fails a B that has more failures, however fast they are', () => {
    const refusing = judge(createRun(1), createRun(2, { factor: 0.05, failedShare: 1 }))
    expect(refusing).toMatchObject({ result: 'failed', failures: { a: 0, b: 1, result: 'more' } })
    expect(describeVerdict(refusing)).toContain('B has more requests that did not succeed: 100 % after 0 %.')
    expect(judge(createRun(1), createRun(2, { failedShare: 0.05 })).failures.result).toBe('more')
    expect(
      judge(createRun(1, { failedShare: 0.07 }), createRun(2, { failedShare: 0.08 })).failures.result,
    ).toBe('within')
  })

  test('attributes the failures of one bad second to chance', () => {
    const failures = Array.from({ length: 20 }, (_, second) => ({ count: 100, hits: second === 7 ? 60 : 0 }))
    expect(judge(createRun(1), createRun(2, {}, { failed: 60, failures })).failures.result).toBe('within')
  })

  test.each([
    { what: 'from second 16 of 30 on', seconds: 30, from: 16 },
    { what: 'in the last 10 of 30 s', seconds: 30, from: 20 },
    { what: 'in the last 20 of 60 s', seconds: 60, from: 40 },
    { what: 'in the last 3 of 5 min', seconds: 300, from: 120 },
  ])('fails a B in which everything fails $what', ({ seconds, from }) => {
    const verdict = judge(createRun(1, { seconds, requests: seconds * 100 }), createBreak(seconds, from))
    expect(verdict).toMatchObject({ result: 'failed', failures: { result: 'more', reason: null } })
  })

  test('fails a B that breaks down, though A had two bad seconds', () => {
    const a = createBreak(30, 4, 6)
    expect(judge(a, createBreak(30, 16)).failures.result).toBe('more')
  })

  test('fails a B that breaks down in each of several runs', () => {
    const runs = (from: number) => [0, 1, 2].map((run) => createBreak(30, from + (from < 30 ? run : 0)))
    expect(judge(runs(30), runs(15)).failures.result).toBe('more')
  })

  test.each([1, 2])(
    'judges failures of a service that refuses everything in %i s, too short for latencies',
    (seconds) => {
      const short = { seconds, requests: 100 }
      const verdict = judge(createRun(1, short), createRun(2, { ...short, failedShare: 1 }))
      expect(verdict).toMatchObject({ result: 'failed', failures: { result: 'more' } })
      const some = judge(createRun(1, short), createRun(2, { ...short, failedShare: 0.4 }))
      expect(some.failures.result).toBe(seconds === 1 ? 'not_judged' : 'more')
    },
  )
})

describe('what cannot be judged neither passes nor fails', () => {
  test.each([
    { what: 'in the last 5 of 30 s', seconds: 30, from: 25 },
    { what: 'in the last 2 of 30 s', seconds: 30, from: 28 },
    { what: 'in the last 4 of 10 s', seconds: 10, from: 6 },
    { what: 'in the second of 2 s', seconds: 2, from: 1 },
  ])('failures in a burst $what, which either run may have had', ({ seconds, from }) => {
    const verdict = judge(createRun(1, { seconds, requests: seconds * 100 }), createBreak(seconds, from))
    expect(verdict).toMatchObject({
      result: 'not_judged',
      failures: { result: 'not_judged', reason: 'too_few' },
    })
    expect(describeVerdict(verdict).join('\n')).toContain(
      'after 0 %): requests are so few, or failures come so close together in time, that a B that plainly',
    )
  })

  test('equal bursts of failures on both sides, wherever they are', () => {
    const [early, late] = [createBreak(30, 3, 8), createBreak(30, 20, 25)]
    for (const [a, b] of [
      [early, late],
      [late, early],
    ] as const) {
      expect(judge(a, b).failures).toMatchObject({ result: 'not_judged', reason: 'too_few' })
    }
  })

  test('failures of so few requests that a B with one failure in five would count as chance', () => {
    const few = { requests: 20, seconds: 20 }
    expect(judge(createRun(1, few), createRun(2, few), [50]).failures).toMatchObject({
      result: 'not_judged',
      reason: 'too_few',
    })
  })

  test('too few requests, for the percentiles that need more; those that do not can be named', () => {
    const few = { requests: 200, seconds: 20 }
    const verdict = judge(createRun(1, few), createRun(2, few))
    expect(verdict.result).toBe('not_judged')
    expect(listResults(verdict)).toMatchObject({ 50: 'within', 99: 'too_few' })
    expect(describeVerdict(verdict).join('\n')).toContain('--fail-if-slower cannot judge')
    expect(judge(createRun(1, few), createRun(2, few), [50]).result).toBe('passed')
  })

  test('a tail with few requests, although B is slower elsewhere', () => {
    const verdict = judge(createRun(1, { requests: 900 }), createRun(2, { requests: 900, factor: 3 }), [99])
    expect(verdict.result).toBe('not_judged')
    expect(judge(createRun(1, { requests: 1_000 }), createRun(2, { factor: 3 }), [99]).result).toBe('failed')
  })

  test('too few seconds', () => {
    const short = { seconds: 4 }
    const verdict = judge(createRun(1, short), createRun(2, { ...short, factor: 2 }))
    expect(verdict.result).toBe('not_judged')
    expect(listResults(verdict)).toEqual({ 50: 'too_short', 95: 'too_short', 99: 'too_short' })
    const shortest = { seconds: 1 }
    const said = describeVerdict(judge(createRun(1, shortest), createRun(2, shortest))).join('\n')
    expect(said).toMatch(/cannot judge p50, p95 and p99 .*: that takes at least 8 seconds of each run/)
    expect(said).toMatch(/cannot judge failures .*: that takes at least 2 seconds of each run/)
  })

  test('a run that the sending machine distorted in most seconds', () => {
    const limited = judge(createRun(1), createRun(2, { factor: 2 }, { limitedSeconds: 11 }))
    expect(limited.result).toBe('not_judged')
    expect(listResults(limited)).toMatchObject({ 50: 'generator_limited' })
    const partly = judge(createRun(1), createRun(2, { factor: 2 }, { limitedSeconds: 5 }))
    expect(partly).toMatchObject({ result: 'failed', left_out_seconds: { a: 0, b: 5 } })
    expect(describeVerdict(partly).at(-1)).toBe(
      'Seconds whose latencies may include delays of this machine are left out: 0 of A, 5 of B.',
    )
  })

  test('runs that mostly fail alike', () => {
    const failing = { failedShare: 0.9 }
    const verdict = judge(createRun(1, failing), createRun(2, failing))
    expect(verdict.result).toBe('not_judged')
    expect(listResults(verdict)).toMatchObject({ 50: 'mostly_failures' })
  })

  test('a run without requests, and one without figures by second', () => {
    const nothing = { seconds: 0, requests: 0, failed: 0, failures: [], latencies: {} }
    expect(listResults(judge(createRun(1), createRun(2, {}, nothing)))).toMatchObject({ 50: 'no_requests' })
    const summary = { seconds: 0, failures: [], latencies: {} }
    expect(listResults(judge(createRun(1), createRun(2, {}, summary)))).toMatchObject({
      50: 'percentiles_only',
    })
  })

  test('a detected difference fails, whatever else cannot be judged', () => {
    const few = { requests: 200, seconds: 20 }
    const verdict = judge(createRun(1, few), createRun(2, { ...few, factor: 3 }))
    expect(verdict.result).toBe('failed')
    expect(verdict.percentiles.some(({ result }) => result === 'slower')).toBe(true)
  })
})

describe('several runs of a side', () => {
  const createRuns = (first: number, factors: readonly number[]) =>
    factors.map((factor, index) => createRun(first + index, { factor }))

  test('that differ among themselves explain a difference of the same size as chance', () => {
    const [base, others] = [createRuns(1, [1, 1.3, 0.9]), createRuns(11, [1.35, 1.2, 1.25])]
    expect(judge(base[0] ?? [], others[0] ?? []).result).toBe('failed')
    expect(judge(base, others).percentiles.every(({ result }) => result !== 'slower')).toBe(true)
  })

  test('that are alike detect differences', () => {
    expect(judge(createRuns(1, [1, 1, 1]), createRuns(11, [1, 1, 1])).result).toBe('passed')
    expect(judge(createRuns(1, [1, 1, 1]), createRuns(11, [1.5, 1.5, 1.5])).result).toBe('failed')
  })
})

test('the latency of callbacks is judged, too', () => {
  const withCallbacks = (run: JudgedRun, from: JudgedRun): JudgedRun => ({
    ...run,
    latencies: { ...run.latencies, callback_latency: from.latencies.http_req_duration ?? [] },
  })
  const verdict = judge(
    withCallbacks(createRun(1), createRun(3)),
    withCallbacks(createRun(2), createRun(4, { factor: 2 })),
  )
  const slower = verdict.percentiles.filter(({ result }) => result === 'slower')
  expect(slower.map(({ metric }) => metric)).toEqual(JUDGED_PERCENTILES.map(() => 'callback_latency'))
})

test('the beta function and Student distribution match tables and sums', () => {
  // Ten of ten; by numeric integration; t tables.
  expect(toBetaShare(0.5, 10, 1)).toBeCloseTo(0.0009765625, 9)
  expect(toBetaShare(0.3, 2.5, 4.5)).toBeCloseTo(0.406539, 5)
  expect(toStudentTail(0.0025, 4)).toBeCloseTo(5.5976, 3)
  expect(toStudentTail(0.0025, 29)).toBeCloseTo(3.038, 3)
})
