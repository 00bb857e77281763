import { expect, test } from 'vitest'
import { writeBody } from '../../../../src/main/engine/mapping/json-text.ts'
import { createPostIdMapper, createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan, readBody } from './build-plan.ts'

const REQUEST: PlanInput['mapping'] = { request: { kind: 'column', column: 'request' } }

function mapOne(columns: string[], cells: string[], parts: Partial<PlanInput> = {}, row = 3) {
  return createRowMapper(buildPlan(parts), columns, 'r1')(row, cells)
}

test('the body has the fields in the order of the interface, with cells unchanged', () => {
  const mapped = mapOne(
    ['post_id', 'user_id', 'text_data', 'group_id', 'extra'],
    [' p1', 'u 1 ', '  padded\r\ntext \u00a0', 'g', 'unused'],
  )
  expect(JSON.stringify(mapped.body)).toBe(
    JSON.stringify({ text_data: '  padded\r\ntext \u00a0', user_id: 'u 1 ', post_id: ' p1', group_id: 'g' }),
  )
  expect(mapped.problems).toEqual([])
})

test('empty and missing cells omit their fields, and post_id defaults to run and row', () => {
  const columns = ['text_data', 'url', 'user_id', 'group_id']
  expect(mapOne(columns, ['hi', '', 'u'])).toEqual({
    body: { text_data: 'hi', user_id: 'u', post_id: 'r1-3' },
    uniqueKey: null,
    problems: [],
  })
})

test.each<[string, string[], string[], PlanInput['mapping'], string | null]>([
  ['a column', ['text_data', 'user_id', 'post_id'], ['t', 'u', ' p1'], {}, ' p1'],
  ['the default', ['text_data', 'user_id'], ['t', 'u'], {}, 'r1-3'],
  ['an empty cell', ['text_data', 'user_id', 'post_id'], ['t', 'u', ''], {}, null],
  ['a whole request', ['request'], ['{"post_id":"p2"}'], REQUEST, 'p2'],
  ['the default where a whole request lacks it', ['request'], ['{"text_data":"t"}'], REQUEST, 'r1-3'],
])('a post_id from %s is the same alone and in the body', (_from, columns, cells, mapping, postId) => {
  const plan = buildPlan({ mapping })
  expect(createPostIdMapper(plan, columns, 'r1')(3, cells, null)).toBe(postId)
  expect(createRowMapper(plan, columns, 'r1')(3, cells).body['post_id'] ?? null).toBe(postId)
})

test('constants and templates fill fields', () => {
  const mapping: PlanInput['mapping'] = {
    user_id: { kind: 'template', template: 'import' },
    post_id: { kind: 'template', template: '{{id}}x{{row}}' },
    text_data: { kind: 'column', column: 2 },
    'user_metadata.from': { kind: 'template', template: 'row {{row}}' },
  }
  expect(mapOne(['id', 'b'], ['a', 'text'], { mapping }).body).toEqual({
    text_data: 'text',
    user_id: 'import',
    post_id: 'ax3',
    user_metadata: { from: 'row 3' },
  })
})

test('metadata comes from a JSON column, from columns of single keys, or from both', () => {
  const columns = ['text_data', 'user_id', 'user_metadata', 'user_metadata.age', 'content_metadata.__proto__']
  expect(readBody(mapOne(columns, ['t', 'u', '{"age": 1, "a": {"b": [null]}}', '31', 'x']).body)).toEqual({
    text_data: 't',
    user_id: 'u',
    post_id: 'r1-3',
    user_metadata: { age: '31', a: { b: [null] } },
    content_metadata: JSON.parse('{"__proto__": "x"}'),
  })
  expect(mapOne(columns, ['t', 'u', '', '', '']).body).not.toHaveProperty('user_metadata')
  expect(readBody(mapOne(columns, ['t', 'u', '{}', '', '']).body)).toHaveProperty('user_metadata', {})
})

test('long numbers in metadata keep their digits', () => {
  const text = '{"id":1234567890123456789,"price":1.10,"n":[1e400,0.1]}'
  const { body } = mapOne(['text_data', 'user_id', 'user_metadata'], ['t', 'u', text])
  expect(writeBody(body)).toContain(`"user_metadata":${text}`)
})

test.each(['[1]', '"text"', 'null', '{"a":', 'plain', `{"a":${'['.repeat(100_000)}`])(
  'metadata that is not a JSON object is named: %.20s',
  (cell) => {
    const { problems, body } = mapOne(['text_data', 'user_id', 'user_metadata'], ['t', 'u', cell])
    expect(problems.map(formatProblem)).toEqual([
      expect.stringMatching(/^row 3, user_metadata: must be a JSON object, found `/),
    ])
    expect(body).not.toHaveProperty('user_metadata')
  },
)

test.each([
  ['text', ['text']],
  ['text, ocr', ['text', 'ocr']],
  ['text;ocr|visual deepfake', ['text', 'ocr', 'visual', 'deepfake']],
  ['["text","my index"]', ['text', 'my index']],
  ['', ['audio']],
  [' , ', ['audio']],
])('models of a cell %j are %j, and the plan’s if it names none', (cell, models) => {
  const operation: PlanInput['operation'] = { kind: 'task', models: ['audio'] }
  expect(mapOne(['text_data', 'user_id', 'models'], ['t', 'u', cell], { operation }).body['models']).toEqual(
    models,
  )
})

test('a broken list of models is named', () => {
  expect(
    mapOne(['text_data', 'user_id', 'models'], ['t', 'u', '["text", 5]']).problems.map(formatProblem),
  ).toEqual(['row 3, models: must contain model names, or a JSON array of them, found `["text", 5]`'])
})

test('mapping is pure: the same row always gives the same body', () => {
  const map = createRowMapper(buildPlan(), ['text_data', 'user_id'], 'r1')
  const first = map(1, ['a', 'b'])
  map(2, ['c', 'd'])
  expect(map(1, ['a', 'b'])).toEqual(first)
})
