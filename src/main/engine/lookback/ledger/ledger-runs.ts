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
  const found = new Map<string, KeyedService & { runs: { runId: string; open: () => RunView }[] }>()
  const unreadable: string[] = []
  for (const runId of listRunIds(workspace).reverse()) {
    const file = toJournalFile(workspace, runId)
    const open = () => readRunView(pool, file, held.includes(runId) || isLeaseHeld(file))
    try {
      const view = open()
      // A run that was cut off before it was written down has sent nothing.
      if (view === null || !operations.includes(view.record.plan.operation.kind)) continue
      const service = toService(view.record.plan.connection, stored, of)
      const key = JSON.stringify(service.service)
      const entry = found.get(key) ?? { ...service, runs: [] }
      entry.runs.push({ runId, open: () => open() ?? view })
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

/** A service, and the variables that hold its keys. */
interface KeyedService {
  service: LedgerService
  variables: readonly string[]
}

function toService(
  { baseUrl, name, apiKeyEnv, keyFrom }: PlanConnection,
  stored: readonly StoredConnection[],
  of: LedgerKind,
): KeyedService {
  const toOther = (variable: string | null): KeyedService => ({
    service: { base_url: baseUrl, connections: [], api_key_env: variable },
    variables: variable === null ? [] : [variable],
  })
  if (of === 'appeals' || keyFrom === 'window') return toOther(null)
  const there = stored.filter((one) => one.baseUrl === baseUrl)
  const isOwn = there.some(
    (one) => (name ?? one.name) === one.name && followsActiveKey(one, { name: one.name, apiKeyEnv }),
  )
  if (!isOwn) return toOther(apiKeyEnv)
  // Connections that share a key are of one project, and so are all their keys.
  const variables = new Set([apiKeyEnv])
  const owners = new Set<StoredConnection>()
  for (const variable of variables) {
    for (const one of there.filter(({ keys }) => keys.some(({ env }) => env === variable))) {
      owners.add(one)
      for (const { env } of one.keys) if (env !== undefined) variables.add(env)
    }
  }
  const connections = [...owners].map((one) => one.name).sort()
  return { service: { base_url: baseUrl, connections, api_key_env: null }, variables: [...variables] }
}

function isAsked(
  { service, variables }: KeyedService,
  { baseUrl, connection, apiKeyEnv }: LedgerQuery['service'],
  of: LedgerKind,
): boolean {
  if (baseUrl !== undefined && baseUrl !== service.base_url) return false
  if (of === 'appeals') return true
  // A variable that was named goes before the connection, as it does when a run is started.
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
