import { Journal } from '../../src/main/engine/journal/journal.ts'
import { insertRunRecord, updateRunRecord } from '../../src/main/engine/journal/run-record.ts'
import { createWorkspaceFolders, toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'

/** Differences between written runs. */
export interface WrittenRun {
  runId: string
  name?: string
  rows?: number
  state?: 'running' | 'completed' | 'stopped' | 'interrupted'
  createdAtMs?: number
  plan?: Partial<PlanInput>
}

/** Writes the journal of a run that was never sent. */
export function writeRun(workspace: string, run: WrittenRun): void {
  const { runId, name = runId, rows = 1, state = 'completed', createdAtMs = Date.UTC(2026, 10, 1) } = run
  createWorkspaceFolders(workspace)
  const journal = openRun(workspace, run)
  journal.transact('process', () => {
    const plan = planSchema.parse({
      connection: { baseUrl: 'https://api.example.com' },
      source: { path: `/data/${runId}.csv` },
      operation: { kind: 'task' },
      ...run.plan,
    })
    const written = { runId, runToken: runId, parentRunId: null, name, plan, createdAtMs, appVersion: '0' }
    insertRunRecord(journal.db, written)
    updateRunRecord(journal.db, { state, rows_read: rows })
  })
  journal.close()
}

/** Opens the journal of a run, which then counts as running. */
export function openRun(workspace: string, { runId }: Pick<WrittenRun, 'runId'>): Journal {
  return new Journal(toJournalFile(workspace, runId), { runId })
}
