import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPage } from '../../../../src/main/engine/run/results/result-page.ts'
import { toRunFiles } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { countArrivals, listBodies, toRow } from './wire-record.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

/** A service that refuses row 2, breaks on row 4 and accepts all others, until it is fixed. */
async function startBrokenService() {
  const service = { isMended: false }
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const row = toRow(request)
      if (service.isMended || (row !== 2 && row !== 4)) return wire.send(200, toTaskAnswer(request))
      if (row === 2) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else wire.reset()
    },
  })
  return Object.assign(service, { server })
}

/** Content that must be sent again unchanged: commas, quotes, line breaks, white space, emoji. */
const TEXTS = ['"a, b"', '"say ""hi"""', '"two\nlines"', '  kept as it is ', 'ümläut 🙂', '=1+1']

test('a retry sends unsuccessful rows as a child run, byte for byte the same', async () => {
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const parent = await runs.start(plan).ended
  expect(parent.rows).toMatchObject({ succeeded: 4, rejected: 1, unknown: 1 })
  service.isMended = true
  const child = await runs.retryAsChild(parent.run_id, 'resend').ended
  expect(child).toMatchObject({
    state: 'completed',
    parent_run_id: parent.run_id,
    name: parent.name,
    rows: { read: 2, succeeded: 2, not_sent: 0 },
    requests: { sent: 2, retried: 0 },
  })
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 2, 1, 1])
  for (const bodies of listBodies(service.server).values()) expect(new Set(bodies).size).toBe(1)
  const page = runs.read(child.run_id, (view) => readPage(view, { filter: {}, offset: 0, limit: 10 }))
  expect(page.rows.map(({ row, postId, state }) => [row, postId, state])).toEqual([
    [2, `${parent.run_id}-2`, 'succeeded'],
    [4, `${parent.run_id}-4`, 'succeeded'],
  ])
})

test('a retry leaves rows of unknown outcome alone unless asked to send them', async () => {
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const parent = await runs.start(plan).ended
  service.isMended = true
  expect(await runs.retryAsChild(parent.run_id, 'skip').ended).toMatchObject({
    rows: { read: 1, succeeded: 1 },
  })
  expect(countArrivals(service.server)).toEqual([1, 2, 1, 1, 1, 1])
})

test('a retry of a retry keeps the post_ids of the first run', async () => {
  const service = await startBrokenService()
  const plan = createRunPlan(folder, TEXTS, service.server.baseUrl, { retry: { limit: 0 } })
  const parent = await runs.start(plan).ended
  const child = await runs.retryAsChild(parent.run_id, 'resend').ended
  expect(child.rows).toMatchObject({ read: 2, rejected: 1, unknown: 1 })
  service.isMended = true
  const grandchild = await runs.retryAsChild(child.run_id, 'resend').ended
  expect(grandchild).toMatchObject({ parent_run_id: child.run_id, rows: { read: 2, succeeded: 2 } })
  for (const bodies of listBodies(service.server).values()) expect(new Set(bodies).size).toBe(1)
})

test('a retry takes rows that were never sent, and its parent cannot be resumed', async () => {
  const service = await startBrokenService()
  service.isMended = true
  const held = runs.start(createRunPlan(folder, 9, service.server.baseUrl), { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'begin', limit: 4 })
  await held.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 4)
  held.command({ kind: 'stop' })
  await held.ended
  const child = runs.retryAsChild(held.runId)
  expect(await child.ended).toMatchObject({ rows: { read: 5, succeeded: 5 } })
  await expect(runs.resume(held.runId).ended).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    hint: expect.stringContaining(child.runId),
  })
  await expect(runs.retryAsChild(held.runId).ended).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(countArrivals(service.server)).toEqual(Array(9).fill(1))
})

test('deleting a child run gives its rows back, to a resume and to a retry', async () => {
  const service = await startBrokenService()
  service.isMended = true
  const held = runs.start(createRunPlan(folder, 6, service.server.baseUrl), { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'stop' })
  await held.ended
  for (const take of ['retry', 'resume'] as const) {
    const child = runs.retryAsChild(held.runId, 'skip', { hold: true })
    await child.until(({ phase }) => phase === 'ready')
    child.command({ kind: 'stop' })
    expect(await child.ended).toMatchObject({ rows: { read: 6, not_sent: 6 } })
    for (const file of toRunFiles(folder, child.runId)) rmSync(file, { force: true })
    if (take === 'resume')
      expect(await runs.resume(held.runId).ended).toMatchObject({ rows: { succeeded: 6 } })
  }
  expect(countArrivals(service.server)).toEqual(Array(6).fill(1))
})

test('a run in which all rows succeeded has nothing to retry, and can still be resumed', async () => {
  const service = await startBrokenService()
  service.isMended = true
  const parent = await runs.start(createRunPlan(folder, 3, service.server.baseUrl)).ended
  await expect(runs.retryAsChild(parent.run_id).ended).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    message: expect.stringContaining('nothing is left to retry'),
  })
  expect(await runs.resume(parent.run_id).ended).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
  expect(service.server.requests).toHaveLength(3)
})

test('invalid rows are not sent, and no retry takes them', async () => {
  const service = await startBrokenService()
  const plan = createRunPlan(folder, ['one', 'two', '', 'four', ''], service.server.baseUrl, {
    retry: { limit: 0 },
  })
  const parent = await runs.start(plan).ended
  expect(parent.rows).toMatchObject({ read: 5, invalid: 2, succeeded: 1, rejected: 1, unknown: 1 })
  service.isMended = true
  expect(await runs.retryAsChild(parent.run_id, 'resend').ended).toMatchObject({
    rows: { read: 2, invalid: 0, succeeded: 2 },
  })
  expect([...listBodies(service.server).keys()].toSorted()).toEqual([1, 2, 4])
})

test('a child run can be resumed after a stop like any other run', async () => {
  const service = await startBrokenService()
  const texts = Array.from({ length: 12 }, (_, i) => `text ${i}`)
  const held = runs.start(createRunPlan(folder, texts, service.server.baseUrl), { hold: true })
  await held.until(({ phase }) => phase === 'ready')
  held.command({ kind: 'begin', limit: 5 })
  await held.until(({ phase, rows }) => phase === 'ready' && rows.not_sent === 7)
  held.command({ kind: 'stop' })
  await held.ended
  service.isMended = true
  const child = runs.retryAsChild(held.runId, 'resend', { hold: true })
  await child.until(({ phase }) => phase === 'ready')
  child.command({ kind: 'begin', limit: 3 })
  await child.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 3)
  child.command({ kind: 'stop' })
  expect(await child.ended).toMatchObject({ rows: { read: 9, succeeded: 3, not_sent: 6 } })
  expect(await runs.resume(child.runId).ended).toMatchObject({ state: 'completed', rows: { succeeded: 9 } })
  const succeeded = [...listBodies(service.server)].filter(([row]) => row !== 2 && row !== 4)
  expect(succeeded.map(([, bodies]) => bodies.length)).toEqual(Array(10).fill(1))
})
