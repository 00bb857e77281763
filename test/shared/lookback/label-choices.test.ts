import { describe, expect, it } from 'vitest'
import { guessLabels } from '../../../src/shared/lookback/label-choices.ts'

const RULES = ['Likely spam', 'Contains a link', 'Violence']

/** A column with these values, ten rows each. */
const toColumn = (name: string, ...values: string[]) => ({
  name,
  values: values.map((value) => ({ value, rows: 10 })),
})

describe('the guess of the column with labels', () => {
  it('takes the column whose values name rules by one of their words, and those that say that nothing is wrong', () => {
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

  it('prefers a column that is called label to another of the same values', () => {
    const columns = [toColumn('predicted', 'spam', 'ham'), toColumn('Label', 'spam', 'ham')]
    expect(guessLabels(columns, RULES)?.label).toBe('Label')
  })

  it('takes a column by its name alone, and leaves the meaning of its values open', () => {
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

  it('takes yes for the only rule, and for none of several', () => {
    expect(guessLabels([toColumn('is_spam', '1', '0')], ['Spam'])?.positives).toEqual([
      { value: '1', rule: 'Spam' },
    ])
    expect(guessLabels([toColumn('is_spam', '1', '0')], RULES)?.positives).toEqual([])
  })

  it('leaves a word open that several rules have', () => {
    const rules = ['Spam, likely', 'Spam, certain']
    expect(guessLabels([toColumn('label', 'spam', 'ham')], rules)?.positives).toEqual([])
  })

  it('takes no column whose values say nothing, whatever they are', () => {
    expect(guessLabels([toColumn('country', 'DE', 'NO'), toColumn('empty')], RULES)).toBeNull()
  })
})
