import { expect, test } from 'vitest'
import { releaseMemory } from '../../src/shared/release-memory.ts'

const BYTES = 64_000_000

test('memory that is released is free before anything is collected', () => {
  const before = process.memoryUsage().arrayBuffers
  const numbers = new Float64Array(BYTES / 8)
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThanOrEqual(BYTES)
  releaseMemory(numbers, numbers.subarray(1))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(BYTES / 2)
  expect(numbers).toHaveLength(0)
})
