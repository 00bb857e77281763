import { expect, test } from 'vitest'
import { isKeyRefusal } from '../../../../src/shared/service/errors.ts'
import { createTestExchange, LOST, toAnswer, toError } from './answers.ts'

const add = createTestExchange({ kind: 'watchlist-add', watchlist: 'w' })
const update = createTestExchange({ kind: 'watchlist-update', watchlist: 'w' })
const EMPTY_ADD = { message: 'ok', watchlist: 'w', added_terms: [], pre_existing_terms: [], failed_terms: [] }

const keysOf = (...terms: string[]) => add.toRowKeys(terms.map((term) => ({ term })))

test('the outcome of each term follows the lists of the answer, in either case', () => {
  const body = {
    ...EMPTY_ADD,
    added_terms: [{ term: 'gift card', notes: null }],
    pre_existing_terms: [{ term: 'BANK Details', notes: 'n' }],
    failed_terms: ['Broken', { term: 'odd', notes: 'n', reason: 'holds a control character' }],
  }
  const keys = keysOf('odd', 'Gift Card', 'bank details', 'broken')
  const judgement = add.judge(toAnswer(200, body), keys)
  expect(judgement).toMatchObject({ outcome: 'succeeded', message: null, isTooLarge: false })
  expect(judgement.rows).toEqual([
    {
      outcome: 'rejected',
      answer: 'failed',
      message: 'the service could not process this term: holds a control character',
    },
    { outcome: 'succeeded', answer: 'added', message: null },
    { outcome: 'succeeded', answer: 'pre_existing', message: null },
    { outcome: 'rejected', answer: 'failed', message: 'the service could not process this term' },
  ])
})

test('an update leaves each term updated, non-existent or failed', () => {
  const body = { updated_terms: ['a'], non_existent_terms: [{ term: 'b' }], failed_terms: ['c'] }
  const rows = update.judge(toAnswer(200, body), keysOf('A', 'B', 'C')).rows
  expect(rows?.map(({ outcome, answer }) => [outcome, answer])).toEqual([
    ['succeeded', 'updated'],
    ['rejected', 'non_existent'],
    ['rejected', 'failed'],
  ])
  expect(rows?.[1]?.message).toBe('the watchlist has no such term, and an update creates none')
})

test('a term that no list mentions is unknown, and a note says why', () => {
  const unknown = { outcome: 'unknown', answer: null, message: 'no list of the answer mentions this term' }
  const some = add.judge(toAnswer(200, { ...EMPTY_ADD, added_terms: ['a'] }), keysOf('a', 'b'))
  expect(some.rows?.[1]).toEqual(unknown)
  const counted = add.judge(toAnswer(200, { ...EMPTY_ADD, added_terms: 2 }), keysOf('a', 'b'))
  expect(counted.rows).toEqual([unknown, unknown])
})

test.each([
  [{ success: false, message: 'the list is locked' }, 'error', 'the list is locked'],
  [{ ok: false, error_code: 'LOCKED', message: 'locked' }, 'LOCKED', 'locked'],
  [{ error: 'locked' }, 'error', 'ok'],
])('an answer that reports a failure which no list shows is a refusal: %j', (said, errorCode, message) => {
  const body = { ...EMPTY_ADD, added_terms: ['a'], ...said }
  const found = { outcome: 'rejected', repeat: 'never', errorCode, message, rows: null }
  expect(add.judge(toAnswer(200, body), keysOf('a'))).toMatchObject(found)
  expect(add.judge(toAnswer(200, { ...said, message }), keysOf('a'))).toMatchObject(found)
})

test.each([
  [add, { added_terms: ['a'], failed_terms: ['b'] }],
  [update, { updated_terms: ['a'], non_existent_terms: ['b'] }],
])(
  'an answer that reports a failure leaves each term its own outcome if a list shows it',
  ({ judge }, lists) => {
    const { rows } = judge(
      toAnswer(200, { ...lists, success: false, message: 'see the lists' }),
      keysOf('a', 'b'),
    )
    expect(rows?.map(({ outcome }) => outcome)).toEqual(['succeeded', 'rejected'])
  },
)

test('a term in several lists has the worst outcome, with a note', () => {
  const body = { ...EMPTY_ADD, added_terms: ['a', 'b'], pre_existing_terms: ['b'], failed_terms: ['a'] }
  const rows = add.judge(toAnswer(200, body), keysOf('a', 'b')).rows
  expect(rows).toEqual([
    {
      outcome: 'rejected',
      answer: 'failed',
      message:
        'the service could not process this term; the answer has it in failed_terms and added_terms; the first counts',
    },
    {
      outcome: 'succeeded',
      answer: 'added',
      message: 'the answer has it in added_terms and pre_existing_terms; the first counts',
    },
  ])
})

test('numbers of terms that an answer counts are no failure', () => {
  const body = { ...EMPTY_ADD, pre_existing_terms: ['a'], success: 0, ok: 0, errors: [] }
  expect(add.judge(toAnswer(200, body), keysOf('a')).rows).toMatchObject([{ answer: 'pre_existing' }])
})

test.each([
  ['Straße', 'STRASSE'],
  ['cafe\u0301', 'caf\u00e9'],
  ['two  spaces', 'two spaces'],
  ['\ufb01sh', 'fish'],
])('%j, which no list mentions, is not found under %j, which was sent too', (missing, other) => {
  const { rows } = add.judge(toAnswer(200, { ...EMPTY_ADD, added_terms: [other] }), keysOf(missing, other))
  expect(rows?.map(({ outcome }) => outcome)).toEqual(['unknown', 'succeeded'])
})

test('a term from which the service drops white space is found again', () => {
  const answer = toAnswer(200, { ...EMPTY_ADD, added_terms: ['a b', 'c'] })
  const { rows } = add.judge(answer, keysOf(' A  b ', 'c'))
  expect(rows).toEqual([
    { outcome: 'succeeded', answer: 'added', message: null, isAlike: true },
    { outcome: 'succeeded', answer: 'added', message: null },
  ])
})

test('a term of digits that comes back as a number is the sent term', () => {
  const body = {
    ...EMPTY_ADD,
    added_terms: [{ term: 88 }, 1488],
    failed_terms: [{ term: 14, reason: 'short' }],
  }
  const judgement = add.judge(toAnswer(200, body), keysOf('88', '1488', '14'))
  expect(judgement.rows?.map(({ answer }) => answer)).toEqual(['added', 'added', 'failed'])
  expect(judgement.echo).toEqual({ kind: 'verified' })
})

test('a term that comes back without its final sigma is the sent term', () => {
  const judgement = add.judge(toAnswer(200, { ...EMPTY_ADD, added_terms: ['οδοσ'] }), keysOf('ΟΔΟΣ'))
  expect(judgement.rows).toMatchObject([{ answer: 'added', isAlike: true }])
})

test('lists that are missing or malformed affect only their own terms', () => {
  const body = { added_terms: ['a', true, null, {}], pre_existing_terms: 'b', failed_terms: null }
  const rows = add.judge(toAnswer(200, body), keysOf('a', 'b')).rows
  expect(rows?.map(({ answer }) => answer)).toEqual(['added', null])
})

test('an answer without any list leaves terms open, so that they can be sent again', () => {
  for (const body of [{ message: 'ok' }, [], 'ok', '']) {
    expect(add.judge(toAnswer(200, body), keysOf('a'))).toMatchObject({
      outcome: 'unknown',
      repeat: 'ambiguous',
      rows: null,
    })
  }
  expect(update.judge(LOST, keysOf('a'))).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
})

test.each([
  [413, '', null],
  [413, '<html>Request Entity Too Large</html>', null],
  [400, { error: true, status: 400, error_code: 'TOO_MANY_TERMS', message: 'no' }, 'TOO_MANY_TERMS'],
  [
    400,
    { error: true, status: 400, error_code: 'INVALID_PARAM', message: 'Maximum of 100 terms' },
    'INVALID_PARAM',
  ],
  [422, { error: true, status: 422, error_code: 'X', message: 'term limit exceeded' }, 'X'],
  [400, { message: 'payload too large' }, null],
])('a request refused with %i and %j is too large, as long as it can be split', (status, body, errorCode) => {
  const answer = toAnswer(status, body)
  expect(add.judge(answer, keysOf('a', 'b'))).toMatchObject({
    outcome: 'rejected',
    isTooLarge: true,
    errorCode,
  })
  expect(add.judge(answer, keysOf('a'))).toMatchObject({ outcome: 'rejected', isTooLarge: false })
})

test.each([
  [400, 'PARAM_REQUIRED', 'watchlist is missing'],
  [404, 'NOT_FOUND', 'over the limit of what exists'],
  [403, 'INVALID_API_KEY', 'limit'],
])('%i %s is not about size', (status, code, message) => {
  expect(add.judge(toError(status, code, message), keysOf('a', 'b'))).toMatchObject({
    outcome: 'rejected',
    isTooLarge: false,
    errorCode: code,
    message,
  })
})

test.each([
  [400, 'PARAM_REQUIRED', false],
  [403, 'PARAM_REQUIRED', false],
  [403, 'INVALID_API_KEY', true],
  [400, 'INVALID_API_KEY', true],
])('both pairings are understood: %i %s is a wrong key: %s', (status, code, isKey) => {
  for (const { judge } of [add, update]) {
    const judgement = judge(toError(status, code), keysOf('a'))
    expect(judgement).toMatchObject({ outcome: 'rejected', repeat: 'never', status, errorCode: code })
    expect(isKeyRefusal(judgement.status, judgement.errorCode)).toBe(isKey)
  }
})

test('a pre-existing term whose first answer was lost counts as added or pre-existing', () => {
  const body = { ...EMPTY_ADD, added_terms: ['a'], pre_existing_terms: ['b'] }
  const rows = add.judge(toAnswer(200, body), keysOf('a', 'b'), [1, 1]).rows
  expect(rows?.map(({ answer }) => answer)).toEqual(['added', 'added_or_pre_existing'])
  expect(rows?.[1]?.message).toContain('an earlier try got no answer about the term')
  expect(update.judge(toAnswer(200, { updated_terms: ['b'] }), keysOf('b'), [1]).rows?.[0]?.answer).toBe(
    'updated',
  )
})
