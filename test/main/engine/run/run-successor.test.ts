import { expect, test } from 'vitest'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, toRow } from './wire-record.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const START = { apiKey: 'key' }
/** Retries of earlier versions are runs of their own, and so are all that follow. */
const { retryAsChild } = createInProcessRuns(folder)

/** A service that refuses row 2 and breaks on row 3 the first time, and accepts everything else. */
async function startServiceInTrouble() {
  const met = new Set<number>()
  return startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const isFirst = !met.has(row)
      met.add(row)
      if (row === 2 && isFirst) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else if (row === 3 && isFirst) wire.reset()
      else wire.send(200, toTaskAnswer(request))
    },
  })
}

test('unknown rows that a retry skipped can be taken by a later one, and by one only', async () => {
  const server = await startServiceInTrouble()
  const plan = createRunPlan(folder, 4, server.baseUrl, { retry: { limit: 0 } })
  const parent = await engine.runs.startRun(plan, START)
  expect((await parent.ended).rows).toMatchObject({ succeeded: 2, rejected: 1, unknown: 1 })
  const first = retryAsChild(parent.runId)
  expect((await first.ended).rows).toMatchObject({ read: 1, succeeded: 1 })
  const second = await engine.runs.retryRun(parent.runId, { ...START, onUnknown: 'resend' })
  expect((await second.ended).rows).toMatchObject({ read: 1, succeeded: 1 })
  const third = await engine.runs.retryRun(parent.runId, { ...START, onUnknown: 'resend' })
  await expect(third.ended).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(countArrivals(server)).toEqual([1, 2, 2, 1])
})

test('a child run that is deleted after it has sent rows does not give them back', async () => {
  onlyInLongForm()
  const server = await startServiceInTrouble()
  const plan = createRunPlan(folder, 4, server.baseUrl, { retry: { limit: 0 } })
  const parent = await engine.runs.startRun(plan, START)
  await parent.ended
  const child = retryAsChild(parent.runId, 'resend')
  expect((await child.ended).rows).toMatchObject({ read: 2, succeeded: 2 })
  await engine.runs.deleteRun(child.runId)
  for (const again of [
    await engine.runs.retryRun(parent.runId, { ...START, onUnknown: 'resend' }),
    await engine.runs.resumeRun(parent.runId, { ...START, onUnknown: 'resend' }),
  ]) {
    await expect(again.ended).rejects.toMatchObject({
      code: 'RUN_NOT_RESUMABLE',
      message: expect.stringContaining('(deleted)'),
      hint: expect.stringContaining('Send the source again'),
    })
  }
  expect(countArrivals(server)).toEqual([1, 2, 2, 1])
})

/** A service that breaks on row 3 the first time, and accepts everything else. */
async function startServiceThatLosesOne() {
  let isBroken = true
  return startFaultServer({
    onRequest: (request, wire) => {
      const breaks = isBroken && toRow(request) === 3
      if (breaks) isBroken = false
      if (breaks) wire.reset()
      else wire.send(200, toTaskAnswer(request))
    },
  })
}

test('unknown rows that a retry has taken are not sent again by resuming their first run', async () => {
  onlyInLongForm()
  const server = await startServiceThatLosesOne()
  const plan = createRunPlan(folder, 4, server.baseUrl, { retry: { limit: 0 } })
  const parent = await engine.runs.startRun(plan, START)
  expect((await parent.ended).rows).toMatchObject({ succeeded: 3, unknown: 1 })
  const child = retryAsChild(parent.runId, 'resend')
  expect((await child.ended).rows).toMatchObject({ read: 1, succeeded: 1 })
  const resumed = await engine.runs.resumeRun(parent.runId, { ...START, onUnknown: 'resend' })
  expect((await resumed.ended).rows).toMatchObject({ succeeded: 4, unknown: 0 })
  expect(countArrivals(server)).toEqual([1, 1, 2, 1])
  await engine.runs.deleteRun(child.runId)
  const again = await engine.runs.resumeRun(parent.runId, { ...START, onUnknown: 'resend' })
  await expect(again.ended).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    message: expect.stringContaining('(deleted)'),
    hint: expect.stringContaining('Send the source again'),
  })
  const waited = await engine.runs.resumeRun(parent.runId, { ...START, onUnknown: 'skip' })
  expect((await waited.ended).rows).toMatchObject({ succeeded: 3, unknown: 1 })
  expect(countArrivals(server)).toEqual([1, 1, 2, 1])
})
