import { expect, test } from 'vitest'
import { describeSlowest, sayFewMeasured } from '../../../src/shared/messages/figure-text.ts'

test('the slowest answers are described as 99 of 100 only from 100 answers on', () => {
  const latency = { p99: 80, max: 95 }
  expect(describeSlowest({ ...latency, count: 100 })).toBe('99 of 100 within 80.0 ms')
  expect(describeSlowest({ ...latency, count: 99 })).toBe('all 99 within 95.0 ms')
  expect(describeSlowest({ ...latency, count: 5 })).toBe('all 5 within 95.0 ms')
  expect(describeSlowest({ ...latency, count: 1 })).toBe('a single request')
})

test('percentiles that are the slowest of few measurements are named', () => {
  expect(sayFewMeasured([100, 5_000])).toBeNull()
  expect(sayFewMeasured([])).toBeNull()
  expect(sayFewMeasured([99])).toBe('p99 of fewer than 100 measurements is the slowest of them.')
  expect(sayFewMeasured([500, 19])).toBe(
    'p99 of fewer than 100 measurements is the slowest of them, and so is p95 of fewer than 20.',
  )
  expect(sayFewMeasured([9])).toBe(
    'p99 of fewer than 100 measurements is the slowest of them, and so are p95 of fewer than 20 and p90 of fewer than 10.',
  )
})
