import process from 'node:process'
import { createEngine } from '../engine/engine.ts'
import { createKeyStore, type LastingStore } from '../engine/secrets/key-store.ts'
import type { FindSystemProxy } from '../engine/secrets/system-proxy.ts'
import { removeUnusedKeys } from '../engine/workspace/connection-secrets.ts'
import type { StartProcess } from '../own-process.ts'
import { WORKER_URLS } from '../program-files.ts'
import type { BridgeHost } from './bridge-context.ts'
import { createCapacitySearches } from './capacity-searches.ts'
import { createCleanUps } from './clean-ups.ts'
import { createCrashes } from './crashes.ts'
import { systemClock } from './event-stream.ts'
import { createLiveRuns } from './live-runs.ts'
import { createMediaFiles } from './media-files.ts'
import { createOpenedPlans } from './opened-plans.ts'
import { createProductionGate } from './production-gate.ts'
import { createRemovedConnections } from './removed-connections.ts'
import { prepareResults } from './results-handlers.ts'
import { createKeySwitch } from './run-key.ts'
import { createSandboxHost } from './sandbox-host.ts'
import { createSources } from './sources.ts'

export interface BridgeOptions {
  workspace: string
  host: BridgeHost
  /** Where typed keys outlive this process, or why nowhere. */
  lastingKeys: LastingStore | { absence: string }
  /** Finds the system's proxies (default: those in the environment). */
  findSystemProxy?: FindSystemProxy
  /** Starts our helper processes (default: with Node). */
  startProcess?: StartProcess
}

/** Opens the engine on a workspace and serves it to windows. Throws `WORKSPACE_UNUSABLE`. */
export function openBridge({ workspace, host, lastingKeys, ...options }: BridgeOptions) {
  const engine = createEngine({ workspace, ...options, isOfWindow: true })
  const sandbox = createSandboxHost({ workerUrl: WORKER_URLS.sandbox, workspace: engine.workspace })
  const capacitySearches = createCapacitySearches()
  const crashes = createCrashes((runId) => liveRuns.findName(runId))
  const liveRuns = createLiveRuns(crashes.note, (runId) => prepareResults(engine, runId))
  const cleanUps = createCleanUps({ engine, liveRuns })
  const removedConnections = createRemovedConnections(systemClock)
  const keyStore = createKeyStore(lastingKeys)
  // Unlike a keyring, the profile never asks to be unlocked.
  if ('place' in lastingKeys && lastingKeys.place === 'profile') {
    void removeUnusedKeys({ workspace: engine.workspace, keyStore }).catch(() => {})
  }
  return {
    services: {
      engine,
      host,
      sandbox,
      sources: createSources(),
      plans: createOpenedPlans(engine.workspace),
      media: createMediaFiles(),
      productionGate: createProductionGate(engine.workspace, host.askProduction),
      liveRuns,
      crashes,
      capacitySearches,
      cleanUps,
      keySwitch: createKeySwitch(),
      keyStore,
      removedConnections,
      clock: systemClock,
      env: process.env,
    },
    /** Stops held runs, which can be resumed, and the sandbox. */
    async close(): Promise<void> {
      capacitySearches.stopAll()
      cleanUps.stop()
      removedConnections.close()
      // The sandbox last, since draining runs still wait for its answers.
      await engine.close()
      await sandbox.stop()
      crashes.close()
    },
  }
}

/** The bridge of a process, which serves all its windows. */
export interface Bridge extends ReturnType<typeof openBridge> {}
