import { expect, test } from 'vitest'
import { RULES_OF_ROWS } from '../journal/test-journal.ts'
import { createTestExchange } from '../service/answers.ts'
import { ACKNOWLEDGED, openSettler } from './open-settler.ts'

const RESULT = '{"task_id":"task-1","post_id":"p1","triggered_rules":[]}'
const OTHER_RESULT =
  '{"task_id":"task-1","post_id":"p1","triggered_rules":[{"rule_id":"r2","rule_name":"Spam"}]}'
const REFUSAL = '{"error":true,"status":500,"error_code":"INTERNAL","message":"it broke","show_alert":false}'

const { judgeCallback } = createTestExchange({ kind: 'task', mode: 'async' })

/** A settler of acknowledged tasks, which reads callbacks as a run does. */
function openTasks(rows = 1) {
  const settler = openSettler(rows, { judge: (body, item) => judgeCallback(body, [`p${item}`, 'u']) })
  for (let item = 1; item <= rows; item += 1) settler.send(item, { ...ACKNOWLEDGED, taskId: `task-${item}` })
  const readRow = (row = 1) =>
    settler.journal.db.prepare('SELECT state, error_code, message, answer FROM result WHERE row = ?').get(row)
  const readEffects = () =>
    settler.journal.db
      .prepare('SELECT effect FROM callback ORDER BY id')
      .all()
      .map(({ effect }) => effect)
  return { ...settler, readRow, readEffects }
}

test('a callback with the same content is a duplicate, whatever the order and spacing of its members', () => {
  const { receive, takeIn, counts, readRow, readEffects } = openTasks()
  receive(1, 1_000, RESULT)
  receive(1, 2_000, RESULT)
  receive(1, 3_000, '{ "triggered_rules": [], "post_id": "p1", "task_id": "task-1" }')
  takeIn()
  expect(readEffects()).toEqual(['settled', 'doubled', 'doubled'])
  expect(counts()).toEqual({ received: 3, settled: 1, doubled: 2 })
  expect(readRow()).toEqual({ state: 'succeeded', error_code: null, message: null, answer: null })
})

test('a callback that differs from the first is stored, counted and noted on the row, and the first one counts', () => {
  const { receive, takeIn, counts, readRow, readEffects, journal } = openTasks()
  receive(1, 1_000, RESULT)
  receive(1, 2_000, OTHER_RESULT)
  receive(1, 3_000, OTHER_RESULT)
  takeIn()
  expect(readEffects()).toEqual(['settled', 'differing', 'doubled'])
  expect(counts()).toEqual({ received: 3, settled: 1, differing: 1, doubled: 1 })
  expect(readRow()).toEqual({
    state: 'succeeded',
    error_code: null,
    message: 'another callback came that differs in triggered_rules; the first one counts',
    answer: 'differing_callbacks',
  })
  expect(journal.counters.get('answer', 'differing_callbacks')).toBe(1)
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toEqual({ n: 0 })
})

test('a callback without a result after an error leaves its row without a result, whatever came before', () => {
  const { receive, takeIn, counts, readRow } = openTasks()
  receive(1, 1_000, REFUSAL)
  receive(1, 2_000, '{"task_id":"task-1","post_id":"p1","message":"accepted"}')
  takeIn()
  expect(counts()).toEqual({ received: 2, settled: 1, differing: 1 })
  expect(readRow()).toEqual({
    state: 'succeeded',
    error_code: null,
    message: expect.stringContaining('an earlier callback said INTERNAL: it broke; the result counts'),
    answer: 'no_result',
  })
  receive(1, 3_000, OTHER_RESULT)
  takeIn()
  expect(readRow()).toMatchObject({ state: 'succeeded', answer: 'differing_callbacks' })
})

test('an error after a result changes no outcome and is noted on the row', () => {
  const { receive, takeIn, counts, readRow } = openTasks()
  receive(1, 1_000, RESULT)
  takeIn()
  receive(1, 2_000, REFUSAL)
  expect(takeIn()).toEqual([])
  expect(counts()).toEqual({ received: 2, settled: 1, differing: 1 })
  expect(readRow()).toMatchObject({
    state: 'succeeded',
    message: 'another callback came that says INTERNAL: it broke; the result counts',
    answer: 'differing_callbacks',
  })
})

test('a result after an error makes the row succeed, and the error stays with it', () => {
  const { receive, takeIn, counts, readRow, readEffects, journal } = openTasks()
  receive(1, 1_000, REFUSAL)
  takeIn()
  expect(readRow()).toMatchObject({ state: 'rejected', error_code: 'INTERNAL' })
  receive(1, 2_000, OTHER_RESULT)
  expect(takeIn()).toMatchObject([{ item: 1, from: 'rejected' }])
  receive(1, 3_000, REFUSAL)
  takeIn()
  expect(readEffects()).toEqual(['differing', 'settled', 'doubled'])
  expect(counts()).toEqual({ received: 3, settled: 1, differing: 1, doubled: 1 })
  expect(readRow()).toEqual({
    state: 'succeeded',
    error_code: null,
    message: 'an earlier callback said INTERNAL: it broke; the result counts',
    answer: 'differing_callbacks',
  })
  expect([...journal.counters.entries('error').values()]).toEqual([0])
  expect(Object.fromEntries(journal.counters.entries('state'))).toMatchObject({ succeeded: 1, rejected: 0 })
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toEqual({ n: 1 })
})

test('a result replaces a callback that said nothing of the content', () => {
  const { receive, takeIn, counts, readRow, readEffects, journal } = openTasks()
  receive(1, 1_000, '{"task_id":"task-1","message":"accepted"}')
  takeIn()
  expect(readRow()).toMatchObject({ state: 'succeeded', answer: 'no_result' })
  expect(journal.counters.get('answer', 'no_result')).toBe(1)
  receive(1, 2_000, OTHER_RESULT)
  takeIn()
  receive(1, 3_000, RESULT)
  takeIn()
  expect(readEffects()).toEqual(['differing', 'settled', 'differing'])
  expect(counts()).toEqual({ received: 3, settled: 1, differing: 2 })
  expect(readRow()).toMatchObject({
    state: 'succeeded',
    message: expect.stringMatching(/^an earlier callback had no result; the result counts/),
    answer: 'differing_callbacks',
  })
  expect(Object.fromEntries(journal.counters.entries('answer'))).toMatchObject({
    no_result: 0,
    differing_callbacks: 1,
  })
  expect(journal.counters.get('state', 'succeeded')).toBe(1)
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toEqual({ n: 1 })
})

test('a callback of a task that is not finished leaves its row to the final one', () => {
  const { receive, takeIn, counts, readRow, journal } = openTasks()
  receive(1, 1_000, '{"task_id":"task-1","status":"processing","triggered_rules":[]}')
  takeIn()
  expect(readRow()).toMatchObject({
    state: 'acknowledged',
    message: 'a callback came but is not readable: its task is not finished (status "processing")',
  })
  receive(1, 2_000, OTHER_RESULT)
  takeIn()
  expect(readRow()).toMatchObject({ state: 'succeeded', message: null })
  expect(counts()).toEqual({ received: 2, settled: 1, unreadable: 1 })
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toEqual({ n: 1 })
})

test('a result replaces a callback that lacks a model', () => {
  const v2 = createTestExchange({ kind: 'task', mode: 'async', api: 'v2' })
  const keys = v2.toRowKeys([{ post_id: 'p1', user_id: 'u', models: ['ocr', 'visual'] }])
  const { send, receive, takeIn, journal } = openSettler(1, {
    judge: (body) => v2.judgeCallback(body, keys),
  })
  send(1, { ...ACKNOWLEDGED, taskId: 'task-1' })
  const readRow = () => journal.db.prepare('SELECT message, answer FROM result').get()
  const toBody = (...models: string[]) =>
    JSON.stringify({ task_id: 'task-1', models: models.map((model) => ({ model, triggered_rules: [] })) })
  receive(1, 1_000, toBody('ocr'))
  takeIn()
  const message = 'the callback lacks the results of visual'
  expect(readRow()).toEqual({ message, answer: 'missing_models' })
  receive(1, 2_000, toBody('ocr', 'visual'))
  takeIn()
  expect(readRow()).toEqual({
    message: 'an earlier callback lacked a model; the result counts',
    answer: 'differing_callbacks',
  })
  expect(journal.counters.get('answer', 'missing_models')).toBe(0)
})

test('a result replaces a callback that said nothing of the content, whatever came between', () => {
  const { receive, takeIn, readRow, journal } = openTasks()
  const between = [
    '{"task_id":"task-1","message":"half done"}',
    '<html>',
    '{"task_id":"task-1","message":"nearly"}',
  ]
  for (const [at, body] of ['{"task_id":"task-1"}', ...between, ...between].entries())
    receive(1, (at + 1) * 1_000, body)
  takeIn()
  expect(readRow()).toEqual({
    state: 'succeeded',
    error_code: null,
    message:
      'another callback came that differs in message; the first one counts; a callback came but is not readable: it is not valid JSON',
    answer: 'no_result',
  })
  receive(1, 9_000, OTHER_RESULT)
  takeIn()
  expect(readRow()).toMatchObject({ message: expect.stringContaining('the result counts') })
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toEqual({ n: 1 })
})

test('of two different errors the first decides the row, and its cause is counted once', () => {
  const { receive, takeIn, readRow, journal } = openTasks()
  receive(1, 1_000, REFUSAL)
  receive(1, 2_000, REFUSAL.replace('it broke', 'it is broken'))
  takeIn()
  expect(readRow()).toMatchObject({
    state: 'rejected',
    error_code: 'INTERNAL',
    message: 'it broke; another callback came that differs in message; the first one counts',
  })
  const causes = [...journal.counters.entries('error')].filter(([, rows]) => rows !== 0)
  expect(causes).toEqual([[expect.stringContaining('another callback came'), 1]])
})

test.each([
  ['<html>', 'it is not valid JSON'],
  ['', 'it is empty'],
  ['[1]', 'it has nothing of a result'],
  ['{"hello":1}', 'it has nothing of a result'],
  [
    'Sluice refused this callback: its body has the content coding "exi", which Sluice cannot decode',
    'its body has the content coding "exi", which Sluice cannot decode',
  ],
])('a row whose callback is unreadable says so, even when it is overdue (%j)', (body, reason) => {
  const { receive, takeIn, counts, readRow, clock, journal } = openTasks()
  receive(1, 1_000, body)
  takeIn()
  const message = `a callback came but is not readable: ${reason}`
  expect(readRow()).toMatchObject({ state: 'acknowledged', message, answer: 'unreadable_callback' })
  clock.nowMs += 700_000
  takeIn()
  expect(readRow()).toMatchObject({
    state: 'overdue',
    message: `${message}; no other came within 600 s of the acknowledgement; a late one still counts`,
    answer: 'unreadable_callback',
  })
  expect(counts()).toEqual({ received: 1, unreadable: 1 })
  expect(journal.counters.get('answer', 'unreadable_callback')).toBe(1)
})

test('a callback that refuses a row again differs from its answer, unless it says the same', () => {
  const { receive, takeIn, send, counts, readRow, readEffects } = openTasks(2)
  for (const item of [1, 2]) {
    const errorCode = item === 1 ? 'INVALID_PARAM' : 'INTERNAL'
    send(item, { number: 2, state: 'rejected', outcome: 'rejected', errorCode, message: 'no' })
  }
  for (const item of [1, 1, 2]) receive(item, 1_000, REFUSAL)
  takeIn()
  expect(readEffects()).toEqual(['differing', 'doubled', 'doubled'])
  expect(counts()).toEqual({ received: 3, differing: 1, doubled: 2 })
  expect(readRow()).toEqual({
    state: 'rejected',
    error_code: 'INVALID_PARAM',
    message: 'no; a callback came that says INTERNAL: it broke; the answer counts',
    answer: 'differing_callbacks',
  })
  expect(readRow(2)).toMatchObject({ message: 'no', answer: null })
})

test('an unreadable callback that came before the acknowledgement is reported when its row is overdue', () => {
  const { receive, takeIn, send, clock, journal } = openSettler(1, { judge: () => null })
  receive(1, 1_000, 'no JSON')
  takeIn()
  send(1, ACKNOWLEDGED)
  clock.nowMs += 700_000
  takeIn()
  expect(journal.db.prepare('SELECT message, answer FROM result').get()).toEqual({
    message:
      'a callback came but is not readable: it is not valid JSON; no other came within 600 s of the acknowledgement; a late one still counts',
    answer: 'unreadable_callback',
  })
})

test('a callback of another post that came before the acknowledgement is reported when its row is overdue', () => {
  const { receive, takeIn, send, clock, journal } = openSettler(1, {
    judge: (body) => judgeCallback(body, ['p1', 'u']),
  })
  receive(1, 1_000, RESULT.replace('p1', 'p2'))
  takeIn()
  send(1, ACKNOWLEDGED)
  clock.nowMs += 700_000
  takeIn()
  expect(journal.db.prepare('SELECT state, message, answer FROM result').get()).toEqual({
    state: 'overdue',
    message:
      'a callback came that names another id; no other came within 600 s of the acknowledgement; a late one still counts',
    answer: 'callback_of_other_post',
  })
  expect(journal.counters.get('answer', 'callback_of_other_post')).toBe(1)
})

test('a readable callback after an unreadable one settles the row, which keeps the mark of both', () => {
  const { receive, takeIn, readRow, readEffects } = openTasks()
  receive(1, 1_000, '<html>')
  receive(1, 2_000, RESULT)
  takeIn()
  expect(readEffects()).toEqual(['unreadable', 'settled'])
  expect(readRow()).toMatchObject({ state: 'succeeded', message: null, answer: 'unreadable_callback' })
})

test('a callback that names another post settles nothing: its row is unknown and says so', () => {
  const { receive, takeIn, readRow, counts, journal } = openTasks(2)
  receive(1, 1_000, RESULT.replace('"p1"', '"somebody-else"'))
  receive(2, 1_000, RESULT.replace('"p1"', '"p2"').replace('task-1', 'task-2'))
  takeIn()
  expect(readRow(1)).toMatchObject({
    state: 'unknown',
    error_code: 'ECHO_MISMATCH',
    message: 'the callback names post_id "somebody-else"; the request named "p1"',
    answer: 'callback_of_other_post',
  })
  expect(readRow(2)).toMatchObject({ state: 'succeeded', message: null, answer: null })
  expect(counts()).toEqual({ received: 2, settled: 1, other_post: 1 })
  expect(journal.counters.get('answer', 'callback_of_other_post')).toBe(1)
})

test('a row whose callback named another post is settled by its own callback, and keeps the mark', () => {
  const { receive, takeIn, readRow, counts, journal } = openTasks()
  receive(1, 1_000, RESULT.replace('"p1"', '"p2"'))
  takeIn()
  receive(1, 2_000, RESULT)
  takeIn()
  expect(readRow()).toMatchObject({ state: 'succeeded', message: null, answer: 'callback_of_other_post' })
  expect(counts()).toMatchObject({ received: 2, settled: 1, late: 1, other_post: 1 })
  expect(journal.counters.get('echo', 'verified')).toBe(1)
  expect(journal.counters.get('state', 'unknown')).toBe(0)
})

test('a callback that names another post does not change a settled row, which notes it', () => {
  const { receive, takeIn, readRow, readEffects } = openTasks()
  receive(1, 1_000, RESULT)
  receive(1, 2_000, RESULT.replace('"p1"', '"p2"'))
  takeIn()
  expect(readEffects()).toEqual(['settled', 'other_post'])
  expect(readRow()).toMatchObject({
    state: 'succeeded',
    message: 'the callback names post_id "p2"; the request named "p1"',
    answer: 'callback_of_other_post',
  })
})

test('a row whose callback does not tell the outcome is unknown, until its own callback settles it', () => {
  const { judgeCallback: judgeAdd } = createTestExchange({ kind: 'index-add', indexId: 'i', mode: 'async' })
  const { receive, takeIn, send, counts, journal, settler } = openSettler(1, {
    judge: (body) => judgeAdd(body),
  })
  const readRow = () => journal.db.prepare('SELECT state, error_code, message, answer FROM result').get()
  const unclear = '{"task_id":"t1","message":"done"}'
  receive(1, 1_000, unclear)
  // The request is in flight.
  settler.look()
  journal.transact('process', () => settler.write(() => false))
  settler.committed()
  expect(counts()).toEqual({})
  send(1, { ...ACKNOWLEDGED, taskId: 't1' })
  takeIn()
  expect(readRow()).toEqual({
    state: 'unknown',
    error_code: null,
    message:
      'a callback without a custom_index_item_id does not tell whether an item was added; it says: done',
    answer: 'unreadable_callback',
  })
  receive(1, 2_000, '{"task_id":"t1","custom_index_item_id":"item-1","message":"done"}')
  receive(1, 3_000, unclear)
  takeIn()
  expect(readRow()).toMatchObject({ state: 'succeeded', error_code: null })
  expect(counts()).toEqual({ received: 3, settled: 1, late: 1, unreadable: 2 })
  expect(Object.fromEntries(journal.counters.entries('state'))).toMatchObject({ succeeded: 1, unknown: 0 })
})
