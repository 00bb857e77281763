import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

test('text behind the last column with a name is told, since it may be the rest of a text that was cut', () => {
  const source = readText('post_id,user_id,text_data,\np1,u1,kill, yourself\np2,u2,fine,\n')
  expect(source.problems).toEqual(['surplus_cells 1 warning'])
  expect(source.rows[0]?.problems.map(formatProblem)).toEqual([
    'row 1: has text behind column 3, the last one that the header has a name for; it is not sent, found ` yourself`',
  ])
})

test('a row with text behind all columns is an error that shows everything behind the last name', () => {
  const source = readText('label,text,,\nham,one,two,three,four\n')
  expect(source.rows[0]?.problems).toMatchObject([
    { code: 'surplus_cells', severity: 'error', found: 'two,three,four', args: { cells: 2 } },
  ])
})

test('no row is told of for cells without text behind the last name, nor for columns without a name before it', () => {
  expect(readText('label,,text,\nham,x,one,\nspam,y,two,\n').problems).toEqual([])
})

test('a backslash before a delimiter is guessed as an escape if text would stand behind the names otherwise', () => {
  const source = readText('| id | text |\n| 1 | a \\| b |\n| 2 | c |\n')
  expect(source.cells).toEqual([
    ['', ' 1 ', ' a | b ', ''],
    ['', ' 2 ', ' c ', ''],
  ])
})
