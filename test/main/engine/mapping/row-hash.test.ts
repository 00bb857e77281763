import { expect, it } from 'vitest'
import { createRowHash } from '../../../../src/main/engine/mapping/row-hash.ts'

const hash = (columns: readonly string[], cells: readonly string[], kinds?: string) =>
  createRowHash(columns)(cells, kinds)

it('a row has the same hash in any order of its columns, with or without empty cells', () => {
  const expected = hash(['a', 'b'], ['1', '2'])
  expect(expected).toMatch(/^[0-9a-f]{32}$/)
  expect(hash(['b', 'a'], ['2', '1'])).toBe(expected)
  expect(hash(['a', 'c', 'b'], ['1', '', '2', ''])).toBe(expected)
})

it.each([
  ['another cell', ['a', 'b'], ['1', '3']],
  ['another name of a column', ['a', 'c'], ['1', '2']],
  ['cells in each other’s columns', ['a', 'b'], ['2', '1']],
  ['a surplus cell', ['a', 'b'], ['1', '2', '3']],
  ['white space in a cell', ['a', 'b'], ['1', '2 ']],
])('a row with %s has another hash', (_, columns, cells) => {
  expect(hash(columns, cells)).not.toBe(hash(['a', 'b'], ['1', '2']))
})

it('fields of a JSON object count with the object, whichever of them are columns', () => {
  const whole = hash(['user', 'text'], ['{"id":"u1"}', 'hi'], 'js')
  expect(hash(['user', 'text', 'user.id'], ['{"id":"u1"}', 'hi', 'u1'], 'jss')).toBe(whole)
  expect(hash(['user', 'text'], ['{"id":"u2"}', 'hi'], 'js')).not.toBe(whole)
  expect(hash(['user', 'user.id'], ['u1', 'u1'])).not.toBe(hash(['user', 'user.id'], ['u1', 'u2']))
})
