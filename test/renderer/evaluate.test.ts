import { describe, expect, it } from 'vitest'
import {
  changePositives,
  findMeaning,
  type LabelSettings,
  readLabelFile,
  toQuestion,
} from '../../src/renderer/features/evaluate/question.ts'
import { type LabelChoices, splitValues } from '../../src/shared/lookback/label-choices.ts'

const SETTINGS: LabelSettings = {
  place: 'column',
  column: 'truth',
  ruleColumns: [],
  file: null,
  useVerdicts: false,
  separator: '',
  positives: [],
  slices: [],
  scores: [],
}

const CHOICES: LabelChoices = {
  columns: [
    { name: 'id', values: [] },
    { name: 'truth', values: [{ value: 'spam', rows: 2 }] },
  ],
  rules: [{ rule: 'Likely spam', rows: 2 }],
  classes: [],
  verdicts: 0,
  judged: 0,
  looked: 2,
  rows: 2,
  guess: null,
}

const SOURCE = { sourceId: 'handle', name: 'labels.csv', sizeBytes: 10 }

describe('what the evaluate screen asks', () => {
  it('asks for nothing until it is known where the labels are', () => {
    expect(toQuestion(null)).toBeNull()
    expect(toQuestion({ ...SETTINGS, column: null })).toBeNull()
    expect(toQuestion({ ...SETTINGS, place: 'file' })).toBeNull()
    expect(toQuestion(SETTINGS)).toMatchObject({ label: 'truth', separator: null, useVerdicts: false })
  })

  it('asks by verdicts alone without a column', () => {
    expect(toQuestion({ ...SETTINGS, place: 'verdicts' })).toMatchObject({ label: null, useVerdicts: true })
  })

  it('asks by a column for each rule that has one, with its share', () => {
    const ruleColumns = [
      { column: 'toxic', rule: 'Toxic', share: '>= 50 %' },
      { column: 'spam', rule: ' Likely spam ', share: '' },
      { column: 'unfinished', rule: '', share: '' },
      { column: 'mistyped', rule: 'Toxic', share: 'half' },
    ]
    expect(toQuestion({ ...SETTINGS, place: 'rules', ruleColumns, separator: ';' })).toMatchObject({
      label: [
        { column: 'toxic', rule: 'Toxic', share: { operator: '>=', limit: 0.5 } },
        { column: 'spam', rule: 'Likely spam', share: null },
      ],
      positives: [
        { value: 'Toxic', rule: 'Toxic' },
        { value: 'Likely spam', rule: 'Likely spam' },
      ],
      separator: null,
    })
    expect(toQuestion({ ...SETTINGS, place: 'rules', ruleColumns: ruleColumns.slice(2) })).toBeNull()
  })

  it('joins a file of labels by a column of the same name, and guesses its labels', () => {
    const preview = {
      columns: ['id', 'note', 'truth'],
      rows: [
        { row: 1, place: { row: 2, line: null }, cells: ['1', 'hello', 'spam'], cellLengths: [] },
        { row: 2, place: { row: 3, line: null }, cells: ['2', 'bye', 'ham'], cellLengths: [] },
      ],
    }
    const settings = { ...SETTINGS, place: 'file' as const, ...readLabelFile(SOURCE, preview, CHOICES) }
    expect(settings.file).toMatchObject({ label: 'truth', key: 'id', runKey: 'id' })
    expect(toQuestion(settings)).toMatchObject({
      label: 'truth',
      labels: { source: { sourceId: 'handle' }, key: 'id', runKey: 'id' },
      positives: [{ value: 'spam', rule: 'Likely spam' }],
    })
  })
})

describe('what a label stands for', () => {
  it('keeps the rules that the other labels were taken for when the first one is changed', () => {
    const taken = [
      { value: 'Link', rules: ['Link'] },
      { value: 'spam', rules: [] },
    ]
    expect(changePositives([], taken, 'spam', ['Likely spam'])).toEqual([
      { value: 'Link', rule: 'Link' },
      { value: 'spam', rule: 'Likely spam' },
    ])
  })

  it('is replaced in whichever case it was written', () => {
    const before = [{ value: 'Spam', rule: 'Old' }]
    const after = changePositives(before, [], 'spam', ['New', 'Other'])
    expect(findMeaning(after, 'SPAM')).toEqual(['New', 'Other'])
    expect(changePositives(after, [], 'spam', [])).toEqual([])
  })

  it('is counted for each of several values of a label', () => {
    const column = {
      name: 'truth',
      values: [
        { value: 'spam; link', rows: 3 },
        { value: 'spam', rows: 2 },
      ],
    }
    expect(splitValues(column, ';')).toEqual([
      { value: 'spam', rows: 5 },
      { value: 'link', rows: 3 },
    ])
  })
})
