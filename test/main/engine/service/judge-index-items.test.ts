import { expect, test } from 'vitest'
import { createTestExchange, LOST, REFUSED, toAnswer, toError } from './answers.ts'

const add = createTestExchange({ kind: 'index-add', indexId: 'i' })
const addAsync = createTestExchange({ kind: 'index-add', indexId: 'i', mode: 'async' })
const remove = createTestExchange({ kind: 'index-remove', indexId: 'i' })
const removeAsync = createTestExchange({ kind: 'index-remove', indexId: 'i', mode: 'async' })

const ADDED = { custom_index_item_id: 'item-1', task_id: 't1', message: 'added' }

test('an added item is identified by its id', () => {
  expect(add.judge(toAnswer(200, ADDED), [])).toMatchObject({
    outcome: 'succeeded',
    taskId: 't1',
    customIndexItemId: 'item-1',
    message: null,
    isAcknowledgement: false,
  })
})

test('an add that may have been accepted is never repeated, because that would add a second item', () => {
  const UNKNOWN = { outcome: 'unknown', repeat: 'never' }
  expect(add.judge(LOST, [])).toMatchObject(UNKNOWN)
  expect(addAsync.judge(LOST, [])).toMatchObject(UNKNOWN)
  expect(add.judge(toAnswer(503, ''), [])).toMatchObject(UNKNOWN)
  expect(add.judge(toAnswer(200, '<html>'), [])).toMatchObject(UNKNOWN)
  expect(addAsync.judge(toAnswer(200, { message: 'queued' }), [])).toMatchObject(UNKNOWN)
  expect(add.judge(toAnswer(200, { task_id: 't1', message: 'added' }), [])).toMatchObject({
    ...UNKNOWN,
    taskId: 't1',
    message: 'answered 200 without a custom_index_item_id, so that nobody knows what was added',
  })
})

test.each([
  [{ success: false }, 'error', 'index locked'],
  [{ ok: false, error_code: 'LOCKED' }, 'LOCKED', 'index locked'],
  [{ status: 'failed' }, 'error', 'index locked'],
])('a 200 that says failure in other words is one: %j', (said, errorCode, message) => {
  const body = { ...ADDED, message: 'index locked', ...said }
  const refused = { outcome: 'rejected', repeat: 'never', errorCode, message, taskId: 't1' }
  for (const { judge } of [add, addAsync, remove, removeAsync])
    expect(judge(toAnswer(200, body), [])).toMatchObject({ ...refused, isAcknowledgement: false })
  for (const { judgeCallback } of [addAsync, removeAsync])
    expect(judgeCallback(JSON.stringify(body))).toMatchObject({ ...refused, customIndexItemId: null })
})

test('an add that was certainly not accepted is repeated', () => {
  expect(add.judge(REFUSED, [])).toMatchObject({ outcome: 'failed', repeat: 'safe' })
  expect(add.judge(toAnswer(429, '', { retryAfter: '2' }), [])).toMatchObject({
    outcome: 'rejected',
    repeat: 'safe',
    retryAfterMs: 2000,
  })
})

test.each([
  ['INVALID_CUSTOM_INDEX', 'the index does not exist'],
  ['REQUIRE_AT_LEAST_ONE_PARAM', 'url or media is required'],
])('%s is the final outcome of an add', (code, message) => {
  expect(add.judge(toError(400, code, message), [])).toMatchObject({
    outcome: 'rejected',
    repeat: 'never',
    errorCode: code,
    message,
  })
})

test('an async add is acknowledged without an id, an async removal with one', () => {
  expect(addAsync.judge(toAnswer(200, { task_id: 't1', message: 'queued' }), [])).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: true,
    taskId: 't1',
    customIndexItemId: null,
  })
  expect(removeAsync.judge(toAnswer(200, ADDED), [])).toMatchObject({
    isAcknowledgement: true,
    customIndexItemId: 'item-1',
  })
})

test('a removal names the removed item, and is repeated if its outcome is unknown', () => {
  expect(remove.judge(toAnswer(200, ADDED), [])).toMatchObject({
    outcome: 'succeeded',
    customIndexItemId: 'item-1',
    taskId: 't1',
  })
  expect(remove.judge(LOST, [])).toMatchObject({ outcome: 'unknown', repeat: 'ambiguous' })
  expect(remove.judge(toAnswer(200, { message: 'removed' }), [])).toMatchObject({
    outcome: 'unknown',
    repeat: 'ambiguous',
  })
})

test('a sync answer that only accepts a removal does not count as one', () => {
  const body = { ...ADDED, status: 'processing' }
  expect(remove.judge(toAnswer(200, body), [])).toMatchObject({
    outcome: 'unknown',
    repeat: 'never',
    taskId: 't1',
    errorCode: 'NOT_FINISHED',
    message: 'the removal is not finished: status "processing"',
  })
  expect(removeAsync.judge(toAnswer(200, body), [])).toMatchObject({
    outcome: 'succeeded',
    isAcknowledgement: true,
  })
})

test('a missing item never existed, unless an earlier try may have removed it', () => {
  const answer = toError(400, 'INVALID_CUSTOM_INDEX_ITEM', 'no such item')
  expect(remove.judge(answer, [], [0])).toMatchObject({ outcome: 'rejected', message: 'no such item' })
  expect(remove.judge(answer, [], [1])).toMatchObject({
    outcome: 'succeeded',
    errorCode: 'INVALID_CUSTOM_INDEX_ITEM',
    message:
      'the index has no such item; the earlier try of this row may have removed it, and nothing says so',
  })
  expect(remove.judge(answer, [], [3]).message).toContain('one of the 3 earlier tries')
  expect(remove.judge(toError(400, 'INVALID_CUSTOM_INDEX'), [], [3]).outcome).toBe('rejected')
})
