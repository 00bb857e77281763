import { expect, test } from 'vitest'
import { createTestExchange, toAnswer } from './answers.ts'

const v2 = createTestExchange({ kind: 'task', api: 'v2' })
const async = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })

const REQUEST = { post_id: 'p1', user_id: 'u1', url: 'https://a.test/b.png', models: ['ocr', 'index-7'] }
const KEYS = v2.toRowKeys([REQUEST])

const withModels = (...models: object[]) => ({ task_id: 't', triggered_rules: [], models })

test.each<[string, unknown, string]>([
  ['a list of models', withModels({ model: 'ocr', status: { code: '0' } }), 'index-7'],
  ['only other models', withModels({ model: 'visual', triggered_rules: [] }), 'ocr, index-7'],
  ['models by their names', { results: { 'index-7': { triggered_rules: [] } } }, 'ocr'],
  ['a list of results', [{ model: 'ocr', triggered_rules: [{ rule_id: 'r' }] }], 'index-7'],
  [
    'the list of the request',
    { ...withModels({ model: 'ocr' }), request: { models: ['index-7'] } },
    'index-7',
  ],
  ['metadata', { ...withModels({ model: 'ocr' }), content_metadata: { x: 'index-7' } }, 'index-7'],
])('an answer that lacks a requested model is marked: %s', (_, body, missing) => {
  const marked = { outcome: 'succeeded', answer: 'missing_models' }
  expect(v2.judge(toAnswer(200, body), KEYS)).toMatchObject({
    ...marked,
    message: `the answer lacks the results of ${missing}`,
  })
  expect(async.judgeCallback(JSON.stringify(body), KEYS)).toMatchObject({
    ...marked,
    message: `the callback lacks the results of ${missing}`,
  })
})

test.each<[string, unknown]>([
  ['all of them', withModels({ model: 'ocr' }, { model: 'index-7' })],
  ['one by another member', withModels({ model: 'ocr' }, { custom_index_id: 'index-7' })],
  ['no model', { task_id: 't', triggered_rules: [] }],
  ['no model, but a type of content', { task_id: 't', type: 'ocr', triggered_rules: [] }],
  ['names of its own', withModels({ model: 'text-recognition-3' }, { model: 'search' })],
])('an answer that names %s is not marked', (_, body) => {
  expect(v2.judge(toAnswer(200, body), KEYS)).toMatchObject({ outcome: 'succeeded', answer: null })
})

test('an acknowledgement, a request without models and v1 expect no models in an answer', () => {
  const body = withModels({ model: 'visual', triggered_rules: [] })
  expect(async.judge(toAnswer(200, body), async.toRowKeys([REQUEST]))).toMatchObject({ answer: null })
  const { models: _, ...rest } = REQUEST
  expect(v2.judge(toAnswer(200, body), v2.toRowKeys([rest]))).toMatchObject({ answer: null })
  const v1 = createTestExchange({ kind: 'task' })
  expect(v1.judge(toAnswer(200, body), v1.toRowKeys([REQUEST]))).toMatchObject({ answer: null })
})
