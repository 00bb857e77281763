import { expect, test } from 'vitest'
import { createTestExchange, LOST, toAnswer, toError } from './answers.ts'

const ACKNOWLEDGED = { outcome: 'succeeded', isAcknowledgement: true, repeat: 'never' } as const
const async = createTestExchange({ kind: 'task', mode: 'async' })
const v2 = createTestExchange({ kind: 'task', api: 'v2' })
const OUTPUT = { classes: [{ class: 'spam', score: 0 }] }

test.each([
  [200, { task_id: 't1' }, 't1'],
  [202, { task_id: 't1', message: 'queued', anything: {} }, 't1'],
  [201, { task_id: 77 }, '77'],
  [200, { id: 't1', code: 200 }, 't1'],
])('an answer of %i with %j is an acknowledgement', (status, body, taskId) => {
  expect(async.judge(toAnswer(status, body), [])).toMatchObject({
    ...ACKNOWLEDGED,
    status,
    taskId,
    message: null,
  })
})

test('an acknowledgement that already carries a result leaves it to the callback', () => {
  const body = { task_id: 't1', triggered_rules: [{ rule_id: 'r', rule_name: 'R' }] }
  expect(async.judge(toAnswer(200, body), [])).toMatchObject({ ...ACKNOWLEDGED, rules: [] })
})

test.each([[{}], [{ message: 'thanks' }], [[]], ['accepted']])(
  'an answer without a task_id is not an acknowledgement, but the task may have been accepted: %j',
  (body) => {
    expect(async.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
  },
)

test('an acknowledgement with a failure code inside is a refusal', () => {
  expect(async.judge(toAnswer(200, { task_id: 't', code: 400, message: 'no such model' }), [])).toMatchObject(
    {
      outcome: 'rejected',
      isAcknowledgement: false,
      errorCode: '400',
      message: 'no such model',
    },
  )
})

test('if the row names its own receiver, the acknowledgement is final, and says so', () => {
  const rowKeys = async.toRowKeys([{ callback_url: 'https://elsewhere.test/' }])
  expect(async.judge(toAnswer(200, { task_id: 't1' }), rowKeys)).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: false,
    taskId: 't1',
    message: 'acknowledged; its result goes to the callback_url of the row, not to this app',
  })
})

test("an async delivery that was accepted before waits for that delivery's callback", () => {
  const { judge, toRowKeys } = createTestExchange(
    { kind: 'task', mode: 'async' },
    { deliveredCodes: ['DUPLICATE_POST_ID'] },
  )
  const answer = toError(400, 'DUPLICATE_POST_ID')
  expect(judge(answer, [])).toMatchObject({ ...ACKNOWLEDGED, isDelivered: true, taskId: null })
  expect(judge(answer, toRowKeys([{ callback_url: 'https://elsewhere.test/' }]))).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: false,
    isDelivered: true,
  })
})

test('a lost acknowledgement may be repeated; its task has a separate id', () => {
  expect(async.judge(LOST, [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
})

test('a v2 answer is read as far as it has the known fields, also inside a list of models', () => {
  const body = {
    task_id: 't1',
    models: [
      { model: 'text', status: { code: '0' }, triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }] },
      {
        model: 'logos',
        status: { code: '0' },
        response: { output: [{ classes: [{ class: 'logo', score: 2 }] }] },
        triggered_rules: [
          { rule_id: 'r2', rule_name: 'Logo' },
          { rule_id: 'r1', rule_name: 'Spam' },
        ],
      },
    ],
    from_cache: true,
  }
  expect(v2.judge(toAnswer(200, body), [])).toMatchObject({
    outcome: 'succeeded',
    taskId: 't1',
    rules: [
      { ruleId: 'r1', ruleName: 'Spam' },
      { ruleId: 'r2', ruleName: 'Logo' },
    ],
    classes: [{ className: 'logo', score: 2 }],
    fromCache: true,
  })
})

test('a v2 answer of any shape succeeds, as long as it is a JSON object or list and not an error', () => {
  for (const body of [{}, { results: { logos: { triggered_rules: [] } } }, { verdict: 'fine' }]) {
    expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', taskId: null })
  }
  const nested = { data: { results: { logos: { triggered_rules: [{ id: 'r', display_name: 'R' }] } } } }
  expect(v2.judge(toAnswer(200, nested), []).rules).toEqual([{ ruleId: 'r', ruleName: 'R' }])
  expect(v2.judge(toAnswer(200, { error: true, error_code: 'X', message: 'm' }), [])).toMatchObject({
    outcome: 'rejected',
    errorCode: 'X',
  })
  for (const body of ['"text"', 'null', 'no JSON', '']) {
    expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
  }
})

test('a model that failed inside a v2 answer is named', () => {
  const body = {
    task_id: 't1',
    models: [
      { model: 'text', status: { code: '0', message: 'SUCCESS' } },
      { model: 'ocr', status: { code: '7', message: 'no image' } },
    ],
  }
  expect(v2.judge(toAnswer(200, body), [])).toMatchObject({
    outcome: 'rejected',
    taskId: 't1',
    errorCode: '7',
    message: 'model ocr: no image',
  })
})

test('the first task_id of the models of a v2 answer counts if the answer has none of its own', () => {
  const models = ['t', 'u'].map((taskId) => ({ task_id: taskId, output: [] }))
  expect(v2.judge(toAnswer(200, { models }), []).taskId).toBe('t')
})

test.each([
  ['in a wrapper', { data: { task_id: 't', triggered_rules: [] } }, 't'],
  [
    'in a wrapper around a model with its own',
    { data: { task_id: 't', m: { task_id: 'u', output: [] } } },
    't',
  ],
  ['beside the id of a wrapper', { id: 'event', data: { task_id: 't', triggered_rules: [] } }, 't'],
  ['beside the id of a wrapper without a result', { id: 'event', data: { task_id: 't' } }, 't'],
  ['in a list of wrappers', [{ data: { task_id: 't', triggered_rules: [] } }], 't'],
  ['of an earlier request', { data: { task_id: 't', triggered_rules: [], from_cache: true } }, null],
  ['away from any result', { parent: { task_id: 't' }, data: { triggered_rules: [] } }, null],
  ['of the content in a wrapper', { data: { id: 't', triggered_rules: [] } }, null],
])('the task_id of a v2 answer or callback is found %s', (_, body, taskId) => {
  expect(v2.judge(toAnswer(200, body), []).taskId).toBe(taskId)
  const { judgeCallback } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
  expect(judgeCallback(JSON.stringify(body))?.taskId).toBe(taskId)
})

test('v2 acknowledges with a task_id, as v1 does', () => {
  const { judge } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
  expect(judge(toAnswer(200, { task_id: 't1' }), [])).toMatchObject({ ...ACKNOWLEDGED, taskId: 't1' })
  expect(judge(toAnswer(200, {}), [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
})

test.each([
  [{ data: { task_id: 't1', post_id: 'p1' }, meta: { page: 1 } }, 't1'],
  [{ result: { task_id: 7 } }, '7'],
  [
    {
      tasks: [
        { task_id: 't1', model: 'ocr' },
        { task_id: 't2', model: 'text' },
      ],
    },
    null,
  ],
  [{ response: { data: { task_id: 't1' } } }, 't1'],
  [{ id: 'event', data: { task_id: 't1' } }, 't1'],
])('an acknowledgement may have its task_id inside a wrapper, as results may: %j', (body, taskId) => {
  for (const { judge, toRowKeys } of [
    async,
    createTestExchange({ kind: 'task', api: 'v2', mode: 'async' }),
  ]) {
    const keys = toRowKeys([{ user_id: 'u1', post_id: 'p1' }])
    expect(judge(toAnswer(200, body), keys)).toMatchObject({ ...ACKNOWLEDGED, taskId })
  }
})

test('an acknowledgement of v2 may be a list', () => {
  const { judge } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
  expect(judge(toAnswer(200, [{ task_id: 't1' }]), [])).toMatchObject({ ...ACKNOWLEDGED, taskId: 't1' })
})

test.each([
  { data: { task_id: 't1', post_id: 'p1', triggered_rules: [{ rule_id: 'r' }] } },
  { id: 'event', result: { task_id: 't1', triggered_rules: [{ rule_id: 'r' }] } },
])('a v1 answer may stand inside a wrapper without a task_id: %j', (body) => {
  const { judge, toRowKeys } = createTestExchange({ kind: 'task' })
  const keys = toRowKeys([{ user_id: 'u1', post_id: 'p1' }])
  expect(judge(toAnswer(200, body), keys)).toMatchObject({
    outcome: 'succeeded',
    taskId: 't1',
    rules: [{ ruleId: 'r' }],
  })
})

test.each([{}, { id: 'event' }])(
  'an acknowledgement inside a wrapper that names another post is a mismatch: %j',
  (beside) => {
    for (const api of ['v1', 'v2'] as const) {
      const { judge, toRowKeys } = createTestExchange({ kind: 'task', api, mode: 'async' })
      const keys = toRowKeys([{ user_id: 'u1', post_id: 'p1' }])
      const answer = toAnswer(200, { ...beside, data: { task_id: 't2', post_id: 'p2' } })
      expect(judge(answer, keys)).toMatchObject({ outcome: 'unknown', errorCode: 'ECHO_MISMATCH' })
    }
  },
)

test('metadata with a task_id, which a service repeats, is no acknowledgement', () => {
  const { judge } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
  const answer = toAnswer(200, { content_metadata: { task_id: 't1' } })
  expect(judge(answer, [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
})

test.each([
  { data: { task_id: 't1', status: 'processing' } },
  { data: { task_id: 't1', status: 'processing' }, meta: { page: 1 } },
  { task_id: 't1', result: { state: 'queued' } },
  {
    task_id: 't1',
    models: [
      { model: 'ocr', status: 'pending' },
      { model: 'text', status: 'running' },
    ],
  },
  { task_id: 't1', triggered_rules: [], status: 'processing' },
  { task_id: 't1', triggered_rules: [], state: 'in_progress', response: { output: [OUTPUT] } },
  { data: { task_id: 't1', status: 'queued', triggered_rules: [] } },
  [{ task_id: 't1', status: 'pending', triggered_rules: [] }],
  ...[
    { model: 'text', status: 'done' },
    { model: 'text', triggered_rules: [] },
  ].map((text) => ({
    task_id: 't1',
    triggered_rules: [],
    models: [{ model: 'ocr', status: 'pending' }, text],
  })),
])(
  'a v2 answer or callback whose task is not finished inside a wrapper does not count as no rules: %j',
  (body) => {
    expect(v2.judge(toAnswer(200, body), [])).toMatchObject({
      outcome: 'unknown',
      taskId: 't1',
      errorCode: 'NOT_FINISHED',
    })
    const { judgeCallback } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
    expect(judgeCallback(JSON.stringify(body))).toBeNull()
  },
)

test.each([
  [{ data: { task_id: 't1', status: 'failed', message: 'no model' } }, 'error', 'no model'],
  [
    { id: 'event', data: { task_id: 't1', status: 'failed', triggered_rules: [] } },
    'error',
    /failure inside|error/,
  ],
  [{ data: { object: { task_id: 't1', code: 500, message: 'busy' } } }, '500', 'busy'],
])(
  'a v2 answer or callback whose task failed inside a wrapper is a failure: %j',
  (body, errorCode, message) => {
    const found = { outcome: 'rejected', errorCode, message: expect.stringMatching(message) }
    expect(v2.judge(toAnswer(200, body), [])).toMatchObject(found)
    const { judgeCallback } = createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })
    expect(judgeCallback(JSON.stringify(body))).toMatchObject(found)
  },
)

test.each([
  { data: { task_id: 't1', content: { status: 'failed', code: 7 } } },
  { task_id: 't1', data: { status: 'failed', code: 7 } },
  { id: 't1', post_id: 'p1', parent: { task_id: 't0', post_id: 'p0', status: 'failed' } },
])('a status inside of a v2 answer that is not of its task may be about anything: %j', (body) => {
  expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', taskId: 't1' })
})

test.each([
  { task_id: 't1', result: '{"triggered_rules":[{"rule_id":"r"}]}' },
  { task_id: 't1', data: { Message: '{"triggered_rules": []}' } },
])('rules in a text inside of an answer do not count as none: %j', (body) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(200, body), [])).toMatchObject({
      outcome: 'unknown',
      taskId: 't1',
      errorCode: 'UNREADABLE_RULES',
      message: 'triggered_rules stands in a text, not in the JSON of the answer',
    })
  }
  for (const { judgeCallback } of [async, createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })]) {
    expect(judgeCallback(JSON.stringify(body))).toBeNull()
  }
})

test.each([
  { task_id: 't1' },
  { task_id: 't1', message: 'accepted' },
  { task_id: 't1', post_id: 'p', status: 'completed' },
])('an answer that says nothing of the content is marked as one without a result: %j', (body) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', answer: 'no_result' })
  }
  for (const { judgeCallback } of [createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })]) {
    expect(judgeCallback(JSON.stringify(body))).toMatchObject({ outcome: 'succeeded', answer: 'no_result' })
  }
})

test.each([
  { task_id: 't1', triggered_rules: [] },
  { task_id: 't1', triggered_rules: null },
  { task_id: 't1', data: { triggered_rules: [] } },
  { task_id: 't1', request: { text_data: '{"triggered_rules": []}' }, result: { triggered_rules: [] } },
  { task_id: 't1', status: [{ status: { code: '0' }, response: { output: [] } }] },
  {
    task_id: 't1',
    models: [{ model: 'text', response: { output: [{ classes: [{ class: 'spam', score: 1 }] }] } }],
  },
])('an answer without rules has a result if it says that, or names a model: %j', (body) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', answer: null })
  }
})

test.each([
  { task_id: 't1', status: 'processing', triggered_rules: [{ rule_id: 'r' }] },
  {
    task_id: 't1',
    models: [
      { model: 'ocr', status: 'pending' },
      { model: 'text', triggered_rules: [{ rule_id: 'r' }] },
    ],
  },
  { task_id: 't1', triggered_rules: [], user: { status: 'pending' } },
])('a v2 answer that has a part of a result is one: %j', (body) => {
  expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', taskId: 't1' })
})

test.each([
  [[{ task_id: 't1' }, { model: 'ocr' }], 't1'],
  [[], null],
])('a v2 answer may be a list: %j', (body, taskId) => {
  expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', taskId, repeat: 'never' })
})

test.each([
  ['{"task_id": 4711, "triggered_rules": []}', '4711'],
  ['{"task_id": 12345678901234567890, "triggered_rules": []}', '12345678901234567890'],
])('a sync answer may identify its task by a number: %s', (body, taskId) => {
  const sync = createTestExchange({ kind: 'task' })
  expect(sync.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', taskId })
})

test('a legacy model that says SUCCESS instead of 0 has succeeded', () => {
  const sync = createTestExchange({ kind: 'task', legacy: true })
  const body = { id: 't1', code: 200, status: [{ status: { code: 'SUCCESS', message: '' } }] }
  expect(sync.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', errorCode: null })
})

test.each([
  ...['spam', '', 3, 0, true, false, {}, { rule_id: 'r' }],
  ...[['spam'], [{}], [null], [0], [[]], [{ rule_name: 'Spam' }], [{ rule_id: '' }], [{ rule_id: 'r' }, {}]],
])('rules in an unknown shape do not count as none: %j', (rules) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(200, { task_id: 't1', triggered_rules: rules }), [])).toMatchObject({
      outcome: 'unknown',
      repeat: 'never',
      taskId: 't1',
      errorCode: 'UNREADABLE_RULES',
      message: `triggered_rules is not a list of rules, found ${JSON.stringify(rules)}`,
    })
  }
  // A callback without readable rules settles nothing; its content is reported with its row.
  for (const { judgeCallback } of [async, createTestExchange({ kind: 'task', api: 'v2', mode: 'async' })]) {
    expect(judgeCallback(JSON.stringify({ task_id: 't1', triggered_rules: rules }))).toBeNull()
  }
})

test.each([
  [{ success: false, message: 'quota' }, 'quota'],
  [{ ok: false, error_code: 'QUOTA', message: 'quota' }, 'quota'],
  [{ error: 'model crashed' }, 'model crashed'],
  [{ error: { reason: 'x' } }, '{"reason":"x"}'],
  [{ status: 'failed', message: 'no model' }, 'no model'],
  [{ state: 'failed', message: 'no model' }, 'no model'],
  [{ status: 'error', message: 'no model' }, 'no model'],
  [{ status: 400, message: 'no model' }, 'no model'],
  [{ status: '503', message: 'busy' }, 'busy'],
  [{ code: 500, message: 'busy' }, 'busy'],
  [{ code: '500', message: 'busy' }, 'busy'],
  [{ success: 'false', message: 'busy' }, 'busy'],
  [{ success: 0, message: 'busy' }, 'busy'],
  [{ error_code: 'MODEL_FAILED', message: 'busy' }, 'busy'],
  [{ errors: [{ code: 'X' }] }, '[{"code":"X"}]'],
])('a 200 that says failure in other words is a failure of every operation: %j', (said, message) => {
  const refused = { outcome: 'rejected', repeat: 'never', message }
  const sync = createTestExchange({ kind: 'task' })
  for (const { judge, judgeCallback } of [sync, v2, async]) {
    const body = { task_id: 't1', triggered_rules: [], ...said }
    expect(judge(toAnswer(200, body), [])).toMatchObject(refused)
    expect(judge(toAnswer(200, said), [])).toMatchObject(refused)
    expect(judgeCallback(JSON.stringify(body))).toMatchObject(refused)
    expect(judgeCallback(JSON.stringify(said))).toMatchObject(refused)
  }
  for (const operation of [
    { kind: 'index-add', indexId: 'i' },
    { kind: 'index-remove', indexId: 'i' },
    { kind: 'watchlist-add', watchlist: 'w' },
    { kind: 'appeal-status' },
  ] as const) {
    const body = { task_id: 't1', custom_index_item_id: 'c', watchlist: 'w', appeal_id: 'a', ...said }
    expect(createTestExchange(operation).judge(toAnswer(200, body), [])).toMatchObject(refused)
  }
})

test.each([
  { status: 200 },
  { status: '200', code: '0' },
  { code: 0 },
  { status: 0, code: 204 },
  { status: 1 },
  { status: 'success' },
  { status: 'done', state: 'completed' },
])('a number or word of success beside no rules is a result: %j', (said) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    const body = { task_id: 't1', triggered_rules: [], ...said }
    expect(judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'succeeded', answer: null })
  }
})

test.each([
  { result: { triggered_rules: [{ rule_id: 'r', rule_name: 'R' }] } },
  { data: { models: [{ model: 'text', triggered_rules: [{ rule_id: 'r', rule_name: 'R' }] }] } },
])('rules that a v1 answer has inside another object count: %j', (inside) => {
  const body = { task_id: 't1', ...inside }
  const found = { outcome: 'succeeded', taskId: 't1', rules: [{ ruleId: 'r', ruleName: 'R' }] }
  expect(createTestExchange({ kind: 'task' }).judge(toAnswer(200, body), [])).toMatchObject(found)
  expect(async.judgeCallback(JSON.stringify(body))).toMatchObject(found)
})

test.each([
  [{ error: true, error_code: 'DOWN', message: 'no model' }, 'DOWN', 'model ocr: no model'],
  [{ error: 'timeout' }, 'error', 'model ocr: timeout'],
  [{ success: false, message: 'no model' }, 'error', 'model ocr: no model'],
  [{ status: 'failed' }, 'error', 'model ocr: error'],
  [{ code: 500, message: 'busy' }, '500', 'model ocr: busy'],
])('a model of a v2 answer may say failure in other words: %j', (said, errorCode, message) => {
  const models = [
    { model: 'visual', triggered_rules: [] },
    { model: 'ocr', ...said },
  ]
  for (const body of [
    { task_id: 't1', models },
    { task_id: 't1', data: { models } },
  ]) {
    expect(v2.judge(toAnswer(200, body), [])).toMatchObject({ outcome: 'rejected', errorCode, message })
  }
})

test('an error inside a v2 answer needs no model to count', () => {
  for (const ocr of [
    { error: true, message: 'down' },
    { success: false, message: 'down' },
    { error: 'down' },
  ])
    expect(v2.judge(toAnswer(200, { results: { ocr } }), [])).toMatchObject({
      outcome: 'rejected',
      message: 'down',
    })
})

test('what a v2 answer says about the content is not a failure', () => {
  for (const check of [
    { status: 'failed', score: 1 },
    { ok: false },
    { error: 0.03 },
    { code: 7 },
    { model: 'ocr', error: null, success: true, code: 200, status: 'done' },
  ])
    expect(v2.judge(toAnswer(200, { results: { check } }), [])).toMatchObject({ outcome: 'succeeded' })
})

test.each([
  [200, { status: 'processing' }, 'status "processing"'],
  [200, { state: 'queued' }, 'state "queued"'],
  [202, { message: 'accepted' }, 'status 202 (Accepted)'],
])('a sync answer %i that only accepts the task does not count as no rules: %j', (status, said, found) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(status, { task_id: 't1', post_id: 'p1', ...said }), [])).toMatchObject({
      outcome: 'unknown',
      repeat: 'never',
      taskId: 't1',
      errorCode: 'NOT_FINISHED',
      message: `the task is not finished: ${found}`,
    })
    // A 202 alone does not outweigh a list of rules.
    const withRules = judge(toAnswer(status, { task_id: 't1', triggered_rules: [], ...said }), [])
    expect(withRules.outcome).toBe(status === 202 ? 'succeeded' : 'unknown')
  }
  expect(async.judge(toAnswer(status, { task_id: 't1', ...said }), [])).toMatchObject(ACKNOWLEDGED)
})

test('sent metadata that a service repeats is not part of its answer', () => {
  for (const triggered_rules of ['earlier', [{ rule_id: 'old' }]]) {
    const body = { task_id: 't1', triggered_rules: [], content_metadata: { earlier: { triggered_rules } } }
    const judgement = v2.judge(toAnswer(200, body), [])
    expect(judgement).toMatchObject({ outcome: 'succeeded' })
    expect(JSON.stringify(judgement)).not.toContain('old')
  }
})

test.each([
  {},
  { triggered_rules: [] },
  { triggered_rules: null },
  { triggered_rules: null, user: { status: 'pending' } },
  { triggered_rules: [{ rule_id: 'r' }], success: true, ok: true, error: null, status: 'ok' },
  { triggered_rules: [{ id: 7 }], error: '', status: 'completed' },
  { triggered_rules: [], error: false, status: [] },
  { triggered_rules: [], error: {} },
  { triggered_rules: [], error: [] },
  { triggered_rules: [], error: { code: 0, message: '' } },
  { triggered_rules: [], error: 'none' },
  {
    ...{ status: 'pending', triggered_rules: [] },
    models: [
      {
        model: 'text',
        status: { code: '0' },
        response: { output: [{ classes: [{ class: 'spam', score: 0.1 }] }] },
      },
    ],
  },
  { triggered_rules: [], errors: [], error_code: 'N/A' },
  { triggered_rules: [], errors: [], error_code: '', success: 'true' },
  { triggered_rules: [], error: false, error_code: 'LAST' },
  { triggered_rules: [], error_code: '00000' },
  { triggered_rules: [], error_code: '200' },
  { triggered_rules: [], success: ['no'], ok: { toString: 1, valueOf: 1 } },
])('an answer without a failure is not doubted: %j', (said) => {
  for (const { judge } of [createTestExchange({ kind: 'task' }), v2]) {
    expect(judge(toAnswer(200, { task_id: 't1', ...said }), [])).toMatchObject({ outcome: 'succeeded' })
  }
})
