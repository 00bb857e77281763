import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { betweenRows, visitScores } from '../../../../src/main/engine/journal/found-reader.ts'
import { SCORE_COLUMNS_MAX } from '../../../../src/main/engine/journal/found-writer.ts'
import { createExchangeReader, readStoredBody } from '../../../../src/main/engine/journal/stored-bodies.ts'
import { OutcomeWriter, Recorder } from '../../../../src/main/engine/run/recorder.ts'
import { SecondMeter } from '../../../../src/main/engine/sending/second-meter.ts'
import type { Answer } from '../../../../src/main/engine/service/exchange.ts'
import type { Judgement } from '../../../../src/main/engine/service/judgement.ts'
import { LatencyMeter } from '../../../../src/shared/load/latency-meter.ts'
import { NO_NAMES } from '../../../../src/shared/service/answer-findings.ts'
import { openReadyJournal, RULES_OF_ROWS, readStates, toAttempt } from '../journal/test-journal.ts'
import { toJudgement } from './to-judgement.ts'

const SENT_AT_US = 1_700_000_000_000_000

const ANSWER: Answer = {
  kind: 'answer',
  status: 200,
  contentType: 'application/json',
  retryAfter: null,
  location: null,
  body: '{}',
  timings: { sentAtUs: SENT_AT_US, durationUs: 2_000, waitingUs: 1_000, connectUs: null, tlsUs: null },
}

const SUCCESS = toJudgement()

function openRecorder(rows: number) {
  const journal = openReadyJournal(rows)
  const meter = new SecondMeter({ total: new LatencyMeter(), nowUs: () => SENT_AT_US + 10_000 })
  onTestFinished(() => meter.close())
  const recorder = new Recorder(journal, meter)
  const note = (
    item: number,
    judgement: Partial<Judgement> = {},
    options: { again?: boolean; attempts?: number; body?: string } = {},
  ) =>
    recorder.note({
      sent: {
        item,
        rows: [item],
        attempts: options.attempts ?? 0,
        ...((options.attempts ?? 0) > 0 && { isMarked: true as const }),
      },
      exchange: { ...ANSWER, body: options.body ?? '{}' },
      judgement: { ...SUCCESS, ...judgement },
      again: options.again ?? false,
      mayBeTaken: false,
      isSettled: false,
      scheduledAtUs: null,
      hasWaited: false,
    })
  const write = () => journal.transact('process', () => recorder.write({ allSeconds: true }))
  return { journal, recorder, note, write }
}

test('a finished try leaves its item in the resulting state', () => {
  const { note } = openRecorder(5)
  expect([
    note(1),
    note(2, { outcome: 'rejected' }),
    note(3, { outcome: 'failed' }),
    note(4, { outcome: 'unknown' }),
    note(5, { outcome: 'unknown' }, { again: true }),
  ]).toEqual(['succeeded', 'rejected', 'failed', 'unknown', 'pending'])
})

test('tries wait for their group, and are counted at once', () => {
  const { journal, recorder, note, write } = openRecorder(2)
  note(1)
  note(2, { outcome: 'unknown', message: 'gone' }, { again: true })
  expect(recorder.waiting).toBe(2)
  expect(readStates(journal)).toEqual({ items: {}, counted: { succeeded: 1, pending: 1 } })
  write()
  expect(recorder.waiting).toBe(0)
  expect(readStates(journal)).toEqual({
    items: { 1: 'succeeded', 2: 'pending' },
    counted: { succeeded: 1, pending: 1 },
  })
})

test('a group that found no space is written in full with the next, including its rules and seconds', () => {
  const { journal, recorder, note, write } = openRecorder(3)
  const rules = [{ ruleId: 'r1', ruleName: 'Spam' }]
  for (const item of [1, 2, 3])
    note(item, { rules }, { body: randomBytes(item === 3 ? 60_000 : 10).toString('hex') })
  const { page_count } = journal.db.prepare('PRAGMA page_count').get() ?? {}
  journal.db.exec(`PRAGMA max_page_count = ${Number(page_count) + 2}`)
  expect(write).toThrow(expect.objectContaining({ code: 'DISK_FULL' }))
  expect(recorder.waiting).toBe(3)
  journal.db.exec('PRAGMA max_page_count = 4294967294')
  write()
  const named = journal.db.prepare(`SELECT row AS item, rule_name FROM ${RULES_OF_ROWS} ORDER BY row`).all()
  expect(named.map(({ item, rule_name }) => [item, rule_name])).toEqual([
    [1, 'Spam'],
    [2, 'Spam'],
    [3, 'Spam'],
  ])
  expect(journal.counters.get('rule', 'r1')).toBe(3)
  expect(journal.db.prepare('SELECT sum(sent) AS n FROM second').get()?.['n']).toBe(3)
})

test('a group whose commit failed is restored by its undo', () => {
  const { journal, recorder, note, write } = openRecorder(2)
  note(1, { rules: [{ ruleId: 'r1', ruleName: 'Spam' }] })
  let undo = (): void => {}
  expect(() =>
    journal.transact('process', () => {
      undo = recorder.write({ allSeconds: true })
      throw new Error('the disk of the test')
    }),
  ).toThrow('the disk of the test')
  undo()
  note(2)
  expect(recorder.waiting).toBe(2)
  write()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
  expect(journal.db.prepare('SELECT sum(sent) AS n FROM second').get()?.['n']).toBe(2)
  expect(journal.db.prepare('SELECT rule_name FROM rule').get()?.['rule_name']).toBe('Spam')
})

test('causes of errors are counted by outcome, status, code and message, except for tries with a retry to come', () => {
  const { journal, note } = openRecorder(9)
  const refusal = { outcome: 'rejected', status: 400, errorCode: 'X', message: 'no' } as const
  note(1, refusal)
  note(2, refusal)
  note(3, { ...refusal, status: 422 })
  note(4, { outcome: 'unknown', message: 'gone' }, { again: true })
  note(5, { message: 'was delivered before', errorCode: 'DUPLICATE' })
  expect([...journal.counters.entries('error')].map(([group, n]) => [...JSON.parse(group), n])).toEqual([
    ['rejected', 400, 'X', 'no', 2],
    ['rejected', 422, 'X', 'no', 1],
  ])
})

test('causes beyond the limit are counted together', () => {
  const { journal, note } = openRecorder(205)
  for (let item = 1; item <= 205; item += 1) {
    note(item, { outcome: 'unknown', status: null, message: `cause ${'abcdefghij'[item % 10]} ${item}` })
  }
  const groups = [...journal.counters.entries('error')]
  expect(groups).toHaveLength(201)
  expect(groups.at(-1)).toEqual([
    JSON.stringify(['unknown', null, null, '(further errors, each with a message of its own)']),
    5,
  ])
})

test('a long answer is stored in full, and rows from a cache are counted', () => {
  const { journal, note, write } = openRecorder(2)
  const body = 'x'.repeat(100_000)
  note(1, { fromCache: true, names: { ...NO_NAMES, fromCache: true } }, { body })
  note(2)
  write()
  const { content, bytes } = journal.db.prepare('SELECT * FROM long_answer WHERE id = 1').get() ?? {}
  expect(readStoredBody(null, content, bytes)).toEqual({ text: body, cutFrom: null })
  expect(journal.counters.get('from_cache')).toBe(1)
})

test('a row that is sent again counts once as cached, according to its newest answer', () => {
  const { journal, note, write } = openRecorder(2)
  const cached = { fromCache: true, names: { ...NO_NAMES, fromCache: true } }
  for (const row of [1, 2]) note(row, { ...cached, outcome: 'rejected' })
  write()
  note(1, cached, { attempts: 1 })
  note(2, {}, { attempts: 1 })
  write()
  expect(journal.counters.get('from_cache')).toBe(1)
})

const RULE = { ruleId: 'r1', ruleName: 'Spam' }

function readRules(journal: ReturnType<typeof openReadyJournal>): unknown[] {
  return journal.db
    .prepare(`SELECT rule_id, rule_name, row FROM ${RULES_OF_ROWS} ORDER BY row, rule_id`)
    .all()
    .map(({ rule_id, rule_name, row }) => [rule_id, rule_name, row])
}

function readScores({ db }: ReturnType<typeof openReadyJournal>): unknown[] {
  const scores: unknown[] = []
  visitScores(db, betweenRows([0, 1_000]), (...score) => scores.push(score))
  return scores
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
  expect(readScores(journal)).toEqual([[2, 'spam', 3]])
  expect(journal.counters.get('rule', 'r1')).toBe(1)
  expect(journal.counters.get('request', 'succeeded')).toBe(1)
})

test('a later try replaces the result and adds one attempt', () => {
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

test('answers that do not end up with their row are stored with their try, in one group or several', () => {
  const journal = openReadyJournal(2)
  const outcomes = new OutcomeWriter(journal)
  const toTry = (number: number, response: string | null, state: 'pending' | 'succeeded' | null) =>
    toAttempt(1, { number, response, state, outcome: state === 'succeeded' ? state : 'unknown' })
  const groups = [
    [toTry(1, 'first', 'pending'), toTry(2, null, 'pending'), toTry(3, 'third', 'pending')],
    [toTry(4, 'fourth', 'pending'), toAttempt(2, { response: 'of another' })],
    // A callback had settled the item while it was in flight.
    [toTry(5, 'fifth', null)],
  ]
  for (const group of groups) journal.transact('process', () => outcomes.write(group))
  const { readAnswer, readTryAnswers } = createExchangeReader(journal.db)
  expect([...readTryAnswers(1)].map(([number, { text }]) => [number, text])).toEqual([
    [1, 'first'],
    [3, 'third'],
    [5, 'fifth'],
  ])
  expect(readAnswer(1)?.text).toBe('fourth')
  expect(readTryAnswers(2)).toEqual(new Map())
})

test('the findings of a later try replace those of an earlier one, also in the counts', () => {
  const journal = openReadyJournal(2)
  const outcomes = new OutcomeWriter(journal)
  const junk = { ruleId: 'r2', ruleName: 'Junk' }
  const classes = [{ className: 'spam', score: 3 }]
  const write = (attempt: ReturnType<typeof toAttempt>) => {
    outcomes.count(attempt)
    journal.transact('process', () => outcomes.write([attempt]))
  }
  const refused = { state: 'rejected', outcome: 'rejected' } as const
  for (const row of [1, 2]) {
    write(
      toAttempt(row, { ...refused, rules: [RULE, junk], classes, names: { ...NO_NAMES, fromCache: true } }),
    )
    journal.counters.add('state', 'sending', 1)
  }
  write(toAttempt(1, { number: 2, rules: [junk], classes: [{ className: 'hate', score: 1 }] }))
  write(toAttempt(2, { number: 2, ...refused, response: null }))
  expect(readRules(journal)).toEqual([['r2', 'Junk', 1]])
  expect(readScores(journal)).toEqual([[1, 'hate', 1]])
  expect(journal.db.prepare('SELECT row, cached FROM found').all()).toEqual([{ row: 1, cached: null }])
  expect([...journal.counters.entries('rule')]).toEqual([
    ['r1', 0],
    ['r2', 1],
  ])
})

test('tries of one item in one group leave the findings of the last', () => {
  const journal = openReadyJournal(1)
  const outcomes = new OutcomeWriter(journal)
  const junk = { ruleId: 'r2', ruleName: 'Junk' }
  const tries = [toAttempt(1, { rules: [RULE] }), toAttempt(1, { number: 2, rules: [junk] })]
  for (const attempt of tries) outcomes.count(attempt)
  journal.transact('process', () => outcomes.write(tries))
  expect(readRules(journal)).toEqual([['r2', 'Junk', 1]])
  expect([...journal.counters.entries('rule')]).toEqual([
    ['r1', 0],
    ['r2', 1],
  ])
})

test('scores of more classes than have columns are all stored, even if each answer names a new one', () => {
  const rows = 260
  const journal = openReadyJournal(rows)
  const outcomes = new OutcomeWriter(journal)
  const toClasses = (row: number) => [
    { className: 'spam', score: row / 7 },
    { className: `class "${row}"`, score: 1e-7 * row },
    { className: 'x'.repeat(5_000), score: row },
  ]
  for (let from = 1; from <= rows; from += 20) {
    const group = Array.from({ length: 20 }, (_, index) =>
      toAttempt(from + index, { classes: toClasses(from + index) }),
    )
    journal.transact('process', () => outcomes.write(group))
  }
  const expected = Array.from({ length: rows }, (_, index) => index + 1).flatMap((row) =>
    toClasses(row).map(({ className, score }) => [row, className, score]),
  )
  const toSorted = (scores: unknown[]) => scores.map((score) => JSON.stringify(score)).sort()
  expect(toSorted(readScores(journal))).toEqual(toSorted(expected))
  const columns = journal.db.prepare("SELECT count(*) AS n FROM pragma_table_info('found')").get()
  expect(columns).toEqual({ n: 6 + SCORE_COLUMNS_MAX })
})

test('a class from a rolled back transaction is found again by the next one', () => {
  const journal = openReadyJournal(2)
  const outcomes = new OutcomeWriter(journal)
  const attempt = toAttempt(1, {
    classes: [{ className: 'spam', score: 3 }],
    names: { fromCache: false, languages: ['DE'], models: ['text'] },
  })
  expect(() =>
    journal.transact('process', () => {
      outcomes.write([attempt])
      throw new Error('the disk of the test')
    }),
  ).toThrow('the disk of the test')
  outcomes.forget()
  journal.transact('process', () => outcomes.write([attempt]))
  expect(readScores(journal)).toEqual([[1, 'spam', 3]])
  expect(journal.db.prepare('SELECT row, language, model FROM found').all()).toEqual([
    { row: 1, language: 1, model: 1 },
  ])
})

test('two writers of one journal give a class one column', () => {
  const journal = openReadyJournal(4)
  const writers = [new OutcomeWriter(journal), new OutcomeWriter(journal)]
  for (const row of [1, 2, 3, 4]) {
    const classes = [{ className: row < 3 ? 'spam' : 'hate', score: row }]
    journal.transact('process', () => writers[row % 2]?.write([toAttempt(row, { classes, rules: [RULE] })]))
  }
  expect(readScores(journal)).toEqual([
    [1, 'spam', 1],
    [2, 'spam', 2],
    [3, 'hate', 3],
    [4, 'hate', 4],
  ])
  expect(readRules(journal).map((rule) => (rule as unknown[])[2])).toEqual([1, 2, 3, 4])
})

test('a rule that is renamed during a run has its newest name, which an answer without a name keeps', () => {
  const journal = openReadyJournal(5)
  const outcomes = new OutcomeWriter(journal)
  const names = ['Spam', 'Junk', 'r1', 'Trash']
  const found = names.map((ruleName, index) => {
    outcomes.write([toAttempt(index + 1, { rules: [{ ruleId: 'r1', ruleName }] })])
    return journal.db.prepare('SELECT rule_name FROM rule').all()
  })
  expect(found.flat().map((rule) => rule['rule_name'])).toEqual(['Spam', 'Junk', 'Junk', 'Trash'])
})

test('a renamed rule has its newest name, and one that was rolled back is written again', () => {
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
