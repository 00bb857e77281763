import { describe, expect, test } from 'vitest'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import type { OperationExchange } from '../../../../src/main/engine/service/operation-exchange.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { createTestExchange, toAnswer } from './answers.ts'

const TASK = { post_id: 'p1', user_id: 'u1', text_data: 'hello' }
const RULES = [{ rule_id: 'r', rule_name: 'Of another row' }]

/** The judgement of an answer to a request with this body. */
function judge(
  exchange: OperationExchange,
  body: Record<string, unknown> | Record<string, unknown>[],
  answer: unknown,
): Judgement {
  const rows = Array.isArray(body) ? body : [body]
  return exchange.judge(toAnswer(200, answer), exchange.toRowKeys(rows))
}

const exchangeOf = (operation: PlanInput['operation']) => createTestExchange(operation)
const task = exchangeOf({ kind: 'task' })
const legacy = exchangeOf({ kind: 'task', legacy: true })
const v2 = exchangeOf({ kind: 'task', api: 'v2' })
const acknowledged = exchangeOf({ kind: 'task', mode: 'async' })
const add = exchangeOf({ kind: 'index-add', indexId: 'i' })
const remove = exchangeOf({ kind: 'index-remove', indexId: 'i' })
const removeAsync = exchangeOf({ kind: 'index-remove', indexId: 'i', mode: 'async' })
const terms = exchangeOf({ kind: 'watchlist-add', watchlist: 'words' })
const appeal = exchangeOf({ kind: 'appeal-status' })

const RESULT = { task_id: 't', post_id: 'p1', user_id: 'u1', triggered_rules: RULES }
const RESULT_OF_OTHER = { ...RESULT, post_id: 'p2' }
const ITEM = { custom_index_item_id: 'item-1' }
const APPEAL = { appeal: { appeal_status: 'In Review' }, original_decision: {} }
const TERMS = [{ term: 'Alpha' }, { term: 'beta' }]
const LISTS = { message: '', watchlist: 'words', pre_existing_terms: [], failed_terms: [] }

const MISMATCHED = {
  outcome: 'unknown',
  repeat: 'never',
  errorCode: 'ECHO_MISMATCH',
  rules: [],
  taskId: null,
}

describe('an answer that repeats the id of its request is verified', () => {
  test.each([
    ['of a task', task, TASK, RESULT],
    ['of a task, legacy', legacy, TASK, { ...RESULT, user_id: 4711, code: 200 }],
    ['of a task, inside another object', task, TASK, { task_id: 't', result: RESULT }],
    ['of a task of v2', v2, TASK, { post_id: 'p1', models: [] }],
    ['of a task of v2, in a list', v2, TASK, [{ post_id: 'p1' }, { models: [] }]],
    ['of a task of v2, around its rules', v2, TASK, { data: { post_id: 'p1', models: [{ output: [] }] } }],
    ['of a number as id', task, { ...TASK, post_id: 17 }, { ...RESULT, post_id: 17 }],
    ['of an item that is removed', remove, ITEM, { ...ITEM, task_id: 't' }],
    ['of an item that is removed, acknowledged', removeAsync, ITEM, { ...ITEM, task_id: 't' }],
    ['of terms', terms, TERMS, { ...LISTS, added_terms: [{ term: 'alpha' }, { term: 'beta' }] }],
    ['of an appeal', appeal, { appeal_id: 'a1' }, { ...APPEAL, appeal_id: 'a1' }],
  ] as const)('%s', (_, exchange, body, answer) => {
    const judgement = judge(exchange, body as never, answer)
    expect(judgement).toMatchObject({ outcome: 'succeeded', echo: { kind: 'verified' } })
  })
})

describe('an answer that repeats another id is not the row’s: its outcome is unknown, and nothing of it is kept', () => {
  const other = { field: 'post_id', expected: 'p1', found: 'p2' }
  test.each([
    ['of a task', task, TASK, { ...RESULT, post_id: 'p2' }, other],
    ['of a task, inside another object', task, TASK, { task_id: 't', result: RESULT_OF_OTHER }, other],
    [
      'of a task, by its user alone',
      task,
      TASK,
      { ...RESULT, user_id: 'u2' },
      { field: 'user_id', expected: 'u1', found: 'u2' },
    ],
    ['of a task, legacy', legacy, TASK, { ...RESULT, post_id: 'p2', user_id: 4711 }, other],
    [
      'of a task that failed inside a 200',
      legacy,
      TASK,
      { ...RESULT, post_id: 'p2', status: [{ status: { code: '7', message: 'no' } }] },
      other,
    ],
    ['of a task of v2', v2, TASK, { post_id: 'p2', models: [] }, other],
    ['of a task of v2, in a list', v2, TASK, [{ post_id: 'p1' }, { post_id: 'p2' }], other],
    ['of a task of v2, around its rules', v2, TASK, { data: RESULT_OF_OTHER }, other],
    [
      'of a task of v2, around its scores',
      v2,
      TASK,
      { data: { post_id: 'p2', models: [{ output: [] }] } },
      other,
    ],
    [
      'of a task of v2, beside its own',
      v2,
      TASK,
      { task_id: 't', results: [RESULT, RESULT_OF_OTHER] },
      other,
    ],
    ['of an acknowledged task', acknowledged, TASK, { task_id: 't', post_id: 'p2' }, other],
    [
      'of an item that is removed',
      remove,
      ITEM,
      { custom_index_item_id: 'item-2', task_id: 't' },
      { field: 'custom_index_item_id', expected: 'item-1', found: 'item-2' },
    ],
    [
      'of an item that is removed, acknowledged',
      removeAsync,
      ITEM,
      { custom_index_item_id: 'item-2', task_id: 't' },
      { field: 'custom_index_item_id', expected: 'item-1', found: 'item-2' },
    ],
    [
      'of another watchlist',
      terms,
      TERMS,
      { ...LISTS, watchlist: 'others', added_terms: [{ term: 'alpha' }, { term: 'beta' }] },
      { field: 'watchlist', expected: 'words', found: 'others' },
    ],
    [
      'of other terms',
      terms,
      TERMS,
      { ...LISTS, added_terms: [{ term: 'gamma' }] },
      { field: 'term', expected: 'alpha', found: 'gamma' },
    ],
    [
      'of another appeal',
      appeal,
      { appeal_id: 'a1' },
      { ...APPEAL, appeal_id: 'a2' },
      { field: 'appeal_id', expected: 'a1', found: 'a2' },
    ],
  ] as const)('%s', (_, exchange, body, answer, found) => {
    const judgement = judge(exchange, body as never, answer)
    expect(judgement).toMatchObject({ ...MISMATCHED, status: 200, echo: { kind: 'mismatched', ...found } })
    expect(judgement.message).toBe(
      `the answer names ${found.field} "${found.found}"; the request named "${found.expected}"`,
    )
    expect(judgement).toMatchObject({ rows: null, answer: null, isAcknowledgement: false })
  })
})

describe('an answer that repeats nothing is not verifiable, and counts', () => {
  test.each([
    ['of a task without ids', task, TASK, { task_id: 't', triggered_rules: RULES }],
    ['of a task whose ids are empty', task, TASK, { ...RESULT, post_id: '', user_id: null }],
    ['of a task of which only the user is repeated', task, TASK, { ...RESULT, post_id: undefined }],
    [
      'of a task of v2, away from its rules',
      v2,
      TASK,
      { triggered_rules: RULES, similar: [{ post_id: 'p9' }] },
    ],
    ['of a task of v2, in what was sent', v2, TASK, { user_metadata: RESULT_OF_OTHER }],
    ['of a task of v2 with a cached model', v2, TASK, { models: [{ ...RESULT_OF_OTHER, from_cache: true }] }],
    [
      'of a task, inside of another part',
      task,
      TASK,
      { task_id: 't', triggered_rules: [], parent: RESULT_OF_OTHER },
    ],
    ['of an acknowledged task', acknowledged, TASK, { task_id: 't' }],
    [
      'of an item that is added',
      add,
      { url: 'https://a.test/' },
      { ...ITEM, task_id: 't', message: 'added' },
    ],
    ['of an item that is removed', remove, ITEM, { task_id: 't' }],
    ['of an appeal', appeal, { appeal_id: 'a1' }, APPEAL],
    [
      'of a cached task that names who asked first',
      legacy,
      TASK,
      { ...RESULT, post_id: 'p9', from_cache: true },
    ],
  ] as const)('%s', (_, exchange, body, answer) => {
    const judgement = judge(exchange, body as never, answer)
    expect(judgement).toMatchObject({ outcome: 'succeeded', echo: { kind: 'unverifiable' } })
  })
})

test.each([
  ['white space around it', 'p1', ' p1\t'],
  ['another case', 'Post-Ä', 'post-ä'],
  ['another Unicode normal form', 'caf\u00e9', 'cafe\u0301'],
])('an id that comes back with %s is accepted, and reported', (_, sent, found) => {
  const judgement = judge(task, { ...TASK, post_id: sent }, { ...RESULT, post_id: found })
  expect(judgement).toMatchObject({ outcome: 'succeeded', rules: [{ ruleId: 'r' }], echo: { kind: 'alike' } })
})

test('a term that comes back in another Unicode normal form is the term that was sent', () => {
  const body = [{ term: 'caf\u00e9' }, { term: 'beta' }]
  const answer = { ...LISTS, added_terms: [{ term: 'cafe\u0301' }, { term: 'beta' }] }
  const judgement = judge(terms, body, answer)
  expect(judgement.rows?.map(({ answer: one, isAlike = false }) => [one, isAlike])).toEqual([
    ['added', true],
    ['added', false],
  ])
  expect(judgement.echo).toEqual({ kind: 'verified' })
})

test('a callback is compared like an answer', () => {
  const judgeCallback = (exchange: OperationExchange, row: Record<string, unknown>, body: unknown) =>
    exchange.judgeCallback(JSON.stringify(body), exchange.toRowKeys([row]))
  expect(judgeCallback(acknowledged, TASK, RESULT)?.echo).toEqual({ kind: 'verified' })
  expect(judgeCallback(acknowledged, TASK, { ...RESULT, user_id: 4711 })?.echo).toEqual({ kind: 'verified' })
  expect(judgeCallback(acknowledged, TASK, { task_id: 't' })?.echo).toEqual({ kind: 'unverifiable' })
  expect(judgeCallback(acknowledged, TASK, { ...RESULT, post_id: 'p2' })).toMatchObject({
    ...MISMATCHED,
    message: 'the callback names post_id "p2"; the request named "p1"',
  })
  const removed = { custom_index_item_id: 'item-2', task_id: 't', message: '' }
  expect(judgeCallback(removeAsync, ITEM, removed)).toMatchObject(MISMATCHED)
})

test('a callback that says error and names another id settles nothing either', () => {
  const error = { error: true, status: 500, error_code: 'INTERNAL', message: 'it broke' }
  const judgeError = (body: object) =>
    acknowledged.judgeCallback(JSON.stringify({ ...error, ...body }), acknowledged.toRowKeys([TASK]))
  expect(judgeError({ post_id: 'p2' })).toMatchObject({ ...MISMATCHED, echo: { found: 'p2' } })
  expect(judgeError({ post_id: 'p1' })).toMatchObject({ outcome: 'rejected', errorCode: 'INTERNAL' })
  expect(judgeError({})).toMatchObject({ outcome: 'rejected', errorCode: 'INTERNAL' })
})

test('an answer that lists only other terms belongs to another request, even if it names the watchlist in another case', () => {
  const answer = { ...LISTS, watchlist: 'WORDS', added_terms: [{ term: 'gamma' }] }
  expect(judge(terms, TERMS, answer)).toMatchObject({ ...MISMATCHED, echo: { found: 'gamma' } })
})

test('an answer that shares a term with the request, but lists others in place of the rest, belongs to another request', () => {
  const answer = { ...LISTS, added_terms: [{ term: 'gamma' }, { term: 'beta' }] }
  expect(judge(terms, TERMS, answer)).toMatchObject({
    ...MISMATCHED,
    echo: { field: 'term', expected: 'alpha', found: 'gamma' },
  })
  const fuller = { ...LISTS, added_terms: [{ term: 'alpha' }, { term: 'beta' }, { term: 'gamma' }] }
  expect(judge(terms, TERMS, fuller)).toMatchObject({ outcome: 'succeeded', echo: { kind: 'verified' } })
})

test('terms that a service rewrites are not compared once that is accepted, and none of them counts as added', () => {
  const rewriting = createTestExchange({ kind: 'watchlist-add', watchlist: 'words' }, { rewritesIds: true })
  const judgement = judge(rewriting, TERMS, { ...LISTS, added_terms: [{ term: 'gamma' }] })
  expect(judgement).toMatchObject({ outcome: 'succeeded', echo: { kind: 'unverifiable' } })
  expect(judgement.rows?.map(({ outcome }) => outcome)).not.toContain('succeeded')
})
