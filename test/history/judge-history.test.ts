import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, expect, test } from 'vitest'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { judgeHistory } from '../helpers/history/judge-history.ts'
import { readRunHistory } from '../helpers/history/read-run-history.ts'
import type { Arrival, RecordedEvent } from '../helpers/history/recording.ts'
import type { FaultKind } from '../helpers/history/verdict.ts'
import { createInProcessRuns } from '../helpers/in-process-runs.ts'
import { startRecordingService } from '../helpers/recording-service.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'

const ROWS = 12
/** Row 3 gets a 503 at first; row 5 is refused until the retry; row 7 always is; row 9 is invalid. */
const BUSY = 3
const RETRIED = 5
const REFUSED = 7
const INVALID = 9

const folder = openTestFolder()
const whole = join(folder, 'whole')
let runId = ''
let events: readonly RecordedEvent[] = []

beforeAll(async () => {
  let isMended = false
  const service = await startRecordingService((postId, arrivals) => {
    const row = Number(postId.split('-').at(-1))
    if (row === BUSY && arrivals === 1) return 503
    return row === REFUSED || (row === RETRIED && !isMended) ? 400 : null
  })
  const runs = createInProcessRuns(whole)
  const texts = Array.from({ length: ROWS }, (_, i) => (i + 1 === INVALID ? '' : `text ${i + 1}`))
  const started = runs.start(createRunPlan(folder, texts, service.baseUrl))
  runId = started.runId
  await started.ended
  isMended = true
  await runs.retryAsChild(runId).ended
  await service.close()
  events = service.recording.events
})

const toId = (row: number) => `${runId}-${row}`

/** Changes a copy of the run's own journal and judges all journals against a recording. */
function judge({ sql, recording = events }: { sql?: string; recording?: readonly RecordedEvent[] }) {
  const workspace = join(createTemporaryFolder(), 'workspace')
  cpSync(whole, workspace, { recursive: true })
  if (sql !== undefined) {
    const db = new DatabaseSync(toJournalFile(workspace, runId))
    db.exec(sql)
    db.close()
  }
  return judgeHistory(readRunHistory(toJournalFile(workspace, runId)), recording)
}

const listFaults = (changed: Parameters<typeof judge>[0]) =>
  judge(changed).faults.map(({ kind, row, id, message }) => ({ kind, row, id, message }))

/** The recording with the arrivals of one row replaced by the result of `change` for each. */
const withArrivals = (row: number, change: (arrival: Arrival) => readonly Arrival[]): RecordedEvent[] =>
  events.flatMap((event): readonly RecordedEvent[] =>
    event.kind === 'arrival' && event.ids.includes(toId(row)) ? change(event) : [event],
  )

test('an untouched run and its retry have no faults, and each row counts once', () => {
  expect(judge({})).toEqual({ ok: ROWS - 1, info: 0, fail: 1, faults: [] })
})

test('a recording with one row sent twice, one with the answer of another and one missing names all three', () => {
  const foreign = withArrivals(2, (arrival) => [{ ...arrival, answer: '{"post_id":"somebody else"}' }])
  const recording = foreign.flatMap((event) => {
    if (event.ids.includes(toId(1))) return [event, event]
    return event.ids.includes(toId(4)) ? [] : [event]
  })
  const faults = listFaults({ recording })
  expect(faults.map(({ kind, row, id }) => ({ kind, row, id }))).toEqual([
    { kind: 'sent-twice', row: 1, id: toId(1) },
    { kind: 'foreign-answer', row: 2, id: toId(2) },
    { kind: 'never-arrived', row: 4, id: toId(4) },
  ])
  expect(faults.map(({ message }) => message)[0]).toBe(
    `Record 1 ("${toId(1)}"): the journal has 1 request (succeeded 200), the service got 2 requests (200 and taken, 200 and taken).`,
  )
})

/** Changes a counter of a journal. */
const count = (kind: string, value: string, n: number) =>
  `INSERT INTO facet (kind, value, n) VALUES ('${kind}', '${value}', ${n}) ON CONFLICT DO UPDATE SET n = n + excluded.n;`

/** Changes a counter in the first of a journal's seconds that has enough to subtract. */
const measure = (outcome: string, n: number) =>
  `UPDATE second SET sent = sent + ${n}, ${outcome} = ${outcome} + ${n}
   WHERE at = (SELECT at FROM second WHERE ${outcome} + ${n} >= 0 ORDER BY at LIMIT 1);`

/** Changes the outcome of a row's only attempt. */
const tellTry = (row: number, outcome: string, status: number | null) =>
  `UPDATE attempt SET outcome = '${outcome}', status = ${status} WHERE item = ${row};
   ${count('request', 'succeeded', -1)} ${count('request', outcome, 1)}
   ${measure('succeeded', -1)} ${measure(outcome, 1)}`

const tellState = (row: number, from: string, state: string) =>
  `UPDATE result SET state = '${state}' WHERE row = ${row}; ${count('state', from, -1)} ${count('state', state, 1)}`

const twice = (row: number) => withArrivals(row, (arrival) => [arrival, arrival])

/** The answer to row 1 was never read. */
const LOST = `${tellTry(1, 'unknown', null)} ${tellState(1, 'succeeded', 'unknown')}`

const toCallback = (row: number, body: string): RecordedEvent => ({
  kind: 'callback',
  ids: [toId(row)],
  atUs: 0,
  status: 200,
  body,
})

test('a row of unknown outcome is info, whether or not the service got it', () => {
  const verdict = { ok: ROWS - 2, info: 1, fail: 1, faults: [] }
  expect(judge({ sql: LOST })).toEqual(verdict)
  expect(judge({ sql: LOST, recording: withArrivals(1, () => []) })).toEqual(verdict)
})

test.each(['unreadable', 'other_post'])(
  'a row of unknown outcome is info if its accepted callback is in the journal as %s',
  (effect) => {
    const sql = `${LOST} INSERT INTO callback (id, item, received_at_us, effect, body)
        VALUES (1, 1, 0, '${effect}', '{"message":"done"}');
      ${count('callback', 'received', 1)} ${count('callback', effect, 1)}`
    const recording = [...events, toCallback(1, '{"message":"done"}')]
    expect(judge({ sql, recording })).toEqual({ ok: ROWS - 2, info: 1, fail: 1, faults: [] })
  },
)

type Change = Parameters<typeof judge>[0]

test.each<[kind: FaultKind, title: string, rows: (number | null)[], change: () => Change]>([
  [
    'sent-twice',
    'a row whose first try is not in the journal',
    [BUSY],
    () => ({
      sql: `DELETE FROM attempt WHERE item = ${BUSY} AND number = 1; ${count('request', 'unknown', -1)}
        ${measure('unknown', -1)}`,
    }),
  ],
  [
    'without-consent',
    'a row that was tried again after it had succeeded',
    [1],
    () => ({
      recording: twice(1),
      sql: `INSERT INTO attempt (item, number, sent_at_us, outcome, status)
        SELECT item, 2, sent_at_us, outcome, status FROM attempt WHERE item = 1;
        UPDATE result SET attempts = 2 WHERE row = 1;
        ${count('request', 'succeeded', 1)} ${count('request', 'retried', 1)} ${measure('succeeded', 1)}`,
    }),
  ],
  [
    'body-changed',
    'a row that was sent with another body',
    [1],
    () => ({ recording: withArrivals(1, (arrival) => [{ ...arrival, body: '0'.repeat(64) }]) }),
  ],
  [
    'body-changed',
    'a row that was sent to another path',
    [1],
    () => ({ recording: withArrivals(1, (arrival) => [{ ...arrival, path: '/api/v1/task/async' }]) }),
  ],
  [
    'never-arrived',
    'a row that the service never got',
    [4],
    () => ({ recording: withArrivals(4, () => []) }),
  ],
  [
    'never-arrived',
    'a row that the service answered otherwise',
    [REFUSED],
    () => ({ recording: withArrivals(REFUSED, (arrival) => [{ ...arrival, status: 503 }]) }),
  ],
  [
    'told-taken',
    'a row that the service answered and did not take',
    [1],
    () => ({ recording: withArrivals(1, (arrival) => [{ ...arrival, took: false }]) }),
  ],
  [
    'told-not-taken',
    'a row that failed and was taken',
    [1],
    () => ({ sql: `${tellTry(1, 'failed', null)} ${tellState(1, 'succeeded', 'failed')}` }),
  ],
  [
    'told-not-taken',
    'a row whose last try failed after one that was taken',
    [BUSY],
    () => ({
      recording: withArrivals(BUSY, (arrival) => (arrival.took ? [] : [{ ...arrival, took: true }])),
      sql: `UPDATE attempt SET outcome = 'failed', status = NULL WHERE item = ${BUSY} AND number = 2;
        ${count('request', 'succeeded', -1)} ${count('request', 'failed', 1)} ${measure('succeeded', -1)}
        ${measure('failed', 1)} ${tellState(BUSY, 'succeeded', 'failed')}`,
    }),
  ],
  [
    'told-not-taken',
    'a row that is invalid and arrived',
    [INVALID],
    () => ({
      recording: withArrivals(1, (arrival) => [arrival, { ...arrival, ids: [toId(INVALID)] }]),
    }),
  ],
  [
    'foreign-answer',
    'two rows that have the answers of each other',
    [1, 2],
    () => ({
      sql: `CREATE TEMP TABLE told AS SELECT row, response FROM result;
        UPDATE result SET response = (SELECT response FROM told WHERE told.row = 3 - result.row) WHERE row IN (1, 2)`,
    }),
  ],
  [
    'foreign-answer',
    'a row that the service answered with the id of another',
    [1],
    () => {
      const answer = JSON.stringify({ post_id: toId(2) })
      return {
        recording: withArrivals(1, (arrival) => [{ ...arrival, answer }]),
        sql: `UPDATE result SET response = '${answer}' WHERE row = 1`,
      }
    },
  ],
  [
    'foreign-answer',
    'a row that ended without an answer',
    [1],
    () => ({ sql: 'UPDATE result SET response = NULL WHERE row = 1' }),
  ],
  [
    'foreign-answer',
    'a row that was settled by the callback of another',
    [1],
    () => ({
      recording: [...events, toCallback(1, '{}')],
      sql: `INSERT INTO callback (id, item, received_at_us, effect, body) VALUES (1, 1, 0, 'settled', '{"task":2}');
        ${count('callback', 'received', 1)} ${count('callback', 'settled', 1)}`,
    }),
  ],
  [
    'callback-lost',
    'a row that is unknown though its callback was accepted',
    [1],
    () => ({ recording: [...events, toCallback(1, '{}')], sql: LOST }),
  ],
  [
    'two-states',
    'a row that succeeded in the run and in its retry',
    [RETRIED],
    () => ({ sql: tellState(RETRIED, 'rejected', 'succeeded') }),
  ],
  [
    'two-states',
    'a row that is invalid and succeeded',
    [INVALID],
    () => ({
      sql: `INSERT INTO result (row, state, attempts) VALUES (${INVALID}, 'succeeded', 0);
        ${count('state', 'invalid', -1)} ${count('state', 'succeeded', 1)}`,
    }),
  ],
  [
    'unsettled',
    'a row that is still being sent when its run has ended',
    [1],
    () => ({ sql: tellState(1, 'succeeded', 'sending') }),
  ],
  [
    'not-in-run',
    'an arrival whose row is not in the run',
    [null],
    () => ({ recording: withArrivals(1, (arrival) => [arrival, { ...arrival, ids: ['somebody else'] }]) }),
  ],
  [
    'missing',
    'a row that was read and is not in the journal',
    [null],
    () => ({ sql: `DELETE FROM row WHERE id = ${INVALID}; ${count('state', 'invalid', -1)}` }),
  ],
  [
    'missing',
    'a retry that was deleted',
    [null],
    () => ({
      sql: "UPDATE run SET unknown_taken_by = 'a-retry (deleted)'",
    }),
  ],
  [
    'counts',
    'a row that was tried oftener than its tries',
    [1],
    () => ({ sql: 'UPDATE result SET attempts = 2 WHERE row = 1' }),
  ],
  ['counts', 'a counter that differs from its table', [null], () => ({ sql: count('rule', 'r7', 1) })],
  ['counts', 'seconds that differ from the tries', [null, null], () => ({ sql: measure('failed', 1) })],
])('%s is the only fault of %s', (kind, _, rows, change) => {
  expect(listFaults(change()).map((fault) => ({ kind: fault.kind, row: fault.row }))).toEqual(
    rows.map((row) => ({ kind, row })),
  )
})
