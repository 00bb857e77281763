import type { LedgerKind, LedgerQuery, LedgerService } from '../../../../shared/lookback/ledger.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import type { PlanConnection } from '../../../../shared/plan/connection.ts'
import type { OperationKind } from '../../../../shared/plan/operation.ts'
import type { StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import { type ReaderPool, type RunView, readRunView } from '../../journal/run-family.ts'
import { followsActiveKey, readConnections } from '../../workspace/connections.ts'
import { isLeaseHeld } from '../../workspace/lease.ts'
import { listRunIds, toJournalFile } from '../../workspace/workspace-files.ts'

/** The runs of a ledger, and whose they are. */
export interface LedgerRuns {
  service: LedgerService
  /** Opens each run, the oldest first. */
  runs: readonly (() => RunView)[]
  /** What keeps the ledger from being complete, a sentence each. */
  warnings: string[]
}

/**
 * Finds the runs of a workspace that did such operations with one service: to one address and with the keys of one
 * project. Keys of a stored connection are interchangeable (docs/interface.md §5.2), so whatever was sent with any of
 * them belongs together; a run with another key has a ledger of its own. Appeals carry no key, so only their address
 * counts. Throws `BAD_USAGE` unless what was asked leaves one service.
 */
export function findLedgerRuns({
  pool,
  workspace,
  held,
  of,
  service: asked,
  operations,
}: {
  pool: ReaderPool
  workspace: string
  held: readonly string[]
  of: LedgerKind
  service: LedgerQuery['service']
  operations: readonly OperationKind[]
}): LedgerRuns {
  const stored = readConnections(workspace).connections
  const found = new Map<string, { service: LedgerService; runs: { runId: string; open: () => RunView }[] }>()
  const unreadable: string[] = []
  for (const runId of listRunIds(workspace).reverse()) {
    const file = toJournalFile(workspace, runId)
    const open = () => readRunView(pool, file, held.includes(runId) || isLeaseHeld(file))
    try {
      const view = open()
      // A run that was cut off before it was written down has sent nothing.
      if (view === null || !operations.includes(view.record.plan.operation.kind)) continue
      const service = toService(view.record.plan.connection, stored, of)
      const key = JSON.stringify(service)
      const entry = found.get(key) ?? { service, runs: [] }
      entry.runs.push({ runId, open: () => open() ?? view })
      found.set(key, entry)
    } catch (error) {
      unreadable.push(`Run ${runId} cannot be read, so what it did is missing here: ${toThrownText(error)}.`)
    }
  }
  const services = [...found.values()]
  const matching = services.filter(({ service }) => isAsked(service, asked, of))
  const [chosen] = matching
  if (chosen === undefined || matching.length > 1) {
    throw new SluiceError({
      id: chosen === undefined ? 'ledger_without_runs' : 'ledger_of_several',
      of,
      services: (chosen === undefined ? services : matching).map(({ service }) => service),
    })
  }
  const { service, runs } = chosen
  return {
    service,
    runs: runs.map(({ open }) => open),
    warnings: [
      ...unreadable,
      ...runs
        .filter(({ open }) => open().isHeld)
        .map(({ runId }) => `Run ${runId} is still running. Its rows without an answer are not known yet.`),
      ...services
        .filter((other) => other !== chosen && other.service.base_url === service.base_url)
        .map(({ service: other, runs: its }) => sayOther(other, its.length)),
    ],
  }
}

function toService(
  connection: PlanConnection,
  stored: readonly StoredConnection[],
  of: LedgerKind,
): LedgerService {
  const { baseUrl, name, apiKeyEnv, keyFrom } = connection
  if (of === 'appeals') return { base_url: baseUrl, connection: null, api_key_env: null }
  if (keyFrom === 'window') return { base_url: baseUrl, connection: name ?? null, api_key_env: null }
  const owner = stored.find(
    (one) =>
      one.baseUrl === baseUrl &&
      (name === undefined || name === one.name) &&
      followsActiveKey(one, { name: one.name, apiKeyEnv }),
  )
  if (owner !== undefined) return { base_url: baseUrl, connection: owner.name, api_key_env: null }
  return { base_url: baseUrl, connection: null, api_key_env: apiKeyEnv }
}

function isAsked(
  { base_url: baseUrl, connection, api_key_env: apiKeyEnv }: LedgerService,
  asked: LedgerQuery['service'],
  of: LedgerKind,
): boolean {
  if (asked.baseUrl !== undefined && asked.baseUrl !== baseUrl) return false
  if (of === 'appeals') return true
  // A variable that was named goes before the connection, as it does when a run is started.
  if (asked.apiKeyEnv !== undefined) return asked.apiKeyEnv === apiKeyEnv
  return asked.connection === undefined || asked.connection === connection
}

function sayOther({ connection, api_key_env: apiKeyEnv }: LedgerService, runs: number): string {
  const key =
    connection !== null
      ? `the key of connection ${connection}`
      : apiKeyEnv === null
        ? 'a key that was typed in'
        : `the key in ${apiKeyEnv}`
  const what = runs === 1 ? '1 other run' : `${runs} other runs`
  return `${what} to this address used ${key}; ${runs === 1 ? 'it is' : 'they are'} not included.`
}
