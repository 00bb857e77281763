import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

test('a row with more cells than the header is an error, and shows the surplus', () => {
  const source = readText('post_id,user_id,text_data\np1,u1,nice photo, kill yourself\np2,u2,fine\n')
  expect(source.cells).toEqual([
    ['p1', 'u1', 'nice photo', ' kill yourself'],
    ['p2', 'u2', 'fine'],
  ])
  expect(source.problems).toEqual(['surplus_cells 1 error'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: must have at most 3 cells, like the header, found ` kill yourself`',
  ])
})

test('surplus cells that are all empty lose nothing and remain a warning', () => {
  const source = readText('a,b\n1,2,,\n3,4\n')
  expect(source.problems).toEqual(['ragged_row 1 warning'])
})

test('without a header, a row with more cells than most rows have is an error', () => {
  const source = readText('p1,hello\np2,one, two\np3,fine\n', { header: false })
  expect(source.problems).toEqual(['surplus_cells 2 error'])
})

test.each([
  [',', 'text\nhello, world\none, two\n'],
  [';', 'text\nhello; world\none; two\n'],
  ['|', 'text, as written\nhello, a | b\none, c | d\n'],
])('a guessed delimiter occurs in the header: no text is cut at %j', (cut, text) => {
  const source = readText(text)
  expect(source.delimiter).not.toBe(cut)
  expect(source.cells.map((cells) => cells.join(source.delimiter))).toEqual(
    text.trimEnd().split('\n').slice(1),
  )
})

test("of two delimiters in the header, the one wins that gives most rows the header's number of cells", () => {
  const source = readText('id;text, as written\n1;a, b, c\n2;d\n3;e, f, g\n')
  expect(source).toMatchObject({ delimiter: ';', problems: [] })
})

test('a file whose rows all contain the delimiter unquoted is not cut: each such row is an error', () => {
  const source = readText('id,text\n1,a, b\n2,c, d\n')
  expect(source.problems).toEqual(['surplus_cells 1 error', 'surplus_cells 2 error'])
})

test('without a header, commas of prose are not a delimiter', () => {
  const source = readText('hello, world\nhow are you, friend\n', { header: false })
  expect(source.cells).toEqual([['hello, world'], ['how are you, friend']])
})

test('a row that is quoted as a whole is an error, since its delimiters are inside one cell', () => {
  const source = readText('id,author,text\n"1,ann,hello"\n2,bob,hi\n')
  expect(source.problems).toEqual(['record_in_quotes 1 error'])
})

test('a file whose records are all quoted as a whole is an error in every row', () => {
  const source = readText('"id,author,text"\n"1,ann,hello"\n"2,bob,""hi, you"""\n')
  expect(source.columns).toEqual(['id,author,text'])
  expect(source.problems).toEqual(['record_in_quotes 1 error', 'record_in_quotes 2 error'])
})
