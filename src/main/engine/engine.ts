import { resolve } from 'node:path'
import type { TrendGroup, TrendLabels } from '../../shared/lookback/trend.ts'
import type { PlanConnection } from '../../shared/plan/connection.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { forkProcess } from '../own-process.ts'
import { SQL_PROCESS, WORKER_URLS } from '../program-files.ts'
import type {
  EngineOptions,
  ReceiverOptions,
  ResumeOptions,
  RetryOptions,
  Scratchpad,
  StartOptions,
} from './engine-interface.ts'
import { readBaselines, removeBaselines, setBaseline } from './lookback/baseline-store.ts'
import { askSql, type SqlOptions } from './lookback/sql/ask-sql.ts'
import { saveAnswer } from './lookback/sql/save-answer.ts'
import { StoredRuns } from './query/stored-runs.ts'
import { WorkspaceReceiver } from './receiver/workspace-receiver.ts'
import type { ApiKey } from './secrets/bound-secret.ts'
import { createEnvironmentProxies, findSystemRoute } from './secrets/system-proxy.ts'
import type { ConnectionSecrets } from './service/check-connection.ts'
import { HeldRuns } from './session/held-runs.ts'
import { readStoredSecrets } from './workspace/connection-secrets.ts'
import { toKeyFingerprint } from './workspace/key-fingerprint.ts'
import { createWorkspaceFolders } from './workspace/workspace-files.ts'

/**
 * Builds the engine for a workspace: each run and load test in its own thread, journals read in the queries'
 * thread, one receiver for all callbacks. Throws `WORKSPACE_UNUSABLE`.
 */
export function createEngine({
  runWorkerUrl = WORKER_URLS.run,
  startProcess = forkProcess,
  findSystemProxy = createEnvironmentProxies(process.env),
  isOfWindow = false,
  ...options
}: EngineOptions) {
  const workspace = resolve(options.workspace)
  createWorkspaceFolders(workspace)
  const stored = new StoredRuns(workspace, WORKER_URLS.query, {
    listHeld: () => held.ids,
    hasOneThread: !isOfWindow,
  })
  const receiver = new WorkspaceReceiver({
    workspace,
    url: WORKER_URLS.receiver,
    readLiveTokens: () => stored.readRunTokens(),
    // Runs of other processes may send these secrets, so they are removed from stored callbacks, too.
    readKnownSecrets: () => readStoredSecrets(workspace, process.env).map((secret) => secret.seal()),
  })
  const { load: loadWorkerUrl, sentBefore: searchWorkerUrl } = WORKER_URLS
  const held = new HeldRuns({
    workspace,
    runWorkerUrl,
    loadWorkerUrl,
    searchWorkerUrl,
    stored,
    receiver,
    findSystemProxy,
  })

  let scratchpad: Promise<Scratchpad> | null = null
  const openScratchpad = (): Promise<Scratchpad> => {
    scratchpad ??= import('./scratchpad/scratchpad.ts').then(({ createScratchpad }) =>
      createScratchpad(workspace, receiver, findSystemProxy),
    )
    return scratchpad
  }

  const toSqlPlace = (runIds: readonly string[]) => ({
    startProcess,
    processUrl: SQL_PROCESS,
    files: runIds.map((runId) => stored.findFile(runId)),
  })

  return {
    workspace,

    /** Starts, continues, lists and removes runs. */
    runs: {
      ...stored.runs,
      /** Starts a run or load test in its own thread. */
      startRun: (plan: Plan, options: StartOptions = {}) => held.start(plan, options),
      /**
       * Continues the run, or its interrupted retry. Throws `RUN_NOT_FOUND`, `RUN_BUSY` (another process
       * holds it) or `RUN_NOT_RESUMABLE`.
       */
      resumeRun: (runId: string, options: ResumeOptions) => held.resume(runId, options),
      /**
       * Sends the unsuccessful rows of a run and its retries, whichever of them is named, as a retry with the
       * same post_ids and bodies, except where fixes correct them.
       */
      retryRun: (runId: string, options: RetryOptions) => held.retry(runId, options),
      /**
       * Stores k6's results as a run of their own, with the plan of the run that was exported to k6 if it is
       * named. Several files must be JSON lines of one run. Throws `BAD_SOURCE`.
       */
      importK6: (files: readonly string[], options?: { ofRunId?: string; name?: string }) =>
        held.importK6(files, options),
      /** Whether a run or its retries were sent with a key; null if unknown. */
      wasSentWith: (runId: string, apiKey: ApiKey) =>
        stored.own.wasSentWith(runId, toKeyFingerprint(workspace, apiKey)),
      /** Throws `RUN_BUSY` if a process holds the run, or the retry that would be resumed. */
      refuseBusy: (runId: string) => held.refuseBusy(runId),
      /** Lets a held run send. A correction continues in the run it corrects, whose handle is returned. */
      beginRun: (runId: string, options: Parameters<typeof held.begin>[1] = {}) => held.begin(runId, options),
      heldRun: (runId: string) => held.find(runId),
      /**
       * Processes callbacks that came for a run and its retries, or for all runs, while nobody held them, and
       * marks overdue rows. Reads alone show stored results, so call this before a person looks. Resolves
       * with whether anything changed.
       */
      settleLate: (runId?: string) => held.settleLate(runId),
      /**
       * Permanently removes a run, its retries, and everything the workspace keeps of them. Throws `RUN_BUSY`
       * while a process holds one of them.
       */
      deleteRun: (runId: string) => held.removal.delete(runId),
      /** Removes several runs, and returns those that a process holds, which stay. */
      deleteRuns: (runIds: readonly string[]) => held.removal.deleteAll(runIds),
      /**
       * Removes everything recorded in the workspace, and returns the number of runs and retries. Connections
       * and settings stay. Throws `RUN_BUSY` while a process runs something or receives callbacks here.
       */
      wipe: () => held.removal.wipe(),
      /**
       * Checks that a run of the plan can be exported to a file, without writing anything. Throws
       * `BAD_USAGE`, for instance for its ending, and `FILE_UNWRITABLE`.
       */
      async checkExport(plan: Plan, file: string): Promise<void> {
        const { checkExport } = await import('./results/export-run.ts')
        await checkExport(plan, file)
      },
    },

    results: stored.results,

    /** Evaluations, labels, comparisons and lists, from stored answers. */
    lookback: {
      ...stored.lookback,
      /** Runs with which others are compared, oldest first. */
      readBaselines: () => readBaselines(workspace),
      /** Makes a run the baseline of its connection and source with that name, replacing an earlier one. */
      setBaseline: async (runId: string, name: string) =>
        setBaseline(workspace, await stored.runs.summarizeRun(runId), name),
      /** Removes a run's baselines, or only the one with that name, and returns them. */
      removeBaselines: (runId: string, name: string | null) => removeBaselines(workspace, runId, name),
      /**
       * Answers an SQL statement about runs in a separate process, row by row, and returns the number of
       * rows. Throws what {@link askSql} throws, and `RUN_NOT_FOUND`.
       */
      askSql: async (runIds: readonly string[], options: StatementOptions) =>
        askSql({ ...options, ...toSqlPlace(runIds) }),
      /** Writes the answer to such a statement to a file, as {@link saveAnswer} does. */
      saveSql: async (runIds: readonly string[], options: Omit<StatementOptions, 'onRow'>, file: string) =>
        saveAnswer({ ...options, ...toSqlPlace(runIds) }, file),
      /** All runs of a group, oldest first, each evaluated if labels are given. */
      readTrend: (group: TrendGroup, labels: TrendLabels) => stored.readTrend(group, labels),
    },

    receiver: {
      ...stored.receiver,
      /** Opens the callback receiver until `close`. Throws `RECEIVER_UNAVAILABLE`. */
      async open(options: ReceiverOptions = {}) {
        await receiver.open(options)
        const status = await receiver.status()
        if (status === null) throw new Error('the receiver is not open')
        return status
      },
      /** The state of the receiver; null while it is closed. */
      status: () => receiver.status(),
      /**
       * Posts to the receiver's public base and waits for the request to arrive. Throws
       * `RECEIVER_UNAVAILABLE` with the reason.
       */
      test: (publicUrl: string) => receiver.test(publicUrl),
    },

    /** Single manual requests, and checks of a connection that send no content. */
    scratchpad: {
      /** See {@link Scratchpad}; loaded on first use, since few processes send anything by hand. */
      check: async (...args: Parameters<Scratchpad['check']>) => (await openScratchpad()).check(...args),
      withoutOwnCallback: async (text: string) => (await openScratchpad()).withoutOwnCallback(text),
      send: async (...args: Parameters<Scratchpad['send']>) => (await openScratchpad()).send(...args),
      takeCallback: async (id: string) => (await openScratchpad()).takeCallback(id),
      /** Checks address and key without sending content. Throws `BAD_PLAN` for unusable certificates. */
      async checkConnection(connection: PlanConnection, secrets: ConnectionSecrets) {
        const { checkConnection } = await import('./service/check-connection.ts')
        return checkConnection(connection, secrets, findSystemProxy)
      },
      /** How requests to a URL leave this machine. Rejects with `BAD_PLAN`; see {@link FindSystemProxy}. */
      findSystemRoute: (connection: Pick<PlanConnection, 'baseUrl' | 'proxy' | 'systemProxy'>) =>
        findSystemRoute(connection.baseUrl, connection, findSystemProxy),
    },

    /**
     * Stops held runs, stores the findings of ended ones unless `signal` is aborted, and ends the queries'
     * threads. In a window, which stays open, findings are stored as each run ends.
     */
    async close({ signal = new AbortController().signal }: { signal?: AbortSignal } = {}): Promise<void> {
      await held.close()
      await Promise.all([
        receiver.close(),
        (isOfWindow ? Promise.resolve() : held.storeFindings(signal)).then(() => stored.close()),
      ])
    },
  }
}

/** A statement about runs, and what to do with its answer. */
type StatementOptions = Omit<SqlOptions, 'processUrl' | 'startProcess' | 'files'>

/** Starts, stops and reads runs: everything that the command line and the bridge need. */
export interface Engine extends ReturnType<typeof createEngine> {}
