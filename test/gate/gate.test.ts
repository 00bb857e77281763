import { describe, expect, inject, test } from 'vitest'
import { failsTooOften } from './false-alarms.ts'
import { FAILURES, simulateFailures } from './simulate-failures.ts'
import { DEPENDENCES, simulatePairs } from './simulate-pairs.ts'

const IS_LONG = inject('isLong')
const PAIRS = IS_LONG ? 1_000 : 60
const REQUESTS = IS_LONG ? [500, 2_000, 10_000] : [500]
const cases = DEPENDENCES.flatMap((dependence) => REQUESTS.map((requests) => ({ dependence, requests })))

/**
 * Whether the failures within the margin are acceptable: at most 1 % of many pairs, or as many of few pairs
 * as chance explains.
 */
const mayFail = (failed: number, pairs: number) =>
  IS_LONG ? failed <= pairs / 100 : !failsTooOften(failed, pairs)

test('a share above 1 % counts only if chance does not explain it', () => {
  expect([0, 1, 3, 4, 30].map((failed) => failsTooOften(failed, 30))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
  expect([10, 15, 25].map((failed) => failsTooOften(failed, 1_000))).toEqual([false, false, true])
})

describe('of pairs of services', () => {
  test.each(cases)(
    'within the margin at most 1 of 100 fail: $dependence, $requests requests',
    ({ dependence, requests }) => {
      const service = { dependence, requests, seconds: 30 }
      const shares = simulatePairs(service, { pairs: PAIRS, seed: 1, differences: [0, 5, 10] })
      expect(shares.map(({ failed }) => mayFail(failed, PAIRS))).toEqual([true, true, true])
    },
    600_000,
  )

  test('that differ by half again as much nearly all fail, with 500 independent requests', () => {
    const service = { dependence: 'independent', requests: 500, seconds: 30 } as const
    const [share] = simulatePairs(service, { pairs: PAIRS, seed: 1, differences: [50] })
    expect(share?.failed).toBeGreaterThan(0.95 * PAIRS)
  })

  test('that drift between runs at most 1 of 100 fail at the margin, with three runs of each side', () => {
    const service = { dependence: 'independent', requests: 500, seconds: 30 } as const
    const drawn = { pairs: PAIRS, seed: 1, differences: [10] }
    const [single] = simulatePairs({ ...service, betweenRuns: 0.1 }, drawn)
    const [several] = simulatePairs({ ...service, betweenRuns: 0.1, runs: 3 }, drawn)
    expect(failsTooOften(single?.failed ?? 0, PAIRS)).toBe(true)
    expect(mayFail(several?.failed ?? PAIRS, PAIRS)).toBe(true)
  })
})

describe('of pairs of services whose requests fail', () => {
  const FAILURE_PAIRS = IS_LONG ? 1_000 : 100
  const drawn = { pairs: FAILURE_PAIRS, seed: 1 }
  const lengths = [30, 60, 300] as const

  test.each(FAILURES)('alike, at most 1 of 100 fail: %s', (failures) => {
    for (const seconds of lengths) {
      const { failed } = simulateFailures({ failures, seconds, rate: 20, breaksAt: null }, drawn)
      expect(mayFail(failed, FAILURE_PAIRS), `${failed} of ${FAILURE_PAIRS}, ${seconds} s`).toBe(true)
    }
  })

  test.each([
    { seconds: 30, breaksAt: 16 },
    { seconds: 30, breaksAt: 20 },
    { seconds: 60, breaksAt: 40 },
  ])('a B of $seconds s that breaks down at $breaksAt s fails, if A is sound', ({ seconds, breaksAt }) => {
    for (const failures of ['none', 'even'] as const) {
      const { failed } = simulateFailures({ failures, seconds, rate: 20, breaksAt }, drawn)
      expect(failed, failures).toBe(FAILURE_PAIRS)
    }
  })

  test.each(FAILURES)('a B in which everything fails for a time at the end never passes: %s', (failures) => {
    for (const [seconds, breaksAt] of [
      [10, 6],
      [30, 16],
      [30, 25],
      [60, 40],
    ] as const) {
      const { passed } = simulateFailures({ failures, seconds, rate: 20, breaksAt }, drawn)
      expect(passed, `${breaksAt} of ${seconds} s`).toBe(0)
    }
  })
})
