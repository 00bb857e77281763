import { expect, test } from 'vitest'
import { formatSlowdown } from '../../../src/shared/run/snapshot.ts'

const at = (hours: number, minutes: number, seconds: number) =>
  new Date(2026, 10, 22, hours, minutes, seconds).getTime()

test('a throttled run reports its current pace', () => {
  const say = (pacePerS: number) =>
    formatSlowdown({ kind: 'throttled', pacePerS, nextTryAtMs: null, givesUpAtMs: null })
  expect(say(198.4)).toBe('throttled by the service: sending at most 198/s')
  expect(say(0.42)).toBe('throttled by the service: sending at most 0.4/s')
})

test('a run that gets only 429s says when it tries again and when it gives up', () => {
  const slowdown = {
    kind: 'throttled',
    pacePerS: null,
    nextTryAtMs: at(9, 5, 7),
    givesUpAtMs: at(9, 10, 0),
  } as const
  expect(formatSlowdown(slowdown)).toBe(
    'throttled: the service answers only 429; next try at 09:05:07; giving up at 09:10:00',
  )
})

test('an unavailable service is reported with the cause and the time until the run gives up', () => {
  const reason = 'connection refused by 127.0.0.1:8080; check the port and that the service is running'
  expect(formatSlowdown({ kind: 'unreachable', reason, givesUpAtMs: at(14, 0, 30) })).toBe(
    'cannot reach the service: connection refused by 127.0.0.1:8080; trying again until 14:00:30',
  )
})

test('a run whose last rows wait says until when, with the day if it is not today', () => {
  const today = new Date()
  today.setHours(23, 59, 58, 0)
  expect(formatSlowdown({ kind: 'waiting', untilMs: today.getTime() })).toBe(
    'waiting until 23:59:58 to send the last rows again',
  )
  const later = new Date(2031, 10, 27, 14, 5, 9).getTime()
  expect(formatSlowdown({ kind: 'waiting', untilMs: later })).toBe(
    'waiting until 2031-11-27 14:05:09 to send the last rows again',
  )
})
