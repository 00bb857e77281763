import process from 'node:process'
import { createEngine } from '../engine/engine.ts'
import { createSessionKeyStore } from '../engine/secrets/key-store.ts'
import { WORKER_URLS } from '../program-files.ts'
import type { BridgeHost, BridgeServices } from './bridge-context.ts'
import { createCapacitySearches } from './capacity-handlers.ts'
import { systemClock } from './event-stream.ts'
import { createLiveRuns } from './live-runs.ts'
import { createMediaFiles } from './media-files.ts'
import { createProductionGate } from './production-gate.ts'
import { createKeySwitch } from './run-key.ts'
import { createSandboxHost } from './sandbox-host.ts'
import { createSources } from './sources.ts'

/** The bridge of a process: what every window is served with. */
export interface Bridge {
  readonly services: BridgeServices
  /** Stops held runs and the sandbox; the runs can be resumed. */
  close(): Promise<void>
}

/** Opens the engine on a workspace for windows. Throws `WORKSPACE_UNUSABLE`. */
export function openBridge({ workspace, host }: { workspace: string; host: BridgeHost }): Bridge {
  const engine = createEngine({ workspace })
  const sandbox = createSandboxHost({ workerUrl: WORKER_URLS.sandbox, workspace: engine.workspace })
  const capacitySearches = createCapacitySearches()
  return {
    services: {
      engine,
      host,
      sandbox,
      sources: createSources(),
      media: createMediaFiles(),
      productionGate: createProductionGate(engine.workspace, host.askProduction),
      liveRuns: createLiveRuns(),
      capacitySearches,
      keySwitch: createKeySwitch(),
      keyStore: createSessionKeyStore(),
      clock: systemClock,
      env: process.env,
    },
    async close() {
      capacitySearches.stopAll()
      // The sandbox last: runs that drain still wait for its answers.
      await engine.close()
      await sandbox.stop()
    },
  }
}
