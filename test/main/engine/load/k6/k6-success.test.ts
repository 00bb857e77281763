import { describe, expect, test } from 'vitest'
import { formatK6Success } from '../../../../../src/main/engine/load/k6/k6-success.ts'
import type { Plan, PlanInput } from '../../../../../src/shared/plan/plan.ts'
import { buildPlan } from '../../mapping/build-plan.ts'
import { createTestExchange, toAnswer } from '../../service/answers.ts'

const POST = 'k6-1'

const OWN = { task_id: 't', post_id: POST, triggered_rules: [] }

/** Bodies of answers with status 200. */
const BODIES: readonly (readonly [string, unknown])[] = [
  ['a result', OWN],
  ['a result with a number as its id', { id: 7 }],
  ['a result with rules', { ...OWN, triggered_rules: [{ rule_id: 'r' }] }],
  ['a result whose rules are null', { ...OWN, triggered_rules: null }],
  [
    'null as rules, and an author who is pending',
    { ...OWN, triggered_rules: null, user: { status: 'pending' } },
  ],
  ['a result with an empty error', { ...OWN, error: '' }],
  ['a result whose post_id is in capitals', { ...OWN, post_id: 'K6-1' }],
  ['a cached result of an earlier post', { ...OWN, post_id: 'earlier', from_cache: true }],
  ['a legacy result', { ...OWN, status: [{ status: { code: '0' } }] }],
  ['a legacy result with a word for success', { ...OWN, status: [{ status: { code: 'OK' } }] }],
  ['a failed model', { ...OWN, status: [{ status: { code: '13' } }] }],
  ['a failed model of v2', { ...OWN, models: [{ model: 'text', status: { code: 500 } }] }],
  ['a failed model deep inside', { ...OWN, results: { text: [{ status: { code: 500 } }] } }],
  ['a failed model of v2, in words', { ...OWN, models: [{ model: 'ocr', status: 'failed' }] }],
  ['a failed model of v2, by its code', { ...OWN, models: [{ model: 'ocr', code: 500 }] }],
  ['an error inside', { ...OWN, results: { ocr: { error: 'down' } } }],
  [
    'words about the content inside',
    { ...OWN, results: { ocr: { ok: false, status: 'failed', error: 0.1 } } },
  ],
  ['a wrapped result', { task_id: 't', result: OWN }],
  ['a wrapped failure', { task_id: 't', result: { ...OWN, success: false } }],
  ['wrapped rules that are a text', { task_id: 't', result: { ...OWN, triggered_rules: 'spam' } }],
  ['a task that has not ended', { task_id: 't', status: 'processing' }],
  ['a task that has not ended, in a wrapper', { data: { task_id: 't', status: 'processing' } }],
  ['no rules in a wrapper that says processing', { data: { ...OWN, status: 'processing' } }],
  ['parts that have not ended', { task_id: 't', models: [{ status: 'queued' }, { state: 'pending' }] }],
  ['a task in a wrapper', { data: { task_id: 't' }, meta: { page: 1 } }],
  ['an empty list', []],
  ['a task in two wrappers', { response: { data: { task_id: 't' } } }],
  ['a task in two wrappers that has not ended', { response: { data: { task_id: 't', state: 'queued' } } }],
  ['a task in a wrapper that failed', { data: { task_id: 't', status: 'failed' } }],
  ['a parent that failed', { id: 't', post_id: POST, parent: { task_id: 'u', status: 'failed' } }],
  ['a task in a wrapper with a code', { data: { task_id: 't', code: 500 } }],
  ['a result in a text', { task_id: 't', result: JSON.stringify(OWN) }],
  ['a task in metadata', { content_metadata: { task_id: 't' } }],
  ['no rules of a task that has not ended', { ...OWN, status: 'processing' }],
  ['rules of a task that has not ended', { ...OWN, triggered_rules: [{ rule_id: 'r' }], state: 'pending' }],
  [
    'a model that has not ended',
    { ...OWN, models: [{ model: 'ocr', status: 'pending' }, { model: 'text' }] },
  ],
  [
    'a model in a wrapper that has not ended',
    { data: { ...OWN, models: [{ model: 'ocr', state: 'queued' }] } },
  ],
  ['a list with a task that has not ended', [{ ...OWN, status: 'queued' }]],
  [
    'a review that is pending beside scores',
    {
      ...{ ...OWN, status: 'pending', triggered_rules: [] },
      models: [{ model: 'text', response: { output: [{ classes: [{ class: 'spam', score: 0.1 }] }] } }],
    },
  ],
  ['a task that is pending without scores', { ...OWN, status: 'pending', triggered_rules: [] }],
  ['an author who is pending', { ...OWN, user: { status: 'pending' } }],
  ['a task beside the id of a wrapper', { id: 'event', data: { task_id: 't', status: 'failed' } }],
  ['a status that is an error', { ...OWN, status: 400 }],
  ['a status that is an error, as a text', { ...OWN, status: '503' }],
  ['a status of success', { ...OWN, status: 200 }],
  ['a status of 1', { ...OWN, status: 1 }],
  ['a code of 0', { ...OWN, code: 0 }],
  ['a code that is an error, as a text', { ...OWN, code: '500' }],
  ['a state that says failed', { ...OWN, state: 'failed' }],
  ['a status that is an error, of a model', { ...OWN, models: [{ model: 'ocr', status: 500 }] }],
  ['an error', { ...OWN, error: true }],
  ['an error in words', { ...OWN, error: 'boom' }],
  ['an error object', { ...OWN, error: { message: 'boom' } }],
  ['success that is false', { ...OWN, success: false }],
  ['ok that is false', { ...OWN, ok: false }],
  ['success that is false, as a text', { ...OWN, success: 'false' }],
  ['an error code', { ...OWN, error_code: 'MODEL_FAILED' }],
  ['an error code that an error denies', { ...OWN, error: false, error_code: 'LAST' }],
  ['an error code that says none', { ...OWN, error_code: 'NO_ERROR' }],
  ['an error code of zeros', { ...OWN, error_code: '00000' }],
  ['a success that is no text', { ...OWN, success: ['no'], ok: { toString: 1, valueOf: 1 } }],
  ['errors', { ...OWN, errors: [{ code: 'X' }] }],
  ['no errors', { ...OWN, errors: [] }],
  ['an error code of a model', { ...OWN, models: [{ model: 'ocr', error_code: 'X' }] }],
  ['a status that says failed', { ...OWN, status: 'failed' }],
  ['a code that is an error', { ...OWN, code: 500 }],
  ['rules that are a text', { ...OWN, triggered_rules: 'spam' }],
  ['rules without ids', { ...OWN, triggered_rules: ['spam'] }],
  ['the post_id of another post', { ...OWN, post_id: 'another' }],
  ['no task', { success: true }],
  ['a list', [OWN]],
  ['a list with an error', [OWN, { error: true }]],
  ['an empty list', []],
  ['null', null],
  ['a text', 'fine'],
  ['no JSON', undefined],
]

function createSuccess(plan: Plan): (response: { status: number; body: string }, postId: string) => boolean {
  return new Function(`${formatK6Success(plan)}\nreturn isSuccess`)()
}

function judgeHere(plan: Plan, status: number, body: string): boolean {
  const { judge, toRowKeys } = createTestExchange(plan.operation, plan.connection)
  return judge(toAnswer(status, body), toRowKeys([{ post_id: POST }])).outcome === 'succeeded'
}

describe.each<[string, Partial<PlanInput>]>([
  ['v1', {}],
  ['v2', { operation: { kind: 'task', api: 'v2' } }],
  ['v1 async', { operation: { kind: 'task', mode: 'async' } }],
  ['v2 async', { operation: { kind: 'task', api: 'v2', mode: 'async' } }],
  ['v1 with rewritten ids', { connection: { baseUrl: 'https://service.test', rewritesIds: true } }],
])('the script of a k6 project for %s', (_, parts) => {
  const plan = buildPlan({ operation: { kind: 'task' }, ...parts })
  const isSuccess = createSuccess(plan)

  test.each(BODIES)('takes %s for what Sluice takes it for', (_name, value) => {
    const body = value === undefined ? 'fine' : JSON.stringify(value)
    expect(isSuccess({ status: 200, body }, POST)).toBe(judgeHere(plan, 200, body))
  })

  test('takes status 202 without a result for what Sluice takes it for', () => {
    const body = JSON.stringify({ task_id: 't', message: 'accepted' })
    expect(isSuccess({ status: 202, body }, POST)).toBe(judgeHere(plan, 202, body))
  })

  test('does not compare ids deeper inside an answer, which its instructions say', () => {
    const body = JSON.stringify({ task_id: 't', result: { ...OWN, post_id: 'another' } })
    expect(isSuccess({ status: 200, body }, POST)).toBe(true)
  })

  test.each([202, 204, 302, 403, 503])(
    'takes a result with status %i for what Sluice takes it for',
    (status) => {
      const body = JSON.stringify(OWN)
      expect(isSuccess({ status, body }, POST)).toBe(judgeHere(plan, status, body))
    },
  )
})
