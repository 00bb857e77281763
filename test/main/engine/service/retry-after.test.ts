import { expect, onTestFinished, test } from 'vitest'
import { parseRetryAfter } from '../../../../src/main/engine/service/judgement.ts'

/** Sun, 06 Nov 1994 08:49:27 GMT, ten seconds before the dates of RFC 9110's own examples. */
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 27)

test.each([
  ['seconds', '120', 120_000],
  ['zero', '0', 0],
  ['seconds with white space around', ' 7 ', 7_000],
  ['a fraction', '1.5', 1_500],
  ['an HTTP date', 'Sun, 06 Nov 1994 08:49:37 GMT', 10_000],
  ['an HTTP date of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 10_000],
  ['an HTTP date of asctime', 'Sun Nov  6 08:49:37 1994', 10_000],
])('%s: reads `%s`', (_, header, ms) => {
  // asctime dates have no zone and are still in GMT.
  const zone = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  expect(parseRetryAfter({ retryAfter: header }, NOW_MS)).toBe(ms)
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
  'Sun, 06 Nov 1994 08:49:26 GMT',
  'Sun, 06 Nov 1994 08:49:27 GMT',
])('ignores `%s`', (header) => {
  expect(parseRetryAfter({ retryAfter: header }, NOW_MS)).toBeNull()
})

test('reads too large a number as very long', () => {
  expect(parseRetryAfter({ retryAfter: '9'.repeat(400) }, NOW_MS)).toBe(Number.MAX_SAFE_INTEGER)
})

test('distinguishes a missing header', () => {
  expect(parseRetryAfter({ retryAfter: null }, NOW_MS)).toBeNull()
})

test.each([
  ['an hour behind ours', 'Sun, 06 Nov 1994 07:49:27 GMT', 'Sun, 06 Nov 1994 07:49:31 GMT', 4_000],
  ['an hour ahead of ours', 'Sun, 06 Nov 1994 09:49:27 GMT', 'Sun, 06 Nov 1994 09:49:31 GMT', 4_000],
  ['written in another form', 'Sun Nov  6 07:49:27 1994', 'Sunday, 06-Nov-94 07:49:31 GMT', 4_000],
  ['not a date', 'soon', 'Sun, 06 Nov 1994 08:49:31 GMT', 4_000],
  ['later than what it asks for', 'Sun, 06 Nov 1994 09:49:27 GMT', 'Sun, 06 Nov 1994 08:49:31 GMT', null],
])("a date counts by the answer's clock, whose Date is %s", (_, date, retryAfter, ms) => {
  expect(parseRetryAfter({ retryAfter, date }, NOW_MS)).toBe(ms)
})

test('seconds count from now, whatever the Date of the answer', () => {
  expect(parseRetryAfter({ retryAfter: '4', date: 'Sun, 06 Nov 1994 07:49:27 GMT' }, NOW_MS)).toBe(4_000)
})
