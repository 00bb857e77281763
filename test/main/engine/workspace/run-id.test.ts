import { expect, test } from 'vitest'
import { createRunId } from '../../../../src/main/engine/workspace/run-id.ts'

test('a run’s id tells its time to the millisecond, so that ids sort by it', () => {
  const at = Date.UTC(2026, 10, 21, 9, 43, 29, 7)
  expect(createRunId(at)).toMatch(/^20261121-094329-007[a-z0-9]{4}$/)
  const ids = [0, 1, 12, 123, 999, 1_000].map((ms) => createRunId(at + ms))
  expect(ids.toSorted()).toEqual(ids)
})

test('a run’s id can be part of a post_id, and is its own', () => {
  const ids = Array.from({ length: 100 }, () => createRunId(0))
  expect(new Set(ids).size).toBeGreaterThan(98)
  for (const id of ids) expect(id).not.toMatch(/[_;]/)
})
