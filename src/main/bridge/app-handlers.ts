import type { Operation } from '../../shared/operation.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { Engine } from '../engine/engine-interface.ts'
import { bridge } from './implementer.ts'

/** The app itself. */
export const appHandlers = bridge.app.router({
  describe: bridge.app.describe.handler(async ({ context: { engine, host, sandbox } }) => {
    const [runs, ownBaseUrl] = await Promise.all([engine.listRuns(), sandbox.lastBaseUrl()])
    return {
      version: APP_VERSION,
      workspace: engine.workspace,
      platform: host.platform,
      lastBaseUrl: runs.find((run) => run.base_url !== ownBaseUrl)?.base_url ?? null,
      lastOperation: await readLastOperation(engine, runs[0]?.run_id),
      sandboxBaseUrl: sandbox.baseUrl(),
    }
  }),
})

/** A journal may have gone or be damaged: then there is nothing to begin with. */
async function readLastOperation(engine: Engine, runId: string | undefined): Promise<Operation | null> {
  if (runId === undefined) return null
  return engine.readPlan(runId).then(
    (plan) => plan.operation,
    () => null,
  )
}
