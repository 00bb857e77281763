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

const METRICS = ['precision', 'recall', 'f1'] as const

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
      const judged = judgePairedRule([{ population: null, cells }])
      expect(judged).toMatchObject({ right_only_in_a, right_only_in_b })
      expect(judged.p).toBeCloseTo(p, 9)
      for (const name of METRICS) {
        expect(judged.change[name].value).toBeCloseTo(change[name].value ?? expect.fail('no value'), 12)
      }
    }
  })

  it("has intervals like scipy's when both decisions of a row are drawn together, for many rows", () => {
    for (const { cells, change } of fixture.rules) {
      const judged = judgePairedRule([{ population: null, cells }])
      for (const name of METRICS) {
        // Percentiles are too narrow as long as few decisions differ.
        expect(Math.abs((judged.change[name].low ?? 9) - (change[name].low ?? 0))).toBeLessThan(0.021)
        expect(Math.abs((judged.change[name].high ?? 9) - (change[name].high ?? 0))).toBeLessThan(0.021)
      }
    }
  })

  it.each([
    { what: 'a run that is worse', chances: [0, 0, 0.05, 0.1, 0.1, 0.05, 0.25, 0.45] },
    { what: 'a run that is never wrong', chances: [0.4, 0.1, 0, 0, 0, 0, 0.15, 0.35] },
    { what: 'runs of which neither is better', chances: [0.3, 0.05, 0.05, 0.1, 0.1, 0.05, 0.05, 0.3] },
  ])('has the true changes in 95 of 100 intervals from eight rows: $what', ({ chances }) => {
    const { change } = judgePairedRule([{ population: null, cells: chances.map((chance) => chance * 1e9) }])
    const covered = { precision: 0, recall: 0, f1: 0 }
    const judgeable = { precision: 0, recall: 0, f1: 0 }
    for (const { cells, chance } of listSamples(chances, 8)) {
      const judged = judgePairedRule([{ population: null, cells }]).change
      for (const name of METRICS) {
        const { value, low, high } = judged[name]
        const truth = change[name].value ?? expect.fail('no value')
        if (value === null || low === null || high === null) continue
        judgeable[name] += chance
        if (low <= truth + 1e-9 && truth - 1e-9 <= high) covered[name] += chance
      }
    }
    for (const name of METRICS) expect(covered[name] / judgeable[name]).toBeGreaterThan(0.95)
  })

  it('does not take one row, or rows on which nothing changed, for a proof', () => {
    const [one] = [judgePairedRule([{ population: null, cells: [0, 0, 0, 0, 0, 0, 1, 0] }]).change.recall]
    expect(one).toMatchObject({ value: -1, low: -1 })
    expect(one.high).toBeGreaterThan(0)
    const same = judgePairedRule([{ population: null, cells: [0, 0, 0, 0, 5, 0, 0, 5] }]).change.recall
    expect(same.low).toBeLessThan(-0.1)
    expect(same.high).toBeGreaterThan(0.1)
  })

  it('has narrower intervals the more of a stratum is in its sample, of zero width if all of it is', () => {
    const cells = [50, 2, 3, 4, 5, 6, 1, 29]
    const toWidth = (populations: readonly number[]) => {
      const { low, high } = judgePairedRule(populations.map((population) => ({ population, cells }))).change
        .recall
      return (high ?? 9) - (low ?? 0)
    }
    expect(toWidth([100])).toBeCloseTo(0, 12)
    expect(toWidth([100, 100])).toBeCloseTo(0, 12)
    expect(toWidth([150, 100])).toBeGreaterThan(0.02)
    expect(toWidth([150, 100])).toBeLessThan(toWidth([150, 150]))
    expect(toWidth([150, 150])).toBeLessThan(toWidth([1500, 1500]))
  })

  it('has no change if a run triggered nothing', () => {
    const { change } = judgePairedRule([{ population: null, cells: [10, 0, 0, 0, 4, 3, 0, 0] }])
    expect(change.precision).toEqual({ value: null, low: null, high: null })
    expect(change.recall.value).toBeCloseTo(3 / 7, 12)
  })
})

/** All samples of some rows from cells with these chances, each with its probability. */
function* listSamples(
  chances: readonly number[],
  rows: number,
): Generator<{ cells: number[]; chance: number }> {
  const [chance = 1, ...others] = chances
  if (others.length === 0) return yield { cells: [rows], chance: chance ** rows }
  for (
    let [own, part] = [0, 1];
    own <= rows && part > 0;
    own += 1, part *= (chance * (rows - own + 1)) / own
  ) {
    for (const rest of listSamples(others, rows - own)) {
      yield { cells: [own, ...rest.cells], chance: part * rest.chance }
    }
  }
}
