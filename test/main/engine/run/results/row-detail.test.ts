import { expect, test } from 'vitest'
import { KeptLatencies } from '../../../../../src/main/engine/journal/latency-series.ts'
import { summarizeRun } from '../../../../../src/main/engine/results/run-summary.ts'
import { readRow } from '../../../../../src/main/engine/run/results/row-detail.ts'
import { openTestFolder } from '../../../../helpers/test-folder.ts'
import { toRow } from '../wire-record.ts'
import { completeRun, startUnendingRun } from './moderated-runs.ts'

const folder = openTestFolder()

test('a row shows every try, its request as sent and its answer as received', async () => {
  const { runs, runId, server } = await completeRun(folder, 20)
  const detail = runs.read(runId, (view) => readRow(view, 7))
  const sent = server.requests.filter((request) => toRow(request) === 7)
  expect(sent.map(({ body }) => body)).toEqual([detail.requestBody, detail.requestBody])
  expect(detail.requestUrl).toBe(server.baseUrl + sent[0]?.path)
  expect(JSON.parse(detail.responseBody ?? '')).toMatchObject({ task_id: `task-${runId}-7` })
  expect(detail.columns).toEqual(['text_data', 'user_id'])
  expect(detail.result).toMatchObject({ row: 7, state: 'succeeded', attempts: 2 })
  const { attempts } = detail
  expect(attempts).toMatchObject([
    { number: 1, outcome: 'rejected', status: 429, errorCode: 'RATE_LIMITED', message: 'slow' },
    { number: 2, outcome: 'succeeded', status: 200, errorCode: null, message: null },
  ])
  for (const { sentAt, durationMs, waitingMs } of attempts) {
    expect(new Date(sentAt ?? '').toISOString()).toBe(sentAt)
    expect(durationMs).toBeGreaterThanOrEqual(waitingMs ?? Infinity)
  }
  expect(attempts.map(({ sentAt }) => sentAt).toSorted()).toEqual(attempts.map(({ sentAt }) => sentAt))
})

test('an invalid row shows its problems and has no request', async () => {
  const { runs, runId } = await completeRun(folder, 20)
  const detail = runs.read(runId, (view) => readRow(view, 10))
  expect(detail).toMatchObject({
    result: { row: 10, state: 'invalid', postId: null },
    requestBody: null,
    responseBody: null,
    attempts: [],
  })
  expect(detail.problems).toContainEqual(
    expect.objectContaining({ row: 10, severity: 'error', code: 'one_of' }),
  )
})

test('a row that was not sent yet shows the request that will be sent', async () => {
  const { runs, runId, stop } = await startUnendingRun(folder, 100, 40)
  await stop()
  const detail = runs.read(runId, (view) => readRow(view, 99))
  expect(detail).toMatchObject({
    result: { state: 'pending', attempts: 0 },
    attempts: [],
    responseBody: null,
  })
  expect(JSON.parse(detail.requestBody ?? '')).toMatchObject({ post_id: `${runId}-99`, user_id: 'user0' })
})

test('a record that does not exist is reported', async () => {
  const { runs, runId } = await completeRun(folder, 5)
  for (const row of [0, 6, -1, 1.5]) {
    expect(() => runs.read(runId, (view) => readRow(view, row))).toThrow(
      expect.objectContaining({ code: 'BAD_USAGE', message: `run ${runId} has no record ${row}` }),
    )
  }
})

test('the seconds of a run include every try, and its distribution every answer', async () => {
  const { runs, runId, summary } = await completeRun(folder, 60)
  const { seconds, bars } = runs.read(runId, (view) => new KeptLatencies().read(view))
  const sum = (name: 'sent' | 'succeeded' | 'rejected' | 'failed' | 'unknown') =>
    seconds.reduce((total, second) => total + second[name], 0)
  const { requests, latency_ms } = summary
  expect({
    sent: sum('sent'),
    succeeded: sum('succeeded'),
    rejected: sum('rejected'),
    failed: sum('failed'),
    unknown: sum('unknown'),
  }).toEqual({
    sent: requests.sent,
    succeeded: requests.succeeded,
    rejected: requests.rejected,
    failed: requests.failed,
    unknown: requests.unknown,
  })
  expect(seconds[0]?.second).toBe(0)
  const distribution = bars.http_req_duration ?? []
  expect(distribution.reduce((total, { count }) => total + count, 0)).toBe(requests.sent)
  expect(bars.callback_latency).toBeUndefined()
  const duration = latency_ms.http_req_duration
  expect(duration?.count).toBe(requests.sent)
  expect(distribution.at(-1)?.upToMs).toBeGreaterThanOrEqual((duration?.max ?? Infinity) * 0.999)
  expect(distribution[0]?.upToMs).toBeGreaterThanOrEqual(duration?.min ?? Infinity)
  expect(latency_ms.response_time).toBeUndefined()
  const waiting = runs.read(runId, (view) => new KeptLatencies().read(view, ['http_req_waiting']))
  expect(Object.keys(waiting.bars)).toEqual(['http_req_waiting'])
  expect(waiting.bars.http_req_waiting?.reduce((total, { count }) => total + count, 0)).toBe(requests.sent)
  expect(Object.keys(waiting.seconds[0]?.latencyMs ?? {})).toEqual(['http_req_waiting'])
  // Each of four lanes has opened a connection.
  expect(latency_ms.http_req_connecting?.count).toBe(4)
})

test('a run over several sessions adds up its seconds and its time', async () => {
  const { runs, runId, stop } = await startUnendingRun(folder, 100, 40)
  await stop()
  const first = runs.summarize(runId)
  const again = runs.resume(runId, 'skip', { hold: true })
  await again.until(({ phase }) => phase === 'ready')
  again.command({ kind: 'begin', limit: 5 })
  // Right after `begin` nothing is in flight either, so only the count shows that something was sent.
  await again.until(({ requests }) => requests.sent > first.requests.sent)
  again.command({ kind: 'stop' })
  await again.ended
  runs.read(runId, (view) => {
    const summary = summarizeRun(view)
    const { seconds } = new KeptLatencies().read(view)
    expect(seconds.reduce((total, { sent }) => total + sent, 0)).toBe(summary.requests.sent)
    expect(summary.requests.sent).toBeGreaterThan(first.requests.sent)
    expect(summary.throughput.duration_s).toBeGreaterThan(first.throughput.duration_s)
    expect(summary.started_at).toBe(first.started_at)
  })
})
