import { expect, test } from 'vitest'
import { toRowCounts } from '../../../src/shared/run/counts.ts'
import { describeLeft } from '../../../src/shared/run/run-view.ts'

test('rows to be repeated are told apart from rows that were not sent', () => {
  const rows = toRowCounts(
    new Map([
      ['succeeded', 36],
      ['unknown', 1],
    ]),
    401,
  )
  expect(describeLeft({ rows, to_repeat: { rows: 16 } })).toBe(
    '348 rows not sent, 16 rows to be repeated, 1 row with an unknown outcome',
  )
  expect(describeLeft({ rows, to_repeat: { rows: 364 } })).toBe(
    '364 rows to be repeated, 1 row with an unknown outcome',
  )
})
