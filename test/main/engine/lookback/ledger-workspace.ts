import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Catalogue } from '../../../../src/main/engine/lookback/catalogue/catalogue.ts'
import { exportLedger } from '../../../../src/main/engine/lookback/ledger/export-ledger.ts'
import { Ledgers, readLedger } from '../../../../src/main/engine/lookback/ledger/read-ledger.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import {
  type Ledger,
  type LedgerKind,
  type LedgerQuery,
  ledgerSchema,
  SHOWN_STATES,
} from '../../../../src/shared/lookback/ledger.ts'
import { type PlanInput, planSchema } from '../../../../src/shared/plan/plan.ts'
import { createInProcessRuns, RUN_KEY, type SessionOptions } from '../../../helpers/in-process-runs.ts'
import { withSandbox } from '../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

type LedgerOf<Kind extends LedgerKind> = Extract<Ledger, { of: Kind }>

/** A sandbox, a workspace whose runs go there (by another address if given), and its ledgers. */
export async function openLedgerWorkspace(
  options: Parameters<typeof withSandbox>[0] = {},
  toAddress: (baseUrl: string) => Promise<string> = async (baseUrl) => baseUrl,
) {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const runs = createInProcessRuns(workspace)
  const sandbox = await withSandbox({ apiKeys: [RUN_KEY], seed: 'ledger', ...options })
  const baseUrl = await toAddress(sandbox.baseUrl)
  let sources = 0

  function toPlan(operation: PlanInput['operation'], source: string, parts: Partial<PlanInput> = {}) {
    let path = source
    if (!existsSync(path)) {
      sources += 1
      path = join(folder, `source-${sources}.csv`)
      writeFileSync(path, source)
    }
    return planSchema.parse({
      connection: { baseUrl },
      source: { path },
      operation,
      retry: { limit: 0 },
      ...parts,
    })
  }

  const ledgers = new Ledgers((asked) => new Catalogue(asked))
  onTestFinished(() => ledgers.forget())

  const toQuery = (of: LedgerKind, query: Partial<LedgerQuery>): LedgerQuery => ({
    of,
    service: {},
    list: null,
    search: null,
    states: SHOWN_STATES[of],
    ...query,
  })
  const asked = { workspace, held: [] }

  return {
    folder,
    workspace,
    runs,
    sandbox,
    toPlan,
    /** Runs a plan to its end; `source` is a path or the text of a CSV file. */
    send: (operation: PlanInput['operation'], source: string, parts?: Partial<PlanInput>) =>
      runs.start(toPlan(operation, source, parts)).ended,
    /**
     * Runs a plan and leaves its journal as it was after one of its commits, as if the process had died then,
     * although the service got every request.
     */
    async sendCutOff(
      operation: PlanInput['operation'],
      source: string,
      isCutOff: (db: string) => boolean,
      options: SessionOptions = {},
    ) {
      let file: string | null = null
      let isTaken = false
      const { runId, ended } = runs.start(toPlan(operation, source), {
        ...options,
        onCommit(when) {
          if (when === 'before' || file === null || isTaken || !isCutOff(file)) return
          for (const ending of ['', '-wal']) copyFileSync(file + ending, `${file}${ending}.then`)
          isTaken = true
        },
      })
      file = toJournalFile(workspace, runId)
      await ended
      if (!isTaken) throw new Error('the run was never as it should be cut off')
      for (const ending of ['-shm', '-wal', '']) rmSync(file + ending, { force: true })
      for (const ending of ['', '-wal']) copyFileSync(`${file}${ending}.then`, file + ending)
      return runId
    },
    /** The fault in the sandbox's answers from now on, if any. */
    setFaults: (faults: readonly string[]) => sandbox.admin('PATCH', '/behaviour', { faults }),
    read: <Kind extends LedgerKind>(
      of: Kind,
      query: Partial<LedgerQuery> = {},
      page = { offset: 0, limit: 1_000 },
    ) =>
      readLedger(ledgers, asked, toQuery(of, query), page).then(ledgerSchema.parse) as Promise<
        LedgerOf<Kind>
      >,
    exportTo: (of: LedgerKind, name: string, query: Partial<LedgerQuery> = {}) => {
      return exportLedger(ledgers, asked, toQuery(of, query), join(folder, name))
    },
  }
}
