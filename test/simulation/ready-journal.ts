import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Journal } from '../../src/main/engine/journal/journal.ts'
import { updateRunRecord } from '../../src/main/engine/journal/run-record.ts'
import { prepareRun } from '../../src/main/engine/session/prepare-run.ts'
import { createWorkspaceFolders, toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import type { OperationKind } from '../../src/shared/operations/operations.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import { withTemporaryFolder } from '../helpers/temporary-folder.ts'
import { toRunTask } from './simulated-session.ts'

/** The first run of every simulation. */
export const FIRST_RUN_ID = 'run-1'

const ROWS = 50

interface Source {
  columns: string
  toLine: (row: number) => string
}

const SOURCES: Partial<Record<OperationKind, Source>> = {
  // One row in ten is invalid.
  task: { columns: 'text_data,user_id', toLine: (row) => `text ${row},${row % 10 === 3 ? 'a_b' : 'user'}` },
  'index-add': { columns: 'url', toLine: (row) => `https://media.example.com/${row}.png` },
  'index-remove': { columns: 'custom_index_item_id', toLine: (row) => `item-${row}` },
  'watchlist-add': { columns: 'term,notes', toLine: (row) => `term ${row},` },
}

/** What reading the source left of each operation, which is the same for all seeds. */
const journals = new Map<OperationKind, Buffer>()

/** Makes a workspace whose run has read its source and sends by this plan next. */
export async function writeReadyJournal(plan: Plan, workspace: string): Promise<void> {
  const { kind } = plan.operation
  const bytes = journals.get(kind) ?? (await readSource(plan))
  journals.set(kind, bytes)
  createWorkspaceFolders(workspace)
  const file = toJournalFile(workspace, FIRST_RUN_ID)
  writeFileSync(file, bytes)
  const journal = new Journal(file, { runId: FIRST_RUN_ID })
  journal.transact('process', () => updateRunRecord(journal.db, { plan: JSON.stringify(plan) }))
  journal.close()
}

function readSource(plan: Plan): Promise<Buffer> {
  const source = SOURCES[plan.operation.kind]
  if (source === undefined) throw new Error(`there is no source for ${plan.operation.kind}`)
  return withTemporaryFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    const lines = Array.from({ length: ROWS }, (_, index) => source.toLine(index + 1))
    writeFileSync(path, [source.columns, ...lines, ''].join('\n'))
    createWorkspaceFolders(folder)
    const file = toJournalFile(folder, FIRST_RUN_ID)
    const journal = new Journal(file, { runId: FIRST_RUN_ID })
    const work = { kind: 'start', plan: { ...plan, source: { ...plan.source, path } } } as const
    await prepareRun(toRunTask(plan, folder, FIRST_RUN_ID, work), journal, {
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
