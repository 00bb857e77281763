import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { countDoubleAdds } from '../../shared/run/resend-consent.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { Engine, EngineOptions, ResumeOptions, RunHandle, StartOptions } from './engine-interface.ts'
import { deleteJournal } from './journal/delete-journal.ts'
import { toK6Plan } from './load/k6/k6-result.ts'
import { type Queries, type QueryKind, QueryThread } from './query/query-thread.ts'
import { type RunBases, RunReceiver } from './session/run-receiver.ts'
import { toSecrets } from './session/run-secrets.ts'
import { type RunTask, RunThread } from './session/run-thread.ts'
import { isLeaseHeld } from './workspace/lease.ts'
import {
  createRunId,
  createWorkspaceFolders,
  isRunId,
  listRunIds,
  toJournalFile,
} from './workspace/workspace-files.ts'

/** What differs from one run's thread to the next. */
type RunWork = Omit<RunTask, 'workspace' | 'appVersion' | 'loadWorkerUrl'>

/** What a thread needs that sends nothing. */
const IDLE = {
  apiKey: null,
  proxyCredentials: null,
  deliveredCodes: [],
  hold: false,
  whenFailing: 'stop',
} as const

/** Builds the engine over a workspace. Throws `WORKSPACE_UNUSABLE`. */
export function createEngine(options: EngineOptions): Engine {
  const workspace = resolve(options.workspace)
  createWorkspaceFolders(workspace)
  const queries = new QueryThread(options.queryWorkerUrl)
  const receiver = new RunReceiver(options.receiverWorkerUrl, workspace, readLiveTokens, () =>
    (options.readKnownSecrets?.() ?? []).map((secret) => secret.seal()),
  )
  const common = { workspace, appVersion: APP_VERSION, loadWorkerUrl: options.loadWorkerUrl.href }
  const settling = new Map<string, Promise<void>>()
  const exports = new Set<QueryThread>()
  const held = new Map<string, { thread: RunThread; handle: RunHandle }>()

  function toFile(runId: string): string {
    const file = toJournalFile(workspace, runId)
    if (isRunId(runId) && existsSync(file)) return file
    throw new SluiceError({ id: 'run_not_found', runId, workspace })
  }

  /** What the queries' thread needs to know of a run: its journal, and the runs that this process holds. */
  const toAsked = (file: string) => ({ file, held: [...held.keys()] })

  /** Processes what came for a run or its retries while nobody held them, before anybody looks at them. */
  async function settleLate(file: string): Promise<void> {
    for (const runId of await queries.ask('late', toAsked(file), {})) await settleRun(runId)
  }

  async function settleRun(runId: string): Promise<void> {
    if (held.has(runId)) return
    const bases = { callbackBase: null, mediaBase: null }
    const task = { ...IDLE, ...bases, runId, work: { kind: 'settle' } } as const
    const thread = new RunThread(options.runWorkerUrl, { ...task, ...common })
    // Where another process has taken the run up meanwhile, that one takes them in.
    await thread.ended.catch((error: unknown) => {
      if (!(error instanceof SluiceError && error.code === 'RUN_BUSY')) throw error
    })
  }

  async function ask<K extends QueryKind>(
    kind: K,
    runId: string,
    give: Queries[K]['give'],
  ): Promise<Queries[K]['get']> {
    const file = toFile(runId)
    const settled = settling.get(runId) ?? settleLate(file).finally(() => settling.delete(runId))
    settling.set(runId, settled)
    await settled
    return queries.ask(kind, toAsked(file), give)
  }

  /** What a run that is taken up again needs of the receiver. */
  async function prepareAgain(runId: string, parentRunId: string | null, plan: Plan): Promise<RunBases> {
    const kept = await ask('addresses', parentRunId ?? runId, {})
    if (kept === null) return receiver.prepare(plan, { runId, runToken: runId }, null)
    return receiver.prepare(plan, { runId, runToken: kept.runToken }, kept)
  }

  /**
   * Tokens of the runs there are; a child run has the token of the first of its chain, which may be gone. Rejects
   * where a journal cannot be read, for nobody knows what its token is.
   */
  async function readLiveTokens(): Promise<ReadonlySet<string>> {
    const tokens = new Set<string>()
    for (const runId of listRunIds(workspace)) {
      tokens.add(runId)
      const file = toJournalFile(workspace, runId)
      const addresses = await queries.ask('addresses', toAsked(file), {})
      if (addresses !== null) tokens.add(addresses.runToken)
    }
    return tokens
  }

  async function readPlan(runId: string): Promise<Plan> {
    const plan = await ask('plan', runId, {})
    if (plan !== null) return plan
    throw new SluiceError({ id: 'run_unplanned', runId })
  }

  async function summarizeRun(runId: string): Promise<RunSummary> {
    const summary = await ask('summary', runId, {})
    if (summary === null) await readPlan(runId)
    return summary as RunSummary
  }

  /** Whoever asks, an index add whose outcome is unknown is not sent again without consent. */
  async function refuseDoubleAdds(
    runId: string,
    { operation }: Plan,
    { onUnknown, resendIndexAdds = false }: ResumeOptions,
    how: 'resume' | 'retry',
  ): Promise<void> {
    if (operation.kind !== 'index-add' || onUnknown === 'skip' || resendIndexAdds) return
    const { rows, whole_run: whole } = await summarizeRun(runId)
    // A retry takes rows of the whole run, whichever part of it is named.
    const items = countDoubleAdds(how === 'retry' ? (whole?.rows ?? rows) : rows, how)
    if (items > 0) throw new SluiceError({ id: 'index_adds_unconfirmed', runId, items })
  }

  /** Spares the wait for a lease that this process holds itself. */
  function refuseHeld(runId: string): void {
    if (!held.has(runId)) return
    throw new SluiceError({ id: 'run_going_on', runId })
  }

  /** Callbacks may repeat what a run sends. */
  async function guard<Secrets extends ReturnType<typeof toSecrets>>(secrets: Secrets): Promise<Secrets> {
    await receiver.guard([secrets.apiKey, secrets.proxyCredentials])
    return secrets
  }

  function refuseBusy(runId: string): void {
    refuseHeld(runId)
    if (!isLeaseHeld(toJournalFile(workspace, runId))) return
    throw new SluiceError({ id: 'run_held_elsewhere', runId })
  }

  function startThread({ connection }: Pick<Plan, 'connection'>, task: RunWork): RunHandle {
    const { runId } = task
    refuseHeld(runId)
    const thread = new RunThread(options.runWorkerUrl, { ...task, ...common })
    const ended = thread.ended.then(
      async () => {
        await release(task)
        return summarizeRun(runId)
      },
      async (error: unknown) => {
        await release(task)
        // A new run whose source or plan cannot be used never was one.
        if (task.work.kind !== 'resume' && !thread.isReady) await removeFiles(runId)
        throw error
      },
    )
    ended.catch(() => {})
    const handle: RunHandle = {
      runId,
      ready: thread.ready,
      ended,
      snapshot: () => thread.snapshot(),
      onSnapshot: (listener) => thread.onSnapshot(listener),
      begin: (begin = {}) => thread.command({ kind: 'begin', ...begin }),
      pause: () => thread.command({ kind: 'pause' }),
      resume: () => thread.command({ kind: 'resume' }),
      stop: () => thread.command({ kind: 'stop' }),
      setConcurrency: (concurrency) => thread.command({ kind: 'set_concurrency', concurrency }),
      setApiKey: (apiKey) => {
        apiKey.check(connection)
        const sealed = apiKey.seal()
        void receiver.guard([sealed])
        thread.command({ kind: 'set_api_key', apiKey: sealed })
      },
    }
    held.set(runId, { thread, handle })
    return handle
  }

  async function release({ runId, mediaBase, work }: RunWork) {
    held.delete(runId)
    // A load test has measured its callbacks; what they said is nobody's result.
    if (work.kind === 'start' && work.plan.load !== undefined) await receiver.forget([runId])
    if (mediaBase === null) return
    const addresses = await ask('addresses', runId, {}).catch(() => null)
    await receiver.release({ runId, runToken: addresses?.runToken ?? runId })
  }

  async function removeFiles(runId: string): Promise<void> {
    await queries.forget(toJournalFile(workspace, runId))
    deleteJournal(workspace, runId)
  }

  return {
    workspace,
    previewSource: (source, limit) => queries.preview(source, limit),
    async startRun(plan: Plan, start: StartOptions = {}) {
      const secrets = await guard(toSecrets(start, plan))
      const { hold = false, whenFailing = 'stop' } = start
      const runId = createRunId()
      return startThread(plan, {
        ...(await receiver.prepare(plan, { runId, runToken: runId }, null, start.isTrial)),
        ...secrets,
        runId,
        deliveredCodes: [],
        hold,
        whenFailing,
        work: { kind: 'start', plan },
      })
    },
    async resumeRun(named: string, resume: ResumeOptions) {
      const runId = await ask('resumable', named, {})
      const plan = await readPlan(runId)
      const secrets = await guard(toSecrets(resume, plan))
      refuseHeld(runId)
      const bases = await prepareAgain(runId, null, plan)
      await refuseDoubleAdds(runId, plan, resume, 'resume')
      const { onUnknown, callbackTimeoutMs, deliveredCodes = [], hold = false, whenFailing = 'stop' } = resume
      const work = { kind: 'resume', onUnknown } as const
      const rest = { deliveredCodes, hold, whenFailing, callbackTimeoutMs }
      return startThread(plan, { ...bases, ...secrets, ...rest, runId, work })
    },
    async retryRun(parentRunId: string, retry: ResumeOptions) {
      const plan = await readPlan(parentRunId)
      refuseLoad(parentRunId, plan)
      for (const member of await ask('whole', parentRunId, {})) refuseHeld(member)
      const secrets = await guard(toSecrets(retry, plan))
      const runId = createRunId()
      const bases = await prepareAgain(runId, parentRunId, plan)
      await refuseDoubleAdds(parentRunId, plan, retry, 'retry')
      const { onUnknown, callbackTimeoutMs, deliveredCodes = [], hold = false, whenFailing = 'stop' } = retry
      const work = { kind: 'retry', onUnknown, parentRunId } as const
      const rest = { deliveredCodes, hold, whenFailing, callbackTimeoutMs }
      return startThread(plan, { ...bases, ...secrets, ...rest, runId, work })
    },
    heldRun: (runId) => held.get(runId)?.handle ?? null,
    async listRuns(onUnreadable = () => {}) {
      const summaries: RunSummary[] = []
      for (const runId of listRunIds(workspace)) {
        try {
          const summary = await ask('summary', runId, {})
          // A retry is shown with the run whose rows it sends again.
          if (summary !== null && summary.whole_run === null) summaries.push(summary)
        } catch (error) {
          // A run may be deleted while its predecessors are read; a damaged one must not hide the others.
          if (!(error instanceof SluiceError)) throw error
          if (error.code !== 'RUN_NOT_FOUND') onUnreadable(runId, error)
        }
      }
      return summaries
    },
    summarizeRun,
    readPlan,
    readColumns: (runId) => ask('columns', runId, {}),
    readPage: (runId, query) => ask('page', runId, { query }),
    readRow: (runId, row) => ask('row', runId, { row }),
    readFacets: (runId, filter = {}) => ask('facets', runId, { filter }),
    readProblems: (runId) => ask('problems', runId, {}),
    readLatency: (runId) => ask('latency', runId, {}),
    readLoadReport: (runId) => ask('load', runId, {}),
    async compareRuns(a, b) {
      return ask('compare', a, { otherFile: toFile(b) })
    },
    async importK6(files, { ofRunId, name } = {}) {
      const plan = ofRunId === undefined ? toK6Plan(resolve(files[0] ?? '')) : await readPlan(ofRunId)
      const named = { ...plan, name: name ?? `k6: ${basename(files[0] ?? '')}` }
      const bases = { callbackBase: null, mediaBase: null }
      const work = { kind: 'import', files, plan: named } as const
      return startThread(named, { ...IDLE, ...bases, runId: createRunId(), work }).ended
    },
    async exportRun(runId, exporting) {
      const asked = toAsked(toFile(runId))
      // A thread of its own: a long export must not hold up the pages that a person looks at meanwhile.
      const thread = new QueryThread(options.queryWorkerUrl)
      exports.add(thread)
      try {
        return await thread.ask('export', asked, { options: exporting })
      } finally {
        exports.delete(thread)
        await thread.close()
      }
    },
    async deleteRun(runId: string) {
      const file = toFile(runId)
      refuseHeld(runId)
      const addresses = await ask('addresses', runId, {}).catch(() => null)
      const retries = (await ask('members', runId, {}).catch(() => [])).filter((member) => member !== runId)
      for (const retry of retries) refuseBusy(retry)
      for (const retry of retries.reverse()) await removeFiles(retry)
      await queries.forget(file)
      deleteJournal(workspace, runId)
      const token = addresses?.runToken ?? runId
      const live = addresses?.callbackBase == null ? null : await readLiveTokens().catch(() => null)
      if (live !== null && !live.has(token)) await receiver.forget([token])
    },
    async openReceiver(opening = {}) {
      await receiver.open(opening)
      const status = await receiver.status()
      if (status === null) throw new Error('the receiver is not open')
      return status
    },
    receiverStatus: () => receiver.status(),
    testReceiver: (publicUrl) => receiver.test(publicUrl),
    async close() {
      for (const { handle } of held.values()) handle.stop()
      // Until their summaries are read, too, which the queries' thread gives.
      await Promise.allSettled([...held.values()].map(({ handle }) => handle.ended))
      await Promise.all([receiver, queries, ...exports].map((thread) => thread.close()))
    },
  }
}

/** A load test counts requests: there are no rows that one could send again. */
function refuseLoad(runId: string, { load }: Plan): void {
  if (load === undefined) return
  throw new SluiceError({ id: 'load_not_repeatable', runId })
}
