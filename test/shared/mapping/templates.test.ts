import { expect, test } from 'vitest'
import { compileTemplate, isUniqueByConstruction } from '../../../src/shared/mapping/templates.ts'

const COLUMNS = ['id', 'post text', 'row']

function fill(template: string, row = 7, cells = ['a1', ' hi ', 'own']): string {
  return compileTemplate(template, COLUMNS, 'r9')(row, cells)
}

test.each([
  ['', ''],
  ['constant', 'constant'],
  ['{{run}}-{{row}}', 'r9-7'],
  ['{{id}}', 'a1'],
  ['<{{post text}}>', '< hi >'],
  ['{{ id }}/{{row}}/{{ run }}!', 'a1/7/r9!'],
  ['{{row}}', '7'],
  ['{{column:row}}/{{ column: id }}', 'own/a1'],
  ['{id} {{}} }}{{', '{id} {{}} }}{{'],
])('%j becomes %j', (template, text) => {
  expect(fill(template)).toBe(text)
})

test('a cell that a short row lacks is empty', () => {
  expect(fill('[{{post text}}]', 1, ['a1'])).toBe('[]')
})

test.each([
  ['{{run}}-{{row}}', true],
  ['{{row}}', true],
  ['post{{ row }}x', true],
  ['{{run}}', false],
  ['constant', false],
  ['{{row}}{{row}}', false],
  ['{{id}}-{{row}}', false],
])('%j makes unique values by construction: %j', (template, unique) => {
  expect(isUniqueByConstruction(template)).toBe(unique)
})

test('a column that is really called so goes before the sign of a column', () => {
  expect(compileTemplate('{{column:row}}', ['row', 'column:row'], 'r9')(7, ['own', 'odd'])).toBe('odd')
})
