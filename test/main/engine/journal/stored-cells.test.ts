import { expect, test } from 'vitest'
import { parseCells } from '../../../../src/main/engine/journal/stored-cells.ts'

test.each([
  [[]],
  [['']],
  [['', '']],
  [['one']],
  [['one', '', 'three']],
  [[',', '","', '"', '""']],
  [['[]', '["a","b"]', '\\', '\\"', 'a\nb\r\n\t\u0000\u001f']],
  [['é', '日本', '👍', '\uD800', '\u2028']],
])('cells are read back as they were stored: %j', (cells) => {
  expect(parseCells(JSON.stringify(cells))).toEqual(cells)
})

test('any mixture of quotes, commas, brackets and backslashes is read back as stored', () => {
  const pieces = ['"', ',', '\\', '[', ']', 'a', ' ', '\n', 'é', '']
  let seed = 7
  const pick = (count: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * count)
  }
  for (let round = 0; round < 20_000; round += 1) {
    const cells = Array.from({ length: pick(5) }, () =>
      Array.from({ length: pick(5) }, () => pieces[pick(pieces.length)]).join(''),
    )
    expect(parseCells(JSON.stringify(cells))).toEqual(cells)
  }
})

test.each([
  'garbage',
  '',
  '[',
  '["]',
  '["a"',
  '["a","]',
  '["a",]',
  '["a" x "b"]',
  '["a","b"] ["c"]',
  '"text"',
  '{"0":"a"}',
  '["a",1]',
  '[null]',
  '[["a"]]',
  '["a\\n",2]',
])('cells that are not a list of texts are refused, not split: %s', (json) => {
  expect(() => parseCells(json)).toThrow(SyntaxError)
})
