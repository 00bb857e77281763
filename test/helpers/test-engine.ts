import { afterAll } from 'vitest'
import type { Engine } from '../../src/main/engine/engine.ts'
import { createEngine } from '../../src/main/engine/engine.ts'
import type {
  ResumeOptions,
  RetryOptions,
  RunHandle,
  StartOptions,
} from '../../src/main/engine/engine-interface.ts'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import type { RunSnapshot } from '../../src/shared/run/snapshot.ts'

/** Options for starting a run in tests: the key as text, which is bound to the plan's addresses. */
type TestStart<Options extends StartOptions> = Omit<Options, 'apiKey'> & { apiKey?: string }

/** An engine that takes keys as texts. */
export interface TestEngine extends Omit<Engine, 'runs'> {
  runs: Omit<Engine['runs'], 'startRun' | 'resumeRun' | 'retryRun'> & {
    startRun(plan: Plan, options?: TestStart<StartOptions>): Promise<RunHandle>
    resumeRun(runId: string, options: TestStart<ResumeOptions>): Promise<RunHandle>
    retryRun(runId: string, options: TestStart<RetryOptions>): Promise<RunHandle>
  }
}

/** An engine with real threads for the tests of a file, closed after them. */
export function openEngine(workspace: string): TestEngine {
  const engine = createTestEngine(workspace)
  afterAll(() => engine.close())
  return engine
}

/** An engine with real threads. The caller closes it. */
export function createTestEngine(workspace: string): TestEngine {
  const engine = createEngine({ workspace })
  const readKey = async (runId: string, apiKey: string | undefined) =>
    apiKey === undefined ? {} : bindKey(apiKey, (await engine.runs.readPlan(runId)).connection)
  return {
    ...engine,
    runs: {
      ...engine.runs,
      async startRun(plan, { apiKey, ...options } = {}) {
        const key = apiKey === undefined ? {} : bindKey(apiKey, plan.connection)
        return engine.runs.startRun(plan, { ...options, ...key })
      },
      async resumeRun(runId, { apiKey, ...options }) {
        return engine.runs.resumeRun(runId, { ...options, ...(await readKey(runId, apiKey)) })
      },
      async retryRun(runId, { apiKey, ...options }) {
        return engine.runs.retryRun(runId, { ...options, ...(await readKey(runId, apiKey)) })
      },
    },
  }
}

function bindKey(apiKey: string, connection: Plan['connection']): { apiKey: ApiKey } {
  return { apiKey: ApiKey.create(apiKey, connection, 'of the test') }
}

/** Resolves with the first matching snapshot, from the newest on. */
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
