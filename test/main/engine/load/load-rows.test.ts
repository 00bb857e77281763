import { expect, test } from 'vitest'
import { OUTCOMES } from '../../../../src/main/engine/load/load-record.ts'
import { LoadRows, toRowEnding } from '../../../../src/main/engine/load/load-rows.ts'
import type { Outcome } from '../../../../src/shared/run/item-state.ts'

const end = (position: number, outcome: Outcome) => toRowEnding(position, OUTCOMES.indexOf(outcome))

test('each row of a load counts as the last of its requests', () => {
  const rows = new LoadRows(1_000_000)
  rows.take([end(0, 'succeeded'), end(1, 'rejected'), end(999_999, 'failed'), end(0, 'unknown')])
  expect(rows.counts).toEqual({ succeeded: 0, rejected: 1, failed: 1, unknown: 1 })
  rows.take([end(0, 'succeeded'), end(1, 'rejected')])
  expect(rows.counts).toEqual({ succeeded: 1, rejected: 1, failed: 1, unknown: 0 })
})
