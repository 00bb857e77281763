import { expect, test } from 'vitest'
import { findTextMarks } from '../../../src/shared/service/text-marks.ts'

const NOTHING: Record<'pii' | 'textFilters' | 'urls', unknown[]> = { pii: [], textFilters: [], urls: [] }

function markAll(text: string, found: Partial<typeof NOTHING>) {
  return findTextMarks(text, { ...NOTHING, ...found }).map(({ start, end, kind, type }) => [
    text.slice(start, end),
    kind,
    type,
  ])
}

test('an entity is marked at its offsets, even if the same value occurs before them', () => {
  const text = 'a@b.io or a@b.io'
  const entity = { value: 'a@b.io', start_index: 10, end_index: 16, type: 'EMAIL' }
  expect(findTextMarks(text, { ...NOTHING, pii: [entity] })).toEqual([
    { start: 10, end: 16, kind: 'personal data', type: 'EMAIL' },
  ])
})

test('offsets in characters are understood, and wrong ones are replaced by a search for the value', () => {
  const text = '👍👍 call 555-1234 or 555-1234'
  const counted = { value: '555-1234', start_index: 8, end_index: 16, type: 'PHONE' }
  expect(findTextMarks(text, { ...NOTHING, pii: [counted] }).map(({ start }) => start)).toEqual([10])
  const wrong = { value: '555-1234', start_index: 0, end_index: 3 }
  expect(markAll(text, { pii: [wrong] })).toEqual([
    ['555-1234', 'personal data', null],
    ['555-1234', 'personal data', null],
  ])
})

test('terms are found in either case and addresses as texts; marks never overlap', () => {
  const text = 'Buy SPAM at https://spam.example now'
  const found = { textFilters: [{ value: 'spam', type: 'list' }], urls: ['https://spam.example'] }
  expect(markAll(text, found)).toEqual([
    ['SPAM', 'matched term', 'list'],
    ['https://spam.example', 'address', null],
  ])
})

test('a value that is not in the text is not marked', () => {
  expect(markAll('plain', { pii: [{ value: 'x@y.z' }, {}, null, 7], urls: [''] })).toEqual([])
})
