import { expect, test } from 'vitest'
import { isMissing, parseList, parseShare } from '../../../src/shared/lookback/label-values.ts'
import { Labels } from '../../../src/shared/lookback/labels.ts'
import { readRuleColumns } from '../../../src/shared/lookback/rule-columns.ts'

const RULES = new Map([
  ['r1', 'Toxic'],
  ['r2', 'Insult'],
])

function read(
  cells: readonly string[],
  positives: { value: string; rule: string }[] = [],
  separator: string | null = null,
) {
  const labels = new Labels(RULES, { positives, separator })
  for (const cell of cells) labels.notice(cell)
  return cells.map((cell) => {
    labels.count(labels.split(cell), 1)
    return labels.toExpected(labels.split(cell)).map((target) => labels.targets[target]?.rule)
  })
}

test.each([
  [['toxic', 'insult'], '["toxic", "insult"]'],
  [['toxic', 'insult'], "['toxic', 'insult']"],
  [["it's", 'a, b'], `["it's", 'a, b']`],
  [["it's"], "['it\\'s']"],
  [['toxic', 'insult'], "['toxic' 'insult']"],
  [['1', '0'], '[1, 0]'],
  [['toxic'], ' [ "toxic" ] '],
  [[], '[]'],
] as const)('the values %j are the items of the list %s', (values, cell) => {
  expect(parseList(cell)).toEqual(values)
})

test.each(['toxic', '[removed]', '[toxic', 'a [b]', '["open]', '{"a": 1}', '[{"a": 1}]'])(
  '%s is not a list',
  (cell) => {
    expect(parseList(cell)).toBeNull()
  },
)

test('lists name the rules of a row; an empty list names none', () => {
  expect(read(["['toxic', 'Insult']", '["toxic"]', '[]', "['other']"])).toEqual([
    ['Toxic', 'Insult'],
    ['Toxic'],
    [],
    [],
  ])
})

test("a number is the same label with and without a data frame's fraction", () => {
  expect(read(['1', '1.0', ' 1.00', '0', '0.0', '1.5'], [{ value: '1', rule: 'Toxic' }])).toEqual([
    ...[['Toxic'], ['Toxic'], ['Toxic'], [], [], []],
  ])
  expect(read(['1'], [{ value: '1.0', rule: 'Toxic' }])).toEqual([['Toxic']])
})

test('a text for a missing value is not a label, but `none` is one', () => {
  for (const cell of ['', ' ', 'nan', 'NaN', 'None', 'null', '<NA>']) expect(isMissing(cell), cell).toBe(true)
  for (const cell of ['none', '0', 'ham', 'No']) expect(isMissing(cell), cell).toBe(false)
  expect(read(['None'], [{ value: 'None', rule: 'Toxic' }])).toEqual([['Toxic']])
})

test('a share stands for all numbers that satisfy it', () => {
  const positives = [
    { value: '>=0.5', rule: 'Toxic' },
    { value: '>80%', rule: 'Insult' },
  ]
  expect(read(['0.5', '0.49', '0.9', '90 %', '1', '5e-1', 'high', '-1'], positives)).toEqual([
    ...[['Toxic'], [], ['Toxic', 'Insult'], ['Toxic', 'Insult'], ['Toxic', 'Insult'], ['Toxic'], [], []],
  ])
  const labels = new Labels(RULES, { positives, separator: null })
  for (const cell of ['0.51', '0.52', '0.9', '0.1', 'high']) labels.count(labels.split(cell), 10)
  expect([...labels.values.values()].map(({ value, rows }) => [value, rows])).toEqual([
    ['>=0.5', 20],
    ['>=0.5, >80%', 10],
    ['other numbers', 10],
    ['high', 10],
  ])
  expect(labels.listUnread()).toEqual([{ value: 'high', rows: 10 }])
  expect(labels.listUnused(positives)).toEqual([])
  expect(parseShare('≤ .5')).toEqual({ operator: '<=', limit: 0.5 })
  expect(parseShare('spam')).toBeNull()
})

test('a column for each rule says which rules a row should trigger', () => {
  const columns = [
    { column: 'toxic', rule: 'Toxic', share: null },
    { column: 'insult', rule: 'Insult', share: parseShare('>=0.5') },
  ]
  const readCells = (...cells: string[]) => readRuleColumns(columns, cells)
  expect(readCells('1', '0.7').text).toBe('["Toxic","Insult"]')
  expect(readCells('1.0', '0.2').text).toBe('["Toxic"]')
  expect(readCells('False', '0').text).toBe('[]')
  expect(readCells('x', '').text).toBe('["Toxic"]')
  expect(readCells('', 'nan').text).toBe('')
  // Nobody has scored this row.
  expect(readCells('1', 'nan')).toEqual({ text: '', unread: [{ column: 'insult', value: 'nan' }] })
  expect(readCells('-1', '0.9')).toEqual({ text: '', unread: [{ column: 'toxic', value: '-1' }] })
})

test('a value that is only part of labels is not itself a label', () => {
  const positives = [{ value: 'a', rule: 'Toxic' }]
  const labels = new Labels(RULES, { positives, separator: null })
  labels.count(labels.split('a, b'), 1)
  expect(labels.listUnused(positives)).toEqual(['a'])
  labels.count(labels.split('A'), 1)
  expect(labels.listUnused(positives)).toEqual([])
})

test('a mapped value is known to be used even beyond the counted values', () => {
  const positives = [{ value: 'last', rule: 'Toxic' }]
  const labels = new Labels(RULES, { positives, separator: null })
  for (let value = 0; value < 2_000; value += 1) labels.count([`label ${value}`], 1)
  expect(labels.isMeaningful()).toBe(false)
  labels.count(['last'], 1)
  expect(labels.isMeaningful()).toBe(true)
})
