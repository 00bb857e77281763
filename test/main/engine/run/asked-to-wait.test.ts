import { expect, test } from 'vitest'
import { listRequestFacts } from '../../../../src/shared/report/summary-report.ts'
import { type FaultServer, startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

const DAY_S = 86_400

/** Answers 429 with these headers to the posts that `isRefused` picks by request number. */
function startService(
  isRefused: (text: string, number: number) => boolean,
  toHeaders: () => Record<string, string>,
) {
  return startFaultServer({
    onRequest: (request, wire) => {
      const { text_data } = JSON.parse(request.body) as { text_data: string }
      if (!isRefused(text_data, request.number)) return wire.send(200, toTaskAnswer(request))
      wire.send(429, { error: true, status: 429, error_code: 'RATE', message: 'slow down' }, toHeaders())
    },
  })
}

function toPlan(server: FaultServer, rows: number) {
  return createRunPlan(folder, rows, server.baseUrl, {
    retry: { limit: 3, baseMs: 1, maxMs: 5, maxRetryAfterMs: 60_000 },
    pace: { kind: 'closed', concurrency: 1 },
  })
}

test("a date in Retry-After counts by the service's clock, however wrong it is", async () => {
  onlyInLongForm()
  const toDate = (ms: number) => new Date(Date.now() - 3_600_000 + ms).toUTCString()
  const server = await startService(
    (_, number) => number === 1,
    () => ({ date: toDate(0), 'retry-after': toDate(2_000) }),
  )
  const summary = await runs.start(toPlan(server, 1)).ended
  expect(summary).toMatchObject({ state: 'completed', rows: { succeeded: 1 } })
  // Dates have whole seconds.
  expect(summary.retry_after.waited_s).toBeGreaterThan(0.9)
})

test('rows that wait are reported with the time they wait for and the time left', async () => {
  const server = await startService(
    (text) => text === 'text 2',
    () => ({ 'retry-after': '30' }),
  )
  const run = runs.start(toPlan(server, 2))
  const { slowdown, etaMs } = await run.until((snapshot) => snapshot.slowdown?.kind === 'waiting')
  const leftMs = slowdown?.kind === 'waiting' ? slowdown.untilMs - Date.now() : 0
  expect(leftMs).toBeGreaterThan(10_000)
  expect(leftMs).toBeLessThan(31_000)
  expect(etaMs).toBeGreaterThan(10_000)
  run.command({ kind: 'stop' })
  const summary = await run.ended
  expect(summary).toMatchObject({ state: 'interrupted', to_repeat: { rows: 1 } })
  // It was stopped long before.
  expect(JSON.stringify(listRequestFacts(summary))).toMatch(
    /"1 answer asked to wait; rows were put off by 3\d[.\d]* s in total"/,
  )
})

test('a run whose last rows must wait a day stops with the time to resume, and sends them then', async () => {
  const service = { isOpen: false }
  const server = await startService(
    (text) => text === 'text 1' && !service.isOpen,
    () => ({ 'retry-after': String(DAY_S) }),
  )
  const { runId, ended } = runs.start(toPlan(server, 3))
  const summary = await ended
  expect(summary).toMatchObject({
    state: 'stopped',
    rows: { succeeded: 2, not_sent: 1 },
    to_repeat: { rows: 1 },
    retry_after: { answers: 1, waited_s: 0 },
    stop_advice: 'Resume the run then; rows not sent yet are kept.',
  })
  // It is not the time asked for, and none was waited.
  expect(listRequestFacts(summary)).toContainEqual({
    label: 'Retry-After',
    lines: ['1 answer asked to wait'],
  })
  expect(summary.stop_reason).toMatch(
    /asked to wait until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(Retry-After\), longer than a run waits$/,
  )
  service.isOpen = true
  expect(await runs.resume(runId).ended).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
})

test.each([
  ['3,000 years', '99999999999'],
  ['8,000 years, as a date', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ['more seconds than a number holds', '9'.repeat(400)],
])('a Retry-After of %s names no date to wait for', async (_, asked) => {
  const server = await startService(
    () => true,
    () => ({ 'retry-after': asked }),
  )
  const { stop_reason, stop_advice } = await runs.start(toPlan(server, 5)).ended
  expect(stop_reason).toBe(
    `${server.baseUrl} asked to wait for more than a year (Retry-After), longer than a run waits`,
  )
  expect(stop_advice).toBe(
    'Check the service, which may not mean that. Then resume the run; rows not sent yet are kept.',
  )
})

test('a service that asks every row to wait a day gets three requests and no more', async () => {
  const server = await startService(
    () => true,
    () => ({ 'retry-after': String(DAY_S) }),
  )
  const summary = await runs.start(toPlan(server, 50)).ended
  expect(summary).toMatchObject({ state: 'stopped', rows: { not_sent: 50 } })
  expect(server.requests).toHaveLength(3)
})

test('a watched run pauses when it is asked to wait too long, and continues on command', async () => {
  const service = { isOpen: false }
  const server = await startService(
    () => !service.isOpen,
    () => ({ 'retry-after': String(DAY_S) }),
  )
  const run = runs.start(toPlan(server, 4), { whenFailing: 'pause' })
  const { notice } = await run.until(({ phase }) => phase === 'paused')
  expect(notice).toMatchObject({ code: 'asked_to_wait' })
  service.isOpen = true
  run.command({ kind: 'begin' })
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 4 } })
})
