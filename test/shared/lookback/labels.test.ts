import { expect, test } from 'vitest'
import { createRowJudge } from '../../../src/main/engine/lookback/evaluate-run.ts'
import { Labels } from '../../../src/shared/lookback/labels.ts'

const RULES = new Map([
  ['r1', 'Spam'],
  ['r2', 'Spam'],
  ['r3', 'Links'],
])

test('rules with the same name are judged as one, whichever of their ids is given', () => {
  const labels = new Labels(RULES, { positives: [{ value: 'bad', rule: 'r2' }], separator: null })
  expect(labels.targets).toEqual([{ rule: 'Spam', ruleIds: ['r1', 'r2'] }])
  const judge = createRowJudge(labels)
  for (const id of ['r1', 'r2'])
    expect(judge([id], { kind: 'text', text: 'bad' })).toEqual({ expected: [0], triggered: [0] })
})

test('a verdict names a rule by any id with that name', () => {
  const labels = new Labels(RULES, { positives: [], separator: null })
  labels.addTarget('Spam')
  const verdict = { row: 1, verdict: 'should-not' as const, rule: 'r2', note: null, given_at: '' }
  const label = { kind: 'verdicts' as const, verdicts: [{ ...verdict, stratum: null, stratum_rows: null }] }
  expect(createRowJudge(labels)(['r1'], label)).toEqual({ expected: [], triggered: [0] })
})
