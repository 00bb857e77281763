import type { AppDescription } from '../../shared/bridge/app.ts'
import type { Operation } from '../../shared/plan/operation.ts'
import type { Connections } from '../../shared/plan/stored-connection.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { Engine } from '../engine/engine-interface.ts'
import { findConnectionInUse, readConnections } from '../engine/workspace/connections.ts'
import { bridge } from './implementer.ts'
import type { SandboxHost } from './sandbox-host.ts'

/** The app itself. */
export const appHandlers = bridge.app.router({
  describe: bridge.app.describe.handler(async ({ context: { engine, host, sandbox } }) => {
    const runs = await engine.listRuns()
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
      sandboxBaseUrl: sandbox.baseUrl(),
    }
  }),
})

/** The first address that is not and was not the sandbox's. */
async function findElsewhere(baseUrls: readonly string[], sandbox: SandboxHost): Promise<string | null> {
  for (const baseUrl of new Set(baseUrls)) {
    if (!(await sandbox.isOwnAddress(baseUrl))) return baseUrl
  }
  return null
}

/** `baseUrl` is that of the newest run; null where that was the sandbox's. */
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
    return { version: 1, inUse: null, connections: [] }
  }
}

/** A journal may have gone or be damaged: then there is nothing to begin with. */
async function readLastOperation(engine: Engine, runId: string | undefined): Promise<Operation | null> {
  if (runId === undefined) return null
  return engine.readPlan(runId).then(
    (plan) => plan.operation,
    () => null,
  )
}
