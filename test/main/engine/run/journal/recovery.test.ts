import { expect, test } from 'vitest'
import type { Journal } from '../../../../../src/main/engine/journal/journal.ts'
import { type StoredState, updateRunRecord } from '../../../../../src/main/engine/journal/run-record.ts'
import {
  readLatency,
  readSendingMs,
  restoreSendingTime,
  SecondWriter,
} from '../../../../../src/main/engine/journal/seconds.ts'
import { endSession } from '../../../../../src/main/engine/journal/sessions.ts'
import { CallbackWriter } from '../../../../../src/main/engine/run/journal/callback-writer.ts'
import { ItemClaims } from '../../../../../src/main/engine/run/journal/item-claims.ts'
import {
  CUT_OFF_MESSAGE,
  rebuildSeconds,
  recoverUnknown,
  resendUnknown,
} from '../../../../../src/main/engine/run/journal/recovery.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/recorder.ts'
import { VERIFIED } from '../../../../../src/main/engine/service/echoes.ts'
import { LatencyMeter } from '../../../../../src/shared/load/latency-meter.ts'
import { toErrorGroups, toErrorKey } from '../../../../../src/shared/run/counts.ts'
import {
  openReadyJournal,
  openTestJournal,
  readRecord,
  readStates,
  toAttempt,
} from '../../journal/test-journal.ts'

/** Unix seconds. */
const NOON = 1_700_000_000

/**
 * Journals one try of each item that ends in a second; with `isOver`, that second too, as the sender does.
 */
function send(journal: Journal, at: number, items: number[], { isOver }: { isOver: boolean }): void {
  const outcomes = new OutcomeWriter(journal)
  const latency = new LatencyMeter()
  latency.record('http_req_duration', 1_500)
  latency.record('start_lag', 700)
  latency.record('callback_latency', 9_000)
  const counts = { succeeded: items.length, rejected: 0, failed: 0, unknown: 0 }
  for (const _item of items.slice(1)) latency.record('http_req_duration', 1_500)
  journal.transact('process', () => {
    outcomes.write(items.map((item) => toAttempt(item, { sentAtUs: at * 1_000_000 })))
    if (!isOver) return
    const second = { at, ...counts, eventLoopMaxUs: 4_000, generatorLimited: true, latency }
    new SecondWriter(journal).write(second)
  })
}

function readSeconds(journal: Journal): unknown[] {
  const seconds = journal.db.prepare('SELECT at, sent, event_loop_max_us FROM second ORDER BY at').all()
  return seconds.map(({ at, sent, event_loop_max_us }) => [Number(at) - NOON, sent, event_loop_max_us])
}

/**
 * A journal of a process that died while sending: ten rows, the first eight below the watermark. Item 1
 * succeeded, 2 was refused, 3 waits for its second try, 4 had its second try under way, 5 is already unknown;
 * 6 to 8 have no outcome, 9 and 10 were not reached.
 */
function openCutOffJournal(state: StoredState = 'running'): Journal {
  const journal = openReadyJournal(10)
  const claims = new ItemClaims(journal, readRecord(journal))
  const outcomes = new OutcomeWriter(journal)
  const write = (attempt: ReturnType<typeof toAttempt>): void => {
    outcomes.write([attempt])
    outcomes.count(attempt)
  }
  journal.transact('power', () => {
    claims.raiseWatermark(claims.readFresh(8))
    write(toAttempt(1))
    write(toAttempt(2, { state: 'rejected', outcome: 'rejected', status: 400 }))
    write(toAttempt(3, { state: 'pending', outcome: 'unknown' }))
    write(toAttempt(4, { state: 'pending', outcome: 'unknown', status: 503, errorCode: 'BUSY' }))
    write(toAttempt(5, { state: 'unknown', outcome: 'unknown' }))
    journal.counters.add('error', toErrorKey('rejected', 400, null, 'no'), 1)
    journal.counters.add('error', toErrorKey('unknown', null, null, 'gone'), 1)
    claims.markAgain([{ item: 4, attempts: 1 }])
    updateRunRecord(journal.db, { state })
  })
  return journal
}

test('marked items without an outcome become unknown; nothing else changes', () => {
  const journal = openCutOffJournal()
  expect(recoverUnknown(journal)).toBe(4)
  expect(readRecord(journal)).toMatchObject({ state: 'interrupted', claimed: 8 })
  expect(readStates(journal)).toEqual({
    items: {
      1: 'succeeded',
      2: 'rejected',
      3: 'pending',
      4: 'unknown',
      5: 'unknown',
      6: 'unknown',
      7: 'unknown',
      8: 'unknown',
    },
    counted: { succeeded: 1, rejected: 1, pending: 1, unknown: 5 },
  })
  const results = journal.db.prepare('SELECT row, attempts, status, error_code, message FROM result').all()
  expect({ ...results[3] }).toEqual({
    row: 4,
    attempts: 2,
    status: null,
    error_code: null,
    message: CUT_OFF_MESSAGE,
  })
  expect({ ...results[5] }).toEqual({
    row: 6,
    attempts: 1,
    status: null,
    error_code: null,
    message: CUT_OFF_MESSAGE,
  })
  const tries = journal.db.prepare('SELECT item, number, outcome, sent_at_us FROM attempt').all()
  expect(
    tries.map(({ item, number, outcome, sent_at_us }) => [item, number, outcome, sent_at_us !== null]),
  ).toEqual([
    [1, 1, 'succeeded', true],
    [2, 1, 'rejected', true],
    [3, 1, 'unknown', true],
    [4, 1, 'unknown', true],
    [4, 2, 'unknown', false],
    [5, 1, 'unknown', true],
    [6, 1, 'unknown', false],
    [7, 1, 'unknown', false],
    [8, 1, 'unknown', false],
  ])
})

test('unknown rows are counted with their cause', () => {
  const journal = openCutOffJournal()
  recoverUnknown(journal)
  expect(toErrorGroups(journal.counters.entries('error'))).toEqual([
    { outcome: 'unknown', status: null, error_code: null, message: CUT_OFF_MESSAGE, rows: 4 },
    { outcome: 'rejected', status: 400, error_code: null, message: 'no', rows: 1 },
    { outcome: 'unknown', status: null, error_code: null, message: 'gone', rows: 1 },
  ])
  expect(Object.fromEntries(journal.counters.entries('request'))).toEqual({
    succeeded: 1,
    rejected: 1,
    unknown: 7,
    retried: 1,
  })
})

test('a try that its callback settled is counted, even if the process died before its answer was journaled', () => {
  const journal = openCutOffJournal()
  const callbacks = new CallbackWriter(
    journal,
    new ItemClaims(journal, readRecord(journal)),
    new OutcomeWriter(journal),
  )
  const content = {
    ...toAttempt(6),
    outcome: 'succeeded',
    fromCache: false,
    kind: 'own',
    echo: VERIFIED,
  } as const
  journal.transact('process', () => {
    callbacks.take({ id: 1, item: 6, receivedAtUs: NOON * 1_000_000, body: '{}' }, content)
  })
  expect(recoverUnknown(journal)).toBe(3)
  expect(readStates(journal).items).toMatchObject({ 6: 'succeeded', 7: 'unknown' })
  const tries = journal.db.prepare('SELECT item, number, outcome FROM attempt WHERE item IN (6, 7)').all()
  expect(tries).toEqual([
    { item: 6, number: 1, outcome: 'unknown' },
    { item: 7, number: 1, outcome: 'unknown' },
  ])
  expect(journal.counters.get('request', 'unknown')).toBe(3 + 4)
})

test('recovering twice finds nothing the second time', () => {
  const journal = openCutOffJournal()
  recoverUnknown(journal)
  const before = readStates(journal)
  expect(recoverUnknown(journal)).toBe(0)
  expect(readStates(journal)).toEqual(before)
})

test.each<StoredState>(['intake', 'ready', 'completed', 'stopped', 'interrupted'])(
  'a run that ended in order as %s has nothing to recover',
  (state) => {
    const journal = openCutOffJournal(state)
    const before = readStates(journal)
    expect(recoverUnknown(journal)).toBe(0)
    expect(readStates(journal)).toEqual(before)
    expect(readRecord(journal).state).toBe(state)
  },
)

test('unknown rows go back into the queue only when they are to be sent again', () => {
  const journal = openCutOffJournal()
  recoverUnknown(journal)
  resendUnknown(journal)
  expect(readStates(journal).counted).toEqual({ succeeded: 1, rejected: 1, pending: 6 })
  const claims = new ItemClaims(journal, readRecord(journal))
  expect(claims.readPending(0, 10).map(({ item, attempts }) => [item, attempts])).toEqual([
    [3, 1],
    [4, 2],
    [5, 1],
    [6, 1],
    [7, 1],
    [8, 1],
  ])
  expect(claims.readFresh(10).map(({ item }) => item)).toEqual([9, 10])
  expect(toErrorGroups(journal.counters.entries('error'))).toEqual([
    { outcome: 'rejected', status: 400, error_code: null, message: 'no', rows: 1 },
  ])
})

test('a recovery that fails for lack of space is repeated by the next', () => {
  const journal = openCutOffJournal()
  const { file } = journal
  journal.db.exec(`CREATE TRIGGER full BEFORE INSERT ON attempt BEGIN SELECT raise(ABORT, 'no room'); END`)
  expect(() => recoverUnknown(journal)).toThrow('no room')
  journal.db.exec('DROP TRIGGER full')
  journal.close()
  const next = openTestJournal({ file })
  expect(readStates(next).counted).toEqual({ succeeded: 1, rejected: 1, pending: 1, sending: 1, unknown: 1 })
  expect(recoverUnknown(next)).toBe(4)
  expect(readStates(next).counted).toEqual({ succeeded: 1, rejected: 1, pending: 1, unknown: 5 })
})

test('tries that were never sent are counted in their second without a sample, but time-outs are samples', () => {
  const journal = openReadyJournal(4)
  const writer = new OutcomeWriter(journal)
  const failed = { outcome: 'failed', state: 'pending', status: null } as const
  journal.transact('process', () => {
    writer.write([toAttempt(1)])
    writer.write([toAttempt(2, { ...failed, errorCode: 'ECONNREFUSED', durationUs: 300 })])
    writer.write([toAttempt(3, { ...failed, errorCode: 'TIMEOUT', durationUs: 250_000 })])
    writer.write([toAttempt(4, { ...failed, errorCode: 'UND_ERR_CONNECT_TIMEOUT', durationUs: 500_000 })])
  })
  rebuildSeconds(journal)
  const second = journal.db.prepare('SELECT sent, succeeded, failed, generator_limited FROM second').get()
  expect({ ...second }).toEqual({ sent: 4, succeeded: 1, failed: 3, generator_limited: 0 })
  const duration = readLatency(journal.db).percentiles('http_req_duration')
  expect(duration?.count).toBe(3)
  expect(duration?.min).toBeCloseTo(1.5, 1)
  expect(duration?.max).toBeCloseTo(500, 0)
})

test('tries of a second session are measured although the clock went back before it', () => {
  const journal = openReadyJournal(9)
  send(journal, NOON, [1, 2], { isOver: true })
  send(journal, NOON + 1, [3], { isOver: false })
  rebuildSeconds(journal)
  send(journal, NOON - 60, [4, 5], { isOver: true })
  send(journal, NOON - 59, [6, 7, 8], { isOver: false })
  rebuildSeconds(journal)
  rebuildSeconds(journal)
  expect(readSeconds(journal)).toEqual([
    [-60, 2, 4_000],
    [-59, 3, null],
    [0, 2, 4_000],
    [1, 1, null],
  ])
  expect(readLatency(journal.db).percentiles('http_req_duration')?.count).toBe(8)
})

test('tries that the clock put into a second of an earlier session are added to it', () => {
  const journal = openReadyJournal(9)
  send(journal, NOON, [1, 2], { isOver: true })
  send(journal, NOON + 1, [3], { isOver: true })
  send(journal, NOON, [4, 5, 6], { isOver: false })
  rebuildSeconds(journal)
  expect(readSeconds(journal)).toEqual([
    [0, 5, 4_000],
    [1, 1, 4_000],
  ])
  const latency = readLatency(journal.db)
  expect(latency.percentiles('http_req_duration')?.count).toBe(6)
  expect(latency.percentiles('start_lag')?.count).toBe(2)
  expect(latency.percentiles('callback_latency')?.count).toBe(2)
})

test('seconds in which tries were counted a moment after they ended are left as they are', () => {
  const journal = openReadyJournal(9)
  send(journal, NOON, [1, 2], { isOver: true })
  // Ended in the second before, and counted in this one.
  send(journal, NOON, [3], { isOver: false })
  const second = { succeeded: 1, rejected: 0, failed: 0, unknown: 0, latency: new LatencyMeter() }
  journal.transact('process', () =>
    new SecondWriter(journal).write({ at: NOON + 1, ...second, eventLoopMaxUs: 1, generatorLimited: false }),
  )
  rebuildSeconds(journal)
  expect(readSeconds(journal)).toEqual([
    [0, 2, 4_000],
    [1, 1, 1],
  ])
})

test('a process that died has sent since its start, or since the first try after a pause', () => {
  const journal = openReadyJournal(9)
  const seconds = (number: number) => (NOON + number) * 1000
  journal.transact('process', () => {
    journal.db.exec('UPDATE session SET started_at = 0')
    updateRunRecord(journal.db, { state: 'running', started_at: seconds(0) })
  })
  send(journal, NOON + 2, [1], { isOver: true })
  send(journal, NOON + 6, [2], { isOver: true })
  expect(readSendingMs(journal.db, readRecord(journal))).toBe(7_000)
  journal.transact('process', () => {
    endSession(journal.db, seconds(8))
    updateRunRecord(journal.db, { sending_ms: 8_000 })
  })
  send(journal, NOON + 90, [3], { isOver: true })
  send(journal, NOON + 93, [4], { isOver: true })
  restoreSendingTime(journal, readRecord(journal))
  expect(readRecord(journal).sendingMs).toBe(12_000)
})

test('the time between sessions of a version that wrote them as one is none of sending', () => {
  const journal = openReadyJournal(9)
  journal.transact('process', () => {
    journal.db.exec('UPDATE session SET started_at = 0')
    updateRunRecord(journal.db, { state: 'running', started_at: NOON * 1000, sending_ms: 1_500 })
  })
  send(journal, NOON + 1, [1], { isOver: true })
  send(journal, NOON + 90, [2], { isOver: true })
  expect(readSendingMs(journal.db, readRecord(journal))).toBe(2_000)
})
