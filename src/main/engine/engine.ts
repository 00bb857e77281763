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
 * Builds the engine over a workspace: runs and load tests each in a thread of its own, what journals say from the
 * queries' thread, and one receiver for the callbacks of all. Throws `WORKSPACE_UNUSABLE`.
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
    // Runs of other processes may send these, so callbacks are stored without them, too.
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

    /** Starts, goes on with, lists and removes runs. */
    runs: {
      ...stored.runs,
      /** Starts a run or a load test in a thread of its own. */
      startRun: (plan: Plan, options: StartOptions = {}) => held.start(plan, options),
      /**
       * Goes on with the run, or with that of its retries that was interrupted. Throws `RUN_NOT_FOUND`, `RUN_BUSY` (another
       * process holds it) or `RUN_NOT_RESUMABLE`.
       */
      resumeRun: (runId: string, options: ResumeOptions) => held.resume(runId, options),
      /**
       * Sends what did not succeed in a run and its retries, whichever of them is named, as a retry with the same post_ids
       * and bodies, as far as fixes do not correct them.
       */
      retryRun: (runId: string, options: RetryOptions) => held.retry(runId, options),
      /**
       * Stores what k6 measured as a run of its own, with the plan of the run it was exported from if that is named.
       * Several files have to be JSON lines of one run. Throws `BAD_SOURCE`.
       */
      importK6: (files: readonly string[], options?: { ofRunId?: string; name?: string }) =>
        held.importK6(files, options),
      /** Whether a run or its retries were sent with a key; null if nobody knows. */
      wasSentWith: (runId: string, apiKey: ApiKey) =>
        stored.own.wasSentWith(runId, toKeyFingerprint(workspace, apiKey)),
      /** Throws `RUN_BUSY` if a process holds the run, or that of its retries that would be resumed. */
      refuseBusy: (runId: string) => held.refuseBusy(runId),
      /** Lets a held run send; a correction goes on in the run that it corrects, whose handle is returned. */
      beginRun: (runId: string, options: Parameters<typeof held.begin>[1] = {}) => held.begin(runId, options),
      /** The handle of a run that this process holds. */
      heldRun: (runId: string) => held.find(runId),
      /**
       * Processes the callbacks that came for a run and its retries, or for all runs, while nobody held them, and marks
       * what has become overdue. Reading alone shows results as they are stored, so this is called before a person looks.
       * Resolves with whether there was anything.
       */
      settleLate: (runId?: string) => held.settleLate(runId),
      /**
       * Removes a run, the retries below it, and whatever is kept of them in the workspace, for good. Throws `RUN_BUSY`
       * while a process holds one of them.
       */
      deleteRun: (runId: string) => held.removal.delete(runId),
      /** Removes several, and returns those that a process holds, which are left alone. */
      deleteRuns: (runIds: readonly string[]) => held.removal.deleteAll(runIds),
      /**
       * Removes all that was ever recorded in the workspace, and returns how many runs and retries that were. Connections
       * and settings stay. Throws `RUN_BUSY` while a process runs something or receives callbacks here.
       */
      wipe: () => held.removal.wipe(),
      /**
       * Throws `BAD_USAGE` if a run of the plan could not be exported to a file, such as for its ending, and
       * `FILE_UNWRITABLE` if the file cannot be written. Writes nothing.
       */
      async checkExport(plan: Plan, file: string): Promise<void> {
        const { checkExport } = await import('./results/export-run.ts')
        await checkExport(plan, file)
      },
    },

    /** What the rows of a run came to. */
    results: stored.results,

    /** Looks back on answers: evaluations, labels, comparisons, lists. */
    lookback: {
      ...stored.lookback,
      /** The runs that others are compared with, oldest first. */
      readBaselines: () => readBaselines(workspace),
      /** Makes a run the baseline of its connection and source in place of the one of that name. */
      setBaseline: async (runId: string, name: string) =>
        setBaseline(workspace, await stored.runs.summarizeRun(runId), name),
      /** Removes the baselines that a run is, or those of a name alone, and returns them. */
      removeBaselines: (runId: string, name: string | null) => removeBaselines(workspace, runId, name),
      /**
       * Answers an SQL statement about runs in a process of its own, row by row, and returns how many rows there were. Throws
       * what {@link askSql} throws, and `RUN_NOT_FOUND`.
       */
      askSql: async (runIds: readonly string[], options: StatementOptions) =>
        askSql({ ...options, ...toSqlPlace(runIds) }),
      /** Writes the answer to such a statement into a file, as {@link saveAnswer} does. */
      saveSql: async (runIds: readonly string[], options: Omit<StatementOptions, 'onRow'>, file: string) =>
        saveAnswer({ ...options, ...toSqlPlace(runIds) }, file),
      /** All runs of a group, oldest first. With labels each of them is evaluated. */
      readTrend: (group: TrendGroup, labels: TrendLabels) => stored.readTrend(group, labels),
    },

    /** Where callbacks come in. */
    receiver: {
      ...stored.receiver,
      /** Opens the callback receiver, which then stays open until `close`. Throws `RECEIVER_UNAVAILABLE`. */
      async open(options: ReceiverOptions = {}) {
        await receiver.open(options)
        const status = await receiver.status()
        if (status === null) throw new Error('the receiver is not open')
        return status
      },
      /** The receiver as it stands; null while it is not open. */
      status: () => receiver.status(),
      /** Posts to the receiver's public base and waits for the arrival. Throws `RECEIVER_UNAVAILABLE` with what went wrong. */
      test: (publicUrl: string) => receiver.test(publicUrl),
    },

    /** Single requests by hand, and what can be said of a connection without sending content. */
    scratchpad: {
      /** See {@link Scratchpad}; it is loaded when it is asked for, since few processes send anything by hand. */
      check: async (...args: Parameters<Scratchpad['check']>) => (await openScratchpad()).check(...args),
      withoutOwnCallback: async (text: string) => (await openScratchpad()).withoutOwnCallback(text),
      send: async (...args: Parameters<Scratchpad['send']>) => (await openScratchpad()).send(...args),
      takeCallback: async (id: string) => (await openScratchpad()).takeCallback(id),
      /**
       * Asks a service whether address and key are right, without sending content. Throws `BAD_PLAN` for certificates that
       * cannot be used.
       */
      async checkConnection(connection: PlanConnection, secrets: ConnectionSecrets) {
        const { checkConnection } = await import('./service/check-connection.ts')
        return checkConnection(connection, secrets, findSystemProxy)
      },
      /** How requests to a connection's base URL leave this machine. Rejects with `BAD_PLAN`; see {@link FindSystemProxy}. */
      findSystemRoute: (connection: Pick<PlanConnection, 'baseUrl' | 'proxy' | 'systemProxy'>) =>
        findSystemRoute(connection.baseUrl, connection, findSystemProxy),
    },

    /**
     * Stops held runs, stores the findings of those that have ended unless `signal` is aborted, and ends the queries'
     * threads. For a window, which stays open, findings are stored as each run ends.
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

/** A statement about runs, and what becomes of its answer. */
type StatementOptions = Omit<SqlOptions, 'processUrl' | 'startProcess' | 'files'>

/** Starts, stops and reads runs: all that the command line and the bridge need. */
export interface Engine extends ReturnType<typeof createEngine> {}
