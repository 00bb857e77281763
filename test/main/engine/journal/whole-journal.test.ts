import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openJournalReader } from '../../../../src/main/engine/journal/journal.ts'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { readRunRecord, updateRunRecord } from '../../../../src/main/engine/journal/run-record.ts'
import { summarizeRun } from '../../../../src/main/engine/results/run-summary.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { RunSummary } from '../../../../src/shared/run/run.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { firstOf, onlyInLongForm } from '../../../helpers/long-form.ts'
import { openEngine, untilSnapshot } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'
import { startHoldingService } from '../run/holding-service.ts'
import { openReadyJournal } from './test-journal.ts'

const folder = openTestFolder()
const engine = openEngine(folder)
const START = { apiKey: 'key' }

let copies = 0

/** Size of a journal's WAL in bytes; 0 if it is missing. */
const walBytes = (runId: string) =>
  statSync(`${toJournalFile(folder, runId)}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** What a copy of a journal says without the files beside it. */
function summarizeCopy(runId: string): RunSummary {
  copies += 1
  const workspace = join(folder, `copy-${copies}`)
  createWorkspaceFolders(workspace)
  copyFileSync(toJournalFile(folder, runId), toJournalFile(workspace, runId))
  const pool = new ReaderPool()
  try {
    const family = readRunFamily(pool, toJournalFile(workspace, runId), () => false)
    if (family === null) throw new Error('the copy holds no run')
    return summarizeRun(family)
  } finally {
    pool.close()
  }
}

/** The facts about a run itself, whichever files lie beside it. */
const toOwn = ({ state, rows, ended_at: endedAt, requests }: RunSummary) => ({
  state,
  rows,
  endedAt,
  requests,
})

async function expectWhole(runId: string): Promise<void> {
  const original = await engine.runs.summarizeRun(runId)
  expect(walBytes(runId)).toBe(0)
  expect(toOwn(summarizeCopy(runId))).toEqual(toOwn(original))
}

/** A reader like another process's, closed after the test. */
function openReader(runId: string): DatabaseSync {
  const reader = new DatabaseSync(toJournalFile(folder, runId), { readOnly: true })
  onTestFinished(() => {
    if (reader.isOpen) reader.close()
  })
  reader.prepare('SELECT state FROM run').get()
  return reader
}

/** A run of six rows that was stopped after three. */
async function startInterruptedRun() {
  const service = await startHoldingService()
  const plan = createRunPlan(folder, 6, service.baseUrl, { pace: { kind: 'closed', concurrency: 3 } })
  const run = await engine.runs.startRun(plan, START)
  await service.arrivals(3)
  run.stop()
  await untilSnapshot(run, ({ phase }) => phase === 'draining')
  service.release()
  expect(await run.ended).toMatchObject({ state: 'interrupted', rows: { succeeded: 3, not_sent: 3 } })
  return run.runId
}

test('a journal is complete in its file once its writer closes it, whoever has it open', () => {
  const journal = openReadyJournal(3)
  const reader = openJournalReader(journal.file)
  onTestFinished(() => reader.close())
  expect(readRunRecord(reader)?.rowsRead).toBe(3)
  journal.transact('process', () => updateRunRecord(journal.db, { state: 'completed' }))
  journal.close()
  expect(statSync(`${journal.file}-wal`).size).toBe(0)
  expect(readRunRecord(reader)?.state).toBe('completed')
})

test('a stopped or resumed run is complete in its file although readers have it open', async () => {
  const runId = await startInterruptedRun()
  await expectWhole(runId)
  const reader = openReader(runId)
  const resumed = await engine.runs.resumeRun(runId, { ...START, onUnknown: 'skip' })
  expect(await resumed.ended).toMatchObject({ state: 'completed', rows: { succeeded: 6 } })
  await expectWhole(runId)
  expect(reader.isOpen).toBe(true)
})

test('a run that ended while somebody was reading is made complete by the next reader', async () => {
  onlyInLongForm()
  const runId = await startInterruptedRun()
  const reader = openReader(runId)
  reader.exec('BEGIN; SELECT state FROM run')
  const resumed = await engine.runs.resumeRun(runId, { ...START, onUnknown: 'skip' })
  expect(await resumed.ended).toMatchObject({ state: 'completed', rows: { succeeded: 6 } })
  expect(walBytes(runId)).toBeGreaterThan(0)
  expect(reader.prepare('SELECT state FROM run').get()).toEqual({ state: 'interrupted' })
  reader.exec('COMMIT')
  await expectWhole(runId)
})

test('a run and its retry are complete in their files although readers have both open', async () => {
  onlyInLongForm()
  let isMended = false
  const server = await startFaultServer({
    onRequest: (request, wire) =>
      isMended ? wire.send(200, toTaskAnswer(request)) : wire.send(400, toErrorAnswer(400, 'INVALID', 'no')),
  })
  const parent = await engine.runs.startRun(createRunPlan(folder, 3, server.baseUrl), START)
  expect((await parent.ended).rows).toMatchObject({ rejected: 3 })
  openReader(parent.runId)
  isMended = true
  const retry = await engine.runs.retryRun(parent.runId, { ...START, onUnknown: 'skip', hold: true })
  await retry.ready
  openReader(retry.runId)
  retry.begin()
  expect((await retry.ended).rows).toMatchObject({ succeeded: 3 })
  for (const { runId } of [parent, retry]) {
    expect(walBytes(runId)).toBe(0)
  }
  expect(summarizeCopy(retry.runId)).toMatchObject({ state: 'completed', rows: { succeeded: 3 } })
})

test('a load test is complete in its file although readers have it open', async () => {
  onlyInLongForm()
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const plan = createRunPlan(folder, 3, server.baseUrl, {
    load: { pace: { kind: 'closed', concurrency: 2 }, requests: 20, warmupMs: 0 },
  })
  const run = await engine.runs.startRun(plan, { ...START, hold: true })
  await untilSnapshot(run, ({ phase }) => phase === 'ready')
  openReader(run.runId)
  run.begin()
  expect((await run.ended).state).toBe('completed')
  await expectWhole(run.runId)
})

test.each(
  firstOf(1, [
    ['lists its workspace', () => engine.runs.listRuns()],
    [
      'reads its rows',
      (runId: string) => engine.results.readPage(runId, { filter: {}, offset: 0, limit: 5 }),
    ],
  ]),
)('the journal of a killed process is made complete by the first process that %s', async (_, look) => {
  const runId = await startInterruptedRun()
  const file = toJournalFile(folder, runId)
  const killed = '20200101-000000-000bbbb'
  // A killed process leaves its file and its WAL as they were at that moment.
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA wal_autocheckpoint = 0; UPDATE run SET state = 'running', run_id = '${killed}'`)
  for (const ending of ['', '-wal']) copyFileSync(file + ending, toJournalFile(folder, killed) + ending)
  db.close()
  onTestFinished(() => engine.runs.deleteRun(killed))
  expect(walBytes(killed)).toBeGreaterThan(0)
  await look(killed)
  expect(walBytes(killed)).toBe(0)
  await expectWhole(killed)
  expect(summarizeCopy(killed)).toMatchObject({ run_id: killed, state: 'interrupted' })
})
