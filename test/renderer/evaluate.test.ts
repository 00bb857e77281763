import { describe, expect, it } from 'vitest'
import {
  changePositives,
  findMeaning,
  type LabelSettings,
  readLabelFile,
  suggestLabels,
  toQuestion,
} from '../../src/renderer/features/evaluate/question.ts'
import { type LabelChoices, splitValues } from '../../src/shared/lookback/label-choices.ts'

const SETTINGS: LabelSettings = {
  place: 'column',
  column: 'truth',
  ruleColumns: { columns: [], isGuess: false },
  file: null,
  useVerdicts: false,
  separator: '',
  emptyIsNegative: false,
  positives: [],
  slices: [],
  scores: [],
}

const CHOICES: LabelChoices = {
  hasFiles: false,
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
  it('asks for nothing until the place of the labels is known', () => {
    expect(toQuestion(null)).toBeNull()
    expect(toQuestion({ ...SETTINGS, column: null })).toBeNull()
    expect(toQuestion({ ...SETTINGS, place: 'file' })).toBeNull()
    expect(toQuestion(SETTINGS)).toMatchObject({ label: 'truth', separator: null, useVerdicts: false })
  })

  it('uses only verdicts, and no column, if they are the labels', () => {
    expect(toQuestion({ ...SETTINGS, place: 'verdicts' })).toMatchObject({ label: null, useVerdicts: true })
  })

  it('uses a column for each rule that has one, with its share', () => {
    const columns = [
      { column: 'toxic', rule: 'Toxic', share: '>= 50 %' },
      { column: 'spam', rule: ' Likely spam ', share: '' },
      { column: 'unfinished', rule: '', share: '' },
      { column: 'mistyped', rule: 'Toxic', share: 'half' },
    ]
    const ask = (own: typeof columns, isGuess = false) =>
      toQuestion({ ...SETTINGS, place: 'rules', ruleColumns: { columns: own, isGuess }, separator: ';' })
    expect(ask(columns)).toMatchObject({
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
    expect(ask(columns.slice(2))).toBeNull()
    expect(ask(columns, true)).toBeNull()
  })

  it('uses columns of rules in another file once they are confirmed', () => {
    const cells = [
      ['1', '1', '0'],
      ['2', '0', '1'],
    ]
    const preview = {
      columns: ['id', 'is_spam', 'bullying'],
      rows: cells.map((own, at) => ({
        row: at + 1,
        place: { row: at + 2, line: null },
        cells: own,
        cellLengths: [],
      })),
    }
    const choices = { ...CHOICES, rules: ['Likely spam', 'Bullying'].map((rule) => ({ rule, rows: 2 })) }
    const read = readLabelFile(SOURCE, preview, choices)
    const settings = { ...SETTINGS, place: 'file' as const, ...read }
    expect(settings.file).toMatchObject({
      hasRuleColumns: true,
      ruleColumns: {
        columns: [
          { column: 'is_spam', rule: 'Likely spam' },
          { column: 'bullying', rule: 'Bullying' },
        ],
        isGuess: true,
      },
    })
    expect(toQuestion(settings)).toBeNull()
    const { file } = settings
    if (file === null) throw new Error('The file is missing.')
    const confirmed = { ...file, ruleColumns: { ...file.ruleColumns, isGuess: false } }
    expect(toQuestion({ ...settings, file: confirmed })).toMatchObject({
      label: [
        { column: 'is_spam', rule: 'Likely spam', share: null },
        { column: 'bullying', rule: 'Bullying', share: null },
      ],
      labels: { source: { sourceId: 'handle' }, key: 'id', runKey: 'id' },
    })
  })

  it('suggests the label column if there is one, although others are named like rules', () => {
    const yesOrNo = ['0', '1'].map((value) => ({ value, rows: 2 }))
    const choices = {
      ...CHOICES,
      rules: ['Likely spam', 'Bullying'].map((rule) => ({ rule, rows: 2 })),
      columns: [...CHOICES.columns, ...['spam', 'bullying'].map((name) => ({ name, values: yesOrNo }))],
    }
    const guess = { label: 'truth', positives: [{ value: 'spam', rule: 'Likely spam' }], separator: null }
    expect(suggestLabels({ ...choices, guess })).toMatchObject({ place: 'column', column: 'truth' })
    const inRules = suggestLabels({ ...choices, guess: { ...guess, label: 'spam' } })
    expect(inRules).toMatchObject({ place: 'rules', ruleColumns: { isGuess: true } })
    expect(toQuestion(inRules)).toBeNull()
    expect(suggestLabels(choices)).toMatchObject({ place: 'rules' })
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
  it('keeps the rules that other labels stand for when the first one is changed', () => {
    const taken = [
      { value: 'Link', rules: ['Link'] },
      { value: 'spam', rules: [] },
    ]
    expect(changePositives([], taken, 'spam', ['Likely spam'])).toEqual([
      { value: 'Link', rule: 'Link' },
      { value: 'spam', rule: 'Likely spam' },
    ])
  })

  it('is replaced whatever its case', () => {
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
