import { expect, test } from 'vitest'
import { toRequestCounts, toRowCounts } from '../../../src/shared/run/row-counts.ts'

test('every row is in exactly one of the counts after `read`', () => {
  const states = new Map(
    Object.entries({
      invalid: 1,
      succeeded: 2,
      rejected: 3,
      failed: 4,
      unknown: 5,
      overdue: 6,
      acknowledged: 7,
      pending: 8,
      sending: 9,
    }),
  )
  expect(toRowCounts(states, 100)).toEqual({
    read: 100,
    invalid: 1,
    succeeded: 2,
    rejected: 3,
    failed: 4,
    unknown: 5,
    overdue: 6,
    awaiting: 7,
    not_sent: 72,
  })
})

test('rows that a dead process marked and never settled are unknown', () => {
  const counts = toRowCounts(new Map([['unknown', 1]]), 10, 4)
  expect(counts).toMatchObject({ unknown: 5, not_sent: 5 })
})

test('a run without any recorded result has sent nothing', () => {
  expect(toRowCounts(new Map(), 3)).toMatchObject({ read: 3, succeeded: 0, not_sent: 3 })
})

test('attempts are counted by outcome, and as sent together; those that were retried are apart', () => {
  const counts = new Map(Object.entries({ succeeded: 4, rejected: 3, failed: 2, unknown: 1, retried: 5 }))
  expect(toRequestCounts(counts)).toEqual({
    sent: 10,
    succeeded: 4,
    rejected: 3,
    failed: 2,
    unknown: 1,
    retried: 5,
  })
  expect(toRequestCounts(new Map())).toMatchObject({ sent: 0, retried: 0 })
})
