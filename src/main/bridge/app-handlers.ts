import type { AppDescription } from '../../shared/bridge/app.ts'
import type { Operation } from '../../shared/operations/operations.ts'
import type { Connections } from '../../shared/plan/stored-connection.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { Engine } from '../engine/engine.ts'
import { findConnectionInUse, readConnections } from '../engine/workspace/connections.ts'
import type { Handlers } from './bridge-context.ts'
import type { SandboxHost } from './sandbox-host.ts'

/** How many of the newest runs are searched for the address used last. */
const LOOKED_BACK_ON = 100

export const appHandlers: Handlers<'app'> = {
  describe: async ({ context: { engine, host, sandbox } }) => {
    const { runs } = await engine.runs.listRunsSoFar({ limit: LOOKED_BACK_ON })
    const lastBaseUrl = await findElsewhere(
      runs.map((run) => run.base_url),
      sandbox,
    )
    return {
      version: APP_VERSION,
      workspace: engine.workspace,
      platform: host.platform,
      lastBaseUrl,
      beginsAt: findBeginning(engine.workspace, runs[0]?.base_url === lastBaseUrl ? lastBaseUrl : null),
      lastOperation: await readLastOperation(engine, runs[0]?.run_id),
      sandboxBaseUrls: await sandbox.listOwnAddresses(),
    }
  },
}

/** The first address that is not the sandbox's, now or formerly. */
async function findElsewhere(baseUrls: readonly string[], sandbox: SandboxHost): Promise<string | null> {
  for (const baseUrl of new Set(baseUrls)) {
    if (!(await sandbox.isOwnAddress(baseUrl))) return baseUrl
  }
  return null
}

/** `baseUrl` is the newest run's address; null if that run went to the sandbox. */
function findBeginning(workspace: string, baseUrl: string | null): AppDescription['beginsAt'] {
  const known = readConnectionsOrNone(workspace)
  const stored = findConnectionInUse(known) ?? known.connections.find((one) => one.baseUrl === baseUrl)
  if (stored !== undefined) return { kind: 'stored', name: stored.name }
  return baseUrl === null ? { kind: 'sandbox' } : { kind: 'service', baseUrl }
}

/** The list of connections reports why it cannot be read; here it counts as empty. */
function readConnectionsOrNone(workspace: string): Connections {
  try {
    return readConnections(workspace)
  } catch {
    return { version: 1, inUse: null, connections: [], keysToRemove: [] }
  }
}

/** The operation of the newest run; null if its journal is missing or damaged. */
async function readLastOperation(engine: Engine, runId: string | undefined): Promise<Operation | null> {
  if (runId === undefined) return null
  return engine.runs.readPlan(runId).then(
    (plan) => plan.operation,
    () => null,
  )
}

export const crashesHandlers: Handlers<'crashes'> = {
  dismiss: ({ context, input }) => context.crashes.dismiss(input.crashId),
}
