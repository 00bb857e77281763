import { expect, test } from 'vitest'
import {
  toCauseLabel,
  toErrorGroups,
  toErrorKey,
  toErrorPattern,
  toRequestCounts,
  toRowCounts,
} from '../../../src/shared/run/counts.ts'

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

test('attempts are counted by outcome and in total; retried ones separately', () => {
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

test('a key becomes again the group that it was made of', () => {
  const counts = new Map([[toErrorKey('rejected', 400, 'INVALID_PARAM', 'post_id "a,b" must not…\n'), 3]])
  expect(toErrorGroups(counts)).toEqual([
    {
      outcome: 'rejected',
      status: 400,
      error_code: 'INVALID_PARAM',
      message: 'post_id "a,b" must not…\n',
      rows: 3,
    },
  ])
})

test('groups come with the most rows first, and not at all without rows', () => {
  const counts = new Map([
    [toErrorKey('unknown', null, null, 'gone'), 2],
    [toErrorKey('failed', null, 'ECONNREFUSED', 'refused'), 0],
    [toErrorKey('rejected', 400, 'X', 'no'), 5],
    [toErrorKey('unknown', 503, 'BUSY', 'busy'), -1],
  ])
  expect(toErrorGroups(counts).map(({ message, rows }) => [message, rows])).toEqual([
    ['no', 5],
    ['gone', 2],
  ])
})

test('keys differ if any part of the cause does', () => {
  const keys = [
    toErrorKey('rejected', 400, 'X', 'no'),
    toErrorKey('unknown', 400, 'X', 'no'),
    toErrorKey('rejected', 401, 'X', 'no'),
    toErrorKey('rejected', 400, 'Y', 'no'),
    toErrorKey('rejected', 400, null, 'no'),
    toErrorKey('rejected', 400, 'X', 'yes'),
  ]
  expect(new Set(keys).size).toBe(keys.length)
})

test.each([
  ['post_id "run-17" was submitted before', 'post_id "…" was submitted before'],
  ['unknown field `a`, did you mean `b`?', 'unknown field `…`, did you mean `…`?'],
  ['no such item 123456', 'no such item …'],
  ['task 9f3b2c1d-55aa-4e0f-8d11-aa00bb11cc22 is gone', 'task … is gone'],
  ['text is longer than 100 characters', 'text is longer than 100 characters'],
  ['invalid-parameter-without-digits', 'invalid-parameter-without-digits'],
])('`%s` belongs to the cause `%s`', (message, pattern) => {
  expect(toErrorPattern(message)).toBe(pattern)
})

test('names the status of a cause once', () => {
  const label = (message: string) => toCauseLabel(toErrorKey('unknown', 200, null, message))
  expect(label('answered 200 with an empty body')).toBe('answered 200 with an empty body')
  expect(label('too rude')).toBe('200 too rude')
})
