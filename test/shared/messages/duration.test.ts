import { describe, expect, test } from 'vitest'
import {
  formatDurationMs,
  formatSetDuration,
  parseDurationMs,
} from '../../../src/shared/messages/duration.ts'

describe('a duration', () => {
  test.each([
    ['30s', 30_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1h0m5s', 3_605_000],
    ['1.5h', 5_400_000],
    ['0s', 0],
    ['0.4ms', 0],
    ['1m500ms', 60_500],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  test.each(['', '30', 's', '-5s', '5 s', '30s1m', '1m1m', '1d', '1e3s', '5S', '1m 30s', 'ms'])(
    'is not read from `%s`',
    (text) => {
      expect(parseDurationMs(text)).toBeNull()
    },
  )

  test('is written so that it can be read back', () => {
    for (const ms of [0, 1, 999, 1_000, 59_999, 60_000, 90_000, 3_600_000, 86_399_999, 90_061_001]) {
      expect(parseDurationMs(formatDurationMs(ms))).toBe(ms)
    }
    expect(formatDurationMs(90_000)).toBe('1m30s')
    expect(formatDurationMs(0)).toBe('0s')
  })

  test.each([
    [0, '0 s'],
    [500, '500 ms'],
    [30_000, '30 s'],
    [60_000, '1 min'],
    [90_000, '1 min 30 s'],
    [1_500, '1 s 500 ms'],
    [3_605_000, '1 h 05 s'],
    [604_800_000, '168 h'],
  ])('of %d ms is read as %s', (ms, text) => {
    expect(formatSetDuration(ms)).toBe(text)
  })
})
