import { expect, test } from 'vitest'
import { readText } from './read-source.ts'

const BROKEN = 'broken_quotes 1 error'

test('text after the closing quote of a cell does not swallow the following rows', () => {
  const { cells, problems, rows } = readText(
    'user_id,text_data\nu1,"a, b" c\nu2,ok\nu3,"x, ""y"""\nu4,"z" \n',
  )
  expect(cells).toEqual([
    ['u1', 'a, b" c'],
    ['u2', 'ok'],
    ['u3', 'x, "y"'],
    ['u4', 'z '],
  ])
  expect(problems).toEqual([BROKEN])
  expect(rows[0]?.problems[0]).toMatchObject({ args: { effect: 'text_behind' }, found: 'a, b" c' })
})

test('each of several such rows is reported separately', () => {
  const lines = Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? `u${at},"a" ${at}` : `u${at},ok`))
  const { cells, problems } = readText(`user_id,text_data\n${lines.join('\n')}\n`)
  expect(cells).toHaveLength(30)
  expect(problems).toEqual(Array.from({ length: 10 }, (_, at) => `broken_quotes ${3 * at + 1} error`))
})

test.each([
  ['\n', '5" disk', 'text_behind'],
  ['', '5" disk', 'text_behind'],
  ['\r\n', '5" disk', 'text_behind'],
])('the last line with such a cell is one line, ended by %j', (end, found, effect) => {
  const { problems, rows } = readText(`user_id,text_data\nu1,ok\nu2,"5" disk${end}`)
  expect(problems).toEqual(['broken_quotes 2 error'])
  expect(rows[1]?.problems[0]).toMatchObject({ args: { effect }, found })
})

test('an open quote in the last line is reported without the rest of the file', () => {
  const { rows } = readText('user_id,text_data\nu1,ok\nu2,"disk\n')
  expect(rows[1]?.problems[0]).toMatchObject({ args: { effect: 'open_in_line' }, found: 'disk' })
})

test.each([
  'user_id,text_data\nu1,"he said "yes" and left\nwell, fine\n',
  'user_id,text_data\nu1,"he said "yes" and left\nu2\nu3,ok\n',
])('lines that do not look like rows stay in the cell that may contain them: %j', (text) => {
  const { cells, rows } = readText(text)
  expect(cells).toHaveLength(1)
  expect(rows[0]?.problems).toMatchObject([{ args: { effect: 'text_behind_to_end' }, severity: 'error' }])
})

test('a file with such a cell in each of many lines is read at once', () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `u${at},"a" ${at}`)
  expect(readText(`user_id,text_data\n${lines.join('\n')}\n`).problems[0]).toBe(BROKEN)
})
