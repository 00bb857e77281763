import { expect, test } from 'vitest'
import { findLostId, IdColumn } from '../../../src/shared/mapping/changed-ids.ts'

function listColumn(...ids: string[]) {
  const column = new IdColumn()
  for (const id of ids) column.note(id)
  return column.list()
}

test.each(['Mar-5', '5-Mar', 'Sep-09', '3/5/2024', '2024-03-05', '2024-03-05 00:00:00'])(
  'a date among numbers or other ids was made by a spreadsheet: %s',
  (date) => {
    const found = [{ as: 'date', rows: 1, first: { row: 1, id: date } }]
    expect(listColumn(date, '12', '13', '14')).toEqual(found)
    expect(listColumn(date, '12-37', '13-44', '14-55')).toEqual(found)
  },
)

test.each([
  [['5-Mar', '6-Mar']],
  [['3/5/2024', '3/6/2024']],
  [['2024/03/05', '2024/3/6']],
  [['05.03.2024', '6.3.2024']],
  [['2024-03-05 0:00:00', '2024-03-06 0:00:00']],
  [['Mar-24', 'Apr-2024']],
  [['12:30', '1:15', '0:07:30', '1:15 PM']],
])('ids that are all days or times were made by a spreadsheet: %j', (ids) => {
  expect(listColumn(...ids)).toMatchObject([{ as: 'date', rows: ids.length }])
})

test.each([
  [['2024-03-05T10:33:07Z', '2024-03-05T10:33:08Z']],
  [['1.2.34', '1.10.2']],
  [['12:345', '7:1', '7:15']],
])('timestamps and ids of several numbers are left alone: %j', (ids) =>
  expect(listColumn(...ids)).toEqual([]),
)

test('days with a year may name a group of posts; other days and times may not', () => {
  const list = (...ids: string[]) => {
    const column = new IdColumn(true)
    for (const id of ids) column.note(id)
    return column.list()
  }
  expect(list('2024-03-05', '2024-03-06')).toEqual([])
  expect(list('5-Mar', '6-Mar')).toMatchObject([{ as: 'date', rows: 2 }])
})

test.each([
  [['76,561,198', '12', '1,000']],
  [['1.234.567', '12.000']],
  [["76'561", '5']],
  [['1\u00a0234', '5']],
  [['1,234,567', '1234568']],
  [['1 234.00', '12345']],
  [['$1,234', '$7.00']],
  [['12 €', '1.234,00 €']],
  [['12%', '7.5%']],
])('formatted numbers among numbers are reported: %j', (ids) => {
  const grouped = ids.filter((id) => /\D/.test(id))
  expect(listColumn(...ids)).toEqual([
    { as: 'grouped', rows: grouped.length, first: { row: 1, id: grouped[0] } },
  ])
})

test.each([[['1.234', '1234']], [['12,34', '5']], [['1.2.3', '1.234']], [['a1,234', '1,234']]])(
  'ids with separators among ids of another form are left alone: %j',
  (ids) => expect(listColumn(...ids)).toEqual([]),
)

test.each([
  ['\\N', 'missing'],
  ['(null)', 'missing'],
  ['-nan', 'missing'],
  ['n/a', 'missing'],
  ['#NV', 'missing'],
  ['#WERT!', 'missing'],
  ['#¿NOMBRE?', 'missing'],
  ['Loading...', 'missing'],
  ['(not set)', 'missing'],
  ['Infinity', 'missing'],
  ['True', 'boolean'],
  ['false', 'boolean'],
  ['#REF', null],
  ['#hello!', null],
  ['Nan', null],
  ['12e3', null],
])('an id that a program writes for a missing id is reported as that: %s', (id, as) => {
  expect(findLostId(id)).toBe(as)
})

test.each([
  ['one of 19 digits', ['1234567890123450000', '7'], 1],
  ['three of 19 digits', ['1234567890123450000', '1234567890123460000', '1234567890123470000'], 3],
  ['one of 18 digits', ['123456789012345000'], 1],
  ['three of 16 digits', ['1234567890123450', '1234567890123460', '1234567890123470'], 3],
  ['two of 19 digits that a double rounded', ['1234567890123456800', '1234567890123457900'], 2],
  ['some among whole ones', ['1234567890123450000', '1234567890123456789', '1234567890123460000'], 2],
])('long ids with more trailing zeros than by chance are reported: %s', (_, ids, rows) => {
  expect(listColumn(...ids)).toMatchObject([{ as: 'rounded', rows }])
})

test.each([
  ['one that ends in 0', ['1234567890123450']],
  ['two of 16 digits', ['1234567890123450', '1234567890123460']],
  ['one of 17 digits', ['12345678901234500']],
  [
    'one among many',
    ['1234567890123450000', ...Array.from({ length: 99 }, (_, n) => `12345678901234567${10 + n}`)],
  ],
])('long ids that may end in zeros by chance are left alone: %s', (_, ids) => {
  expect(listColumn(...ids)).toEqual([])
})
