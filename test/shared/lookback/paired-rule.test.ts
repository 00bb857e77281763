import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ChangeOfMetrics } from '../../../src/shared/lookback/comparison.ts'
import { judgePairedRule, toMcNemarP } from '../../../src/shared/lookback/paired-rule.ts'

/** Expected values from scipy and scikit-learn, computed by test/fixtures/statistics/comparison.py. */
interface ComparisonFixture {
  mcnemar: { newly: number; no_longer: number; p: number }[]
  rules: ({ cells: number[] } & Pick<
    ChangeOfMetrics,
    'change' | 'right_only_in_a' | 'right_only_in_b' | 'p'
  >)[]
}

const fixture = JSON.parse(
  readFileSync(new URL('../../fixtures/statistics/comparison.json', import.meta.url), 'utf8'),
) as ComparisonFixture

describe("McNemar's exact test", () => {
  it.each(fixture.mcnemar)('gives scipy $p for $newly newly and $no_longer no longer', (change) => {
    const p = toMcNemarP(change.newly, change.no_longer)
    expect(Math.abs(p / change.p - 1)).toBeLessThan(1e-8)
    expect(toMcNemarP(change.no_longer, change.newly)).toBe(p)
  })
})

describe('a rule in two runs on the same rows', () => {
  it("has scikit-learn's change of each metric, and scipy's test", () => {
    for (const { cells, change, right_only_in_a, right_only_in_b, p } of fixture.rules) {
      const judged = judgePairedRule([{ population: null, cells }], 1)
      expect(judged).toMatchObject({ right_only_in_a, right_only_in_b })
      expect(judged.p).toBeCloseTo(p, 9)
      for (const name of ['precision', 'recall', 'f1'] as const) {
        expect(judged.change[name].value).toBeCloseTo(change[name].value ?? expect.fail('no value'), 12)
      }
    }
  })

  it("has intervals like scipy's when both decisions of a row are drawn together", () => {
    for (const { cells, change } of fixture.rules) {
      const judged = judgePairedRule([{ population: null, cells }], 1)
      for (const name of ['precision', 'recall', 'f1'] as const) {
        // Both sides are drawn, each with its own spread.
        expect(Math.abs((judged.change[name].low ?? 9) - (change[name].low ?? 0))).toBeLessThan(0.02)
        expect(Math.abs((judged.change[name].high ?? 9) - (change[name].high ?? 0))).toBeLessThan(0.02)
      }
    }
  })

  it('has intervals of zero width if a sample is the whole stratum', () => {
    const cells = [50, 2, 3, 4, 5, 6, 1, 29]
    const { change } = judgePairedRule([{ population: 100, cells }], 1)
    expect(change.recall.low).toBeCloseTo(change.recall.value ?? 9, 12)
    expect(change.recall.high).toBeCloseTo(change.recall.value ?? 9, 12)
  })

  it('has no change if a run triggered nothing, and draws the same again for a seed', () => {
    const { change } = judgePairedRule([{ population: null, cells: [10, 0, 0, 0, 4, 3, 0, 0] }], 1)
    expect(change.precision).toEqual({ value: null, low: null, high: null })
    expect(change.recall.value).toBeCloseTo(3 / 7, 12)
    const tally = { population: null, cells: [50, 2, 3, 4, 5, 6, 1, 29] }
    expect(judgePairedRule([tally], 5)).toEqual(judgePairedRule([tally], 5))
    expect(judgePairedRule([tally], 5).change).not.toEqual(judgePairedRule([tally], 6).change)
  })
})
