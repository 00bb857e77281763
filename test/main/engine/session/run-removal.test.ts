import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { changeAnnotations } from '../../../../src/main/engine/workspace/run-annotations.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
  toRecheckFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { holdLease } from '../../../helpers/hold-lease.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createTestEngine, type TestEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan } from '../../../helpers/test-folder.ts'
import { writeRun } from '../../../helpers/write-run.ts'

/** A text in every record of the deleted run. */
const SECRET = 'a-text-that-nobody-else-has'

function openWorkspace(): { workspace: string; engine: TestEngine } {
  const workspace = createTemporaryFolder()
  createWorkspaceFolders(workspace)
  const engine = createTestEngine(workspace)
  onTestFinished(() => engine.close())
  return { workspace, engine }
}

/** Files below a folder that contain a text in their name or content. */
function findFiles(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => file.includes(text) || readFileSync(file).includes(text))
}

/** Stores a callback of a run, as a receiver of the workspace would. */
async function storeCallback(workspace: string, runToken: string): Promise<void> {
  const writer = InboxWriter.open(workspace) ?? expect.fail('the inbox is held')
  const body = new TextEncoder().encode(JSON.stringify({ text: SECRET }))
  await new Promise((resolve) => writer.store({ runToken, item: 1, receivedAtUs: 1, body }, resolve))
  writer.close()
}

/** A run whose rows, answers, name, note, verdicts, callback and exports all contain the secret. */
async function recordEverything({ workspace, engine }: ReturnType<typeof openWorkspace>): Promise<string> {
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const sources = createTemporaryFolder()
  const plan = createRunPlan(sources, [`${SECRET} 1`, `${SECRET} 2`], server.baseUrl, { name: SECRET })
  const run = await engine.runs.startRun(plan, { apiKey: 'key' })
  await run.ended
  const { runId } = run
  await engine.runs.annotateRun(runId, { name: `${SECRET} renamed`, addTags: [SECRET], note: SECRET })
  await engine.lookback.storeVerdicts(runId, [
    { row: 1, verdict: 'agree', rule: null, note: SECRET, stratum: null, stratum_rows: null },
  ])
  mkdirSync(join(workspace, 'downloads'))
  for (const file of ['results.csv', 'downloads/results.xlsx']) {
    await engine.results.exportRun(runId, { file: join(workspace, file) })
  }
  await engine.results.exportRun(runId, { file: join(sources, 'kept.csv') })
  // What a killed process may leave.
  writeFileSync(join(workspace, 'runs', `.${runId}.annotations.0123.part`), SECRET)
  await storeCallback(workspace, runId)
  expect((await engine.runs.listRuns({ search: SECRET })).total).toBe(1)
  return runId
}

describe('deleting a run', () => {
  it('removes every trace of it from the workspace, and keeps the others', async () => {
    const opened = openWorkspace()
    const { workspace, engine } = opened
    writeRun(workspace, { runId: 'other', name: 'stays' })
    const runId = await recordEverything(opened)
    expect(findFiles(workspace, SECRET).length).toBeGreaterThan(5)
    await engine.runs.deleteRun(runId)
    expect(findFiles(workspace, SECRET)).toEqual([])
    expect(findFiles(workspace, runId)).toEqual([])
    expect((await engine.runs.listRuns()).runs.map(({ name }) => name)).toEqual(['stays'])
  })

  it('keeps a file of the workspace that was written over an export', async () => {
    onlyInLongForm()
    const opened = openWorkspace()
    const runId = await recordEverything(opened)
    const file = join(opened.workspace, 'results.csv')
    writeFileSync(file, 'something else')
    await opened.engine.runs.deleteRun(runId)
    expect(readFileSync(file, 'utf8')).toBe('something else')
  })

  it('is refused while another process holds the run', async () => {
    const { workspace, engine } = openWorkspace()
    writeRun(workspace, { runId: 'held', state: 'running' })
    const holder = await holdLease(toJournalFile(workspace, 'held'))
    await expect(engine.runs.deleteRun('held')).rejects.toMatchObject({ code: 'RUN_BUSY' })
    await expect(engine.runs.wipe()).rejects.toMatchObject({ code: 'RUN_BUSY' })
    expect(await engine.runs.deleteRuns(['held'])).toEqual(['held'])
    await holder.kill()
    await engine.runs.deleteRun('held')
    expect(existsSync(toJournalFile(workspace, 'held'))).toBe(false)
  })
})

describe('retention', () => {
  it('finds old runs by their end, but neither running ones nor baselines', async () => {
    const { workspace, engine } = openWorkspace()
    for (const runId of ['old', 'held', 'named']) {
      writeRun(workspace, { runId, state: runId === 'held' ? 'running' : 'completed', createdAtMs: 1 })
    }
    writeRun(workspace, { runId: 'new', createdAtMs: Date.now() })
    await engine.lookback.setBaseline('named', 'main')
    const holder = await holdLease(toJournalFile(workspace, 'held'))
    onTestFinished(() => holder.kill())
    const found = await engine.runs.findPrunable({
      olderThanMs: 60_000,
      largerThanBytes: null,
      keepBelowBytes: null,
    })
    expect(found).toMatchObject({ runs: [{ run_id: 'old', name: 'old' }], running: 1, protected: 1 })
    expect(found.size_bytes - found.kept_bytes).toBe(found.runs[0]?.size_bytes)
  })
})

describe('wiping a workspace', () => {
  it("keeps a person's settings and files that are not its own", async () => {
    onlyInLongForm()
    const opened = openWorkspace()
    const { workspace, engine } = opened
    await recordEverything(opened)
    const kept = ['connections.json', 'mappings.json', 'result-views.json', 'retention.json', 'settings.json']
    for (const name of kept) writeFileSync(join(workspace, name), '{}')
    writeFileSync(join(workspace, 'posts.csv'), 'own')
    writeFileSync(toRecheckFile(workspace), SECRET)
    expect(await engine.runs.wipe()).toBe(1)
    expect(findFiles(workspace, SECRET)).toEqual([])
    expect(readdirSync(workspace).sort()).toEqual([...kept, 'posts.csv', 'runs'].sort())
    expect(readdirSync(join(workspace, 'runs'))).toEqual([])
    expect(await engine.runs.listRuns()).toMatchObject({ runs: [], all: 0 })
  })

  it('is refused while another process receives callbacks there', async () => {
    const { workspace, engine } = openWorkspace()
    writeRun(workspace, { runId: 'run-1' })
    const holder = await holdLease(join(workspace, 'inbox'))
    await expect(engine.runs.wipe()).rejects.toMatchObject({ code: 'RUN_BUSY' })
    expect((await engine.runs.listRuns()).all).toBe(1)
    await holder.kill()
    changeAnnotations(workspace, 'run-1', { note: SECRET })
    expect(await engine.runs.wipe()).toBe(1)
    expect(findFiles(workspace, SECRET)).toEqual([])
  })
})
