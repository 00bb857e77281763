import { expect, it } from 'vitest'
import type { Evaluation } from '../../../src/shared/lookback/evaluation.ts'
import { toEvaluationReport } from '../../../src/shared/report/evaluation-report.ts'
import { formatMarkdown } from '../../../src/shared/report/markdown.ts'

it.each([
  { surface: 'terminal', rules: 14, shown: 12 },
  { surface: 'page', rules: 52, shown: 50 },
] as const)('a $surface counts the unjudged rules that it does not name', ({ surface, rules, shown }) => {
  const said = formatMarkdown(toEvaluationReport(evaluate(rules), surface))
  expect(said).toContain(`rule ${shown} (1) and 2 further rules`)
  expect(said).not.toContain(`rule ${shown + 1} (`)
})

it('does not mention rules if all are judged', () => {
  expect(formatMarkdown(toEvaluationReport(evaluate(0), 'page'))).not.toContain('Not judged')
})

function evaluate(unjudged: number): Evaluation {
  const figure = { value: null, low: null, high: null }
  const figures = { precision: null, recall: null, f1: null }
  const matrix = { true_positives: 0, false_positives: 0, false_negatives: 0, true_negatives: 1 }
  const judged = { matrix, estimated: null, precision: figure, recall: figure, f1: figure }
  return {
    run_id: '20261127-101010-111111',
    name: 'posts.csv',
    labels: { from: ['column'], values: [], further_values: 0, verdict_rows: 0 },
    rows: {
      read: 1,
      evaluated: 1,
      without_label: 0,
      unsure: 0,
      conflicting_label: 0,
      without_answer: 0,
    },
    strata: null,
    overall: judged,
    rules: [{ ...judged, rule: 'Likely spam', rule_ids: ['r1'] }],
    macro: figures,
    micro: figures,
    not_judged: Array.from({ length: unjudged }, (_, at) => ({ rule: `rule ${at + 1}`, rows: 1 })),
    slices: [],
    scores: [],
    assertions: [],
    listed: [],
    exported: null,
    warnings: [],
  }
}
