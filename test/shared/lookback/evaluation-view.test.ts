import { expect, it } from 'vitest'
import type { Evaluation, Judged } from '../../../src/shared/lookback/evaluation.ts'
import {
  describeEstimated,
  describeFigure,
  formatInterval,
  listShownPoints,
  toFiguresCsv,
} from '../../../src/shared/lookback/evaluation-view.ts'
import { findBestF1, listPoints, ScoreTally } from '../../../src/shared/lookback/score-curve.ts'

const metric = (value: number) => ({ value, low: value - 0.25, high: value + 0.125 })
const NONE = { value: null, low: null, high: null }

const JUDGED: Judged = {
  matrix: { true_positives: 3, false_positives: 1, false_negatives: 2, true_negatives: 4 },
  estimated: null,
  precision: metric(0.75),
  recall: metric(0.5),
  f1: NONE,
}

it('writes the figures of rules, averages and slices as CSV, with formulas guarded and missing figures empty', () => {
  const rules = [{ rule: '=Rule, "one"', rule_ids: ['r'], ...JUDGED }]
  const evaluation: Pick<Evaluation, 'rows' | 'overall' | 'rules' | 'macro' | 'micro' | 'slices'> = {
    rows: { read: 12, evaluated: 10, without_label: 2, unsure: 0, conflicting_label: 0, without_answer: 0 },
    overall: JUDGED,
    rules,
    macro: { precision: 0.75, recall: 0.5, f1: null },
    micro: { precision: 0.75, recall: 0.5, f1: 0.6 },
    slices: [
      { column: 'language', values: [{ value: 'de', rows: 10, overall: JUDGED, rules }], further_rows: 0 },
    ],
  }
  const figures = '3,1,2,4,0.75,0.5,0.875,0.5,0.25,0.625,,,'
  expect(toFiguresCsv(evaluation).split('\r\n')).toEqual([
    'slice_column,slice_value,rule,rows,support,true_positives,false_positives,false_negatives,true_negatives,' +
      'precision,precision_low,precision_high,recall,recall_low,recall_high,f1,f1_low,f1_high',
    `,,overall,10,5,${figures}`,
    `,,"'=Rule, ""one""",10,5,${figures}`,
    ',,macro,10,,,,,,0.75,,,0.5,,,,,',
    ',,micro,10,,,,,,0.75,,,0.5,,,0.6,,',
    `language,de,overall,10,5,${figures}`,
    `language,de,"'=Rule, ""one""",10,5,${figures}`,
    '',
  ])
})

it('marks the best threshold of a class, and says if it flags every row', () => {
  const toNotes = (scores: readonly number[]) => {
    const tally = new ScoreTally()
    for (const [index, score] of scores.entries()) tally.add(0, score, index < 2)
    const curve = tally.toCurve([1])
    const shown = { best_f1: findBestF1(curve), wanted: [], what_if: [], points: listPoints(curve, 10) }
    return listShownPoints(shown).map(({ point, notes }) => [point.threshold, ...notes])
  }
  expect(toNotes([3, 2, 1])).toEqual([[1], [2, 'best F1'], [3]])
  expect(toNotes([1, 1, 2])).toEqual([[1, 'best F1, but flags every row'], [2]])
})

it('says that an interval that leaves nearly everything open rests on too few rows', () => {
  const wide = { value: 0.5, low: 0.0945, high: 0.9055 }
  expect(formatInterval(wide)).toBe('too few rows')
  expect(describeFigure(wide)).toBe('50.0 %, too few rows for an interval')
  expect(formatInterval({ value: 0.5, low: 0.2, high: 0.8 })).toBe('20.0 % to 80.0 %')
  expect(describeFigure({ value: 0.5, low: 0.2, high: 0.8 })).toBe('50.0 %, 95 % interval 20.0 % to 80.0 %')
  expect(describeFigure({ value: null, low: null, high: null })).toBe('–')
})

it('says that estimates cover only rows of groups with a labelled row', () => {
  const strata = [
    { stratum: 'spam', rows: 20, labelled: 2 },
    { stratum: 'ham', rows: 180, labelled: 0 },
  ]
  expect(describeEstimated(strata)).toBe('estimates for the 20 rows of its labelled groups')
})
