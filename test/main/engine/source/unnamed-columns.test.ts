import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

test('text after the last named column is reported, since it may be the rest of a text that was cut', () => {
  const source = readText('post_id,user_id,text_data,\np1,u1,kill, yourself\np2,u2,fine,\n')
  expect(source.problems).toEqual(['surplus_cells 1 warning'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has text behind column 3, the last one that the header has a name for; it is not sent, found ` yourself`',
  ])
})

test('a row with text after all columns is an error that shows everything after the last name', () => {
  const source = readText('label,text,,\nham,one,two,three,four\n')
  expect(source.rows[0]?.problems).toMatchObject([
    { code: 'surplus_cells', severity: 'error', found: 'two,three,four', args: { cells: 2 } },
  ])
})

test('rows are not reported for cells without text after the last name, or for unnamed columns before it', () => {
  expect(readText('label,,text,\nham,x,one,\nspam,y,two,\n').problems).toEqual([])
})

test('a backslash before a delimiter is guessed as an escape if text would otherwise follow the last name', () => {
  const source = readText('| id | text |\n| 1 | a \\| b |\n| 2 | c |\n')
  expect(source.cells).toEqual([
    ['', ' 1 ', ' a | b ', ''],
    ['', ' 2 ', ' c ', ''],
  ])
})
