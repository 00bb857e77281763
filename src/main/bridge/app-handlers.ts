import { APP_VERSION } from '../../shared/version.ts'
import { bridge } from './implementer.ts'

/** The app itself. */
export const appHandlers = bridge.app.router({
  describe: bridge.app.describe.handler(async ({ context: { engine, host, sandbox, env } }) => {
    const [runs, ownBaseUrl] = await Promise.all([engine.listRuns(), sandbox.lastBaseUrl()])
    return {
      version: APP_VERSION,
      workspace: engine.workspace,
      platform: host.platform,
      hasEnvironmentKey: (env['SLUICE_API_KEY'] ?? '') !== '',
      lastBaseUrl: runs.find((run) => run.base_url !== ownBaseUrl)?.base_url ?? null,
      sandboxBaseUrl: sandbox.baseUrl(),
    }
  }),
})
