import { once } from 'node:events'
import { basename, resolve } from 'node:path'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError, toSluiceError } from '../../../shared/messages/errors.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import { mayAddTwice, OPERATIONS, sendsKey } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { joinAccepted } from '../../../shared/run/accept-code.ts'
import { countDoubleAdds } from '../../../shared/run/counts.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { APP_VERSION } from '../../../shared/version.ts'
import type { ResumeOptions, RetryOptions, RunHandle, StartOptions } from '../engine-interface.ts'
import { toK6Plan } from '../load/k6/k6-result.ts'
import type { StoredRuns } from '../query/stored-runs.ts'
import type { RunBases, WorkspaceReceiver } from '../receiver/workspace-receiver.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { addSystemProxy, type FindSystemProxy } from '../secrets/system-proxy.ts'
import { toServiceUrl } from '../service/operation-exchange.ts'
import { takeLease } from '../workspace/lease.ts'
import { createRunId, isWritable, listRunIds, toJournalFile } from '../workspace/workspace-files.ts'
import { RunRemoval } from './run-removal.ts'
import { makesRun, type RunTask, RunThread } from './run-thread.ts'

/** The parts of a task that differ between threads of runs. */
type RunWork = Omit<RunTask, 'workspace' | 'appVersion' | 'loadWorkerUrl' | 'searchWorkerUrl'>

/** The secrets that a run may send, and the system's proxy for it. */
type RunSecrets = Pick<RunTask, 'apiKey' | 'proxyCredentials' | 'headerValues' | 'systemProxy'>

/** For a thread that sends nothing. */
const IDLE = {
  apiKey: null,
  proxyCredentials: null,
  headerValues: null,
  systemProxy: null,
  callbackBase: null,
  mediaBase: null,
  deliveredCodes: [],
  hold: false,
  accept: [],
  whenFailing: 'stop',
} as const

export interface HeldRunsOptions {
  workspace: string
  /** Entries of threads of runs, of those sending load tests, and those that look up what was sent before. */
  runWorkerUrl: URL
  loadWorkerUrl: URL
  searchWorkerUrl: URL
  stored: StoredRuns
  receiver: WorkspaceReceiver
  findSystemProxy: FindSystemProxy
}

/** A correction under review: the run it is for, and what it will be sent with. */
interface LookedAtCorrection {
  parentRunId: string
  retry: RetryOptions
  /** Requests at once as set meanwhile; null if not set. */
  concurrency: number | null
}

/** The runs that this process holds, each in its own thread: starts them, and continues ended ones. */
export class HeldRuns {
  readonly #options: HeldRunsOptions
  readonly #held = new Map<string, RunHandle>()
  readonly #settling = new Map<string, Promise<boolean>>()
  /** Runs that have sent rows here and ended. */
  readonly #ended = new Set<string>()
  /** Corrections held for review, which continue in the run they are for once they begin. */
  readonly #corrections = new Map<string, LookedAtCorrection>()

  /** Removes runs that are not held. */
  readonly removal: RunRemoval

  constructor(options: HeldRunsOptions) {
    this.#options = options
    this.removal = new RunRemoval({ ...options, isHeld: (runId) => this.#held.has(runId) })
  }

  get ids(): readonly string[] {
    return [...this.#held.keys()]
  }

  find(runId: string): RunHandle | null {
    return this.#held.get(runId) ?? null
  }

  async start(plan: Plan, start: StartOptions): Promise<RunHandle> {
    const secrets = await this.#guard(start, plan)
    const runId = createRunId()
    const { hold = false, accept = [], limit, whenFailing = 'stop', isDryRun, isForgetful = false } = start
    const bases = await this.#options.receiver.prepare(plan, { runId, runToken: runId }, null, isDryRun)
    const earlierRuns = isForgetful ? [] : await this.#listEarlier(plan)
    const work = { kind: 'start', plan } as const
    return this.#startThread(plan, {
      ...bases,
      ...secrets,
      runId,
      earlierRuns,
      deliveredCodes: [],
      hold,
      isDryRun,
      limit,
      accept,
      whenFailing,
      work,
    })
  }

  /**
   * Lets a held run send, and returns the run that continues: itself or, for a correction, the corrected run.
   * Throws `RUN_NOT_FOUND` if this process does not hold it.
   */
  async begin(runId: string, begin: NonNullable<Parameters<RunHandle['begin']>[0]>): Promise<RunHandle> {
    const handle = this.#held.get(runId)
    if (handle === undefined) {
      throw new SluiceError({ id: 'run_not_found', runId, workspace: this.#options.workspace })
    }
    const correction = this.#corrections.get(runId)
    if (correction === undefined) {
      handle.begin(begin)
      return handle
    }
    handle.stop()
    await handle.ended
    await this.removal.delete(runId)
    const { parentRunId, retry, concurrency } = correction
    const accept = joinAccepted(retry.accept, begin.accept)
    const corrected = await this.#retry(parentRunId, { ...retry, accept }, 'to begin')
    if (concurrency !== null) corrected.setConcurrency(concurrency)
    corrected.begin(begin)
    return corrected
  }

  /** Throws `RUN_BUSY` if a process holds the run, or the one of its retries that would be resumed. */
  async refuseBusy(named: string): Promise<void> {
    const { stored, workspace } = this.#options
    const runId = await stored.own.findResumable(named)
    this.#refuseHeld(runId)
    takeLease(toJournalFile(workspace, runId), `run ${runId}`).release()
  }

  /** Continues the run, or the one of its retries that was interrupted. */
  async resume(named: string, resume: ResumeOptions): Promise<RunHandle> {
    await this.settleLate(named)
    const { stored } = this.#options
    const runId = await stored.own.findResumable(named)
    const plan = await stored.runs.readPlan(runId)
    const correction = await stored.own.findHeldCorrection(runId)
    if (correction?.correctionId === runId) return this.retry(runId, resume)
    const secrets = await this.#guard(resume, plan)
    this.#refuseHeld(runId)
    const bases = await this.#prepareAgain(runId, runId, plan, resume)
    await this.#refuseDoubleAdds(runId, plan, resume, 'resume')
    const earlierRuns = await this.#listEarlier(plan)
    const work = { kind: 'resume', onUnknown: resume.onUnknown } as const
    const { endsWithTrial } = resume
    const rules = { ...toRules(resume), endsWithTrial }
    return this.#startThread(plan, { ...bases, ...secrets, ...rules, runId, earlierRuns, work })
  }

  /** Resends what did not succeed in a run and its retries, in the run itself if possible. */
  retry(named: string, options: RetryOptions): Promise<RunHandle> {
    return this.#retry(named, options, 'to look at')
  }

  /** A held correction may be given up again, and leaves the run unchanged until it begins. */
  async #retry(named: string, options: RetryOptions, holds: 'to look at' | 'to begin'): Promise<RunHandle> {
    await this.settleLate(named)
    const { parentRunId, retry } = await this.#dropHeldCorrection(named, options)
    const { stored } = this.#options
    const plan = await stored.runs.readPlan(parentRunId)
    // A load test counts requests, and has no rows to resend.
    if (plan.load !== undefined) throw new SluiceError({ id: 'load_not_repeatable', runId: parentRunId })
    for (const member of await stored.own.listWhole(parentRunId)) this.#refuseHeld(member)
    const secrets = await this.#guard(retry, plan)
    const { onUnknown, fixes, hold = false } = retry
    const isLookedAt = fixes !== undefined && hold && holds === 'to look at'
    const goesOnInPlace = await stored.own.isRetriedInPlace(parentRunId)
    const isInPlace = goesOnInPlace && !isLookedAt
    const runId = isInPlace ? parentRunId : createRunId()
    const bases = await this.#prepareAgain(runId, parentRunId, plan, retry)
    await this.#refuseDoubleAdds(parentRunId, plan, retry, 'retry')
    // A retry with corrections checks its rows again, and then asks by itself.
    if (fixes === undefined) await this.#refuseOpenWarnings(parentRunId, retry)
    const inPlace: RunTask['work'] =
      fixes === undefined ? { kind: 'retry', onUnknown } : { kind: 'correct', onUnknown, fixes }
    const work = isInPlace ? inPlace : ({ kind: 'child', onUnknown, parentRunId, fixes } as const)
    const handle = this.#startThread(plan, { ...bases, ...secrets, ...toRules(retry), runId, work })
    return isLookedAt && goesOnInPlace ? this.#noteChanges(handle, { parentRunId, retry }) : handle
  }

  /** Keeps changes made to a correction during its review for the run that continues with it. */
  #noteChanges(held: RunHandle, { parentRunId, retry }: Omit<LookedAtCorrection, 'concurrency'>): RunHandle {
    const correction: LookedAtCorrection = { parentRunId, retry, concurrency: null }
    const handle: RunHandle = {
      ...held,
      setConcurrency: (concurrency) => {
        held.setConcurrency(concurrency)
        correction.concurrency = concurrency
      },
      setApiKey: (apiKey) => {
        held.setApiKey(apiKey)
        correction.retry = { ...correction.retry, apiKey }
      },
    }
    this.#corrections.set(held.runId, correction)
    this.#held.set(held.runId, handle)
    return handle
  }

  /**
   * A correction whose process ended while it was held has sent nothing, so it gives its rows back. Whoever
   * names it means its fixes.
   */
  async #dropHeldCorrection(
    named: string,
    retry: RetryOptions,
  ): Promise<{ parentRunId: string; retry: RetryOptions }> {
    const { stored } = this.#options
    const found = await stored.own.findHeldCorrection(named)
    if (found === null) return { parentRunId: named, retry }
    const { correctionId, runId } = found
    for (const held of [runId, correctionId]) this.#refuseHeld(held)
    const { fixes = [] } = await stored.runs.readPlan(correctionId)
    await this.removal.delete(correctionId)
    return { parentRunId: runId, retry: named === correctionId ? { fixes, ...retry } : retry }
  }

  /** Stores what k6 measured as a separate load test. */
  async importK6(
    files: readonly string[],
    { ofRunId, name }: { ofRunId?: string; name?: string } = {},
  ): Promise<RunSummary> {
    const [first = ''] = files
    const plan =
      ofRunId === undefined ? toK6Plan(resolve(first)) : await this.#options.stored.runs.readPlan(ofRunId)
    const named = { ...plan, name: name ?? `k6: ${basename(first)}` }
    const work = { kind: 'import', files, plan: named } as const
    return this.#startThread(named, { ...IDLE, runId: createRunId(), work }).ended
  }

  /**
   * Processes callbacks that came for a run and its retries while nobody held them, marks overdue rows, and
   * removes what interrupted corrections left; for all readable runs if none is named, and then dry runs that
   * were killed, too. Resolves with whether there was anything to process.
   */
  async settleLate(runId?: string): Promise<boolean> {
    if (!isWritable(this.#options.workspace)) return false
    this.removal.removeLeftCorrections(runId)
    if (runId !== undefined) return this.#settleFamily(runId)
    await this.removal.removeLeftDryRuns()
    const late = await this.#options.stored.own.listLateRuns()
    for (const each of late) {
      await this.#settleFamily(each).catch((error: unknown) => {
        // A damaged run must not keep the others from being processed.
        if (!(error instanceof SluiceError)) throw error
      })
    }
    return late.length > 0
  }

  /** Stops every held run and waits until its results can be read. */
  async close(): Promise<void> {
    const handles = [...this.#held.values()]
    for (const handle of handles) handle.stop()
    await Promise.allSettled(handles.map(({ ended }) => ended))
  }

  /**
   * Stores the findings of the runs that ended here, so that the first look at one need not wait for them.
   * Anything not stored when `signal` is aborted is left.
   */
  async storeFindings(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const aborted = once(signal, 'abort')
    for (const runId of this.#ended) {
      // If this fails, they are read when somebody looks at the run.
      const stored = this.#options.stored.results.storeFindings(runId, { isAwaited: true }).catch(() => {})
      await Promise.race([stored, aborted])
      if (signal.aborted) return
    }
  }

  #settleFamily(runId: string): Promise<boolean> {
    const settle = async (): Promise<boolean> => {
      const late = await this.#options.stored.own.listLate(runId)
      for (const each of late) await this.#settle(each)
      return late.length > 0
    }
    const settling = this.#settling.get(runId) ?? settle().finally(() => this.#settling.delete(runId))
    this.#settling.set(runId, settling)
    return settling
  }

  async #settle(runId: string): Promise<void> {
    if (this.#held.has(runId)) return
    // If another process has continued the run meanwhile, that one processes its callbacks.
    await this.#createThread({ ...IDLE, runId, work: { kind: 'settle' } }).ended.catch((error: unknown) => {
      if (!(error instanceof SluiceError && error.code === 'RUN_BUSY')) throw error
    })
  }

  #createThread(work: RunWork): RunThread {
    const { workspace, runWorkerUrl, loadWorkerUrl, searchWorkerUrl } = this.#options
    return new RunThread(runWorkerUrl, {
      ...work,
      workspace,
      appVersion: APP_VERSION,
      loadWorkerUrl: loadWorkerUrl.href,
      searchWorkerUrl: searchWorkerUrl.href,
    })
  }

  #startThread({ connection, load }: Pick<Plan, 'connection' | 'load'>, task: RunWork): RunHandle {
    const { stored, receiver } = this.#options
    const { runId } = task
    this.#refuseHeld(runId)
    const thread = this.#createThread(task)
    const ended = thread.ended.then(
      async () => {
        await this.#release(task).catch(() => {})
        try {
          await this.settleLate(runId)
          const summary = await stored.runs.summarizeRun(runId)
          if (task.isDryRun !== true) await stored.own.keepRun(runId)
          if (load === undefined && summary.requests.sent > 0) this.#ended.add(runId)
          return summary
        } catch (error) {
          throw toUnread(runId, error)
        }
      },
      async (error: unknown) => {
        // A new run with an unusable source or plan leaves nothing behind.
        const isGone = makesRun(task.work) && !thread.isReady
        // Whatever fails now, a person must learn what ended the run.
        await this.#release(task).catch(() => {})
        if (isGone) await this.removal.removeFiles(runId).catch(() => {})
        throw toRunError(error, { runId, isGone, isLoad: load !== undefined, hasBegun: thread.isReady })
      },
    )
    ended.catch(() => {})
    const handle: RunHandle = {
      runId,
      ready: thread.ready,
      ended,
      snapshot: () => thread.snapshot(),
      onSnapshot: (listener) => thread.onSnapshot(listener),
      onSecond: (listener) => thread.onSecond(listener),
      begin: (begin = {}) => thread.command({ kind: 'begin', ...begin }),
      pause: () => thread.command({ kind: 'pause' }),
      resume: (options = {}) => thread.command({ kind: 'resume', ...options }),
      stop: () => thread.command({ kind: 'stop' }),
      setConcurrency: (concurrency) => thread.command({ kind: 'set_concurrency', concurrency }),
      setApiKey: (apiKey) => {
        apiKey.check(connection)
        const sealed = apiKey.seal()
        void receiver.guard([sealed])
        thread.command({ kind: 'set_api_key', apiKey: sealed })
      },
    }
    this.#held.set(runId, handle)
    return handle
  }

  /** Earlier runs whose rows are compared with a source's, after their pending callbacks are processed. */
  async #listEarlier({ operation, load }: Plan): Promise<string[]> {
    if (load !== undefined || OPERATIONS[operation.kind].recognizedBy === undefined) return []
    // The first run of a workspace need not wait for the query thread.
    if (listRunIds(this.#options.workspace).length === 0) return []
    await this.settleLate().catch((error: unknown) => {
      // A damaged inbox does not prevent sending; looking at results reports it.
      if (!(error instanceof SluiceError)) throw error
    })
    return this.#options.stored.own.listRunsOf(operation.kind)
  }

  async #release({ runId, mediaBase, work }: RunWork): Promise<void> {
    const { stored, receiver } = this.#options
    this.#held.delete(runId)
    this.#corrections.delete(runId)
    // A load test has measured its callbacks, and no result depends on their content.
    if (work.kind === 'start' && work.plan.load !== undefined) await receiver.forget([runId])
    if (mediaBase === null) return
    const addresses = await stored.own.readAddresses(runId).catch(() => null)
    await receiver.release({ runId, runToken: addresses?.runToken ?? runId })
  }

  /** What a continued run, or a retry, needs from the receiver. */
  async #prepareAgain(
    runId: string,
    keptOf: string,
    plan: Plan,
    { skipCallbackTest }: ResumeOptions,
  ): Promise<RunBases> {
    const { stored, receiver } = this.#options
    const kept = await stored.own.readAddresses(keptOf)
    const { callback } = plan
    const received =
      skipCallbackTest === undefined
        ? plan
        : { ...plan, callback: { ...callback, skipTest: skipCallbackTest } }
    return receiver.prepare(received, { runId, runToken: kept?.runToken ?? runId }, kept)
  }

  /** The secrets that a run may send, which the receiver removes from callbacks. Throws `NO_API_KEY`. */
  async #guard(
    { apiKey, proxyCredentials, headerValues, isDryRun }: StartOptions,
    plan: Plan,
  ): Promise<RunSecrets> {
    const { operation, connection } = plan
    // Reading an appeal's status needs no key (docs/interface.md §5.6).
    const needsKey = sendsKey(operation) && isDryRun !== true
    let sealedKey: SealedSecret | null = null
    if (needsKey) {
      const { baseUrl, keyFrom } = connection
      if (apiKey === undefined) {
        throw new SluiceError({ id: 'key_missing', baseUrl, keyFrom: keyFrom ?? null })
      }
      apiKey.check(connection)
      sealedKey = apiKey.seal()
    } else if (sendsKey(operation) && apiKey !== undefined) {
      // Only to find the earlier runs sent with it.
      sealedKey = apiKey.seal()
    }
    const { findSystemProxy } = this.#options
    const way = await addSystemProxy(
      toServiceUrl(plan),
      connection,
      proxyCredentials ?? null,
      findSystemProxy,
    )
    const { proxy = null } = way.connection
    const secrets = {
      apiKey: sealedKey,
      proxyCredentials: way.proxyCredentials?.seal() ?? null,
      headerValues: headerValues?.seal() ?? null,
      systemProxy: connection.proxy === undefined ? proxy : null,
    }
    await this.#options.receiver.guard([secrets.apiKey, secrets.proxyCredentials, secrets.headerValues])
    return secrets
  }

  /** Never resends an index add of unknown outcome without consent, whoever asks. */
  async #refuseDoubleAdds(
    runId: string,
    { operation }: Plan,
    { onUnknown, resendIndexAdds = false }: ResumeOptions,
    how: 'resume' | 'retry',
  ): Promise<void> {
    if (!mayAddTwice(operation.kind) || onUnknown === 'skip' || resendIndexAdds) return
    const { rows, whole_run: whole } = await this.#options.stored.runs.summarizeRun(runId)
    // A retry takes rows of the whole, whichever part of it is named.
    const items = countDoubleAdds(how === 'retry' ? (whole?.rows ?? rows) : rows, how)
    if (items > 0) throw new SluiceError({ id: 'index_adds_unconfirmed', runId, items })
  }

  /** A retry's rows are not checked again: warnings not accepted for its whole are open for it, too. */
  async #refuseOpenWarnings(runId: string, { accept = [] }: RetryOptions): Promise<void> {
    const open = await this.#options.stored.results.readOpenWarnings(runId)
    const groups = open.filter((group) => !accept.some((code) => code === findNeeds(group)))
    if (groups.length > 0) throw new SluiceError({ id: 'warnings_unaccepted', groups })
  }

  /** Avoids waiting for a lease that this process holds itself. */
  #refuseHeld(runId: string): void {
    if (this.#held.has(runId)) throw new SluiceError({ id: 'run_going_on', runId })
  }
}

/** A run that has ended, but whose results cannot be read now. */
function toUnread(runId: string, error: unknown): SluiceError {
  return new SluiceError({ id: 'run_unread', runId, reason: toSluiceError(error).message }, { cause: error })
}

/** The error that ended a run, with advice: neither a removed run nor a load test can be resumed. */
function toRunError(
  error: unknown,
  { runId, isGone, isLoad, hasBegun }: { runId: string; isGone: boolean; isLoad: boolean; hasBegun: boolean },
): SluiceError {
  const failure = toSluiceError(error)
  const { said } = failure
  if (said.id === 'journal_disk_full') {
    const { file, reason, disk = 'full' } = said
    if (isGone) return new SluiceError({ id: 'run_not_written', file, reason, disk }, { cause: error })
    const id = isLoad ? 'load_journal_disk_full' : 'journal_disk_full'
    return new SluiceError({ id, file, reason, disk, runId }, { cause: error })
  }
  // Rows may have been sent, so this is more than an error of bad input.
  if (!hasBegun || failure.exitCode !== EXIT.badInput) return failure
  const isDamaged = said.id === 'journal_damaged'
  return new SluiceError({ id: 'run_broke_off', runId, reason: failure.message, isDamaged }, { cause: error })
}

function toRules({
  callbackTimeoutMs,
  deliveredCodes = [],
  hold = false,
  accept = [],
  whenFailing = 'stop',
  stop,
}: ResumeOptions) {
  return { callbackTimeoutMs, deliveredCodes, hold, accept, whenFailing, stop }
}
