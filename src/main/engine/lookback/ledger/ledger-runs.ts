import {
  LEDGER_OPERATIONS,
  type LedgerKind,
  type LedgerQuery,
  type LedgerService,
} from '../../../../shared/lookback/ledger.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import { OPERATIONS, targetOf } from '../../../../shared/operations/operations.ts'
import type { PlanConnection } from '../../../../shared/plan/connection.ts'
import type { StoredConnection } from '../../../../shared/plan/stored-connection.ts'
import { type ReaderPool, type RunView, readRunView } from '../../journal/run-family.ts'
import { toService } from '../../workspace/connection-service.ts'
import { readConnections } from '../../workspace/connections.ts'
import { isLeaseHeld } from '../../workspace/lease.ts'
import { toJournalFile } from '../../workspace/workspace-files.ts'
import type { OperationRun } from '../catalogue/listed-runs.ts'

/** The runs of a ledger, and whose they are. */
export interface LedgerRuns {
  service: LedgerService
  services: LedgerService[]
  /** Opens each run, the oldest first. */
  runs: readonly (() => RunView)[]
  /** The index or watchlist of each run; '' for appeals. */
  lists: readonly string[]
  /** Why the ledger may be incomplete, a sentence each. */
  warnings: string[]
}

export interface LedgerPlace {
  pool: ReaderPool
  workspace: string
  /** Ids of the runs that this process holds. */
  held: readonly string[]
}

/**
 * Finds the candidate runs of a workspace that went to one service, see {@link toService}; appeals carry no
 * key, so for them only the address counts. Throws `BAD_USAGE` unless the request leaves one service.
 */
export function findLedgerRuns(
  { pool, workspace, held }: LedgerPlace,
  candidates: readonly OperationRun[],
  { of, service: asked }: Pick<LedgerQuery, 'of' | 'service'>,
): LedgerRuns {
  const stored = readConnections(workspace).connections
  const found = new Map<string, LedgerOwner & { runs: FoundRun[] }>()
  const unreadable: string[] = []
  for (const { id: runId } of candidates) {
    const file = toJournalFile(workspace, runId)
    const open = () => readRunView(pool, file, held.includes(runId) || isLeaseHeld(file))
    try {
      const view = open()
      // A run cut off before it was recorded has sent nothing.
      if (view === null || !LEDGER_OPERATIONS[of].includes(view.record.plan.operation.kind)) continue
      const service = toOwner(view.record.plan.connection, stored, of)
      const key = JSON.stringify(service.service)
      const entry = found.get(key) ?? { ...service, runs: [] }
      const list = targetOf(view.record.plan.operation) ?? ''
      entry.runs.push({ runId, list, isHeld: view.isHeld, open: () => open() ?? view })
      // Moves the service of the newest run to the end.
      found.delete(key)
      found.set(key, entry)
    } catch (error) {
      unreadable.push(`Run ${runId} cannot be read, so what it did is missing here: ${toThrownText(error)}.`)
    }
  }
  const services = [...found.values()]
  const matching = services.filter((one) => isAsked(one, asked, of))
  const [chosen] = matching
  if (chosen === undefined || matching.length > 1) {
    throw new SluiceError({
      id: chosen === undefined ? 'ledger_without_runs' : 'ledger_of_several',
      of,
      commands: LEDGER_OPERATIONS[of].map((kind) => OPERATIONS[kind].words.command),
      services: (chosen === undefined ? services : matching).map(({ service }) => service),
    })
  }
  const { service, runs } = chosen
  return {
    service,
    services: services.map((one) => one.service),
    runs: runs.map(({ open }) => open),
    lists: runs.map(({ list }) => list),
    warnings: [
      ...unreadable,
      ...runs
        .filter(({ isHeld }) => isHeld)
        .map(({ runId }) => `Run ${runId} is still running. Its rows without an answer are not known yet.`),
      ...services
        .filter((other) => other !== chosen && other.service.base_url === service.base_url)
        .map(({ service: other, runs: its }) => sayOther(other, its.length)),
    ],
  }
}

interface FoundRun {
  runId: string
  list: string
  isHeld: boolean
  open: () => RunView
}

/** A service as a ledger names it, and the variables that hold its keys. */
interface LedgerOwner {
  service: LedgerService
  variables: readonly string[]
}

function toOwner(
  connection: PlanConnection,
  stored: readonly StoredConnection[],
  of: LedgerKind,
): LedgerOwner {
  const { baseUrl, connections, apiKeyEnv, variables } = toService(connection, stored, of !== 'appeals')
  return { service: { base_url: baseUrl, connections, api_key_env: apiKeyEnv }, variables }
}

function isAsked(
  { service, variables }: LedgerOwner,
  { baseUrl, connection, apiKeyEnv }: LedgerQuery['service'],
  of: LedgerKind,
): boolean {
  if (baseUrl !== undefined && baseUrl !== service.base_url) return false
  if (of === 'appeals') return true
  // A named variable takes precedence over the connection, as when a run is started.
  if (apiKeyEnv === null) return service.connections.length === 0 && service.api_key_env === null
  if (apiKeyEnv !== undefined) return variables.includes(apiKeyEnv)
  return connection === undefined || service.connections.includes(connection)
}

function sayOther({ connections, api_key_env: apiKeyEnv }: LedgerService, runs: number): string {
  const key =
    connections.length > 0
      ? `the key of connection ${connections.join(', ')}`
      : apiKeyEnv === null
        ? 'a key that was typed in'
        : `the key in ${apiKeyEnv}`
  const what = runs === 1 ? '1 other run' : `${runs} other runs`
  return `${what} to this address used ${key}; ${runs === 1 ? 'it is' : 'they are'} not included.`
}
