import { expect, test } from 'vitest'
import { toCallbackCounts, toRowCounts } from '../../../src/shared/run/counts.ts'
import { describeLeft, toDurationMs } from '../../../src/shared/run/run-view.ts'

test('rows to be repeated are told apart from rows that were not sent', () => {
  const rows = toRowCounts(
    new Map([
      ['succeeded', 36],
      ['unknown', 1],
    ]),
    401,
  )
  expect(describeLeft({ rows, to_repeat: { rows: 16 } })).toBe(
    '348 rows not sent, 16 rows to be repeated, 1 row with an unknown outcome',
  )
  expect(describeLeft({ rows, to_repeat: { rows: 364 } })).toBe(
    '364 rows to be repeated, 1 row with an unknown outcome',
  )
})

test('a run that is retried a day later took as long as its sessions, and the wait for their callbacks', () => {
  const session = {
    kind: 'start',
    run_id: 'a',
    app_version: '0.2.0',
    rows_taken: 0,
    requests: { sent: 1, succeeded: 1, rejected: 0, failed: 0, unknown: 0 },
    duration_s: 1,
  } as const
  const run = {
    throughput: { duration_s: 2, attempted_per_s: 1, succeeded_per_s: 1 },
    callbacks: toCallbackCounts(new Map(), new Map()),
    started_at: '2026-11-28T10:00:00.000Z',
    ended_at: '2026-11-29T10:00:05.000Z',
  }
  const [first, second] = [
    { ...session, number: 1, started_at: run.started_at, ended_at: '2026-11-28T10:00:10.000Z' },
    { ...session, number: 2, started_at: '2026-11-29T10:00:00.000Z', ended_at: run.ended_at },
  ]
  expect(toDurationMs({ ...run, sessions: [first, second] })).toBe(15_000)
  expect(toDurationMs({ ...run, ended_at: first.ended_at, sessions: [first] })).toBe(10_000)
  const cutOff = { ...first, ended_at: null, duration_s: 4 }
  expect(toDurationMs({ ...run, sessions: [cutOff, second] })).toBe(9_000)
})
