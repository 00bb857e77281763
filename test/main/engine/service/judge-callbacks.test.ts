import { expect, test } from 'vitest'
import { createTestExchange } from './answers.ts'

const task = createTestExchange({ kind: 'task', mode: 'async' })
const v2 = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
const add = createTestExchange({ kind: 'index-add', indexId: 'i', mode: 'async' })
const remove = createTestExchange({ kind: 'index-remove', indexId: 'i', mode: 'async' })

const judgeTask = (body: unknown) => task.judgeCallback(JSON.stringify(body))

const DEFAULT = {
  user_id: 'u',
  post_id: 'p',
  task_id: 't1',
  triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }],
}
const LEGACY = {
  task_id: 't1',
  id: 't1',
  code: 200,
  triggered_rules: [{ id: 'r1', display_name: 'Spam' }],
  status: [
    {
      status: { code: '0', message: 'SUCCESS' },
      response: { output: [{ classes: [{ class: 'spam', score: 3 }] }] },
    },
  ],
  from_cache: true,
}

test('the callback of a task has the default or the legacy shape', () => {
  const rules = [{ ruleId: 'r1', ruleName: 'Spam' }]
  expect(judgeTask(DEFAULT)).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: false,
    status: null,
    taskId: 't1',
    rules,
    message: null,
  })
  expect(judgeTask(LEGACY)).toMatchObject({
    outcome: 'succeeded',
    taskId: 't1',
    rules,
    classes: [{ className: 'spam', score: 3 }],
    fromCache: true,
  })
})

test('anything with a task_id is a callback, and so is any part of a result', () => {
  expect(judgeTask({ task_id: 't1' })).toMatchObject({ outcome: 'succeeded', taskId: 't1', rules: [] })
  expect(judgeTask({ task_id: 5 })).toMatchObject({ outcome: 'succeeded', taskId: '5' })
  expect(judgeTask({ post_id: 'p', triggered_rules: DEFAULT.triggered_rules })).toMatchObject({
    outcome: 'succeeded',
    taskId: null,
    rules: [{ ruleId: 'r1', ruleName: 'Spam' }],
  })
})

test("the id of a callback is not mistaken for its task's", () => {
  expect(judgeTask({ id: 'content-9', triggered_rules: DEFAULT.triggered_rules })).toMatchObject({
    outcome: 'succeeded',
    taskId: null,
    rules: [{ ruleId: 'r1', ruleName: 'Spam' }],
  })
})

test.each([
  ['ids of models that differ', { models: [toModel({ task_id: 'a' }), toModel({ task_id: 'b' })] }, null],
  ['the same id in each model', { models: [toModel({ task_id: 't' }), toModel({ task_id: 't' })] }, 't'],
  ['an id of its own beside those of models', { task_id: 't', models: [toModel({ task_id: 'a' })] }, 't'],
  ['an id in a list', [toModel({ task_id: 't' })], 't'],
  ['the id of a content in a list', [toModel({ id: 'content-9' })], null],
])('the task of a v2 callback is known if it names one: %s', (_, body, taskId) => {
  expect(v2.judgeCallback(JSON.stringify(body))).toMatchObject({ outcome: 'succeeded', taskId })
})

function toModel(named: object): object {
  return { ...named, triggered_rules: [] }
}

test('a v2 callback may be a list', () => {
  const text = JSON.stringify([{ model: 'visual', triggered_rules: DEFAULT.triggered_rules }])
  expect(v2.judgeCallback(text)).toMatchObject({ outcome: 'succeeded', rules: [{ ruleId: 'r1' }] })
})

test('a callback that says error settles its item as refused', () => {
  const body = { error: true, status: 400, error_code: 'UNREACHABLE_URL', message: 'no such image' }
  for (const { judgeCallback } of [task, v2, add, remove]) {
    expect(judgeCallback(JSON.stringify(body))).toMatchObject({
      outcome: 'rejected',
      repeat: 'never',
      errorCode: 'UNREACHABLE_URL',
      message: 'no such image',
    })
  }
  expect(judgeTask({ error: true })).toMatchObject({
    outcome: 'rejected',
    message: 'the callback says error, and nothing else',
  })
  const failed = { ...LEGACY, status: [{ status: { code: '1001', message: 'model failed' } }] }
  expect(judgeTask(failed)).toMatchObject({ outcome: 'rejected', errorCode: '1001', message: 'model failed' })
})

test.each(['', '   ', 'ok', '[]', 'null', '"t1"', '7', '{', '{}', '{"event":"ping"}', '<html></html>'])(
  'what cannot be read as a callback is not one: %j',
  (text) => {
    for (const { judgeCallback } of [task, add, remove]) expect(judgeCallback(text)).toBeNull()
  },
)

test.each([
  { status: 'processing' },
  { state: 'QUEUED', message: 'wait' },
  { status: 'in_progress', triggered_rules: null },
  { status: 'processing', triggered_rules: [] },
  { state: 'pending', triggered_rules: [] },
])('a callback about a task that has not ended is not its result: %j', (said) => {
  const text = JSON.stringify({ task_id: 't1', post_id: 'p', ...said })
  for (const { judgeCallback } of [task, v2, add, remove]) expect(judgeCallback(text)).toBeNull()
})

test('a byte-order mark in front does not prevent reading a callback', () => {
  expect(task.judgeCallback(`\uFEFF${JSON.stringify(DEFAULT)}`)).toMatchObject({ taskId: 't1' })
})

test('a v2 callback may have any shape except an empty one', () => {
  expect(v2.judgeCallback('{"results":[{"triggered_rules":[{"rule_id":"r"}]}]}')).toMatchObject({
    outcome: 'succeeded',
    rules: [{ ruleId: 'r', ruleName: 'r' }],
  })
  expect(v2.judgeCallback('{}')).toBeNull()
  for (const text of ['[]', '[1]', '["error"]', '[null]', '[{}]']) expect(v2.judgeCallback(text)).toBeNull()
})

test('the callback of an index operation is its sync answer', () => {
  const body = JSON.stringify({ custom_index_item_id: 'item-1', task_id: 't1', message: 'done' })
  for (const { judgeCallback } of [add, remove]) {
    expect(judgeCallback(body)).toMatchObject({
      outcome: 'succeeded',
      status: null,
      customIndexItemId: 'item-1',
      taskId: 't1',
      message: null,
    })
  }
  expect(remove.judgeCallback('{"task_id":"t1"}')).toMatchObject({ outcome: 'succeeded', taskId: 't1' })
})

test('the callback of an add that names no item does not tell whether one was added', () => {
  const without = 'a callback without a custom_index_item_id does not tell whether an item was added'
  for (const [said, message] of [
    [{ message: 'done' }, `${without}; it says: done`],
    [{}, without],
  ] as const) {
    const judgement = add.judgeCallback(JSON.stringify({ task_id: 't1', ...said }))
    expect(judgement).toMatchObject({
      outcome: 'unknown',
      repeat: 'never',
      status: null,
      taskId: 't1',
      message,
    })
  }
})

test('operations without callbacks read none', () => {
  for (const operation of [{ kind: 'watchlist-add', watchlist: 'w' }, { kind: 'appeal-status' }] as const) {
    expect(createTestExchange(operation).judgeCallback('{"task_id":"t1"}')).toBeNull()
  }
})

test.each(['spam', ['spam']])('a callback with unreadable rules is not one: %j', (rules) => {
  for (const { judgeCallback } of [task, v2]) {
    expect(judgeCallback(JSON.stringify({ ...DEFAULT, triggered_rules: rules }))).toBeNull()
  }
})
