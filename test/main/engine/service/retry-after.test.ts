import { expect, onTestFinished, test } from 'vitest'
import { parseRetryAfter } from '../../../../src/main/engine/service/judgement.ts'

/** Sun, 06 Nov 1994 08:49:27 GMT: ten seconds before the dates of RFC 9110's own examples. */
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 27)

test.each([
  ['seconds', '120', 120_000],
  ['zero', '0', 0],
  ['seconds with white space around', ' 7 ', 7_000],
  ['a fraction', '1.5', 1_500],
  ['an HTTP date', 'Sun, 06 Nov 1994 08:49:37 GMT', 10_000],
  ['an HTTP date of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 10_000],
  ['an HTTP date of asctime', 'Sun Nov  6 08:49:37 1994', 10_000],
  ['a date that has passed', 'Sun, 06 Nov 1994 08:49:26 GMT', 0],
])('%s: reads `%s`', (_, header, ms) => {
  // asctime dates name no zone and are in GMT all the same.
  const zone = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  expect(parseRetryAfter(header, NOW_MS)).toBe(ms)
})

test.each([
  '',
  ' ',
  '-1',
  '+1',
  '1e12',
  '0x10',
  'NaN',
  'Infinity',
  'soon',
  'May',
  'try 2099',
  'abc 5',
  '1;2',
  '1994-11-06',
])('ignores `%s`', (header) => {
  expect(parseRetryAfter(header, NOW_MS)).toBeNull()
})

test('reads a number that is too large as very long', () => {
  expect(parseRetryAfter('9'.repeat(400), NOW_MS)).toBe(Number.MAX_SAFE_INTEGER)
})

test('knows that there was no header', () => {
  expect(parseRetryAfter(null, NOW_MS)).toBeNull()
})
