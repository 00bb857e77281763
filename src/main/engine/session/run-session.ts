import type { Load } from '../../../shared/load/load.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toRowsPerItem } from '../../../shared/operations/operations.ts'
import { DEFAULT_STOP_RULE, type Pace } from '../../../shared/plan/plan.ts'
import { joinAccepted } from '../../../shared/run/accept-code.ts'
import { toRowCounts } from '../../../shared/run/counts.ts'
import { countTried, type RowCounts } from '../../../shared/run/run.ts'
import type { RunPhase, StopNotice } from '../../../shared/run/snapshot.ts'
import { toUnixMs } from '../../../shared/unix-clock.ts'
import type { SendEvent } from '../../worker-rpc.ts'
import { type CommitHook, Journal } from '../journal/journal.ts'
import { explainFailure } from '../journal/journal-damage.ts'
import { listWholeFiles } from '../journal/run-family.ts'
import { type RunRecord, readRunRecord, toStoredPlan, updateRunRecord } from '../journal/run-record.ts'
import { clearLatency, readLatency, writeLatency } from '../journal/seconds.ts'
import { endSession, readSessions } from '../journal/sessions.ts'
import type { LoadRun } from '../load/load-run.ts'
import { settleCallbacks } from '../run/callback-settler.ts'
import type { createSender } from '../run/create-sender.ts'
import type { IntakeProgress } from '../run/intake.ts'
import { resendKeyRefused } from '../run/journal/recovery.ts'
import type { Sender, SendingEnd } from '../run/sender.ts'
import type { SentWith } from '../run/sent-before/earlier-runs.ts'
import { SnapshotBuilder } from '../run/snapshot-builder.ts'
import { ApiKey, type BoundSecret, ProxyCredentials } from '../secrets/bound-secret.ts'
import { HeaderValues } from '../secrets/header-values.ts'
import { SecondMeter } from '../sending/second-meter.ts'
import { rememberRewriting } from '../workspace/connections.ts'
import { toKeyFingerprint } from '../workspace/key-fingerprint.ts'
import { toJournalFile } from '../workspace/workspace-files.ts'
import { passWarnings } from './pass-warnings.ts'
import { prepareRun } from './prepare-run.ts'
import { makesRun, type RunCommand, type RunEvents, type RunTask } from './run-thread.ts'

/** How often a snapshot is sent, milliseconds (docs/architecture.md §5). */
const SNAPSHOT_MS = 100

/** What a person or the plan lets be sent next. */
interface SendingPeriod {
  limit?: number
  /** Continues the period before: a trial stays one. */
  isGoingOn?: true
}

/** Parts that tests replace in a session, or add to it. */
interface SessionParts {
  onCommit?: CommitHook | undefined
  sync?: (() => Promise<void>) | undefined
  createSender?: typeof createSender | undefined
}

/** Percentage of errors that no run exceeds. */
const NEVER_PERCENT = 100

/** One session of a run, from taking its lease to releasing it. */
export class RunSession {
  readonly #task: RunTask
  readonly #parts: SessionParts
  readonly #journal: Journal
  readonly #sendEvent: SendEvent<RunEvents>
  readonly #snapshots: SnapshotBuilder
  #phase: RunPhase = 'intake'
  #progress: IntakeProgress = {
    bytes: { read: 0, total: 0 },
    rowsRead: 0,
    problems: { errors: 0, warnings: 0 },
  }
  #meter: SecondMeter | null = null
  #sender: Sender | null = null
  #load: LoadRun | null = null
  #notice: StopNotice | null = null
  /** What the person asked for: stop the run, or pause it. */
  #requestedState: 'none' | 'stop' | 'pause' = 'none'
  #next: PromiseWithResolvers<SendingPeriod> | null = null
  /** A `begin` that came before anything awaited it, such as during a trial. */
  #early: SendingPeriod | null = null
  /** Whether only the first few rows are being sent. */
  #isTrying = false
  /** Whether only the first few rows were sent last, and all of these. */
  #isTrial = false
  /** How many rows of a trial this session was started for were left at its start; null for no trial. */
  #limit: number | null = null
  /** Items left of the first few; null if all are to be sent. */
  #trialLeft: number | null = null
  #rowsPerItem = 1
  /** The last chosen number of requests in flight; null for the plan's. */
  #concurrency: number | null = null
  #apiKey: ApiKey | null
  /** Whether anybody listens to the seconds of a load test. */
  #tellsSeconds = false
  /** Whether to resend rows refused for an earlier key. */
  #isKeyReplaced = false
  /** Whether rows without success no longer pause this session. */
  #goesDespiteErrors = false
  readonly #proxyCredentials: ProxyCredentials | null
  readonly #headerValues: HeaderValues | null
  #sentMs = 0
  #sendingSinceMs: number | null = null
  #startedAtMs: number | null = null

  /** Takes the run's lease. Throws `RUN_BUSY`. `parts` is for tests. */
  constructor(task: RunTask, sendEvent: SendEvent<RunEvents>, parts: SessionParts = {}) {
    this.#task = task
    this.#parts = parts
    this.#apiKey = task.apiKey === null ? null : ApiKey.unseal(task.apiKey)
    this.#proxyCredentials =
      task.proxyCredentials === null ? null : ProxyCredentials.unseal(task.proxyCredentials)
    this.#headerValues = task.headerValues === null ? null : HeaderValues.unseal(task.headerValues)
    this.#sendEvent = sendEvent
    this.#journal = new Journal(toJournalFile(task.workspace, task.runId), {
      runId: task.runId,
      mustExist: !makesRun(task.work),
      onCommit: parts.onCommit,
      sync: parts.sync,
    })
    this.#snapshots = new SnapshotBuilder(this.#journal)
  }

  /** Runs to the end. Throws what ended it early, such as a `SluiceError`. */
  async run(): Promise<void> {
    const timer = setInterval(() => this.#sendSnapshot(), SNAPSHOT_MS)
    try {
      const sentWith: SentWith = {
        key: this.#toFingerprint(this.#apiKey),
        headerValues: this.#toHeaderFingerprint('always'),
        headerKeys: this.#toHeaderFingerprint('as_key'),
      }
      const record = await prepareRun(this.#task, this.#journal, {
        sentWith,
        proxyCredentials: this.#proxyCredentials,
        headerValues: this.#headerValues,
        onProgress: (progress) => {
          this.#progress = progress
        },
        isStopped: () => this.#requestedState === 'stop',
      })
      this.#noteFingerprint('key', sentWith.key)
      this.#noteFingerprint('header_values', sentWith.headerValues)
      this.#noteFingerprint('header_keys', sentWith.headerKeys)
      if (record !== null && record.plan.load !== undefined) await this.#sendLoad(record, record.plan.load)
      else if (record !== null) await this.#sendAll(record)
      if (this.#task.work.kind === 'import') {
        const { importK6Result } = await import('../load/k6/import-k6-result.ts')
        await importK6Result(this.#journal, this.#task.work.files)
      }
      if (this.#task.work.kind === 'settle') settleCallbacks(this.#task.workspace, this.#journal)
      this.#phase = 'ended'
      this.#sendSnapshot()
    } catch (error) {
      throw explainFailure(error, this.#listJournals())
    } finally {
      clearInterval(timer)
      this.#journal.close()
    }
  }

  command(command: RunCommand): void {
    switch (command.kind) {
      case 'begin':
        this.#task.accept = joinAccepted(this.#task.accept, command.accept)
        this.#begin(command.limit === undefined ? {} : { limit: command.limit })
        break
      case 'resume':
        this.#task.accept = joinAccepted(this.#task.accept, command.accept)
        this.#goesDespiteErrors ||= command.despiteErrors === true
        this.#begin({ isGoingOn: true })
        break
      case 'pause':
        this.#requestedState = 'pause'
        this.#sender?.stop()
        this.#load?.stop()
        break
      case 'stop':
        this.#requestedState = 'stop'
        this.#sender?.stop()
        this.#load?.stop()
        this.#next?.resolve({})
        break
      case 'set_api_key':
        this.#apiKey = ApiKey.unseal(command.apiKey)
        this.#isKeyReplaced = true
        this.#noteFingerprint('key', this.#toFingerprint(this.#apiKey))
        this.#load?.setApiKey(command.apiKey)
        break
      case 'tell_seconds':
        this.#tellsSeconds = true
        break
      case 'set_concurrency':
        this.#concurrency = command.concurrency
        this.#applyConcurrency()
        break
    }
  }

  #toFingerprint(secret: BoundSecret | null): string | null {
    return secret === null ? null : toKeyFingerprint(this.#task.workspace, secret)
  }

  /** Fingerprint of the headers from variables and files that identify the tenant in this way. */
  #toHeaderFingerprint(says: 'always' | 'as_key'): string | null {
    return this.#toFingerprint(this.#headerValues?.only(says) ?? null)
  }

  /** Written with the next sending. */
  #noteFingerprint(kind: 'key' | 'header_values' | 'header_keys', fingerprint: string | null): void {
    if (fingerprint !== null) this.#journal.counters.add(kind, fingerprint, 1)
  }

  /** The journals that the session reads: its own, and those of the whole from which a retry takes rows. */
  #listJournals(): string[] {
    const { workspace, work } = this.#task
    const retried = work.kind === 'child' ? listWholeFiles(toJournalFile(workspace, work.parentRunId)) : []
    return [...retried, this.#journal.file]
  }

  async #sendAll(record: RunRecord): Promise<void> {
    this.#progress = { ...this.#progress, rowsRead: record.rowsRead }
    this.#sentMs = record.sendingMs
    this.#startedAtMs = record.startedAtMs
    const trialRows = readSessions(this.#journal.db).at(-1)?.trialRows ?? null
    this.#limit = trialRows === null ? null : Math.max(0, trialRows - countTried(this.#rows))
    this.#meter = new SecondMeter({
      total: readLatency(this.#journal.db),
      nowUs: () => toUnixMs() * 1000,
    })
    this.#applyAccepted(record)
    // Keep the HTTP client out of memory while a source is read.
    const create = this.#parts.createSender ?? (await import('../run/create-sender.ts')).createSender
    const sender = create({
      ...this.#task,
      journal: this.#journal,
      record,
      meter: this.#meter,
      readApiKey: () => this.#apiKey,
      proxyCredentials: this.#proxyCredentials,
      headerValues: this.#headerValues,
    })
    this.#sender = sender
    this.#snapshots.isAsync = record.callbackBase !== null
    this.#applyConcurrency()
    try {
      if (!this.#task.hold) passWarnings(this.#journal, this.#task.accept)
      this.#sendEvent('ready', null)
      this.#take(this.#task.hold ? await this.#hold('ready', sender) : {}, record)
      this.#applyAccepted(record)
      if (this.#task.hold && !this.#isRequested('stop')) passWarnings(this.#journal, this.#task.accept)
      for (;;) {
        if (this.#requestedState === 'stop') return this.#writeEnd(this.#toEndState(), null)
        let end: SendingEnd =
          this.#requestedState === 'pause' ? { kind: 'stopped' } : await this.#sendPeriod(sender)
        // A stop or pause requested just as sending ended had nothing to stop.
        const isAwaiting =
          this.#isRequested('none') || (this.#isRequested('pause') && this.#rows.awaiting === 0)
        if (end.kind === 'done' && this.#isRequested('none') && this.#takeBackRefused()) continue
        if (end.kind === 'done' && (this.#isAllSent() || this.#endsHere()) && isAwaiting) {
          this.#phase = 'awaiting'
          end = await sender.awaitCallbacks()
          if (end.kind === 'done' && this.#takeBackRefused()) continue
          if (end.kind === 'done') return this.#writeEnd('completed', null)
        }
        if (this.#isRequested('stop')) return this.#writeEnd(this.#toEndState(), null)
        if (end.kind === 'failing' && this.#task.whenFailing === 'stop') {
          return this.#writeEnd('stopped', end.reason)
        }
        this.#notice = end.kind === 'failing' ? end.reason : null
        // A person must decide about the failure before the rest follows.
        if (end.kind === 'failing') this.#early = null
        this.#take(await this.#hold(end.kind === 'done' ? 'ready' : 'paused', sender), record)
        this.#notice = null
        this.#applyAccepted(record)
      }
    } finally {
      this.#meter.close()
      this.#sender = null
      await sender.close()
    }
  }

  /** A load test is sent in one go: pausing would spoil its measurement. */
  async #sendLoad(record: RunRecord, load: Load): Promise<void> {
    const { LoadRun } = await import('../load/load-run.ts')
    this.#progress = { ...this.#progress, rowsRead: record.rowsRead }
    this.#snapshots.isAsync = record.callbackBase !== null
    if (!this.#task.hold) passWarnings(this.#journal, this.#task.accept)
    this.#sendEvent('ready', null)
    if (this.#task.hold) await this.#hold('ready', null)
    if (this.#requestedState === 'stop') return this.#writeEnd('interrupted', null)
    if (this.#task.hold) passWarnings(this.#journal, this.#task.accept)
    // No row passed the checks: there is nothing to send.
    if (this.#isAllSent()) return this.#writeEnd('completed', null)
    this.#applyAccepted(record)
    const { workspace, proxyCredentials, headerValues, appVersion, loadWorkerUrl } = this.#task
    this.#load = new LoadRun({
      journal: this.#journal,
      record,
      load,
      workerUrl: new URL(loadWorkerUrl),
      onSecond: (read) => {
        if (this.#tellsSeconds) this.#sendEvent('second', read())
      },
      task: { workspace, apiKey: this.#apiKey?.seal() ?? null, proxyCredentials, headerValues, appVersion },
    })
    this.#writeRunning()
    this.#sendingSinceMs = performance.now()
    try {
      const end = await this.#load.run()
      this.#sentMs = this.#load.measuredMs
      if (end.kind === 'done') return this.#writeEnd('completed', null)
      if (end.kind === 'stopped') return this.#writeEnd('interrupted', null)
      const code = end.kind === 'crossed' ? 'threshold_crossed' : 'first_refused'
      this.#writeEnd('stopped', { code, reason: end.reason, advice: null })
    } finally {
      this.#sendingSinceMs = null
    }
  }

  /** Applies and records the last chosen number of requests in flight, so that a resumed run keeps it. */
  #applyConcurrency(): void {
    const concurrency = this.#concurrency
    if (concurrency === null || this.#sender === null) return
    this.#sender.setConcurrency(concurrency)
    try {
      // In its own transaction: outcomes awaiting their commit must not be counted before they are stored.
      this.#journal.transact('power', () => recordConcurrency(this.#journal, this.#concurrency), true)
    } catch (error) {
      // A full disk ends the run at its next outcome, if at all; until then the number applies, and is
      // recorded later.
      if (!(error instanceof SluiceError)) throw error
    }
  }

  /** What a person accepted applies at once, since judges of answers and guards look at the plan. */
  #applyAccepted({ plan }: RunRecord): void {
    if (this.#goesDespiteErrors) {
      plan.stop = { ...(plan.stop ?? DEFAULT_STOP_RULE), errorPercent: NEVER_PERCENT }
    }
    const accept = joinAccepted(plan.accept, this.#task.accept)
    if (!accept.includes('ids_rewritten') || plan.connection.rewritesIds) return
    plan.connection.rewritesIds = true
    // It also applies to later sessions.
    const stored = readRunRecord(this.#journal.db)?.plan
    if (stored !== undefined) {
      const connection = { ...stored.connection, rewritesIds: true }
      this.#journal.transact('power', () =>
        updateRunRecord(this.#journal.db, { plan: toStoredPlan({ ...stored, connection }) }),
      )
    }
    rememberRewriting(this.#task.workspace, plan.connection)
  }

  /** Changes what is sent next, unless the run is paused first. */
  #take({ limit, isGoingOn }: SendingPeriod, { plan }: RunRecord): void {
    if (isGoingOn) return
    this.#rowsPerItem = toRowsPerItem(plan.operation)
    const items = this.#limit === null ? null : Math.ceil(this.#limit / this.#rowsPerItem)
    this.#trialLeft = limit ?? items
  }

  /** Whether the trial that the run was started for has been sent. */
  #endsHere(): boolean {
    return this.#limit !== null && this.#isTrial
  }

  /** After a key change, requeues the rows refused for an earlier key; returns whether there are any. */
  #takeBackRefused(): boolean {
    const isKeyReplaced = this.#isKeyReplaced
    this.#isKeyReplaced = false
    return isKeyReplaced && resendKeyRefused(this.#journal) > 0
  }

  async #sendPeriod(sender: Sender): Promise<SendingEnd> {
    this.#takeBackRefused()
    const limit = this.#trialLeft ?? undefined
    this.#isTrial = false
    this.#isTrying = limit !== undefined
    this.#writeRunning()
    this.#sendingSinceMs = performance.now()
    this.#snapshots.beginStretch(limit === undefined ? null : limit * this.#rowsPerItem)
    try {
      const end = await sender.send({ limit })
      this.#isTrial = this.#isTrying && end.kind === 'done'
      this.#trialLeft = this.#isTrying ? end.left : null
      return end
    } finally {
      this.#isTrying = false
      this.#sentMs += performance.now() - this.#sendingSinceMs
      this.#sendingSinceMs = null
    }
  }

  #writeRunning(): void {
    this.#startedAtMs ??= Date.now()
    this.#journal.transact('power', () => {
      clearLatency(this.#journal.db)
      updateRunRecord(this.#journal.db, {
        state: 'running',
        stop_reason: null,
        stop_advice: null,
        ended_at: null,
        ...(this.#startedAtMs === null ? {} : { started_at: this.#startedAtMs }),
      })
    })
    this.#phase = 'running'
  }

  /** Waits for `begin`, `resume` or `stop`. Marked but unsent items were taken back before. */
  async #hold(phase: 'ready' | 'paused', sender: Sender | null): Promise<SendingPeriod> {
    const early = this.#early
    this.#early = null
    if (early !== null) return early
    // A trial of the first rows is complete, whether or not the rest is ever sent.
    this.#writeEnd(this.#isTrial && this.#rows.awaiting === 0 ? 'completed' : 'ready', this.#notice)
    this.#phase = phase
    this.#sendSnapshot()
    if (this.#requestedState === 'stop') return {}
    this.#next = Promise.withResolvers()
    // Callbacks of sent requests arrive whether or not anything else is sent.
    const timer = setInterval(() => sender?.takeCallbacks(), SNAPSHOT_MS)
    const period = await this.#next.promise
    clearInterval(timer)
    this.#next = null
    return period
  }

  #begin(period: SendingPeriod): void {
    const isGoing = this.#phase === 'running' && !this.#isTrying && this.#requestedState !== 'pause'
    if (this.#requestedState === 'pause') this.#requestedState = 'none'
    if (this.#next !== null) this.#next.resolve(period)
    // A resume does not undo a `begin` that came before it.
    else if (!isGoing) this.#early = period.isGoingOn ? (this.#early ?? period) : period
  }

  /** The state of a run after a stop was requested. */
  #toEndState(): 'completed' | 'interrupted' {
    return (this.#isTrial || this.#isAllSent()) && this.#rows.awaiting === 0 ? 'completed' : 'interrupted'
  }

  #isAllSent(): boolean {
    return this.#rows.not_sent === 0
  }

  get #rows(): RowCounts {
    return toRowCounts(this.#journal.counters.entries('state'), this.#progress.rowsRead)
  }

  /** Called after an await, during which another state may have been requested. */
  #isRequested(state: 'none' | 'stop' | 'pause'): boolean {
    return this.#requestedState === state
  }

  #writeEnd(state: 'ready' | 'completed' | 'stopped' | 'interrupted', notice: StopNotice | null): void {
    this.#journal.transact('power', () => {
      const total = this.#load?.total ?? this.#meter?.total
      if (total !== undefined) writeLatency(this.#journal.db, total)
      recordConcurrency(this.#journal, this.#concurrency)
      updateRunRecord(this.#journal.db, {
        state,
        stop_reason: notice?.reason ?? null,
        stop_advice: notice?.advice ?? null,
        ended_at: Date.now(),
        sending_ms: Math.round(this.#sentMs),
      })
      endSession(this.#journal.db, Date.now())
    })
    this.#notice = notice
  }

  #sendSnapshot(): void {
    const stretchMs = this.#sendingSinceMs === null ? 0 : performance.now() - this.#sendingSinceMs
    const isDraining = this.#phase === 'running' && this.#requestedState !== 'none'
    const snapshot = this.#snapshots.create({
      runId: this.#task.runId,
      phase: isDraining ? 'draining' : this.#phase,
      ...this.#progress,
      inFlight: this.#load?.inFlight ?? this.#sender?.inFlight ?? 0,
      elapsedMs: this.#sentMs + stretchMs,
      stretchMs,
      meter: this.#meter,
      notice: this.#notice,
      slowdown: this.#phase === 'running' ? (this.#sender?.slowdown ?? null) : null,
      load: this.#load?.progress() ?? null,
    })
    this.#sendEvent('snapshot', snapshot)
  }
}

/** Records the chosen number of requests in flight, if any. The caller has a transaction open. */
function recordConcurrency({ db }: Journal, concurrency: number | null): void {
  const plan = readRunRecord(db)?.plan
  if (concurrency === null || plan === undefined) return
  const pace: Pace =
    plan.pace.kind === 'closed' ? { ...plan.pace, concurrency } : { ...plan.pace, maxInFlight: concurrency }
  updateRunRecord(db, { plan: toStoredPlan({ ...plan, pace }) })
}
