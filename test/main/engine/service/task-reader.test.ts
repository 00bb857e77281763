import { describe, expect, it } from 'vitest'
import { readTaskResponse } from '../../../../src/main/engine/service/task-reader.ts'
import {
  defaultTaskResponseSchema,
  legacyTaskResponseSchema,
  v2TaskResponseSchema,
} from '../../../helpers/answer-schemas.ts'

const LEGACY_RULE = {
  id: 'r1',
  display_name: 'Spam',
  application_id: 'app',
  rule_type: 'post',
  cardinality: 1,
  active: true,
  action_id: 'a1',
  conditions: [{ subject: 'class_score' }],
  deleted: false,
  trigger_frequency: 'once',
  created_at: '2024-01-01T00:00:00Z',
  updated_at: '2024-01-01T00:00:00Z',
}

const SPAN = (start: number, classes: { class: string; score: number }[]) => ({
  time: 0,
  start_char_index: start,
  end_char_index: start + 10,
  classes,
})

const LEGACY_RESPONSE = {
  input: {
    hash: 'h',
    inference_client_version: '1',
    model: 'm',
    model_type: 'TEXT_CLASSIFICATION',
    model_version: 1,
    text: 'hello',
    id: 't1',
    created_on: '2024-01-01T00:00:00Z',
    user_id: 7,
    project_id: 8,
    charge: 0.5,
  },
  custom_classes: [],
  text_filters: [],
  pii_entities: [{ value: 'a@b.c', start_index: 0, end_index: 5, type: 'EMAIL_ADDRESS' }],
  urls: [],
  language: 'EN',
  moderated_classes: ['sexual', 'hate'],
  output: [
    SPAN(0, [
      { class: 'spam', score: 1 },
      { class: 'hate', score: 2 },
    ]),
    SPAN(10, [
      { class: 'spam', score: 3 },
      { class: 'hate', score: 0 },
    ]),
  ],
}

/** As received: `user_id` twice, the string first and the number after it. */
const LEGACY_TEXT = `{"content_id":"c","user_id":"u1","post_id":"p1","task_id":"t1","triggered_rules":${JSON.stringify(
  [LEGACY_RULE],
)},"id":"t1","code":200,"project_id":8,"user_id":7,"created_on":"2024-01-01T00:00:00Z","status":${JSON.stringify(
  [{ status: { code: '0', message: 'SUCCESS' }, response: LEGACY_RESPONSE }],
)},"from_cache":true}`

const DEFAULT_BODY = {
  user_id: 'u1',
  post_id: 'p1',
  task_id: 't1',
  triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }],
}

describe('reading a task response', () => {
  it('reads the default body as its schema does', () => {
    const body = defaultTaskResponseSchema.parse(DEFAULT_BODY)
    expect(readTaskResponse(DEFAULT_BODY)).toEqual({
      taskId: body.task_id,
      postId: body.post_id,
      triggeredRules: body.triggered_rules.map((rule) => ({
        ruleId: rule.rule_id,
        ruleName: rule.rule_name,
      })),
      classScores: [],
      fromCache: false,
      failures: [],
    })
  })

  it('reads the legacy body with its duplicate user_id as its schema does', () => {
    const parsed = JSON.parse(LEGACY_TEXT)
    const body = legacyTaskResponseSchema.parse(parsed)
    expect(body.user_id).toBe(7)
    expect(readTaskResponse(parsed)).toEqual({
      taskId: body.task_id,
      postId: body.post_id,
      triggeredRules: body.triggered_rules.map((rule) => ({ ruleId: rule.id, ruleName: rule.display_name })),
      classScores: [
        { className: 'spam', score: 3 },
        { className: 'hate', score: 2 },
      ],
      fromCache: body.from_cache,
      failures: [],
    })
  })

  it('reads no score that is beyond every number', () => {
    const text =
      '[{"response":{"output":[{"classes":[{"class":"a","score":1e999},{"class":"b","score":1}]}]}}]'
    const result = readTaskResponse({ ...DEFAULT_BODY, status: JSON.parse(text) })
    expect(result?.classScores).toEqual([{ className: 'b', score: 1 }])
  })

  it('reads a v2 body with its list of models as its schema does', () => {
    const body = {
      task_id: 't1',
      post_id: 'p1',
      triggered_rules: [{ rule_id: 'r1', rule_name: 'Spam' }],
      models: [
        {
          model: 'text',
          status: { code: '0', message: 'SUCCESS' },
          response: { output: [SPAN(0, [{ class: 'spam', score: 2 }])] },
        },
        { model: 'ocr', status: { code: '7', message: 'no image' }, response: null },
      ],
      something_new: {},
    }
    expect(v2TaskResponseSchema.safeParse(body).success).toBe(true)
    expect(readTaskResponse(body)).toMatchObject({
      taskId: 't1',
      triggeredRules: [{ ruleId: 'r1', ruleName: 'Spam' }],
      classScores: [{ className: 'spam', score: 2 }],
      failures: [{ code: '7', message: 'no image' }],
    })
  })

  it('reads an acknowledgement that contains only a task_id', () => {
    expect(readTaskResponse({ task_id: 't9' })).toEqual({
      taskId: 't9',
      postId: null,
      triggeredRules: [],
      classScores: [],
      fromCache: false,
      failures: [],
    })
  })

  it('uses the id if task_id is missing', () => {
    expect(readTaskResponse({ id: 't9' })?.taskId).toBe('t9')
  })

  it('finds failures inside a 200, by status code or by code', () => {
    const status = [{ status: { code: '0' } }, { status: { code: '1001', message: 'model failed' } }]
    expect(readTaskResponse({ task_id: 't', status })?.failures).toEqual([
      { code: '1001', message: 'model failed' },
    ])
    expect(readTaskResponse({ task_id: 't', code: 503, message: 'busy' })?.failures).toEqual([
      { code: '503', message: 'busy' },
    ])
    expect(readTaskResponse({ task_id: 't', code: 200 })?.failures).toEqual([])
  })

  it.each([
    [null],
    [undefined],
    ['t1'],
    [1],
    [[]],
    [[{ task_id: 't' }]],
    [{}],
    [{ task_id: 1.5 }],
    [{ task_id: '' }],
  ])('returns null for %j', (body) => {
    expect(readTaskResponse(body)).toBeNull()
  })

  it('omits members of an unexpected type, and keeps the rest', () => {
    const body = {
      task_id: 't1',
      post_id: 5,
      triggered_rules: [null, 'r', { rule_id: 3 }, { rule_id: 'r1' }],
      from_cache: 'true',
      status: [
        null,
        'x',
        { status: 'ok', response: 'none' },
        {
          response: {
            output: [null, { classes: 'x' }, { classes: [null, { class: 'a' }, { class: 'b', score: 1 }] }],
          },
        },
      ],
      models: { text: {} },
    }
    expect(readTaskResponse(body)).toEqual({
      taskId: 't1',
      postId: null,
      triggeredRules: [
        { ruleId: '3', ruleName: '3' },
        { ruleId: 'r1', ruleName: 'r1' },
      ],
      classScores: [{ className: 'b', score: 1 }],
      fromCache: false,
      failures: [],
      unreadableRules: '[null,"r",{"rule_id":3},{"rule_id":"r1"}]',
    })
  })
})
