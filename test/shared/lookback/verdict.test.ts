import { describe, expect, it } from 'vitest'
import {
  addVerdict,
  describeVerdict,
  isDecided,
  type RowVerdict,
  setNote,
  toLabels,
  toVerdicts,
} from '../../../src/shared/lookback/verdict.ts'

const say = (verdict: RowVerdict['verdict'], rule: string | null = null, note: string | null = null) => ({
  verdict,
  rule,
  note,
})

describe('the verdicts on a row', () => {
  it('need a decision of the service, which duplicates that count as delivered and acknowledgements lack', () => {
    const row = { state: 'succeeded', errorCode: null, answer: null } as const
    expect(isDecided(row)).toBe(true)
    expect(isDecided({ ...row, answer: 'differing_callbacks' })).toBe(true)
    expect(isDecided({ ...row, answer: 'no_result' })).toBe(false)
    expect(isDecided({ ...row, errorCode: 'DUPLICATE_POST_ID' })).toBe(false)
    expect(isDecided({ ...row, state: 'rejected' })).toBe(false)
    expect(isDecided({ ...row, state: 'sending' })).toBe(false)
  })

  it('coexist if they are about different rules, and replace each other otherwise', () => {
    const missing = addVerdict([say('agree', null, 'seen')], say('should', 'A'))
    expect(missing).toEqual([say('should', 'A', 'seen')])
    const both = addVerdict(missing, say('should-not', 'B'))
    expect(both).toEqual([say('should', 'A', 'seen'), say('should-not', 'B', 'seen')])
    expect(addVerdict(both, say('should-not', 'A')).map(describeVerdict)).toEqual([
      'should not trigger B',
      'should not trigger A',
    ])
    expect(addVerdict(both, say('unsure'))).toEqual([say('unsure', null, 'seen')])
  })

  it('share a note, which makes a row unsure on its own', () => {
    expect(setNote([say('should', 'A'), say('should', 'B')], ' sells pills ')).toEqual([
      say('should', 'A', 'sells pills'),
      say('should', 'B', 'sells pills'),
    ])
    expect(setNote([], 'what is this?')).toEqual([say('unsure', null, 'what is this?')])
    expect(setNote([say('agree', null, 'old')], ' ')).toEqual([say('agree')])
    expect(setNote([], '')).toEqual([])
  })
})

describe('labels', () => {
  it("become verdicts on the service's decision, and are read back from them", () => {
    const triggered = ['Spam', 'Hate']
    for (const labels of [[], ['Spam'], ['Spam', 'Hate'], ['Hate', 'Scam']].map((rules) => new Set(rules))) {
      expect(toLabels(toVerdicts(labels, triggered), triggered)).toEqual(labels)
    }
    expect(toVerdicts(new Set(['Hate', 'Scam']), triggered)).toEqual([
      { verdict: 'should', rule: 'Scam' },
      { verdict: 'should-not', rule: 'Spam' },
    ])
    expect(toVerdicts(new Set(), [])).toEqual([{ verdict: 'agree', rule: null }])
  })

  it('are open if nobody has judged a row, or somebody was unsure', () => {
    expect(toLabels([], ['Spam'])).toBeNull()
    expect(toLabels([say('unsure')], ['Spam'])).toBeNull()
  })
})
