import { describe, expect, test } from 'vitest'
import { createRowOrder } from '../../../../src/main/engine/load/row-order.ts'

/** The rows of the first requests. */
const take = (toPosition: (sequence: number) => number, requests: number, from = 0) =>
  Array.from({ length: requests }, (_, index) => toPosition(from + index))

const sorted = (positions: number[]) => positions.toSorted((a, b) => a - b)

describe('the order of rows', () => {
  test('is that of the source, repeatedly, by default', () => {
    expect(take(createRowOrder({ order: 'source', seed: 1 }, 3), 7)).toEqual([0, 1, 2, 0, 1, 2, 0])
  })

  test.each([1, 2, 3, 7, 64, 1_024, 1_025])('contains each of %d rows once a round if shuffled', (count) => {
    const toPosition = createRowOrder({ order: 'shuffled', seed: 7 }, count)
    const all = Array.from({ length: count }, (_, position) => position)
    for (const round of [0, 1, 5]) expect(sorted(take(toPosition, count, round * count))).toEqual(all)
  })

  test('differs between rounds and seeds if shuffled, and is the same for the same seed', () => {
    const first = take(createRowOrder({ order: 'shuffled', seed: 7 }, 100), 200)
    expect(take(createRowOrder({ order: 'shuffled', seed: 7 }, 100), 200)).toEqual(first)
    expect(first.slice(0, 100)).not.toEqual(first.slice(100))
    expect(take(createRowOrder({ order: 'shuffled', seed: 8 }, 100), 200)).not.toEqual(first)
    const all = Array.from({ length: 100 }, (_, position) => position)
    expect(first.slice(0, 100)).not.toEqual(all)
  })

  test('puts every row in every position about equally often if shuffled', () => {
    const places = Array.from({ length: 8 }, () => Array.from({ length: 8 }, () => 0))
    for (let seed = 0; seed < 8_000; seed += 1) {
      for (const [place, row] of take(createRowOrder({ order: 'shuffled', seed }, 8), 8).entries()) {
        const counts = places[place]
        if (counts !== undefined) counts[row] = (counts[row] ?? 0) + 1
      }
    }
    // The expected count of each is 1,000; the tolerance is six standard deviations of 30.
    for (const count of places.flat()) expect(Math.abs(count - 1_000)).toBeLessThan(180)
  })

  test.each([5, 6, 10])('puts each of %d rows in each position about equally often if shuffled', (count) => {
    const rounds = 1_000 * count
    for (const seed of [1, 2, 77]) {
      const toPosition = createRowOrder({ order: 'shuffled', seed }, count)
      const places = new Array<number>(count * count).fill(0)
      for (let sequence = 0; sequence < rounds * count; sequence += 1) {
        const cell = (sequence % count) * count + toPosition(sequence)
        places[cell] = (places[cell] ?? 0) + 1
      }
      for (const found of places) expect(Math.abs(found - 1_000)).toBeLessThan(180)
    }
  })

  test.each([
    [5, 120],
    [6, 720],
  ])('takes each permutation of %d rows about equally often if shuffled', (count, orders) => {
    const found = new Map<string, number>()
    const toPosition = createRowOrder({ order: 'shuffled', seed: 42 }, count)
    for (let round = 0; round < 100 * orders; round += 1) {
      const order = take(toPosition, count, round * count).join()
      found.set(order, (found.get(order) ?? 0) + 1)
    }
    expect(found.size).toBe(orders)
    // 100 are expected of each. The sum of squares is about the degrees of freedom, within five deviations.
    const squares = [...found.values()].reduce((sum, n) => sum + (n - 100) ** 2 / 100, 0)
    expect(Math.abs(squares - (orders - 1))).toBeLessThan(5 * Math.sqrt(2 * (orders - 1)))
  })

  test('draws rows evenly if random, whatever the number of the request', () => {
    const toPosition = createRowOrder({ order: 'random', seed: 3 }, 10)
    for (const from of [0, 5e9]) {
      const counts = Array.from({ length: 10 }, () => 0)
      for (const position of take(toPosition, 10_000, from)) counts[position] = (counts[position] ?? 0) + 1
      for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(180)
    }
  })

  test('draws rows in proportion to their weights if random, and never one without weight', () => {
    const weights = Float64Array.from([0, 1, 0, 3, 0.5, 0])
    const counts = [0, 0, 0, 0, 0, 0]
    for (const position of take(createRowOrder({ order: 'random', seed: 3 }, 6, weights), 9_000)) {
      counts[position] = (counts[position] ?? 0) + 1
    }
    expect([counts[0], counts[2], counts[5]]).toEqual([0, 0, 0])
    for (const [position, expected] of [
      [1, 2_000],
      [3, 6_000],
      [4, 1_000],
    ] as const) {
      expect(Math.abs((counts[position] ?? 0) - expected)).toBeLessThan(280)
    }
  })
})
