import { describe, expect, it } from 'vitest'
import { guessLabels, guessMeaning, guessRuleColumns } from '../../../src/shared/lookback/label-choices.ts'

const RULES = ['Likely spam', 'Contains a link', 'Violence']

/** A column with these values, ten rows each. */
const toColumn = (name: string, ...values: string[]) => ({
  name,
  values: values.map((value) => ({ value, rows: 10 })),
})

describe('the guess of the column with labels', () => {
  it('takes the column whose values name rules by one of their words, or say that nothing is wrong', () => {
    const columns = [
      toColumn('channel', 'web', 'app'),
      toColumn('kind', 'spam', 'ham'),
      toColumn('country', 'DE', 'FR'),
    ]
    expect(guessLabels(columns, RULES)).toEqual({
      label: 'kind',
      positives: [{ value: 'spam', rule: 'Likely spam' }],
      separator: null,
    })
  })

  it('prefers a column named label to another with the same values', () => {
    const columns = [toColumn('predicted', 'spam', 'ham'), toColumn('Label', 'spam', 'ham')]
    expect(guessLabels(columns, RULES)?.label).toBe('Label')
  })

  it('takes a column by its name only, and leaves the meaning of its values open', () => {
    expect(guessLabels([toColumn('ground truth', 'A', 'B')], RULES)).toEqual({
      label: 'ground truth',
      positives: [],
      separator: null,
    })
  })

  it('recognises several values in one label', () => {
    expect(guessLabels([toColumn('truth', 'spam', 'link', 'spam;link', 'ham')], RULES)).toEqual({
      label: 'truth',
      positives: [
        { value: 'spam', rule: 'Likely spam' },
        { value: 'link', rule: 'Contains a link' },
      ],
      separator: ';',
    })
  })

  it('reads yes as the only rule, the rule that the column names, or any of several', () => {
    const guess = (name: string, rules: string[]) => guessLabels([toColumn(name, '1', '0')], rules)?.positives
    expect(guess('is_toxic', ['Spam'])).toEqual([{ value: '1', rule: 'Spam' }])
    expect(guess('is_spam', RULES)).toEqual([{ value: '1', rule: 'Likely spam' }])
    expect(guess('is_toxic', RULES)).toEqual([{ value: '1', rule: 'any rule' }])
  })

  it('reads the opposite of a harmless value as any rule if no rule has its name', () => {
    expect(guessLabels([toColumn('label', 'abuse', 'ham')], RULES)?.positives).toEqual([
      { value: 'abuse', rule: 'any rule' },
    ])
    expect(guessLabels([toColumn('label', 'abuse', 'ham', 'unclear')], RULES)?.positives).toEqual([])
  })

  it('takes no column only because its values are yes and no', () => {
    expect(guessLabels([toColumn('subscribed', 'yes', 'no')], RULES)).toBeNull()
    expect(guessMeaning(toColumn('subscribed', 'yes', 'no'), RULES)).toEqual({
      positives: [{ value: 'yes', rule: 'any rule' }],
      separator: null,
    })
  })

  it('leaves a word open that several rules contain', () => {
    const rules = ['Spam, likely', 'Spam, certain']
    expect(guessLabels([toColumn('label', 'spam', 'ham')], rules)?.positives).toEqual([])
  })

  it('takes no column whose values mean nothing', () => {
    expect(guessLabels([toColumn('country', 'DE', 'NO'), toColumn('empty')], RULES)).toBeNull()
  })
})

describe('the guess of columns that are of a rule each', () => {
  it('takes yes-or-no columns with the name of one rule', () => {
    const columns = [
      toColumn('likely_spam', '0', '1'),
      toColumn('Hate', '1.0', '0.0', 'nan'),
      toColumn('is_bullying', 'no', 'yes'),
      toColumn('insult', '0', '1'),
      toColumn('hate speech', '0', '2'),
      toColumn('empty'),
    ]
    expect(guessRuleColumns(columns, ['Likely spam', 'Hate speech', 'Bullying'])).toEqual([
      { column: 'likely_spam', rule: 'Likely spam' },
      { column: 'Hate', rule: 'Hate speech' },
      { column: 'is_bullying', rule: 'Bullying' },
    ])
  })

  it("takes no column that denies a rule, or whose name is only part of a rule's", () => {
    const names = ['no_spam', 'not_spam', 'non-spam', 'nospam', 'link', 'spam or link', 'content']
    const columns = names.map((name) => toColumn(name, '0', '1'))
    expect(guessRuleColumns(columns, ['Likely spam', 'Malicious link', 'Sexual content'])).toEqual([])
  })

  it('takes the one of several columns for a rule that has its whole name, else none', () => {
    const columns = ['Spam', 'is_spam', 'is_hate', 'hate_label'].map((name) => toColumn(name, '0', '1'))
    expect(guessRuleColumns(columns, ['Spam', 'Hate'])).toEqual([{ column: 'Spam', rule: 'Spam' }])
    expect(guessRuleColumns([toColumn('spam', '0', '1')], ['Likely spam', 'Possible spam'])).toEqual([])
  })
})

describe('the guess of what labels stand for', () => {
  it('reads yes as no rule if the column says that nothing is wrong', () => {
    for (const name of ['no_spam', 'not_spam', 'nonSpam', 'nospam', 'isNotSpam', 'is_safe', 'ham']) {
      expect(guessMeaning(toColumn(name, '1', '0'), RULES).positives, name).toEqual([])
      expect(guessMeaning(toColumn(name, '1', '0'), ['Likely spam']).positives, name).toEqual([])
    }
  })

  it('reads a label that denies a rule as none', () => {
    const { positives } = guessMeaning(toColumn('label', 'no spam', 'spam', 'non-violence', 'nolink'), RULES)
    expect(positives).toEqual([{ value: 'spam', rule: 'Likely spam' }])
  })
})
