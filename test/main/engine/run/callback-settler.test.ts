import { expect, test } from 'vitest'
import { JOURNAL_SCHEMA } from '../../../../src/main/engine/journal/migrations.ts'
import { insertRunRecord, updateRunRecord } from '../../../../src/main/engine/journal/run-record.ts'
import { readLatency } from '../../../../src/main/engine/journal/seconds.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { CallbackSettler, settleCallbacks } from '../../../../src/main/engine/run/callback-settler.ts'
import { IntakeWriter } from '../../../../src/main/engine/run/journal/intake-writer.ts'
import { ItemClaims } from '../../../../src/main/engine/run/journal/item-claims.ts'
import { rebuildSeconds, recoverUnknown } from '../../../../src/main/engine/run/journal/recovery.ts'
import { OutcomeWriter } from '../../../../src/main/engine/run/recorder.ts'
import { UNVERIFIABLE, VERIFIED } from '../../../../src/main/engine/service/echoes.ts'
import { findForeign } from '../../../../src/main/engine/workspace/own-schema.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { toRowCounts } from '../../../../src/shared/run/counts.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import {
  openReadyJournal,
  openTestJournal,
  RULES_OF_ROWS,
  readRecord,
  readStates,
  toAttempt,
  toIntakeRow,
} from '../journal/test-journal.ts'
import { ACKNOWLEDGED, openSettler, SENT_AT_US } from './open-settler.ts'
import { toJudgement } from './to-judgement.ts'

test('callbacks with bytes that are not text are counted with the answers that have some', () => {
  const { journal, receive, takeIn, send } = openSettler(2)
  send(1, ACKNOWLEDGED)
  send(2, ACKNOWLEDGED)
  receive(1, 7_000, 'task-\uFFFD', true)
  receive(2, 9_000)
  takeIn()
  expect(journal.counters.get('answer_text', 'damaged')).toBe(1)
})

test('a callback settles its acknowledged item, with its result and latency', () => {
  const { journal, receive, takeIn, send, latencies, counts } = openSettler(2)
  send(1, ACKNOWLEDGED)
  send(2, ACKNOWLEDGED)
  receive(1, 7_000)
  receive(2, 9_000, 'an error')
  expect(takeIn().map(({ item, from }) => [item, from])).toEqual([
    [1, 'acknowledged'],
    [2, 'acknowledged'],
  ])
  expect(readStates(journal)).toEqual({
    items: { 1: 'succeeded', 2: 'rejected' },
    counted: { succeeded: 1, rejected: 1 },
  })
  expect(latencies).toEqual([7_000, 9_000])
  expect(journal.db.prepare('SELECT task_id, callback_us FROM result WHERE row = 1').get()).toEqual(
    expect.objectContaining({ task_id: 'task-1', callback_us: 7_000 }),
  )
  expect(journal.db.prepare(`SELECT count(*) AS n FROM ${RULES_OF_ROWS}`).get()).toMatchObject({ n: 1 })
  expect([...journal.counters.entries('error')]).toEqual([['["rejected",200,"BROKEN","it broke"]', 1]])
  expect(counts()).toEqual({ received: 2, settled: 2 })
})

test('a callback before its acknowledgement settles the item, whose try then adds only itself', () => {
  const { journal, settler, receive, takeIn, send, latencies, counts } = openSettler(1)
  receive(1, 400)
  expect(takeIn()).toMatchObject([{ item: 1, from: 'sending', latencyUs: null }])
  settler.noteEarly(1, SENT_AT_US + 400)
  expect(readStates(journal)).toEqual({ items: { 1: 'succeeded' }, counted: { succeeded: 1 } })
  expect(settler.noteEnd(1, SENT_AT_US)).toBe(true)
  send(1, { ...ACKNOWLEDGED, state: null })
  takeIn()
  expect(latencies).toEqual([400])
  expect(readStates(journal)).toEqual({ items: { 1: 'succeeded' }, counted: { succeeded: 1 } })
  expect(journal.counters.get('request', 'succeeded')).toBe(1)
  expect(journal.db.prepare('SELECT attempts, callback_us FROM result').get()).toMatchObject({
    attempts: 1,
    callback_us: 400,
  })
  expect(counts()).toEqual({ received: 1, settled: 1, early: 1 })
})

test.each([
  ['unknown', { state: 'unknown', outcome: 'unknown', status: null, message: 'lost' }],
  ['rejected', { state: 'rejected', outcome: 'rejected', status: 400, errorCode: 'DUPLICATE_POST_ID' }],
  ['pending', { state: 'pending', outcome: 'unknown', status: 503 }],
] as const)(
  'an item that is %s is settled by the callback, which proves that it was accepted',
  (state, parts) => {
    const { journal, receive, takeIn, send } = openSettler(2)
    send(1, parts)
    receive(1, 5_000)
    expect(takeIn()).toMatchObject([{ item: 1, from: state, latencyUs: 5_000 }])
    expect(readStates(journal)).toEqual({ items: { 1: 'succeeded' }, counted: { succeeded: 1 } })
    expect([...journal.counters.entries('error').values()].every((n) => n === 0)).toBe(true)
  },
)

const LOST = { state: 'pending', outcome: 'unknown', status: 503, durationUs: 1_000 } as const
const REPEATED = { number: 2, sentAtUs: SENT_AT_US + 60_000 } as const

test('a callback that may answer an earlier try is timed from the first that may have been accepted', () => {
  const { receive, takeIn, send, latencies, journal } = openSettler(4)
  // Certainly not accepted, so the callback answers the repeat.
  send(1, { ...LOST, outcome: 'failed', status: null })
  send(1, { ...ACKNOWLEDGED, ...REPEATED })
  receive(1, 70_000, 'task-9')
  // Perhaps accepted before, and then refused as a duplicate.
  send(2, LOST)
  send(2, { ...REPEATED, state: 'rejected', outcome: 'rejected', status: 400 })
  receive(2, 71_000)
  // Acknowledged with another task than the callback's.
  send(3, LOST)
  send(3, { ...ACKNOWLEDGED, ...REPEATED, taskId: 'task-30' })
  receive(3, 72_000, 'task-31')
  // Acknowledged with the callback's task, so it answers the repeat.
  send(4, LOST)
  send(4, { ...ACKNOWLEDGED, ...REPEATED, taskId: 'task-4' })
  receive(4, 73_000)
  takeIn()
  expect(latencies).toEqual([10_000, 71_000, 72_000, 13_000])
  const stored = journal.db.prepare('SELECT callback_us FROM result ORDER BY row').all()
  expect(stored.map((row) => row['callback_us'])).toEqual(latencies)
})

test('a row that its callback refuses does not take the status of a later try that was not accepted', () => {
  const { journal, receive, takeIn, send } = openSettler(1)
  send(1, LOST)
  const throttled = { outcome: 'failed', status: 429, errorCode: 'RATE_LIMITED' } as const
  send(1, { ...REPEATED, ...throttled, state: 'unknown' })
  receive(1, 70_000, 'an error')
  takeIn()
  const stored = journal.db.prepare('SELECT state, status, error_code FROM result').get()
  expect(stored).toMatchObject({ state: 'rejected', status: null, error_code: 'BROKEN' })
  const causes = [...journal.counters.entries('error')].filter(([, rows]) => rows > 0)
  expect(causes).toEqual([['["rejected",null,"BROKEN","it broke"]', 1]])
})

test('a callback while a repeat is in flight is timed from the first try that may have been accepted', () => {
  const { settler, receive, takeIn, send, claims, journal, latencies } = openSettler(1)
  send(1, LOST)
  journal.transact('power', () => claims.markAgain([{ item: 1, attempts: 1 }]))
  receive(1, 65_000)
  const [settled] = takeIn()
  expect(settled).toMatchObject({ from: 'sending', latencyUs: 65_000 })
  settler.noteEarly(1, null)
  expect(settler.noteEnd(1, SENT_AT_US + 60_000)).toBe(true)
  takeIn()
  expect(latencies).toEqual([65_000])
})

test('a callback of an item that waits to be sent again counts no try that was never made', () => {
  const { settler, receive, send, claims, journal } = openSettler(2)
  for (const item of [1, 2]) send(item, LOST)
  journal.transact('power', () => claims.markAgain([1, 2].map((item) => ({ item, attempts: 1 }))))
  receive(1, 65_000)
  receive(2, 65_000)
  settler.look()
  journal.transact('process', () => settler.write((item) => item === 1))
  const tried = journal.db.prepare('SELECT row, state, attempts FROM result ORDER BY row').all()
  expect(tried).toEqual([
    { row: 1, state: 'succeeded', attempts: 1 },
    { row: 2, state: 'succeeded', attempts: 2 },
  ])
})

test('a callback that may answer a try of an earlier run has no latency', () => {
  const { journal, receive, takeIn, send, latencies } = openSettler(1)
  journal.db.exec('INSERT INTO lost_try (item) VALUES (1)')
  send(1, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(1, 5_000)
  expect(takeIn()).toMatchObject([{ latencyUs: null }])
  expect(latencies).toEqual([])
})

test('an acknowledged item is overdue after its time, and a late callback still settles it', () => {
  const { journal, settler, clock, receive, takeIn, send, counts } = openSettler(2)
  send(1, ACKNOWLEDGED)
  send(2, { ...ACKNOWLEDGED, sentAtUs: SENT_AT_US + 60_000_000 })
  clock.nowMs += 600_000
  expect(settler.look()).toBe(false)
  clock.nowMs += 2
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'overdue', 2: 'acknowledged' })
  expect(settler.isOver).toBe(false)
  receive(1, 700_000_000)
  receive(2, 700_000_000)
  takeIn()
  expect(readStates(journal).counted).toEqual({ succeeded: 2 })
  expect(settler.isOver).toBe(true)
  expect(counts()).toEqual({ received: 2, settled: 2, late: 1 })
  expect([...journal.counters.entries('error').values()]).toEqual([0])
})

test('an item whose callback waits behind that of a corrected row in flight is not overdue', () => {
  const { journal, settler, claims, clock, receive, send, counts } = openSettler(2)
  send(1, LOST)
  journal.db.exec(
    `INSERT INTO earlier (row, session, state, attempts, kinds) VALUES (1, 2, 'unknown', 1, '')`,
  )
  send(2, ACKNOWLEDGED)
  journal.transact('power', () => claims.markAgain([{ item: 1, attempts: 1 }]))
  receive(1, 590_000_000)
  receive(2, 591_000_000)
  clock.nowMs += 605_000
  const takeInWhileSending = () => {
    expect(settler.look()).toBe(true)
    journal.transact('process', () => settler.write(() => false))
    settler.committed()
  }
  takeInWhileSending()
  expect(readStates(journal).items).toEqual({ 1: 'sending', 2: 'acknowledged' })
  send(1, { ...ACKNOWLEDGED, number: 2, sentAtUs: SENT_AT_US + 580_000_000 })
  takeInWhileSending()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
  expect(counts()).toEqual({ received: 2, settled: 2 })
})

test('an item whose callback came in time is not overdue because nobody had read it yet', () => {
  const { journal, clock, receive, takeIn, send, counts } = openSettler(3, { pageMax: 1 })
  for (const item of [1, 2, 3]) send(item, ACKNOWLEDGED)
  receive(1, 7_000)
  receive(2, 8_000)
  clock.nowMs += 700_000
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'acknowledged', 3: 'acknowledged' })
  takeIn()
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded', 3: 'overdue' })
  expect(counts()).toEqual({ received: 2, settled: 2 })
})

test('a rule from a rolled back transaction is found again by the next one', () => {
  const { journal, settler, receive, send } = openSettler(1)
  send(1, ACKNOWLEDGED)
  receive(1, 1_000)
  settler.look()
  expect(() =>
    journal.transact('process', () => {
      settler.write()
      throw new Error('no room')
    }),
  ).toThrow('no room')
  settler.look()
  journal.transact('process', () => settler.write())
  expect(journal.db.prepare(`SELECT rule_id FROM ${RULES_OF_ROWS}`).all()).toMatchObject([{ rule_id: 'r1' }])
})

test('a rule that both the answer and the callback name is counted once', () => {
  const { journal, receive, takeIn, send } = openSettler(1)
  const rules = [{ ruleId: 'r1', ruleName: 'Spam' }]
  send(1, { state: 'rejected', outcome: 'rejected', errorCode: '5', rules })
  receive(1, 1_000)
  expect(takeIn()).toMatchObject([{ item: 1, from: 'rejected' }])
  expect([...journal.counters.entries('rule')]).toEqual([['r1', 1]])
})

test("the findings of a callback replace those of its item's refusal", () => {
  const { journal, receive, takeIn, send } = openSettler(1)
  const rules = [
    { ruleId: 'r1', ruleName: 'Spam' },
    { ruleId: 'r2', ruleName: 'Junk' },
  ]
  send(1, { state: 'rejected', outcome: 'rejected', errorCode: '5', rules })
  receive(1, 1_000)
  takeIn()
  expect(journal.db.prepare(`SELECT row, rule_id FROM ${RULES_OF_ROWS}`).all()).toEqual([
    { row: 1, rule_id: 'r1' },
  ])
  expect([...journal.counters.entries('rule')]).toEqual([
    ['r1', 1],
    ['r2', 0],
  ])
})

test('a callback of an item of unknown outcome is awaited as long as that of an acknowledged one', () => {
  const { settler, clock, send } = openSettler(1)
  send(1, { state: 'unknown', outcome: 'unknown', status: null })
  expect(settler.isOver).toBe(true)
  settler.noteLoss()
  expect(settler.isOver).toBe(false)
  clock.nowMs += 600_001
  expect(settler.isOver).toBe(true)
})

test('a row that got the callback of another awaits its own as long as that of an acknowledged one', () => {
  const { settler, clock, receive, takeIn, send } = openSettler(2, { judge: judgeTaskOnly })
  send(1, { ...ACKNOWLEDGED, taskId: 'task-1' })
  send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(1, 1_000, 'task-2')
  receive(2, 2_000, 'task-2')
  takeIn()
  expect(settler.isOver).toBe(false)
  clock.nowMs += 600_001
  expect(settler.isOver).toBe(true)
})

test('a callback that is unreadable, or for a missing row, is kept and settles nothing', () => {
  const { journal, receive, takeIn, send, counts } = openSettler(1, { judge: () => null })
  send(1, ACKNOWLEDGED)
  receive(1, 1_000, 'no JSON')
  expect(takeIn()).toEqual([])
  expect(readStates(journal).items).toEqual({ 1: 'acknowledged' })
  expect(counts()).toEqual({ received: 1, unreadable: 1 })
  expect(journal.db.prepare('SELECT body FROM callback').get()).toMatchObject({ body: 'no JSON' })
  const other = openSettler(1)
  other.receive(77, 1_000)
  expect(other.takeIn()).toEqual([])
  expect(other.counts()).toEqual({ received: 1, doubled: 1 })
})

test('a callback settles the row of its address whatever task it names, and says if it names another', () => {
  const { journal, receive, takeIn, send, counts } = openSettler(2)
  send(1, ACKNOWLEDGED)
  send(2, ACKNOWLEDGED)
  receive(1, 1_000, 'content-9')
  expect(takeIn()).toMatchObject([{ item: 1, from: 'acknowledged' }])
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'acknowledged' })
  expect(journal.db.prepare('SELECT task_id, message FROM result WHERE row = 1').get()).toEqual({
    task_id: 'task-1',
    message: 'its callback names task content-9, its acknowledgement task-1',
  })
  receive(1, 2_000)
  expect(takeIn()).toEqual([])
  expect(counts()).toEqual({ received: 2, settled: 1, differing: 1 })
})

/** Judges a callback that repeats nothing of its request but the id of a task. */
const judgeTaskOnly = (taskId: string) => toJudgement({ taskId, echo: UNVERIFIABLE })

test('a callback that repeats nothing and names the task of another row leaves its row to its own callback', () => {
  const { journal, receive, takeIn, send, counts } = openSettler(2, { judge: judgeTaskOnly })
  send(1, { ...ACKNOWLEDGED, taskId: 'task-1' })
  send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(1, 1_000, 'task-2')
  expect(takeIn()).toEqual([])
  expect(readStates(journal).items).toEqual({ 1: 'unknown', 2: 'acknowledged' })
  expect(journal.db.prepare('SELECT error_code, message FROM result WHERE row = 1').get()).toEqual({
    error_code: 'ECHO_MISMATCH',
    message:
      'the callback names task_id "task-2", which is that of another row of this run; its acknowledgement named "task-1"',
  })
  receive(2, 2_000, 'task-2')
  receive(1, 3_000, 'task-1')
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
  expect(counts()).toEqual({ received: 3, settled: 2, other_post: 1, late: 1 })
})

test('a callback that names the task of another row does not settle a row whose own task is not known', () => {
  const { journal, receive, takeIn, send, counts } = openSettler(2, { judge: judgeTaskOnly })
  send(1, { state: 'unknown', outcome: 'unknown', status: null, taskId: null })
  send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(1, 1_000, 'task-2')
  expect(takeIn()).toEqual([])
  receive(1, 2_000, 'task-1')
  receive(2, 3_000, 'task-2')
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
  expect(counts()).toEqual({ received: 3, settled: 2, other_post: 1, late: 1 })
})

test.each([
  ['that task, settles its row', 'task-2', 'succeeded'],
  ['another task, leaves its row to its own callback', 'task-1', 'unknown'],
])(
  'an early callback that names the task of another row, if its acknowledgement then names %s',
  (_, taskId, state) => {
    const { journal, settler, receive, takeIn, send } = openSettler(2, { judge: judgeTaskOnly })
    send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
    receive(1, 500, 'task-2')
    settler.look()
    journal.transact('process', () => settler.write(() => false))
    expect(settler.committed()).toEqual([])
    send(1, { ...ACKNOWLEDGED, taskId })
    takeIn()
    expect(readStates(journal).items[1]).toBe(state)
  },
)

test('only a run with a callback that names another task has an index of tasks, which belongs to its schema', () => {
  const { journal, receive, takeIn, send } = openSettler(2, { judge: judgeTaskOnly })
  const hasIndex = () =>
    journal.db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'result_by_task'").get() !== undefined
  send(1, { ...ACKNOWLEDGED, taskId: 'task-1' })
  send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(2, 1_000, 'task-2')
  takeIn()
  expect(hasIndex()).toBe(false)
  receive(1, 2_000, 'task-of-none')
  takeIn()
  expect(hasIndex()).toBe(true)
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'succeeded' })
  expect(findForeign(journal.db, JOURNAL_SCHEMA)).toBeNull()
  const [step] = journal.db
    .prepare("EXPLAIN QUERY PLAN SELECT 1 FROM result WHERE task_id = 'task-2' LIMIT 1")
    .all()
  expect(step?.['detail']).toContain('result_by_task')
})

test.each([
  ['repeats its own post_id', { echo: VERIFIED }],
  ['comes from a cache, which may name whoever asked first', { fromCache: true }],
])('a callback that names the task of another row settles its own if it %s', (_, parts) => {
  const judge = (taskId: string) => ({ ...judgeTaskOnly(taskId), ...parts })
  const { journal, receive, takeIn, send } = openSettler(2, { judge })
  send(1, { ...ACKNOWLEDGED, taskId: 'task-1' })
  send(2, { ...ACKNOWLEDGED, taskId: 'task-2' })
  receive(1, 1_000, 'task-2')
  takeIn()
  expect(readStates(journal).items).toEqual({ 1: 'succeeded', 2: 'acknowledged' })
})

test('a callback may name the task of an earlier try that was accepted but never answered', () => {
  const { journal, receive, takeIn, send, counts } = openSettler(1)
  send(1, { state: 'pending', outcome: 'unknown', status: null, taskId: null })
  send(1, { ...ACKNOWLEDGED, number: 2, taskId: 'task-second' })
  receive(1, 1_000, 'task-first')
  expect(takeIn()).toMatchObject([{ item: 1, from: 'acknowledged' }])
  expect(readStates(journal).items).toEqual({ 1: 'succeeded' })
  expect(counts()).toEqual({ received: 1, settled: 1 })
})

test('a callback that comes before its item was sent in this run keeps it from being sent', () => {
  const journal = openReadyJournal(3)
  const record = { ...readRecord(journal), callbackBase: 'http://127.0.0.1:1' }
  const claims = new ItemClaims(journal, record)
  const callback = { id: 1, item: 2, receivedAtUs: SENT_AT_US, body: 't' }
  const settler = new CallbackSettler({
    journal,
    record,
    claims,
    inbox: { readAfter: (afterId) => (afterId < 1 ? [callback] : []), close: () => {} },
    judge: () => toJudgement(),
    toMsAgo: (ms) => SENT_AT_US / 1_000 - ms,
    onLatency: () => {},
  })
  expect(settler.look()).toBe(true)
  journal.transact('process', () => settler.write())
  settler.committed()
  const fresh = claims.readFresh(10)
  expect(fresh.map(({ item }) => item)).toEqual([1, 3])
  journal.transact('power', () => claims.raiseWatermark(fresh))
  expect(readRecord(journal)).toMatchObject({ claimed: 3, claimedRows: 3, inboxRead: 1 })
  expect(toRowCounts(journal.counters.entries('state'), 3)).toMatchObject({ succeeded: 1, not_sent: 2 })
})

test('callbacks of a rolled back transaction are read by the next one, and counted once', () => {
  const { journal, settler, receive, send, counts } = openSettler(1)
  send(1, ACKNOWLEDGED)
  receive(1, 1_000)
  expect(settler.look()).toBe(true)
  expect(() =>
    journal.transact('process', () => {
      settler.write()
      throw new Error('no room')
    }),
  ).toThrow('no room')
  expect(counts()).toEqual({ received: 0, settled: 0 })
  expect(readStates(journal)).toEqual({ items: { 1: 'acknowledged' }, counted: { acknowledged: 1 } })
  expect(settler.look()).toBe(true)
  journal.transact('process', () => settler.write())
  expect(settler.committed()).toHaveLength(1)
  expect(readStates(journal)).toEqual({ items: { 1: 'succeeded' }, counted: { succeeded: 1 } })
  expect(counts()).toEqual({ received: 1, settled: 1 })
})

/**
 * A journal whose process died while it was sending that many rows of an async run, without any of its
 * seconds.
 */
function openCutOff(rows: number) {
  const workspace = createTemporaryFolder()
  createWorkspaceFolders(workspace)
  const journal = openTestJournal({ file: toJournalFile(workspace, 'run-1') })
  const plan = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:1' },
    source: { path: '/source.csv' },
    operation: { kind: 'task', mode: 'async' },
    mapping: { user_id: { kind: 'template', template: 'user' } },
  })
  const ids = { runId: 'run-1', runToken: 'run-1', parentRunId: null, name: 'a run', appVersion: '0' }
  journal.transact('power', () =>
    insertRunRecord(journal.db, {
      ...ids,
      plan,
      createdAtMs: Date.now(),
      callbackBase: 'http://127.0.0.1:1',
    }),
  )
  const writer = new IntakeWriter(journal, (_, cells) => ({ field: 'post_id', value: cells[0] ?? '' }))
  writer.writeRows(
    Array.from({ length: rows }, (_, i) => i + 1),
    toIntakeRow,
  )
  writer.finish(['text_data'])
  const claims = new ItemClaims(journal, readRecord(journal))
  journal.transact('power', () => {
    updateRunRecord(journal.db, { state: 'running' })
    claims.raiseWatermark(claims.readFresh(rows))
  })
  return { workspace, journal }
}

async function receive(workspace: string, items: readonly number[]): Promise<void> {
  const inbox = InboxWriter.open(workspace)
  if (inbox === null) throw new Error('the inbox is held')
  for (const item of items) {
    const body = Buffer.from(JSON.stringify({ task_id: `task-${item}`, triggered_rules: [] }))
    await new Promise((stored) =>
      inbox.store({ runToken: 'run-1', item, receivedAtUs: Date.now() * 1_000, body }, stored),
    )
  }
  inbox.close()
}

test('a cut-off run that is read before it is resumed keeps the latency of its last second', async () => {
  const { workspace, journal } = openCutOff(3)
  const outcomes = new OutcomeWriter(journal)
  const sentAtUs = Date.now() * 1_000
  journal.transact('process', () => {
    for (const item of [1, 2]) {
      const attempt = toAttempt(item, { state: 'acknowledged', sentAtUs })
      outcomes.count(attempt)
      outcomes.write([attempt])
    }
  })
  await receive(workspace, [1])
  settleCallbacks(workspace, journal)
  recoverUnknown(journal)
  rebuildSeconds(journal)
  expect(readStates(journal)).toEqual({
    items: { 1: 'succeeded', 2: 'acknowledged', 3: 'unknown' },
    counted: { succeeded: 1, acknowledged: 1, unknown: 1 },
  })
  expect(readLatency(journal.db).percentiles('http_req_duration')?.count).toBe(2)
  expect(readLatency(journal.db).percentiles('callback_latency')?.count).toBe(1)
})
