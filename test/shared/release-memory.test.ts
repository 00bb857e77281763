import { expect, test } from 'vitest'
import { releaseMemory } from '../../src/shared/release-memory.ts'

const BYTES = 64_000_000

test('released memory is free before any garbage collection', () => {
  const before = process.memoryUsage().arrayBuffers
  const numbers = new Float64Array(BYTES / 8)
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThanOrEqual(BYTES)
  releaseMemory(numbers, numbers.subarray(1))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(BYTES / 2)
  expect(numbers).toHaveLength(0)
})
