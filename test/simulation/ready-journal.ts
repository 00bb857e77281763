import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Journal } from '../../src/main/engine/journal/journal.ts'
import { updateRunRecord } from '../../src/main/engine/journal/run-record.ts'
import { prepareRun } from '../../src/main/engine/session/prepare-run.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import { withTemporaryFolder } from '../helpers/temporary-folder.ts'
import { ROWS, type SimulatedOperation } from './draw-scenario.ts'
import { SOURCE_ROWS } from './expected-content.ts'
import { createSimulatedWorkspace, toRunTask } from './simulated-session.ts'

/** The first run of every simulation. */
export const FIRST_RUN_ID = 'run-1'

/** Workspaces after reading the source, by operation and mode; the same for all seeds. */
const journals = new Map<string, Buffer>()

/** Creates a workspace whose run has read its source and is about to send by this plan. */
export async function writeReadyJournal(plan: Plan, workspace: string): Promise<void> {
  const key = JSON.stringify(plan.operation)
  const bytes = journals.get(key) ?? (await readSource(plan))
  journals.set(key, bytes)
  createSimulatedWorkspace(workspace)
  const file = toJournalFile(workspace, FIRST_RUN_ID)
  writeFileSync(file, bytes)
  const journal = new Journal(file, { runId: FIRST_RUN_ID })
  journal.transact('process', () => updateRunRecord(journal.db, { plan: JSON.stringify(plan) }))
  journal.close()
}

function readSource(plan: Plan): Promise<Buffer> {
  const toFields = SOURCE_ROWS[plan.operation.kind as SimulatedOperation]
  return withTemporaryFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    const lines = Array.from({ length: ROWS }, (_, index) => Object.values(toFields(index + 1)).join(','))
    writeFileSync(path, [Object.keys(toFields(1)).join(','), ...lines, ''].join('\n'))
    createSimulatedWorkspace(folder)
    const file = toJournalFile(folder, FIRST_RUN_ID)
    const journal = new Journal(file, { runId: FIRST_RUN_ID })
    const work = { kind: 'start', plan: { ...plan, source: { ...plan.source, path } } } as const
    const { operation } = plan
    const isAsync = 'mode' in operation && operation.mode === 'async'
    const callbackBase = isAsync ? 'http://127.0.0.1:1' : null
    await prepareRun({ ...toRunTask(folder, FIRST_RUN_ID, work), callbackBase }, journal, {
      proxyCredentials: null,
      headerValues: null,
      sentWith: { key: null, headerValues: null, headerKeys: null },
      onProgress: () => {},
      isStopped: () => false,
    })
    journal.close()
    return readFileSync(file)
  })
}
