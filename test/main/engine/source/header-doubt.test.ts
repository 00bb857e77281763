import { expect, test } from 'vitest'
import { readAnySource, readText, writeSource } from './read-source.ts'

const NUMBERED = 'p1,u1,hello\np2,u2,how are you\np3,u3,fine\n'

test('a reader at its end reports a header that looks like a row', () => {
  const { told } = readText(NUMBERED)
  expect(told).toEqual([
    { severity: 'warning', code: 'header_like_data', args: {}, found: 'p1 | u1 | hello', rows: 1 },
  ])
})

test.each([{ header: false }, { headerRow: 1 }])('a stated header is not doubted: %j', (options) => {
  expect(readText(NUMBERED, options).told).toEqual([])
})

test('the header of each of several files is judged separately', async () => {
  const first = writeSource('p1,u1,text\np2,u2,a\np3,u3,b\n', 'a.csv')
  const second = writeSource('p1,u1,text\nsome,other,words\n', 'b.csv')
  const { told } = await readAnySource(first, { more: [second] })
  expect(told).toMatchObject([{ code: 'header_like_data', rows: 1 }])
})

test.each(['q1,q2\nyes,no\nno,no\n', 'p1,text\nx1,a\n', '2023,2024\n1,2\n3,4\n'])(
  'numbers in column names are no reason to doubt them: %j',
  (text) => expect(readText(text).told).toEqual([]),
)
