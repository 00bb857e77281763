import { describe, expect, it } from 'vitest'
import { checkAssertion, parseAssertion } from '../../../src/shared/lookback/assertion.ts'
import { averageRules, judgeRule } from '../../../src/shared/lookback/rule-metrics.ts'

/** One rule with a precision of 0.8 and a recall of 0.5. */
function createEvaluation() {
  const tally = { rows: 100, population: null, truePositives: 8, falsePositives: 2, falseNegatives: 8 }
  const judged = judgeRule([tally])
  const rules = [{ rule: 'Spam (strict)', rule_ids: ['rule-1'], ...judged }]
  return { overall: judged, rules, ...averageRules(rules) }
}

function check(text: string) {
  const parsed = parseAssertion(text)
  return parsed.ok ? checkAssertion(parsed.assertion, createEvaluation()) : parsed
}

describe('an assertion', () => {
  it('compares a metric of a rule, by name or id, or of all rules', () => {
    expect(check('recall(Spam (strict))>=0.5')).toMatchObject({ value: 0.5, ok: true })
    expect(check(' Recall ( RULE-1 ) > 0.5')).toMatchObject({ value: 0.5, ok: false })
    expect(check('precision(overall)<.9')).toMatchObject({ value: 0.8, ok: true })
    expect(check('precision(micro)<=0.8')).toMatchObject({ ok: true })
    expect(check('f1(macro)==1')).toMatchObject({ ok: false })
  })

  it('holds for an average that is smaller only by floating-point error', () => {
    const rules = [0.7, 0.8, 0.9].map((share) => {
      const truePositives = share * 10
      return judgeRule([
        { rows: 10, population: null, truePositives, falsePositives: 0, falseNegatives: 10 - truePositives },
      ])
    })
    const { macro, micro } = averageRules(rules)
    const parsed = parseAssertion('recall(macro)>=0.8')
    const evaluation = { ...createEvaluation(), macro, micro }
    expect(parsed.ok && checkAssertion(parsed.assertion, evaluation)).toMatchObject({ value: 0.8, ok: true })
  })

  it('holds for the exact figure, with all the digits in a document', () => {
    const { value } = createEvaluation().overall.f1
    expect(check(`f1(overall)==${value}`)).toMatchObject({ ok: true })
    expect(check(`f1(overall)>=${value}`)).toMatchObject({ ok: true })
  })

  it('fails if its rule or metric has no value', () => {
    expect(check('recall(Other)>=0')).toEqual({ expression: 'recall(Other)>=0', value: null, ok: false })
  })

  it('says where it is wrong', () => {
    for (const [text, reason] of [
      ['recal(Spam)>=0.9', /character 1: expected one of precision, recall, f1/],
      ['recall()>=0.9', /character 8: expected a rule/],
      ['recall(Spam>=0.9', /a closing bracket/],
      ['recall(Spam)=>0.9', /character 13: expected one of >= > <= < ==/],
      ['recall(Spam)>=90', /character 15: expected a share from 0 to 1/],
    ] as const) {
      const found = check(text)
      expect('reason' in found ? found.reason : found).toMatch(reason)
    }
  })
})
