import { describe, expect, it } from 'vitest'
import {
  findBestF1,
  findForPrecision,
  findsAll,
  listPoints,
  ScoreTally,
  thinCurve,
  toAveragePrecision,
  toPointAt,
  toRocAuc,
  toScoreBars,
} from '../../../src/shared/lookback/score-curve.ts'
import { createRandom } from '../../../src/shared/lookback/seeded-random.ts'
import { readFixture } from './read-fixture.ts'

const { curves } = readFixture()

function toCurve({ truth, scores }: Pick<(typeof curves)[number], 'truth' | 'scores'>) {
  const tally = new ScoreTally()
  for (const [index, score] of scores.entries()) tally.add(0, score, truth[index] === 1)
  return tally.toCurve([1])
}

describe('the scores of a class', () => {
  it("have scikit-learn's average precision and ROC AUC, including tied scores", () => {
    for (const fixture of curves) {
      const curve = toCurve(fixture)
      expect(toAveragePrecision(curve)).toBeCloseTo(fixture.average_precision, 14)
      expect(toRocAuc(curve)).toBeCloseTo(fixture.roc_auc, 14)
    }
  })

  it("have scikit-learn's precision-recall curve", () => {
    for (const fixture of curves) {
      const points = listPoints(toCurve(fixture), 1000)
      expect(points.map(({ threshold }) => threshold)).toEqual(
        fixture.points.map(({ threshold }) => threshold),
      )
      for (const [index, point] of points.entries()) {
        for (const name of ['precision', 'recall', 'f1'] as const) {
          expect(point[name]).toBeCloseTo(fixture.points[index]?.[name] ?? Number.NaN, 14)
        }
      }
    }
  })

  it('find the threshold with the best F1, and the one for a wanted precision', () => {
    for (const fixture of curves) {
      const curve = toCurve(fixture)
      expect(findBestF1(curve)).toMatchObject({ threshold: fixture.best_f1.threshold })
      expect(findBestF1(curve)?.f1).toBeCloseTo(fixture.best_f1.f1, 14)
      expect(findForPrecision(curve, fixture.wanted)?.threshold ?? null).toBe(fixture.threshold_for_wanted)
    }
  })

  it('take the highest threshold with the best F1, and say if only flagging every row reaches it', () => {
    const tied = findBestF1(toCurve({ truth: [1, 0, 1, 0, 0], scores: [4, 3, 2, 1, 0] }))
    expect(tied).toMatchObject({ threshold: 2, f1: 0.8 })
    expect(tied && findsAll(tied)).toBe(false)
    const same = findBestF1(toCurve({ truth: [1, 0, 0, 1], scores: [2, 1, 1, 0] }))
    expect(same).toMatchObject({ threshold: 2, f1: 2 / 3 })
    const senseless = findBestF1(toCurve({ truth: [0, 0, 1, 1, 1], scores: [2, 1, 0, 0, 0] }))
    expect(senseless).toMatchObject({ threshold: 0, f1: 0.75 })
    expect(senseless && findsAll(senseless)).toBe(true)
  })

  it('give the outcome of any threshold, also between and beyond the scores', () => {
    const curve = toCurve({ truth: [1, 0, 1, 0, 0], scores: [3, 3, 2, 1, 0] })
    expect(toPointAt(curve, 2.5)).toMatchObject({ threshold: 2.5, true_positives: 1, false_positives: 1 })
    expect(toPointAt(curve, 2)).toMatchObject({ true_positives: 2, false_negatives: 0, true_negatives: 2 })
    expect(toPointAt(curve, -1)).toMatchObject({ true_positives: 2, false_positives: 3, recall: 1 })
    expect(toPointAt(curve, 4)).toEqual({
      threshold: 4,
      true_positives: 0,
      false_positives: 0,
      false_negatives: 2,
      true_negatives: 3,
      precision: null,
      recall: 0,
      f1: 0,
    })
  })

  it('are thinned evenly if a curve has too many points, and keep both ends', () => {
    const scores = Array.from({ length: 1001 }, (_, index) => index)
    const points = listPoints(toCurve({ truth: scores.map((score) => score % 2), scores }), 5)
    expect(points.map(({ threshold }) => threshold)).toEqual([0, 250, 500, 750, 1000])
  })

  it('count for as many rows as their stratum stands for', () => {
    const tally = new ScoreTally()
    tally.add(0, 2, true)
    tally.add(1, 2, false)
    tally.add(1, 1, true)
    expect(toPointAt(tally.toCurve([10, 3]), 2)).toMatchObject({
      true_positives: 10,
      false_positives: 3,
      false_negatives: 3,
    })
  })

  it('have no metrics if there is nothing to distinguish', () => {
    const curve = toCurve({ truth: [0, 0], scores: [1, 2] })
    expect([toAveragePrecision(curve), toRocAuc(curve), findBestF1(curve)]).toEqual([null, null, null])
    expect(toRocAuc(toCurve({ truth: [1], scores: [1] }))).toBe(null)
  })
})

describe('a curve that a threshold is moved along', () => {
  const random = createRandom(7)
  const truth = Array.from({ length: 20_000 }, () => (random() < 0.1 ? 1 : 0))
  const scores = truth.map((is) => (is === 1 ? random() ** 0.5 : random() ** 3))
  const whole = toCurve({ truth, scores })
  const thin = thinCurve(whole, 1_000)

  it('has about a thousand thresholds of 20,000, each with the same outcome as on the whole curve', () => {
    expect(whole.thresholds.length).toBeGreaterThan(19_000)
    expect(thin.thresholds.length).toBeLessThan(1_150)
    for (const point of listPoints(thin, thin.thresholds.length)) {
      expect(point).toEqual(toPointAt(whole, point.threshold))
    }
  })

  it('spans the lowest to the highest score in steps that are small in rows and in scores', () => {
    const ascending = thin.thresholds.toReversed()
    expect([ascending[0], ascending.at(-1)]).toEqual([whole.thresholds.at(-1), whole.thresholds[0]])
    const steps = ascending.slice(1).map((threshold, index) => threshold - (ascending[index] ?? 0))
    expect(Math.max(...steps)).toBeLessThan(0.01)
    const found = thin.truePositives.map((count, index) => count + (thin.falsePositives[index] ?? 0))
    const rows = found.slice(1).map((count, index) => count - (found[index] ?? 0))
    expect(Math.max(...rows)).toBeLessThan(60)
  })

  it("gives the whole curve's best F1 and threshold for each whole percent of precision", () => {
    expect(findBestF1(thin)).toEqual(findBestF1(whole))
    for (let percent = 1; percent <= 100; percent += 1) {
      expect(findForPrecision(thin, percent / 100)).toEqual(findForPrecision(whole, percent / 100))
    }
  })

  it('is unchanged if its scores are few', () => {
    const few = toCurve({ truth: [1, 0, 1, 0], scores: [3, 3, 2, 0] })
    expect(thinCurve(few, 1_000)).toBe(few)
    expect(thinCurve(toCurve({ truth: [], scores: [] }), 1_000).thresholds).toEqual([])
  })
})

describe('the distribution of scores', () => {
  it('has a bar for each score if they are few', () => {
    expect(toScoreBars(toCurve({ truth: [1, 0, 1, 0, 0], scores: [3, 3, 2, 0, 0] }), 60)).toEqual([
      { from: 0, to: 0, positives: 0, negatives: 2 },
      { from: 2, to: 2, positives: 1, negatives: 0 },
      { from: 3, to: 3, positives: 1, negatives: 1 },
    ])
  })

  it('has equal bars that cover every row if they are many', () => {
    const scores = Array.from({ length: 1_001 }, (_, index) => index)
    const bars = toScoreBars(toCurve({ truth: scores.map((score) => Number(score > 750)), scores }), 10)
    expect(bars.map(({ positives, negatives }) => positives + negatives)).toEqual([
      ...[100, 100, 100, 100, 100, 100, 100, 100, 100, 101],
    ])
    expect(bars.reduce((sum, { positives }) => sum + positives, 0)).toBe(250)
    expect([bars[0]?.from, bars.at(-1)?.to]).toEqual([0, 1_000])
  })

  it('is empty without scores', () => {
    expect(toScoreBars(toCurve({ truth: [], scores: [] }), 60)).toEqual([])
  })
})
