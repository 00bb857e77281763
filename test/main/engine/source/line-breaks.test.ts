import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

test.each([
  ['in a file of one column', 'text\nfirst\rsecond\nthird\n', 'first\rsecond'],
  ['in the last cell', 'id,text\n1,first\rsecond\n2,third\n', 'first\rsecond'],
  ['before CRLF', 'id,text\r\n1,first\r\r\n2,third\r\n', 'first\r'],
  ['behind a quoted cell', 'id,text\r\n1,"first"\r\r\n2,third\r\n', 'first\r'],
  ['of LF in a file of CR', 'id,text\r1,first\nsecond\r2,third\r', 'first\nsecond'],
])('a line break of another kind outside quotes is reported: %s', (_, text, found) => {
  // The last one is a file with only CR up to the sample's end.
  const isLate = text.startsWith('id,text\r1')
  const rows = isLate ? `id,text\r${'0,filler\r'.repeat(40_000)}${text.slice('id,text\r'.length)}` : text
  const { rows: read } = readText(rows)
  const problems = read.flatMap((row) => row.problems)
  expect(problems).toMatchObject([{ code: 'stray_line_break', severity: 'warning', found }])
  expect(formatProblem(problems[0] as never)).toContain('it may be several rows, and is read as one')
})

test('line breaks in quotes are text, whatever their kind', () => {
  const source = readText('id,text\r\n1,"a\rb\nc\r\nd"\r\n2,e\r\n')
  expect(source.problems).toEqual([])
  expect(source.cells).toEqual([
    ['1', 'a\rb\nc\r\nd'],
    ['2', 'e'],
  ])
})

test.each([
  ['| id | text |\n|----|:----:|\n| 1 | a |\n', 'drawn_line 1 error'],
  ['id|text\n---+-----\n1|a\n', 'ragged_row 1 warning,drawn_line 1 error'],
  ['id,text\n--,----\n1,a\n', 'drawn_line 1 error'],
])('a line drawn in a table is not a row: %j', (text, problems) => {
  expect(readText(text).problems.join()).toBe(problems)
})

test('a text of dashes is not a drawn line', () => {
  expect(readText('id,text\n1,---\n2,===\n').problems).toEqual([])
  expect(readText('text\n---\n===\n').problems).toEqual([])
})

test('a long row of dashes with something after it is quick to check', () => {
  // A pattern that tries all ways to divide the dashes would not end.
  expect(readText(`id,text\n${'-'.repeat(5_000)}x,a\n`).problems).toEqual([])
})

const CUT_1_2 = ['cut_by_line_break 1 warning', 'ragged_row 2 warning', 'cut_by_line_break 2 warning']

test.each([
  ['id,text', '1,first part\nand the rest\n2,whole\n', CUT_1_2],
  [
    'id,text',
    '1,first part\n\nand the rest\nof it all\n',
    [...CUT_1_2, 'ragged_row 3 warning', 'cut_by_line_break 3 warning'],
  ],
  ['id,text', '1,こんにちは\n今日はいい天気ですね\n2,whole\n', CUT_1_2],
  ['id,text', '1,first part\nand then, the rest\n', [CUT_1_2[0], CUT_1_2[2]]],
  ['id,text,day', '1,first part\nand the rest,3 May\n2,whole,4 May\n', ['ragged_row 1 warning', ...CUT_1_2]],
  ['id,text,day', 'u1,hello\nworld,3 May\nu2,whole,4 May\n', ['ragged_row 1 warning', ...CUT_1_2]],
  ['id,text', '1,first part\nu7\n2,whole\n', ['ragged_row 2 warning']],
  ['id,text', 'Ann B,first part\nBob C\n2,whole\n', ['ragged_row 2 warning']],
  ['id,text', '1,first part,\nand the rest\n', ['ragged_row 1 warning', 'ragged_row 2 warning']],
  ['id,text', '1, first\nBob C, second\n', []],
  ['id,text,day', 'u1,hello\nanna,whole\n', ['ragged_row 1 warning', 'ragged_row 2 warning']],
  ['id,text,day', 'u1,hello\nu2,whole\n', ['ragged_row 1 warning', 'ragged_row 2 warning']],
])('rows that may be one row, cut by a line break, are reported: %s %j', (header, rows, problems) => {
  expect(readText(`${header}\n${rows}`).problems).toEqual(problems)
})

test('a row may be cut from one that an earlier read of the file ended with', () => {
  const rows = `id,text\n1,first part\nand the rest\n${'2,whole\n'.repeat(5)}`
  for (const readBytes of [8, 21, 34]) expect(readText(rows, { readBytes }).problems).toEqual(CUT_1_2)
})
