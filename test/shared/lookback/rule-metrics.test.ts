import { describe, expect, it } from 'vitest'
import type { Judged, Metric } from '../../../src/shared/lookback/evaluation.ts'
import { averageRules, judgeRule, type Tally } from '../../../src/shared/lookback/rule-metrics.ts'
import { readFixture } from './read-fixture.ts'

const fixture = readFixture()

function toTally(matrix: Judged['matrix']): Tally {
  return {
    rows: Object.values(matrix).reduce((sum, rows) => sum + rows, 0),
    population: null,
    truePositives: matrix.true_positives,
    falsePositives: matrix.false_positives,
    falseNegatives: matrix.false_negatives,
  }
}

function expectClose(found: number | null | undefined, expected: number | null | undefined, digits: number) {
  if (expected === null || expected === undefined) expect(found).toBe(null)
  else expect(found).toBeCloseTo(expected, digits)
}

function expectMetric(found: Metric, expected: Metric) {
  expectClose(found.value, expected.value, 14)
  // Our quantile of the normal distribution is exact to nine digits.
  expectClose(found.low, expected.low, 8)
  expectClose(found.high, expected.high, 8)
}

describe('a rule judged by its matrix', () => {
  it('has the precision, recall, F1 and Wilson intervals of scikit-learn and scipy', () => {
    for (const { matrix, precision, recall, f1 } of fixture.rules) {
      const judged = judgeRule([toTally(matrix)])
      expect(judged.matrix).toEqual(matrix)
      expect(judged.estimated).toBe(null)
      expectMetric(judged.precision, precision)
      expectMetric(judged.recall, recall)
      expectMetric(judged.f1, f1)
    }
  })

  it('has the F1 value that an assertion writes', () => {
    for (const [hits, wrong, f1] of [
      [1, 8, 0.2],
      [9, 2, 0.9],
      [19, 2, 0.95],
      [49, 2, 0.98],
      [3, 4, 0.6],
    ] as const) {
      const matrix = { truePositives: hits, falsePositives: 0, falseNegatives: wrong }
      expect(judgeRule([{ rows: 100, population: null, ...matrix }]).f1.value).toBe(f1)
    }
  })

  it('has an F1 as uncertain as precision and recall if few rows triggered or should have', () => {
    const perfect = { rows: 6, population: null, truePositives: 1, falsePositives: 0, falseNegatives: 0 }
    const { f1 } = judgeRule([perfect])
    expect(f1.value).toBe(1)
    expect(f1.high).toBe(1)
    expect(f1.low).toBeCloseTo(0.34, 2)
  })
})

describe('averages over rules', () => {
  it('match scikit-learn, without rules that have no value in the mean', () => {
    const rules = fixture.averages.rules.map((matrix) => judgeRule([toTally(matrix)]))
    const { macro, micro } = averageRules(rules)
    for (const name of ['precision', 'recall', 'f1'] as const) {
      expectClose(macro[name], fixture.averages.macro[name], 14)
      expectClose(micro[name], fixture.averages.micro[name], 14)
    }
  })
})

describe('a stratified sample', () => {
  const flagged = { rows: 50, population: 100, truePositives: 40, falsePositives: 10, falseNegatives: 0 }
  const others = { rows: 50, population: 900, truePositives: 0, falsePositives: 0, falseNegatives: 5 }

  it('is weighted back to the rows that it was drawn from', () => {
    const { matrix, estimated, precision, recall } = judgeRule([flagged, others])
    expect(matrix).toEqual({
      true_positives: 40,
      false_positives: 10,
      false_negatives: 5,
      true_negatives: 45,
    })
    expect(estimated).toEqual({
      true_positives: 80,
      false_positives: 20,
      false_negatives: 90,
      true_negatives: 810,
    })
    expect(precision.value).toBeCloseTo(0.8, 14)
    expect(recall.value).toBeCloseTo(80 / 170, 14)
  })

  it('is less certain than as many unweighted rows if one row stands for many', () => {
    const weighted = judgeRule([flagged, others]).recall
    const plain = judgeRule([
      { ...flagged, population: null },
      { ...others, population: null },
    ]).recall
    const width = ({ low, high }: Metric) => (high ?? 0) - (low ?? 0)
    expect(width(weighted)).toBeGreaterThan(width(plain))
  })

  it('has no uncertainty if every row was labelled', () => {
    const census = [flagged, others].map((tally) => ({ ...tally, population: tally.rows }))
    const { precision, recall, f1 } = judgeRule(census)
    for (const { value, low, high } of [precision, recall, f1]) {
      expect(low).toBeCloseTo(value ?? -1, 14)
      expect(high).toBeCloseTo(value ?? -1, 14)
    }
  })
})
