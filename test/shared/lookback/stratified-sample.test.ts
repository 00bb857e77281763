import { describe, expect, it } from 'vitest'
import type { Judged, Metric } from '../../../src/shared/lookback/evaluation.ts'
import { judgeRule, type Tally } from '../../../src/shared/lookback/rule-metrics.ts'
import { createRandom } from '../../../src/shared/lookback/seeded-random.ts'
import { type Allocation, allocate, drawRows } from '../../../src/shared/lookback/stratified-sample.ts'

describe('the rows of each stratum', () => {
  it('are in proportion to all rows, at least two each, and add up to the requested number', () => {
    expect(allocate([900, 90, 10], 100, 'proportional')).toEqual([89, 9, 2])
    expect(allocate([1000, 3, 1], 100, 'proportional')).toEqual([97, 2, 1])
  })

  it('are equally many until a stratum has no more', () => {
    expect(allocate([900, 90, 10], 100, 'equal')).toEqual([45, 45, 10])
    expect(allocate([5, 5], 100, 'equal')).toEqual([5, 5])
    expect(allocate([500, 500, 500], 2, 'equal').reduce((sum, rows) => sum + rows, 0)).toBe(2)
  })
})

describe('drawn rows', () => {
  const strata = Uint8Array.from({ length: 1_000 }, (_, row) => (row % 10 === 0 ? 1 : 0))

  it('are as many of each stratum as requested, and the same again for the same seed', () => {
    const draw = (seed: number) => drawRows(strata, [900, 100], [20, 30], createRandom(seed))
    const rows = draw(7)
    expect(rows.filter((row) => strata[row] === 0)).toHaveLength(20)
    expect(rows.filter((row) => strata[row] === 1)).toHaveLength(30)
    expect(new Set(rows).size).toBe(50)
    expect(draw(7)).toEqual(rows)
    expect(draw(8)).not.toEqual(rows)
  })

  it('are drawn with equal probability within their stratum', () => {
    const counts = new Array<number>(100).fill(0)
    const all = new Uint8Array(100)
    for (let seed = 0; seed < 2_000; seed += 1) {
      for (const row of drawRows(all, [100], [10], createRandom(seed))) counts[row] = (counts[row] ?? 0) + 1
    }
    // The expected count of each is 200, with a standard deviation of 13.
    expect(Math.min(...counts)).toBeGreaterThan(140)
    expect(Math.max(...counts)).toBeLessThan(260)
  })
})

/** Rows by a rule's outcome: it found 287 of the 747 rows that it should find. */
const POPULATION = [
  { stratum: 'Likely spam', isTriggered: true, shouldTrigger: true, rows: 287 },
  { stratum: 'Likely spam', isTriggered: true, shouldTrigger: false, rows: 1 },
  { stratum: 'Contains a link', isTriggered: false, shouldTrigger: true, rows: 47 },
  { stratum: 'Contains a link', isTriggered: false, shouldTrigger: false, rows: 2 },
  { stratum: 'no rule', isTriggered: false, shouldTrigger: true, rows: 413 },
  { stratum: 'no rule', isTriggered: false, shouldTrigger: false, rows: 4_822 },
].flatMap(({ rows, ...row }) => Array.from({ length: rows }, () => row))

const RECALL = 287 / 747

const F1 = (2 * 287) / (2 * 287 + 1 + 460)

/** Figures of a rule from samples of 500 rows, one for each of 100 seeds. */
function judgeSamples(allocation: Allocation, change: (tally: Tally) => Tally = (tally) => tally): Judged[] {
  const names = [...new Set(POPULATION.map(({ stratum }) => stratum))]
  const strata = POPULATION.map(({ stratum }) => names.indexOf(stratum))
  const sizes = names.map((_, number) => strata.filter((one) => one === number).length)
  const allocated = allocate(sizes, 500, allocation)
  return Array.from({ length: 100 }, (_, seed) => {
    const drawn = drawRows(strata, sizes, allocated, createRandom(seed + 1))
    const tallies = names.map((name, number) => {
      const rows = drawn.map((at) => POPULATION[at]).filter((row) => row?.stratum === name)
      const count = (isTriggered: boolean, shouldTrigger: boolean) =>
        rows.filter((row) => row?.isTriggered === isTriggered && row.shouldTrigger === shouldTrigger).length
      return {
        rows: rows.length,
        population: sizes[number] ?? 0,
        truePositives: count(true, true),
        falsePositives: count(true, false),
        falseNegatives: count(false, true),
      }
    })
    return judgeRule(tallies.map(change))
  })
}

function countCovered(metrics: readonly Metric[], truth: number): number {
  return metrics.filter(({ low, high }) => (low ?? 1) <= truth && truth <= (high ?? 0)).length
}

describe('a figure that a stratified sample of 500 rows estimates', () => {
  it.each(['proportional', 'equal'] as const)(
    'has an interval that contains the true value for 90 to 99 of 100 seeds, %s',
    (allocation) => {
      const samples = judgeSamples(allocation)
      for (const [name, truth] of [
        ['recall', RECALL],
        ['f1', F1],
      ] as const) {
        const metrics = samples.map((judged) => judged[name])
        expect(countCovered(metrics, truth)).toBeGreaterThanOrEqual(90)
        expect(countCovered(metrics, truth)).toBeLessThanOrEqual(99)
        const mean = metrics.reduce((sum, { value }) => sum + (value ?? 0), 0) / metrics.length
        expect(Math.abs(mean - truth)).toBeLessThan(0.01)
      }
    },
  )

  it('is wrong for every seed if rows of equally large samples are not weighted', () => {
    const samples = judgeSamples('equal', (tally) => ({ ...tally, population: null }))
    const recalls = samples.map(({ recall }) => recall)
    expect(countCovered(recalls, RECALL)).toBe(0)
  })
})
