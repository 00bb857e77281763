import { describe, expect, test } from 'vitest'
import { toRetryDelayMs } from '../../../../src/main/engine/sending/retry.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'

const RULES = planSchema.shape.retry.parse({ limit: 10, baseMs: 200, maxMs: 10_000 })
const LATEST = () => 0.999_999
const EARLIEST = () => 0

describe('the back-off', () => {
  test.each([
    [1, 200],
    [2, 400],
    [3, 800],
    [6, 6_400],
    [7, 10_000],
    [50, 10_000],
    [2_000, 10_000],
  ])('after try %i lasts at most %i ms, and may be zero', (attempt, mostMs) => {
    expect(toRetryDelayMs(attempt, null, RULES, LATEST)).toBe(mostMs)
    expect(toRetryDelayMs(attempt, null, RULES, EARLIEST)).toBe(0)
    expect(toRetryDelayMs(attempt, null, RULES, () => 0.5)).toBe(mostMs / 2)
  })

  test('never exceeds its bound, however small that is', () => {
    expect(toRetryDelayMs(1, null, { ...RULES, maxMs: 50 }, LATEST)).toBe(50)
  })
})

describe('what the service asked for', () => {
  test.each([
    [0, 0],
    [1_000, 1_000],
    [60_000, 60_000],
    [60_001, 60_000],
    [1e15, 60_000],
    [Number.MAX_SAFE_INTEGER, 60_000],
  ])('of %d ms is waited for %d ms and a little jitter, whatever the try', (askedMs, leastMs) => {
    for (const attempt of [1, 9]) {
      expect(toRetryDelayMs(attempt, askedMs, RULES, EARLIEST)).toBe(leastMs)
      expect(toRetryDelayMs(attempt, askedMs, RULES, LATEST)).toBe(leastMs + 200)
    }
  })
})
