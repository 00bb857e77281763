import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listRunIds, toJournalFile, toRunFiles } from '../../../src/main/engine/workspace/workspace-files.ts'
import { FOUND_STATES } from '../../../src/shared/lookback/run-list.ts'
import { toShownState } from '../../../src/shared/run/run.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { holdLease } from '../../helpers/hold-lease.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTestEngine, openEngine, untilSnapshot } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { startHoldingService } from './run/holding-service.ts'
import { countArrivals } from './run/wire-record.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const START = { apiKey: 'key' }

const startTakingService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

test('a run is sent in its own thread from source to end, and can be read meanwhile', async () => {
  const server = await startHoldingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 10, server.baseUrl), START)
  expect(engine.runs.heldRun(run.runId)).toBe(run)
  await run.ready
  await server.arrivals(4)
  server.answer(4)
  await untilSnapshot(run, ({ rows }) => rows.succeeded === 4)
  // Outcomes are in the journal some milliseconds after they are counted.
  await waitFor(async () =>
    expect(await engine.runs.summarizeRun(run.runId)).toMatchObject({
      state: 'running',
      ended_at: null,
      rows: { read: 10, succeeded: 4, unknown: 0 },
    }),
  )
  expect((await engine.runs.readPlan(run.runId)).connection.baseUrl).toBe(server.baseUrl)
  server.release()
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 10 } })
  expect(engine.runs.heldRun(run.runId)).toBeNull()
  expect((await engine.runs.listRuns()).runs).toContainEqual(await engine.runs.summarizeRun(run.runId))
})

test('a run obeys commands from outside its thread: begin, pause, concurrency, resume, stop', async () => {
  const server = await startHoldingService()
  const plan = createRunPlan(folder, 50, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 } })
  const run = await engine.runs.startRun(plan, { ...START, hold: true })
  const readShown = async () => {
    const state = toShownState(await engine.runs.summarizeRun(run.runId))
    const lists = await Promise.all(FOUND_STATES.map((one) => engine.runs.listRuns({ states: [one] })))
    // Each state finds exactly the runs in that state.
    const found = FOUND_STATES.filter((_, at) => lists[at]?.runs.some(({ run_id }) => run_id === run.runId))
    expect(found).toEqual([state])
    return state
  }
  await untilSnapshot(run, ({ phase }) => phase === 'ready')
  expect([server.connections, await readShown()]).toEqual([0, 'ready'])
  run.begin()
  await server.arrivals(1)
  expect(await readShown()).toBe('running')
  run.setConcurrency(4)
  await server.arrivals(4)
  run.pause()
  await untilSnapshot(run, ({ phase }) => phase === 'draining')
  server.answer(4)
  await untilSnapshot(run, ({ phase }) => phase === 'paused')
  expect(await readShown()).toBe('paused')
  run.resume()
  await server.arrivals(8)
  expect(server.open).toBe(4)
  run.stop()
  server.release()
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { succeeded: 8, not_sent: 42 } })
  const resumed = await engine.runs.resumeRun(run.runId, { ...START, onUnknown: 'skip' })
  expect(await resumed.ended).toMatchObject({ state: 'completed', rows: { succeeded: 50 } })
  expect(countArrivals(server)).toEqual(Array(50).fill(1))
})

test('an active run cannot be resumed, retried or deleted', async () => {
  const server = await startHoldingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), START)
  await server.arrivals(3)
  const options = { ...START, onUnknown: 'skip' as const }
  await expect(engine.runs.resumeRun(run.runId, options)).rejects.toMatchObject({ code: 'RUN_BUSY' })
  await expect(engine.runs.deleteRun(run.runId)).rejects.toMatchObject({ code: 'RUN_BUSY' })
  await expect(engine.runs.retryRun(run.runId, options)).rejects.toMatchObject({ code: 'RUN_BUSY' })
  server.release()
  expect(await run.ended).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
})

test('a run that another process holds is running, and is taken over when that process is killed', async () => {
  onlyInLongForm()
  const server = await startTakingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), { ...START, hold: true })
  await run.ready
  run.stop()
  await run.ended
  const holder = await holdLease(toJournalFile(folder, run.runId))
  onTestFinished(() => holder.kill())
  expect(await engine.runs.summarizeRun(run.runId)).toMatchObject({ state: 'running' })
  const options = { ...START, onUnknown: 'skip' as const }
  const refused = await engine.runs.resumeRun(run.runId, options)
  await expect(refused.ended).rejects.toMatchObject({
    code: 'RUN_BUSY',
    message: `run ${run.runId} is in use by another process`,
  })
  await holder.kill()
  expect(await engine.runs.summarizeRun(run.runId)).toMatchObject({ state: 'interrupted' })
  const resumed = await engine.runs.resumeRun(run.runId, options)
  expect(await resumed.ended).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
})

test('a deleted run is gone with all its files', async () => {
  onlyInLongForm()
  const server = await startTakingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), START)
  await run.ended
  await engine.results.readFacets(run.runId)
  await engine.runs.deleteRun(run.runId)
  expect(toRunFiles(folder, run.runId).filter((file) => existsSync(file))).toEqual([])
  for (const read of [
    () => engine.runs.summarizeRun(run.runId),
    () => engine.results.readRow(run.runId, 1),
    () => engine.runs.deleteRun(run.runId),
    () => engine.runs.resumeRun(run.runId, { ...START, onUnknown: 'skip' }),
  ]) {
    await expect(read()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  }
})

test.each(['', '.', '..', '../runs/x', 'a/b', 'no-such-run'])('`%s` does not name a run', async (runId) => {
  await expect(engine.runs.summarizeRun(runId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a source that cannot be used leaves no run behind', async () => {
  const before = listRunIds(folder)
  const plan = createRunPlan(folder, 1, 'http://127.0.0.1:1')
  const missing = { ...plan, source: { ...plan.source, path: join(folder, 'no-such-file.csv') } }
  const run = await engine.runs.startRun(missing, START)
  await expect(run.ready).rejects.toMatchObject({ code: 'BAD_SOURCE' })
  await expect(run.ended).rejects.toMatchObject({ code: 'BAD_SOURCE' })
  expect(listRunIds(folder)).toEqual(before)
})

test('a key that cannot be a header value is refused before a run begins', async () => {
  const before = listRunIds(folder)
  const plan = createRunPlan(folder, 1, 'http://127.0.0.1:1')
  const starting = engine.runs.startRun(plan, { apiKey: 'pasted\nwith a break' })
  await expect(starting).rejects.toMatchObject({ code: 'NO_API_KEY' })
  await starting.catch((error: Error) => expect(error.message).not.toContain('pasted'))
  expect(listRunIds(folder)).toEqual(before)
})

test('runs are listed newest first, without one that was cut off before its plan was stored', async () => {
  onlyInLongForm()
  const own = join(folder, 'own')
  const other = createTestEngine(own)
  onTestFinished(() => other.close())
  const server = await startTakingService()
  const plan = createRunPlan(folder, 1, server.baseUrl)
  const first = await other.runs.startRun(plan, START)
  await first.ended
  const second = await other.runs.startRun(plan, START)
  await second.ended
  writeFileSync(toJournalFile(own, '20200101-000000-bcdfgh'), '')
  const listed = (await other.runs.listRuns()).runs.map(({ run_id }) => run_id)
  expect(listed.toSorted()).toEqual([first.runId, second.runId].toSorted())
  await expect(other.runs.readPlan('20200101-000000-bcdfgh')).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
  })
})

test('a closed engine stops its runs in order', async () => {
  const own = join(folder, 'closing')
  const other = createTestEngine(own)
  const server = await startHoldingService()
  const run = await other.runs.startRun(createRunPlan(folder, 400, server.baseUrl), START)
  await server.arrivals(4)
  const closing = other.close()
  server.release()
  await closing
  const reader = createTestEngine(own)
  onTestFinished(() => reader.close())
  const { state, rows } = await reader.runs.summarizeRun(run.runId)
  expect(state).toBe('interrupted')
  // Requests in flight have ended; how many more went out before the thread heard of it is open.
  expect(rows.succeeded).toBeGreaterThanOrEqual(4)
  expect(rows.succeeded).toBeLessThan(400)
  expect(rows).toMatchObject({ unknown: 0, not_sent: 400 - rows.succeeded })
})

test('a workspace that cannot be created is named', () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  expect(() => createTestEngine(join(file, 'workspace'))).toThrow(/cannot create the workspace .*a-file/)
})

test.skipIf(process.platform === 'win32')(
  'the journals of a workspace are readable by its owner only',
  () => {
    createTestEngine(join(folder, 'fresh'))
    expect(statSync(join(folder, 'fresh', 'runs')).mode & 0o777).toBe(0o700)
  },
)
