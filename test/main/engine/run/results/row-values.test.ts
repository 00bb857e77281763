import { expect, test } from 'vitest'
import { RowScores, RowValues } from '../../../../../src/main/engine/run/results/row-values.ts'

/** More scores than there are numbers for. */
const MANY = 70_000

test('scores are stored exactly, however many different ones there are', () => {
  const scores = new RowScores(MANY + 1)
  const toScore = (row: number) => row / 7
  for (let row = 1; row <= MANY; row += 1) scores.set(row, toScore(row))
  scores.set(5, Number.NaN)
  const again = new RowScores(MANY + 1, scores.stored)
  for (const own of [scores, again]) {
    expect([1, 2, MANY - 1, MANY].map((row) => own.at(row))).toEqual([1, 2, MANY - 1, MANY].map(toScore))
    expect([own.at(0), own.at(5)]).toEqual([Number.NaN, Number.NaN])
    expect(own.toFloats()[MANY]).toBe(Math.fround(toScore(MANY)))
  }
})

test('values of rows keep their order and their numbers when they are restored', () => {
  const values = new RowValues(4)
  values.set(1, ['b', 'a'])
  values.set(2, [])
  values.set(3, ['b', 'a'])
  const again = new RowValues(values.of, values.sets)
  again.set(2, ['b', 'a'])
  expect([0, 1, 2, 3].map((row) => again.at(row))).toEqual([[], ['b', 'a'], ['b', 'a'], ['b', 'a']])
  expect(again.isWhole).toBe(true)
})

test.each([
  ['whole numbers', (row: number) => row % 5_000],
  ['multiples of 2 to the power of 20', (row: number) => (row % 5_000) * 2 ** 20],
  ['numbers that differ in their last bit', (row: number) => 1 + (row % 5_000) * Number.EPSILON],
  [
    'numbers of either sign, and 0 of both',
    (row: number) => ((row % 5_000) - 2_500) * (row % 2 ? 0.1 : -0.1),
  ],
])('equal %s have one number', (_what, toScore) => {
  const rows = 20_000
  const scores = new RowScores(rows + 1)
  for (let row = 1; row <= rows; row += 1) scores.set(row, toScore(row))
  const different = new Set(Array.from({ length: rows }, (_, at) => toScore(at + 1)))
  expect(scores.stored.scores).toHaveLength(different.size + 1)
  for (let row = 1; row <= rows; row += 1) expect(scores.at(row) === toScore(row)).toBe(true)
})
