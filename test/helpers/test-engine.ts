import { afterAll } from 'vitest'
import { createEngine } from '../../src/main/engine/engine.ts'
import type { Engine, RunHandle } from '../../src/main/engine/engine-interface.ts'
import type { RunSnapshot } from '../../src/shared/snapshot.ts'

/** An engine with real threads for the tests of a file, which is closed after them. */
export function openEngine(workspace: string): Engine {
  const engine = createTestEngine(workspace)
  afterAll(() => engine.close())
  return engine
}

/** An engine with real threads. The caller closes it. */
export function createTestEngine(workspace: string): Engine {
  return createEngine({
    workspace,
    runWorkerUrl: new URL('../../src/main/engine/runner/run-worker.ts', import.meta.url),
    queryWorkerUrl: new URL('../../src/main/engine/query/query-worker.ts', import.meta.url),
    receiverWorkerUrl: new URL('../../src/main/engine/receiver/receiver-worker.ts', import.meta.url),
    loadWorkerUrl: new URL('../../src/main/engine/runner/load/load-worker.ts', import.meta.url),
  })
}

/** Resolves with the first snapshot, from the newest on, that is as wanted. */
export function untilSnapshot(
  handle: RunHandle,
  isWanted: (snapshot: RunSnapshot) => boolean,
): Promise<RunSnapshot> {
  return new Promise((resolve) => {
    const newest = handle.snapshot()
    if (newest !== null && isWanted(newest)) return resolve(newest)
    const off = handle.onSnapshot((snapshot) => {
      if (!isWanted(snapshot)) return
      off()
      resolve(snapshot)
    })
  })
}
