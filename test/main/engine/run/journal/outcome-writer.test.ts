import { expect, test } from 'vitest'
import { OutcomeWriter } from '../../../../../src/main/engine/run/journal/outcome-writer.ts'
import { openReadyJournal, readStates, toAttempt } from '../../journal/test-journal.ts'

const RULE = { ruleId: 'r1', ruleName: 'Spam' }

function readRules(journal: ReturnType<typeof openReadyJournal>): unknown[] {
  return journal.db
    .prepare('SELECT rule_id, rule_name, row FROM row_rule JOIN rule ON rule.id = rule ORDER BY row, rule_id')
    .all()
    .map(({ rule_id, rule_name, row }) => [rule_id, rule_name, row])
}

test('an outcome is written with its attempt, its rules and its classes', () => {
  const journal = openReadyJournal(2)
  const outcomes = new OutcomeWriter(journal)
  const attempt = toAttempt(2, {
    rules: [RULE],
    classes: [{ className: 'spam', score: 3 }],
    response: '{"a":1}',
  })
  outcomes.count(attempt)
  journal.transact('process', () => outcomes.write([attempt]))
  expect({ ...journal.db.prepare('SELECT * FROM result').get() }).toEqual({
    row: 2,
    state: 'succeeded',
    attempts: 1,
    status: 200,
    error_code: null,
    message: null,
    task_id: 'task-2',
    duration_us: 1_500,
    response: '{"a":1}',
    custom_index_item_id: null,
    answer: null,
    acknowledged_at: null,
    callback_us: null,
  })
  expect(readRules(journal)).toEqual([['r1', 'Spam', 2]])
  expect({ ...journal.db.prepare('SELECT * FROM row_class').get() }).toEqual({
    row: 2,
    class: 'spam',
    score: 3,
  })
  expect(journal.counters.get('rule', 'r1')).toBe(1)
  expect(journal.counters.get('request', 'succeeded')).toBe(1)
})

test('a later try replaces the result, and is one attempt more', () => {
  const journal = openReadyJournal(1)
  const outcomes = new OutcomeWriter(journal)
  const tries = [
    toAttempt(1, { state: 'pending', outcome: 'unknown', status: 503, errorCode: 'BUSY', taskId: null }),
    toAttempt(1, { number: 2 }),
  ]
  journal.counters.add('state', 'sending', 1)
  journal.transact('process', () => {
    for (const attempt of tries) {
      outcomes.count(attempt)
      outcomes.write([attempt])
    }
  })
  expect(journal.db.prepare('SELECT * FROM result').all()).toHaveLength(1)
  expect(journal.db.prepare('SELECT * FROM result').get()).toMatchObject({
    state: 'succeeded',
    attempts: 2,
    error_code: null,
  })
  expect(journal.db.prepare('SELECT count(*) AS n FROM attempt').get()?.['n']).toBe(2)
  expect(Object.fromEntries(journal.counters.entries('request'))).toEqual({
    unknown: 1,
    succeeded: 1,
    retried: 1,
  })
})

test('a rule that is renamed has its newest name, one that was rolled back is written again', () => {
  const journal = openReadyJournal(3)
  const outcomes = new OutcomeWriter(journal)
  const write = (item: number, ruleName: string): void =>
    outcomes.write([toAttempt(item, { rules: [{ ruleId: 'r1', ruleName }] })])
  expect(() =>
    journal.transact('process', () => {
      write(1, 'Spam')
      throw new Error('the disk of the test')
    }),
  ).toThrow('the disk of the test')
  outcomes.forget()
  journal.transact('process', () => write(1, 'Spam'))
  new OutcomeWriter(journal).write([toAttempt(2, { rules: [{ ruleId: 'r1', ruleName: 'Junk' }] })])
  expect(readRules(journal)).toEqual([
    ['r1', 'Junk', 1],
    ['r1', 'Junk', 2],
  ])
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
})
