import { expect, test } from 'vitest'
import { readTaskResponse, readV2TaskResponse } from '../../../../src/main/engine/service/task-reader.ts'

const RULE = { rule_id: 'r1', rule_name: 'Spam' }
const OUTPUT = [{ classes: [{ class: 'spam', score: 2 }] }]

test('the v1 shapes are read as v1 reads them', () => {
  const body = {
    task_id: 't1',
    triggered_rules: [RULE],
    status: [
      { status: { code: '0' }, response: { output: OUTPUT } },
      { status: { code: '9', message: 'no' } },
    ],
    from_cache: true,
  }
  const { postId: _, ...known } = readTaskResponse({ ...body, post_id: 'p' }) ?? { postId: null }
  expect(readV2TaskResponse({ ...body, post_id: 'p' })).toEqual(known)
})

test.each([
  ['a list of models', { models: [{ model: 'a', triggered_rules: [RULE], response: { output: OUTPUT } }] }],
  ['an object by model', { results: { a: { triggered_rules: [RULE], output: OUTPUT } } }],
  ['a list under another name', { answers: [{ result: { triggered_rules: [RULE] }, output: OUTPUT }] }],
  [
    'lists in lists are not',
    { triggered_rules: [RULE], answers: [[{ triggered_rules: [RULE] }]], output: OUTPUT },
  ],
])('rules and scores are found in %s', (_, body) => {
  expect(readV2TaskResponse(body)).toMatchObject({
    taskId: null,
    triggeredRules: [{ ruleId: 'r1', ruleName: 'Spam' }],
    classScores: [{ className: 'spam', score: 2 }],
    failures: [],
  })
})

test('a success code is not a failure, any other code is', () => {
  const model = (code: unknown) => ({ models: [{ model: 'ocr', status: { code, message: 'm' } }] })
  for (const code of ['0', 0, 200, '201', 'SUCCESS', 'success', 'OK', 'Completed', null, true])
    expect(readV2TaskResponse(model(code)).failures).toEqual([])
  for (const code of ['7', 500, '-1', 'FAILED', 'not ok']) {
    expect(readV2TaskResponse(model(code)).failures).toEqual([
      { code: String(code), message: 'model ocr: m' },
    ])
  }
  expect(readV2TaskResponse({ code: 500, message: 'busy' }).failures).toEqual([
    { code: '500', message: 'busy' },
  ])
  expect(readV2TaskResponse({ status: 'done' }).failures).toEqual([])
  expect(readV2TaskResponse({ status: { code: 'SUCCESS' } }).failures).toEqual([])
})

test('identifiers may be numbers, and endless nesting is not followed', () => {
  expect(readV2TaskResponse({ task_id: 12 }).taskId).toBe('12')
  expect(readV2TaskResponse({ task_id: 1.5, id: 'x' }).taskId).toBe('x')
  let deep: Record<string, unknown> = { triggered_rules: [RULE] }
  for (let level = 0; level < 20; level += 1) deep = { deeper: deep }
  expect(readV2TaskResponse(deep).triggeredRules).toEqual([])
})

test("a list combines its entries, and the first task_id among them is the task's", () => {
  const body = [
    { task_id: 7, triggered_rules: [RULE] },
    { task_id: 8, output: OUTPUT, from_cache: true },
  ]
  expect(readV2TaskResponse(body)).toEqual({
    taskId: '7',
    triggeredRules: [{ ruleId: 'r1', ruleName: 'Spam' }],
    classScores: [{ className: 'spam', score: 2 }],
    fromCache: true,
    failures: [],
  })
})

test('an entry of a list that is an error body is a failure', () => {
  const failure = { error: true, status: 400, error_code: 'NO_MODEL', message: 'no such model' }
  expect(readV2TaskResponse([{ task_id: '7' }, failure]).failures).toEqual([
    { code: 'NO_MODEL', message: 'no such model' },
  ])
})
