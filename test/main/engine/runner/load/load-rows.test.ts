import { expect, test } from 'vitest'
import { OUTCOMES } from '../../../../../src/main/engine/runner/load/load-record.ts'
import { LoadRows, toRowEnding } from '../../../../../src/main/engine/runner/load/load-rows.ts'
import type { Outcome } from '../../../../../src/shared/item-state.ts'

const end = (position: number, outcome: Outcome) => toRowEnding(position, OUTCOMES.indexOf(outcome))

test('each row of a load counts as its last request ended', () => {
  const rows = new LoadRows(1_000_000)
  expect(
    rows.take([end(0, 'succeeded'), end(1, 'rejected'), end(999_999, 'failed'), end(0, 'unknown')]),
  ).toEqual({
    succeeded: 0,
    rejected: 1,
    failed: 1,
    unknown: 1,
  })
  expect(rows.take([end(0, 'succeeded'), end(1, 'rejected')])).toEqual({
    succeeded: 1,
    rejected: 0,
    failed: 0,
    unknown: -1,
  })
  expect(rows.take([])).toEqual({ succeeded: 0, rejected: 0, failed: 0, unknown: 0 })
})
