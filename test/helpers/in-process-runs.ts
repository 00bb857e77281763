import type { CommitHook } from '../../src/main/engine/journal/journal.ts'
import { ReaderPool, type RunFamily, readRunFamily } from '../../src/main/engine/journal/run-family.ts'
import { summarizeRun } from '../../src/main/engine/results/run-summary.ts'
import { ApiKey, type SealedSecret } from '../../src/main/engine/secrets/bound-secret.ts'
import { RunSession } from '../../src/main/engine/session/run-session.ts'
import type { RunCommand, RunTask } from '../../src/main/engine/session/run-thread.ts'
import {
  createRunId,
  createWorkspaceFolders,
  toJournalFile,
} from '../../src/main/engine/workspace/workspace-files.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import type { Fix } from '../../src/shared/plan/fixes.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import type { RunSummary } from '../../src/shared/run/run.ts'
import type { RunSnapshot } from '../../src/shared/run/snapshot.ts'

/** The key of every test run. */
export const RUN_KEY = 'key-of-the-run'

const NO_ADDRESSES = {
  callbackBase: null,
  mediaBase: null,
  loadWorkerUrl: WORKER_URLS.load.href,
  searchWorkerUrl: WORKER_URLS.sentBefore.href,
} as const

/** A session of a run in the tests' own thread, which avoids starting a thread. */
export interface InProcessRun {
  runId: string
  /** Settles with the summary after the session; rejects with the error that failed it. */
  ended: Promise<RunSummary>
  command(command: RunCommand): void
  /** Resolves with the first matching snapshot from now on; rejects if the session ends before. */
  until(isWanted: (snapshot: RunSnapshot) => boolean): Promise<RunSnapshot>
}

/** Deviations from simply starting a run. */
export type SessionOptions = Partial<
  Pick<
    RunTask,
    | 'hold'
    | 'whenFailing'
    | 'accept'
    | 'callbackBase'
    | 'mediaBase'
    | 'loadWorkerUrl'
    | 'searchWorkerUrl'
    | 'earlierRuns'
    | 'callbackTimeoutMs'
    | 'deliveredCodes'
  >
> & {
  onCommit?: CommitHook
  /** The fixes of a correcting retry. */
  fixes?: readonly Fix[]
}

/**
 * Starts, resumes and retries runs of a workspace in the tests' own thread, with everything of a real run
 * except its thread.
 */
export function createInProcessRuns(workspace: string, key = RUN_KEY) {
  createWorkspaceFolders(workspace)

  function open(runId: string, work: RunTask['work'], options: SessionOptions): InProcessRun {
    const { onCommit, ...rest } = options
    const secrets = {
      apiKey: sealKey(runId, work),
      proxyCredentials: null,
      headerValues: null,
      systemProxy: null,
    }
    const base = {
      runId,
      workspace,
      ...secrets,
      appVersion: '0',
      hold: false,
      accept: [],
      ...NO_ADDRESSES,
    } as const
    const listeners = new Set<(snapshot: RunSnapshot) => void>()
    const session = new RunSession(
      { ...base, deliveredCodes: [], whenFailing: 'stop', work, ...rest },
      (name, value) => {
        if (name === 'snapshot' && value !== null && 'phase' in value)
          for (const listener of listeners) listener(value)
      },
      { onCommit },
    )
    const ended = session.run().then(() => summarize(runId))
    // A test may end before it awaits this.
    ended.catch(() => {})
    return {
      runId,
      ended,
      command: (command) => session.command(command),
      until: (isWanted) =>
        new Promise((resolve, reject) => {
          void ended.then(
            ({ state }) => reject(new Error(`the session ended before, with the run ${state}`)),
            reject,
          )
          const listener = (snapshot: RunSnapshot): void => {
            if (!isWanted(snapshot)) return
            listeners.delete(listener)
            resolve(snapshot)
          }
          listeners.add(listener)
        }),
    }
  }

  /** The tests' key, for the addresses of the run's plan. */
  function sealKey(runId: string, work: RunTask['work']): SealedSecret {
    const ofRunId = work.kind === 'child' ? work.parentRunId : runId
    const { connection } = 'plan' in work ? work.plan : read(ofRunId, ({ record }) => record.plan)
    return ApiKey.create(key, connection, 'of the test').seal()
  }

  /** Reads a run's journal with its own reader, which is closed afterwards. */
  function read<Value>(runId: string, use: (view: RunFamily) => Value): Value {
    const pool = new ReaderPool()
    try {
      const view = readRunFamily(pool, toJournalFile(workspace, runId), () => false)
      if (view === null) throw new Error(`${runId} has no run in its journal`)
      return use(view)
    } finally {
      pool.close()
    }
  }

  const summarize = (runId: string): RunSummary => read(runId, summarizeRun)

  return {
    workspace,
    read,
    summarize,
    start: (plan: Plan, options: SessionOptions = {}) =>
      open(createRunId(), { kind: 'start', plan }, options),
    resume: (runId: string, onUnknown: 'resend' | 'skip' = 'skip', options: SessionOptions = {}) =>
      open(runId, { kind: 'resume', onUnknown }, options),
    /** Resends unsuccessful rows, in the run itself. */
    retry: (runId: string, onUnknown: 'resend' | 'skip' = 'skip', options: SessionOptions = {}) =>
      open(runId, { kind: 'retry', onUnknown }, options),
    /** The same with other fixes, and including rows that were never sent. */
    correct: (
      runId: string,
      fixes: readonly Fix[],
      onUnknown: 'resend' | 'skip' = 'skip',
      options: SessionOptions = {},
    ) => open(runId, { kind: 'correct', onUnknown, fixes }, options),
    /** The same as a run of its own, for corrections and as in earlier versions. */
    retryAsChild: (
      parentRunId: string,
      onUnknown: 'resend' | 'skip' = 'skip',
      { fixes, ...options }: SessionOptions = {},
    ) => open(createRunId(), { kind: 'child', onUnknown, parentRunId, fixes }, options),
  }
}
