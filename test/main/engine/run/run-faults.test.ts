import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRow } from '../../../../src/main/engine/run/results/row-detail.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import {
  findClosedPort,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
  type Wire,
} from '../../../helpers/fault-server.ts'
import { createInProcessRuns, RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, listBodies, toRow } from './wire-record.ts'

const folder = openTestFolder()
const engine = openEngine(join(folder, 'engine'))
const runs = createInProcessRuns(join(folder, 'runs'))

const NONE = { invalid: 0, succeeded: 0, rejected: 0, failed: 0, unknown: 0, overdue: 0, awaiting: 0 }

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

/** Faults of the service at the first try of a row, one for each row, and the outcome of that try. */
const PASSING_FAULTS: [string, (wire: Wire) => void, outcome: string, status: number | null][] = [
  ['a reset', (wire) => wire.reset(), 'unknown', null],
  ['a connection closed without an answer', (wire) => wire.socket.end(), 'unknown', null],
  ['a black hole', () => {}, 'unknown', null],
  ['headers that stop', (wire) => wire.raw('HTTP/1.1 200 OK\r\nx-slow: '), 'unknown', null],
  ['a body that drips', (wire) => drip(wire), 'unknown', 200],
  ['a body that is cut', (wire) => cut(wire), 'unknown', 200],
  ['what is no HTTP', (wire) => wire.raw('HELO\r\n'), 'unknown', null],
  ['what is no JSON', (wire) => wire.send(200, '{"task_id"'), 'unknown', 200],
  ['a web page with 200', (wire) => wire.send(200, '<html>'), 'unknown', 200],
  ['a web page with 502', (wire) => wire.send(502, '<html>'), 'unknown', 502],
  ['nothing with 204', (wire) => wire.raw('HTTP/1.1 204 No Content\r\n\r\n'), 'unknown', 204],
  ['a 503', (wire) => wire.send(503, toErrorAnswer(503, 'BUSY', 'busy')), 'unknown', 503],
  ['a 429', (wire) => wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow')), 'rejected', 429],
]

function drip(wire: Wire): void {
  wire.raw(`${HEAD}content-length: 9999\r\n\r\n{`)
  wire.drip(' ')
}

function cut(wire: Wire): void {
  wire.raw(`${HEAD}content-length: 99\r\n\r\n{`)
  wire.socket.end()
}

test('temporary faults are repeated once each, with the same body, and then succeed', async () => {
  const seen = new Set<number>()
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const [, act] = PASSING_FAULTS[row - 1] ?? []
      if (seen.has(row) || act === undefined) return wire.send(200, toTaskAnswer(request))
      seen.add(row)
      act(wire)
    },
  })
  const rows = PASSING_FAULTS.map(([fault]) => fault)
  const plan = createRunPlan(folder, [...rows, 'no fault'], server.baseUrl, {
    connection: { baseUrl: server.baseUrl, timeoutMs: 500 },
  })
  const handle = await engine.runs.startRun(plan, { apiKey: 'key' })
  const summary = await handle.ended
  const n = rows.length
  expect(summary).toMatchObject({
    state: 'completed',
    stop_reason: null,
    rows: { ...NONE, read: n + 1, succeeded: n + 1, not_sent: 0 },
    requests: { sent: 2 * n + 1, succeeded: n + 1, rejected: 1, failed: 0, unknown: n - 1, retried: n },
    errors: [],
  })
  expect(countArrivals(server)).toEqual([...rows.map(() => 2), 1])
  for (const [first, second] of listBodies(server).values()) expect(second ?? first).toBe(first)
  const details = await Promise.all(rows.map((_, i) => engine.results.readRow(handle.runId, i + 1)))
  expect(
    details.map(({ attempts }, i) => [rows[i], ...attempts.map(({ outcome, status }) => [outcome, status])]),
  ).toEqual(
    PASSING_FAULTS.map(([fault, , outcome, status]) => [fault, [outcome, status], ['succeeded', 200]]),
  )
})

test('a permanent fault ends as unknown, and is not repeated beyond the limit', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (toRow(request) === 2) wire.reset()
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = await runs.start(createRunPlan(folder, 3, server.baseUrl)).ended
  expect(summary).toMatchObject({
    state: 'completed',
    rows: { ...NONE, read: 3, succeeded: 2, unknown: 1 },
    requests: { sent: 6, succeeded: 2, unknown: 4, retried: 3 },
    errors: [
      {
        outcome: 'unknown',
        status: null,
        message: 'the connection broke after the request was sent',
        rows: 1,
      },
    ],
  })
  expect(countArrivals(server)).toEqual([1, 4, 1])
  const { result, attempts } = runs.read(summary.run_id, (view) => readRow(view, 2))
  expect(result).toMatchObject({ state: 'unknown', attempts: 4 })
  expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
    [1, 'unknown'],
    [2, 'unknown'],
    [3, 'unknown'],
    [4, 'unknown'],
  ])
})

test('a service that was reached and goes away leaves rows failed, never unknown', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      wire.send(200, toTaskAnswer(request), { connection: 'close' })
      wire.socket.end()
      if (request.number === 2) void server.close()
    },
  })
  const plan = createRunPlan(folder, 4, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 } })
  const summary = await runs.start(plan).ended
  expect(summary).toMatchObject({
    state: 'completed',
    rows: { ...NONE, read: 4, succeeded: 2, failed: 2 },
    requests: { sent: 10, succeeded: 2, failed: 8, unknown: 0, retried: 6 },
    errors: [{ outcome: 'failed', status: null, error_code: 'ECONNREFUSED', rows: 2 }],
  })
})

test('without retries every fault is final at once', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.send(503, '') })
  const plan = createRunPlan(folder, 5, server.baseUrl, { retry: { limit: 0 } })
  const summary = await runs.start(plan).ended
  expect(summary).toMatchObject({
    state: 'completed',
    rows: { ...NONE, read: 5, unknown: 5 },
    requests: { sent: 5, unknown: 5, retried: 0 },
  })
})

test.each([
  ['listed', ['DUPLICATE_POST_ID'], { succeeded: 3, rejected: 0 }],
  ['not listed', [], { succeeded: 0, rejected: 3 }],
])(
  'a row that was accepted by a try whose answer was lost: the code of a delivered post_id is %s',
  async (_, deliveredCodes, rows) => {
    const taken = new Set<number>()
    const server = await startFaultServer({
      onRequest: (request, wire) => {
        const row = toRow(request)
        if (taken.has(row)) wire.send(400, toErrorAnswer(400, 'DUPLICATE_POST_ID', 'there is such a post'))
        else wire.reset()
        taken.add(row)
      },
    })
    const plan = createRunPlan(folder, 3, server.baseUrl, {
      connection: { baseUrl: server.baseUrl, deliveredCodes },
    })
    const summary = await runs.start(plan).ended
    expect(summary).toMatchObject({ state: 'completed', rows: { ...NONE, ...rows }, requests: { sent: 6 } })
    const { result } = runs.read(summary.run_id, (view) => readRow(view, 1))
    expect(result).toMatchObject({ status: 400, errorCode: 'DUPLICATE_POST_ID', attempts: 2 })
  },
)

test('a refused request is never repeated, and other rows continue', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (toRow(request) % 10 === 3) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'bad text'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = await runs.start(createRunPlan(folder, 20, server.baseUrl)).ended
  expect(summary).toMatchObject({
    state: 'completed',
    rows: { ...NONE, read: 20, succeeded: 18, rejected: 2 },
    requests: { sent: 20, rejected: 2, retried: 0 },
    errors: [{ outcome: 'rejected', status: 400, error_code: 'INVALID_PARAM', message: 'bad text', rows: 2 }],
  })
})

test('the key is in no summary, row or file of a run whose requests were redirected', async () => {
  const other = await startFaultServer()
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(307, '', { location: `${other.baseUrl}/` }),
  })
  const summary = await runs.start(createRunPlan(folder, 3, server.baseUrl)).ended
  expect(summary.rows).toMatchObject({ rejected: 3 })
  expect(other.connections).toBe(0)
  expect(server.requests[0]?.headers['authorization']).toBe(`token ${RUN_KEY}`)
  const journal = toJournalFile(runs.workspace, summary.run_id)
  const files = [journal, `${journal}-wal`].filter((file) => existsSync(file))
  for (const file of files) expect(readFileSync(file).includes(RUN_KEY)).toBe(false)
  const row = runs.read(summary.run_id, (view) => readRow(view, 1))
  expect(JSON.stringify([summary, row])).not.toContain(RUN_KEY)
})

test('the run waits for Retry-After and reports the wait', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number > 2) return wire.send(200, toTaskAnswer(request))
      wire.send(429, toErrorAnswer(429, 'RATE_LIMITED', 'slow down'), { 'retry-after': '0.02' })
    },
  })
  const summary = await runs.start(createRunPlan(folder, 2, server.baseUrl)).ended
  expect(summary).toMatchObject({ rows: { succeeded: 2 }, requests: { sent: 4, rejected: 2, retried: 2 } })
  expect(summary.retry_after.answers).toBe(2)
  expect(summary.retry_after.waited_s).toBeGreaterThanOrEqual(2 * 0.02)
  expect(summary.retry_after.waited_s).toBeLessThanOrEqual(4 * 0.021)
})

test('an unreachable service stops the run without losing a row', async () => {
  const port = await findClosedPort()
  const plan = createRunPlan(folder, 40, `http://127.0.0.1:${port}`, {
    pace: { kind: 'closed', concurrency: 2 },
  })
  const summary = await runs.start(plan).ended
  expect(summary.state).toBe('stopped')
  expect(summary.stop_reason).toContain(
    `Nothing can be reached at http://127.0.0.1:${port}: connection refused`,
  )
  const { rows, requests } = summary
  expect(rows).toMatchObject({ read: 40, succeeded: 0, rejected: 0, unknown: 0 })
  expect(rows.failed + rows.not_sent).toBe(40)
  expect(rows.not_sent).toBeGreaterThanOrEqual(36)
  expect(requests).toMatchObject({ unknown: 0 })
  // Ten tries are enough; one from the other lane may come on top.
  expect(requests.failed).toBeLessThanOrEqual(12)
})
