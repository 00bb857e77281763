import { expect, test } from 'vitest'
import { RowScores, RowValues } from '../../../../../src/main/engine/run/results/row-values.ts'

/** More scores than can be numbered. */
const MANY = 70_000

test('scores are kept exactly, however many different ones there are', () => {
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
