import { describe, expect, it } from 'vitest'
import type { Judged, Metric } from '../../../src/shared/lookback/evaluation.ts'
import { averageRules, judgeRule, type Tally } from '../../../src/shared/lookback/rule-metrics.ts'
import { createRandom } from '../../../src/shared/lookback/seeded-random.ts'
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
  // The quantile of the normal distribution is exact to nine digits.
  expectClose(found.low, expected.low, 8)
  expectClose(found.high, expected.high, 8)
}

describe('a rule judged by its matrix', () => {
  it('has the precision, recall, F1 and Wilson intervals of scikit-learn and scipy', () => {
    for (const { matrix, precision, recall, f1 } of fixture.rules) {
      const judged = judgeRule([toTally(matrix)], createRandom(1))
      expect(judged.matrix).toEqual(matrix)
      expect(judged.estimated).toBe(null)
      expectMetric(judged.precision, precision)
      expectMetric(judged.recall, recall)
      expectClose(judged.f1.value, f1.value, 14)
    }
  })

  it('has an interval of F1 like the one that scipy bootstraps', () => {
    const cases = fixture.rules.filter(({ f1 }) => f1.low !== undefined)
    expect(cases.length).toBeGreaterThan(2)
    for (const { matrix, f1 } of cases) {
      const { low, high } = judgeRule([toTally(matrix)], createRandom(1)).f1
      // Both are drawn, each with a spread of its own.
      expect(Math.abs((low ?? 0) - (f1.low ?? 0))).toBeLessThan(0.02)
      expect(Math.abs((high ?? 0) - (f1.high ?? 0))).toBeLessThan(0.02)
    }
  })

  it('draws the same interval again for the same seed', () => {
    const tally = toTally(fixture.rules[0]?.matrix ?? expect.fail())
    expect(judgeRule([tally], createRandom(5))).toEqual(judgeRule([tally], createRandom(5)))
    expect(judgeRule([tally], createRandom(5)).f1).not.toEqual(judgeRule([tally], createRandom(6)).f1)
  })
})

describe('averages over rules', () => {
  it('are those of scikit-learn, rules without a value left out of the mean', () => {
    const rules = fixture.averages.rules.map((matrix) => judgeRule([toTally(matrix)], createRandom(1)))
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
    const { matrix, estimated, precision, recall } = judgeRule([flagged, others], createRandom(1))
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

  it('is less certain than as many rows that stand for themselves, where one row stands for many', () => {
    const weighted = judgeRule([flagged, others], createRandom(1)).recall
    const plain = judgeRule(
      [
        { ...flagged, population: null },
        { ...others, population: null },
      ],
      createRandom(1),
    ).recall
    const width = ({ low, high }: Metric) => (high ?? 0) - (low ?? 0)
    expect(width(weighted)).toBeGreaterThan(width(plain))
  })

  it('leaves nothing uncertain where every row was labelled', () => {
    const census = [flagged, others].map((tally) => ({ ...tally, population: tally.rows }))
    const { precision, recall, f1 } = judgeRule(census, createRandom(1))
    for (const { value, low, high } of [precision, recall, f1]) {
      expect(low).toBeCloseTo(value ?? -1, 14)
      expect(high).toBeCloseTo(value ?? -1, 14)
    }
  })
})
