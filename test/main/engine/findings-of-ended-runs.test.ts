import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../src/main/engine/journal/run-family.ts'
import { RowFindings, STORED_FROM_ROWS } from '../../../src/main/engine/run/results/row-findings.ts'
import { toFindingsFile, toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createTestEngine, openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan } from '../../helpers/test-folder.ts'

/** A workspace with an ended run of that many rows, and the open engine that sent it. */
async function sendRows(rows: number, options: { limit?: number; hold?: boolean } = {}) {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const server = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request, [])),
  })
  const engine = createTestEngine(workspace)
  const plan = createRunPlan(folder, rows, server.baseUrl, { pace: { kind: 'closed', concurrency: 32 } })
  const run = await engine.runs.startRun(plan, { apiKey: 'key', ...options })
  if (options.hold) {
    await run.ready
    run.stop()
  }
  await run.ended
  return { workspace, engine, runId: run.runId }
}

/** The stored findings that a later reader trusts. */
function loadFindings(workspace: string, runId: string): RowFindings | null {
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const family = readRunFamily(pool, toJournalFile(workspace, runId), () => false)
  return RowFindings.load(family ?? expect.fail('no run'))
}

function listFindings(workspace: string): string[] {
  return readdirSync(join(workspace, 'runs')).filter((name) => name.includes('.findings'))
}

describe('an engine that no window uses', () => {
  it(`stores the findings of a run of ${STORED_FROM_ROWS} rows when it closes, and again after a resume`, async () => {
    const { workspace, engine, runId } = await sendRows(STORED_FROM_ROWS, { limit: STORED_FROM_ROWS - 10 })
    await engine.close()
    expect(loadFindings(workspace, runId)?.attempts.filter((tries) => tries === 1)).toHaveLength(
      STORED_FROM_ROWS - 10,
    )

    const later = createTestEngine(workspace)
    const resumed = await later.runs.resumeRun(runId, { apiKey: 'key', onUnknown: 'skip' })
    await resumed.ended
    expect(loadFindings(workspace, runId)).toBeNull()
    await later.close()
    expect(loadFindings(workspace, runId)?.attempts.filter((tries) => tries === 1)).toHaveLength(
      STORED_FROM_ROWS,
    )
  })

  it('stores no findings of a smaller run', async () => {
    const { workspace, engine } = await sendRows(STORED_FROM_ROWS - 1)
    await engine.close()
    expect(listFindings(workspace)).toEqual([])
  })

  it('stores no findings of a run that has sent nothing', async () => {
    const { workspace, engine } = await sendRows(STORED_FROM_ROWS, { hold: true })
    await engine.close()
    expect(listFindings(workspace)).toEqual([])
  })

  it('closes at once on request while it computes them, and leaves nothing half written', async () => {
    onlyInLongForm()
    const { workspace, engine, runId } = await sendRows(STORED_FROM_ROWS)
    const leaving = new AbortController()
    const closed = engine.close({ signal: leaving.signal })
    await new Promise((settle) => setImmediate(settle))
    leaving.abort()
    await closed
    const left = listFindings(workspace)
    if (loadFindings(workspace, runId) === null) expect(left).toEqual([])
    else expect(left).toEqual([`${runId}.findings`])
    // Whoever reads the run next computes them.
    const looking = openEngine(workspace)
    await looking.results.storeFindings(runId)
    expect(loadFindings(workspace, runId)).not.toBeNull()
  })

  it('closes if they cannot be written or their run is gone', async () => {
    onlyInLongForm()
    const { workspace, engine, runId } = await sendRows(STORED_FROM_ROWS)
    const inTheWay = toFindingsFile(workspace, runId)
    mkdirSync(join(inTheWay, 'folder'), { recursive: true })
    await engine.close()
    expect(listFindings(workspace)).toEqual([`${runId}.findings`])
    rmSync(inTheWay, { recursive: true })

    const later = await sendRows(STORED_FROM_ROWS)
    await later.engine.runs.deleteRun(later.runId)
    await later.engine.close()
    expect(existsSync(toJournalFile(later.workspace, later.runId))).toBe(false)
    expect(listFindings(later.workspace)).toEqual([])
  })
})
