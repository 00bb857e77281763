import { expect, test } from 'vitest'
import { describeSlowest } from '../../../src/shared/messages/figure-text.ts'

test('the slowest answers are described as 99 of 100 only from 100 answers on', () => {
  const latency = { p99: 80, max: 95 }
  expect(describeSlowest({ ...latency, count: 100 })).toBe('99 of 100 within 80.0 ms')
  expect(describeSlowest({ ...latency, count: 99 })).toBe('all 99 within 95.0 ms')
  expect(describeSlowest({ ...latency, count: 5 })).toBe('all 5 within 95.0 ms')
  expect(describeSlowest({ ...latency, count: 1 })).toBe('a single request')
})
