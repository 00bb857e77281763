import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { countArrivals } from './run/wire-record.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const START = { apiKey: 'key' }

const startTakingService = () =>
  startFaultServer({ onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) })

test('an export never replaces the source of its run', async () => {
  const server = await startTakingService()
  const plan = createRunPlan(folder, 2, server.baseUrl)
  const run = await engine.runs.startRun(plan, START)
  await run.ended
  const before = readFileSync(plan.source.path)
  await expect(engine.results.exportRun(run.runId, { file: plan.source.path })).rejects.toMatchObject({
    code: 'BAD_USAGE',
    message: expect.stringContaining(plan.source.path),
  })
  expect(readFileSync(plan.source.path)).toEqual(before)
})

test('a damaged journal is named and hides no other run', async () => {
  const server = await startTakingService()
  const run = await engine.runs.startRun(createRunPlan(folder, 1, server.baseUrl), START)
  await run.ended
  writeFileSync(toJournalFile(folder, '20200101-000000-damaged'), 'this is no database at all'.repeat(100))
  writeFileSync(join(folder, 'runs', 'a copy of one.journal'), '')
  const { runs, unreadable } = await engine.runs.listRuns()
  expect(runs.map(({ run_id }) => run_id)).toContain(run.runId)
  expect(unreadable).toEqual([
    { runId: '20200101-000000-damaged', message: expect.stringContaining('20200101-000000-damaged') },
  ])
})

test('an invalid row lists all of its problems, and what was found', async () => {
  const server = await startTakingService()
  const plan = createRunPlan(folder, ['fine', ',a_2\nfine too'], server.baseUrl)
  const run = await engine.runs.startRun(plan, START)
  await run.ended
  const { rows } = await engine.results.readPage(run.runId, {
    filter: { state: 'invalid' },
    offset: 0,
    limit: 1,
  })
  expect(rows[0]?.message).toMatch(/text_data, which is empty; user_id: must not contain .*found `a_2`/)
})

test('a retry accepts a code that means delivered, and counts the lost result', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (_, wire) => wire.send(400, toErrorAnswer(400, 'DUPLICATE_POST_ID', 'had it before')),
  })
  const plan = createRunPlan(folder, 2, server.baseUrl)
  const parent = await engine.runs.startRun(plan, START)
  expect((await parent.ended).rows.rejected).toBe(2)
  const options = { ...START, onUnknown: 'skip', deliveredCodes: ['DUPLICATE_POST_ID'] } as const
  const child = await engine.runs.retryRun(parent.runId, options)
  expect(await child.ended).toMatchObject({ rows: { succeeded: 2 }, result_lost: { rows: 2 } })
})

test('deleting a child run between two others does not give its child’s rows back to its parent', async () => {
  onlyInLongForm()
  const server = await startTakingService()
  const parent = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), {
    ...START,
    hold: true,
  })
  await parent.ready
  parent.stop()
  await parent.ended
  const middle = createInProcessRuns(folder).retryAsChild(parent.runId, 'skip', { hold: true })
  await middle.until(({ phase }) => phase === 'ready')
  middle.command({ kind: 'stop' })
  await middle.ended
  const last = await engine.runs.retryRun(middle.runId, { ...START, onUnknown: 'skip' })
  expect((await last.ended).rows.succeeded).toBe(3)
  await engine.runs.deleteRun(middle.runId)
  const again = await engine.runs.retryRun(parent.runId, { ...START, onUnknown: 'resend' })
  await expect(again.ended).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(countArrivals(server)).toEqual([1, 1, 1])
})

test.each(['http://user:secret@host', 'https://host?key=secret', 'https://host#secret'])(
  'a plan refuses the address %s, which would be journaled',
  (baseUrl) => {
    const plan = { connection: { baseUrl }, source: { path: 'x.csv' }, operation: { kind: 'task' } }
    expect(planSchema.safeParse(plan).success).toBe(false)
  },
)
