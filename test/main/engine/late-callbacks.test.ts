import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startCallbackService } from '../../helpers/callback-service.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { openEngine, untilSnapshot } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'

const folder = openTestFolder()

test('a callback that comes after its load test has ended settles no row of its source', async () => {
  onlyInLongForm()
  const service = await startCallbackService(({ index }) => ({ isLate: index === 2 }))
  const engine = openEngine(join(folder, 'load'))
  const plan = createRunPlan(folder, 5, service.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    load: { pace: { kind: 'closed', concurrency: 2 }, requests: 20, warmupMs: 0 },
    callback: { timeoutMs: 500 },
  })
  const ended = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
  expect(ended.rows).toMatchObject({ read: 5, succeeded: 5, not_sent: 0 })
  service.releaseLate()
  await service.untilDelivered()
  await engine.runs.settleLate()
  const later = await engine.runs.summarizeRun(ended.run_id)
  expect(later.rows).toEqual(ended.rows)
  expect(later.callbacks).toEqual(ended.callbacks)
}, 30_000)

test('rows that are overdue when an ended run is read are reported so, and sent again by a retry', async () => {
  onlyInLongForm()
  const service = await startCallbackService(({ index }) => ({ isLate: index === 0 }))
  const engine = openEngine(join(folder, 'overdue'))
  const plan = createRunPlan(folder, 3, service.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 4_000 },
  })
  const run = await engine.runs.startRun(plan, { apiKey: 'key' })
  await untilSnapshot(run, ({ phase, rows }) => phase === 'awaiting' && rows.succeeded === 2)
  expect(await engine.runs.summarizeRun(run.runId)).toMatchObject({ state: 'running', phase: 'awaiting' })
  run.stop()
  expect((await run.ended).rows).toMatchObject({ succeeded: 2, not_sent: 0 })
  await expect
    .poll(
      async () => {
        await engine.runs.settleLate(run.runId)
        return (await engine.runs.summarizeRun(run.runId)).rows
      },
      { timeout: 20_000 },
    )
    .toMatchObject({ succeeded: 2, awaiting: 0, overdue: 1 })
  const again = await engine.runs.retryRun(run.runId, { apiKey: 'key', onUnknown: 'skip' })
  expect((await again.ended).sessions.map(({ kind, rows_taken: taken }) => [kind, taken])).toEqual([
    ['start', 0],
    ['retry', 1],
  ])
}, 30_000)

test('rows that became overdue while nobody held their run are asked about before they are sent again', async () => {
  onlyInLongForm()
  const service = await startCallbackService(({ index }) => ({ isLate: index === 0 }))
  const engine = openEngine(join(folder, 'again'))
  const plan = createRunPlan(folder, 3, service.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 1_500 },
    onlyNew: { by: ['user_id', 'text_data'] },
  })
  const run = await engine.runs.startRun(plan, { apiKey: 'key' })
  await untilSnapshot(run, ({ phase, rows }) => phase === 'awaiting' && rows.succeeded === 2)
  run.stop()
  await run.ended
  const lookUp = async () => {
    const again = await engine.runs.startRun(plan, { hold: true, isDryRun: true })
    await again.ready
    const { sent_before: sentBefore } = await engine.runs.summarizeRun(again.runId)
    again.stop()
    await again.ended
    return sentBefore
  }
  expect(await lookUp()).toMatchObject({ rows: 3 })
  await expect.poll(lookUp, { timeout: 10_000 }).toMatchObject({ rows: 3, unknown: 1 })
}, 30_000)
