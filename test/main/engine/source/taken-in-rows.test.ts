import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

const TAKEN_IN = 'post_id,user_id,text\np1,u1,"tis nothing\np2,u2,threat\np3,u3,said he"\np4,u4,fine\n'

test('rows that became one cell, because a text begins with a quote and a later one ends with one, are an error', () => {
  const { rows } = readText(TAKEN_IN)
  expect(rows.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([
    `row 1: has a cell in quotes whose lines look like rows. Pass --quote none if quotes are text, --quote '"' if they are not, found \`p2,u2,threat\``,
  ])
})

test('an option states whether quotes are text', () => {
  expect(readText(TAKEN_IN, { quote: '"' })).toMatchObject({ problems: [], rows: { length: 2 } })
  expect(readText(TAKEN_IN, { quote: 'none' })).toMatchObject({ problems: [], rows: { length: 4 } })
})

test.each([
  'id;text;author\n1;"say\n2;what";ann\n3;x;bob\n',
  'id,text,author\n1,"say,ann\n2,what,bob\n3,no",cat\n',
  'text,id,author\n"say,a1,ann\nwhat,a2,bob\nno",a3,cat\n',
])('the cell may be in any column: %j', (text) => {
  expect(readText(text).problems).toEqual(['broken_quotes 1 error'])
})

test.each([
  'id,text\np1,"Hello,\nHow are you, my friend?\nBest, Ann"\n',
  'id,author,text\n17,ann,"Dear John,\nParis, London, Rome\n1,5 and 2,5"\n',
  'text\n"one\ntwo"\n',
  'id,text\n1,"items:\n- a,b\n- c,d"\n',
])('a text of several lines is not a row: %j', (text) => {
  expect(readText(text).problems).toEqual([])
})
