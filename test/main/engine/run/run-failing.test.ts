import { expect, test } from 'vitest'
import {
  findClosedPort,
  startFaultServer,
  toErrorAnswer,
  toTaskAnswer,
} from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, toRow } from './wire-record.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const oneAtATime = { pace: { kind: 'closed' as const, concurrency: 1 } }

/** A service with the given answers, which may change. */
async function startService(status: number, errorCode: string) {
  const service = { isRight: false }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (service.isRight) wire.send(200, toTaskAnswer(request))
      else wire.send(status, toErrorAnswer(status, errorCode, 'no'))
    },
  })
  return Object.assign(service, { server })
}

test.each([401, 403])(
  'five consecutive answers of %i stop the run; the other rows are kept',
  async (status) => {
    const service = await startService(status, 'INVALID_API_KEY')
    const run = runs.start(createRunPlan(folder, 30, service.server.baseUrl, oneAtATime))
    const stopped = await run.ended
    expect(stopped).toMatchObject({
      state: 'stopped',
      rows: { read: 30, rejected: 5, unknown: 0, not_sent: 25 },
      requests: { sent: 5 },
    })
    expect(stopped.stop_reason).toContain('refused the API key 5 times in a row')
    expect(stopped.stop_advice).toContain('Check the API key of the test')
    service.isRight = true
    const resumed = await runs.resume(run.runId).ended
    expect(resumed).toMatchObject({
      state: 'completed',
      stop_reason: null,
      rows: { rejected: 0, succeeded: 30, not_sent: 0 },
    })
    // Rows that were refused only for the key are sent again.
    expect(countArrivals(service.server)).toEqual([...Array(5).fill(2), ...Array(25).fill(1)])
  },
)

/** Errors count from the fifth row on. */
const EARLY = { errorPercent: 20, afterRows: 5 }

test('refusals of the key that are not consecutive do not stop the run', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (toRow(request) <= 8 && toRow(request) % 5 !== 0) wire.send(403, '')
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = await runs.start(createRunPlan(folder, 45, server.baseUrl, oneAtATime)).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { rejected: 7, succeeded: 38 } })
})

test('more than a fifth of errors after fifty rows stops the run; the other rows are kept', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (toRow(request) % 4 === 0) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const stopped = await runs.start(createRunPlan(folder, 90, server.baseUrl, oneAtATime)).ended
  expect(stopped).toMatchObject({
    state: 'stopped',
    rows: { read: 90, succeeded: 38, rejected: 12, not_sent: 40 },
  })
  expect(stopped).toMatchObject({
    stop_reason: '24 % of the first 50 rows did not succeed (over 20 %)',
    stop_advice: 'Look at the errors, then resume; rows not sent yet are kept.',
  })
})

test('a run that paused over errors names the rows, and continues to its end if a person says so', async () => {
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no')),
  })
  const plan = { ...createRunPlan(folder, 30, server.baseUrl, oneAtATime), stop: EARLY }
  const run = runs.start(plan, { whenFailing: 'pause' })
  const first = await run.until(({ phase }) => phase === 'paused')
  expect(first.notice?.reason).toBe('100 % of the first 5 rows did not succeed (over 20 %)')
  run.command({ kind: 'resume' })
  const second = await run.until(({ phase, rows }) => phase === 'paused' && rows.rejected === 10)
  expect(second.notice?.reason).toBe('100 % of the 5 rows since it went on did not succeed (over 20 %)')
  run.command({ kind: 'resume', despiteErrors: true })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { rejected: 30 } })
  // A later retry counts its errors anew.
  expect(runs.read(run.runId, ({ record }) => record.plan.stop)).toEqual(EARLY)
})

test('an error rate of a fifth is accepted', async () => {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (toRow(request) % 5 === 0) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
  const summary = await runs.start(createRunPlan(folder, 90, server.baseUrl, oneAtATime)).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 72, rejected: 18 } })
})

test('a run that pauses itself says why, and restarts its error counts when resumed', async () => {
  const service = await startService(403, 'INVALID_API_KEY')
  const plan = createRunPlan(folder, 20, service.server.baseUrl, oneAtATime)
  const run = runs.start(plan, { whenFailing: 'pause' })
  const paused = await run.until(({ phase }) => phase === 'paused')
  expect(paused.notice?.code).toBe('key_refused')
  expect(paused.notice?.reason).toContain('refused the API key 5 times in a row')
  expect(paused.rows).toMatchObject({ rejected: 5, not_sent: 15 })
  service.isRight = true
  run.command({ kind: 'resume' })
  expect(await run.ended).toMatchObject({
    state: 'completed',
    stop_reason: null,
    rows: { rejected: 5, succeeded: 15 },
  })
})

test('an unreachable service stops the run after ten tries, and no row is lost', async () => {
  const port = await findClosedPort()
  const plan = createRunPlan(folder, 40, `http://127.0.0.1:${port}`, oneAtATime)
  const run = runs.start(plan)
  const stopped = await run.ended
  expect(stopped).toMatchObject({ state: 'stopped', requests: { sent: 10, failed: 10, unknown: 0 } })
  expect(stopped.stop_reason).toContain(
    `Nothing can be reached at http://127.0.0.1:${port}: connection refused`,
  )
  // A try that was never sent took no time.
  expect(stopped.latency_ms).toEqual({})
  const { rows } = stopped
  expect(rows).toMatchObject({ succeeded: 0, rejected: 0, unknown: 0, awaiting: 0 })
  expect(rows.failed).toBeLessThanOrEqual(2)
  expect(rows.failed + rows.not_sent).toBe(40)
})

test('a host name that does not resolve stops the run in the same way', async () => {
  const summary = await runs.start(createRunPlan(folder, 20, 'http://nowhere.invalid')).ended
  expect(summary.state).toBe('stopped')
  expect(summary.stop_reason).toContain('Nothing can be reached at http://nowhere.invalid')
  expect(summary.rows).toMatchObject({ succeeded: 0, unknown: 0 })
})

test('a service that becomes unreachable is probed, and rows continue when it is back', async () => {
  let refusals = 0
  const server = await startFaultServer({
    onConnection: (socket) => {
      if (refusals === 0) return false
      refusals -= 1
      socket.resetAndDestroy()
      return true
    },
    onRequest: (request, wire) => {
      wire.send(200, toTaskAnswer(request), { connection: 'close' })
      wire.socket.end()
      if (request.number === 3) refusals = 12
    },
  })
  const plan = createRunPlan(folder, 12, server.baseUrl, {
    ...oneAtATime,
    retry: { limit: 50, baseMs: 1, maxMs: 5 },
  })
  const summary = await runs.start(plan).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 12, failed: 0, unknown: 0 } })
  expect(server.requests).toHaveLength(12)
})
