import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { isAsync } from '../../../shared/operations/operations.ts'
import { CALLBACK_MAX_BYTES } from '../../../shared/options/callback-options.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ReceiverState, ReceiverTest } from '../../../shared/run/callback-overview.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import type { ReceiverOptions } from '../engine-interface.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { type InboxCallback, InboxReader } from './inbox.ts'
import { forgetCallbacks } from './inbox-writer.ts'
import type { Receiver, ReceiverStanding, ReceiverTask } from './receiver.ts'

/** The bases of a run's callback and media URLs; null if it needs none. */
export interface RunBases {
  callbackBase: string | null
  mediaBase: string | null
}

/** A run that may need the receiver: its source's folder is served as long as it runs. */
interface ReceivedRun {
  runId: string
  runToken: string
}

export interface WorkspaceReceiverOptions {
  workspace: string
  /** Entry `receiver-worker.ts`, or its bundle. */
  url: URL
  readLiveTokens: () => Promise<ReadonlySet<string>>
  /** Known secrets that runs of other processes may send. Called when the receiver opens. */
  readKnownSecrets: () => readonly SealedSecret[]
}

/**
 * How often in a row a crashed receiver thread is restarted: at once, then after another `RESTART_DELAY_MS`
 * each time; after that only when somebody opens it. A thread that ran for `STEADY_MS` counts anew.
 */
const RESTARTS_MAX = 5
const RESTART_DELAY_MS = 1_000
const STEADY_MS = 60_000

interface OpenReceiver {
  thread: ReceiverThread
  options: ReceiverOptions
}

/**
 * Opens the workspace's receiver when a run first needs it, and keeps it open for all runs. A crashed thread
 * is restarted at the same address.
 */
export class WorkspaceReceiver {
  readonly #options: WorkspaceReceiverOptions
  /** Secrets of this process's runs, which are removed from stored callbacks. */
  readonly #secrets: SealedSecret[] = []
  #open: OpenReceiver | null = null
  /** Restarts a receiver that crashed more than once: after a while, or when somebody opens it. */
  #restart: { timer?: NodeJS.Timeout; start: () => OpenReceiver } | null = null

  constructor(options: WorkspaceReceiverOptions) {
    this.#options = options
  }

  /** Opens it unless it is open. Throws `RECEIVER_UNAVAILABLE`, also if it is open at another address. */
  async open(options: ReceiverOptions): Promise<ReceiverStanding> {
    // A crashed one is restarted where its runs expect it, whoever opens it.
    const current = this.#open ?? this.#restart?.start() ?? this.#start(options)
    const standing = await current.thread.ready.catch((error: unknown) => {
      if (this.#open === current) this.#open = null
      throw error
    })
    const takesBytes = current.options.maxBytes ?? CALLBACK_MAX_BYTES
    if (options.maxBytes !== undefined && options.maxBytes > takesBytes)
      throw new SluiceError({ id: 'receiver_takes_less', takesBytes, wantedBytes: options.maxBytes })
    const isElsewhere =
      (options.port !== undefined && options.port !== standing.port) ||
      (options.host !== undefined && options.host !== (current.options.host ?? options.host))
    if (!isElsewhere) return standing
    throw new SluiceError({
      id: 'receiver_open_elsewhere',
      baseUrl: standing.baseUrl,
      wanted: `${options.host ?? ''}:${options.port ?? standing.port}`,
    })
  }

  /**
   * From now on stores callbacks without these secrets, for the life of this process: callbacks of a run may
   * come after its end, and after its key was switched.
   */
  async guard(secrets: readonly (SealedSecret | null)[]): Promise<void> {
    const added = secrets.filter((one) => one !== null)
    this.#secrets.push(...added)
    await this.#open?.thread.call('guard', added).catch(() => {})
  }

  /** Its state; null while it is not open. */
  async status(): Promise<ReceiverState | null> {
    const standing = this.#open?.thread.standing ?? null
    if (this.#open === null || standing === null) return null
    const { received, refused, probes = 0 } = await this.#open.thread.call('counts')
    return { baseUrl: standing.baseUrl, role: standing.role, received, refused: { ...refused }, probes }
  }

  /** The first callback with a token; null if there is none yet, or the receiver is not open. */
  async readFirst(runToken: string): Promise<InboxCallback | null> {
    return (await this.#open?.thread.call('readFirst', runToken)) ?? null
  }

  /** Posts to a public base and waits for the arrival. Throws `RECEIVER_UNAVAILABLE`. */
  async test(publicUrl: string): Promise<ReceiverTest> {
    if (this.#open === null) await this.open({})
    if (this.#open === null) throw new SluiceError({ id: 'receiver_ended', reason: 'it was closed' })
    return this.#open.thread.call('selfTest', publicUrl)
  }

  /**
   * Prepares what a run needs: the receiver, a tested public base, and the source's folder being served.
   * `kept` are the bases of a run that has begun, which must not have changed. A dry run tests nothing.
   * Throws `RECEIVER_UNAVAILABLE` or `BAD_SOURCE`.
   */
  async prepare(plan: Plan, run: ReceivedRun, kept: RunBases | null, isDryRun = false): Promise<RunBases> {
    const { callback, source } = plan
    const media = source.media?.kind === 'host' ? source.media : null
    const isReceiving = kept === null ? isAwaiting(plan) : kept.callbackBase !== null
    if (!isReceiving && media === null) return { callbackBase: null, mediaBase: null }
    const { baseUrl } = await this.open({
      host: callback.host,
      ...(callback.port === undefined ? {} : { port: callback.port }),
      maxBytes: callback.maxBytes,
    })
    const bases = {
      callbackBase: isReceiving ? (callback.url ?? baseUrl) : null,
      mediaBase: media === null ? null : (media.url ?? baseUrl),
    }
    if (kept?.callbackBase != null && kept.callbackBase !== bases.callbackBase) {
      throw toReceiverMovedError(run.runId, kept.callbackBase, bases.callbackBase)
    }
    if (kept?.mediaBase != null && media !== null && kept.mediaBase !== bases.mediaBase) {
      throw toReceiverMovedError(run.runId, kept.mediaBase, bases.mediaBase)
    }
    if (isReceiving && !isDryRun && callback.url !== undefined && callback.skipTest !== true)
      await this.#open?.thread.call('selfTest', callback.url)
    if (media !== null) await this.#open?.thread.call('serveFolder', { ...run, folder: source.path })
    return bases
  }

  /** Stops serving the files of a run that has ended. */
  async release(run: ReceivedRun): Promise<void> {
    await this.#open?.thread.call('stopServing', run)
  }

  /** Deletes the callbacks of removed runs, or leaves it to the receiver's next opening. */
  async forget(runTokens: readonly string[]): Promise<void> {
    if (this.#open !== null) await this.#open.thread.call('forget', runTokens).catch(() => {})
    else await forgetCallbacks(this.#options.workspace, runTokens)
  }

  async close(): Promise<void> {
    clearTimeout(this.#restart?.timer)
    this.#restart = null
    const open = this.#open
    this.#open = null
    await open?.thread.close()
  }

  async #forgetGone(thread: ReceiverThread): Promise<void> {
    const inbox = new InboxReader(this.#options.workspace)
    try {
      const tokens = inbox.readRunTokens()
      if (tokens.length === 0) return
      const live = await this.#options.readLiveTokens()
      const gone = tokens.filter((token) => !live.has(token))
      if (gone.length > 0) await thread.call('forget', gone)
    } finally {
      inbox.close()
    }
  }

  #start(options: ReceiverOptions, restarts = 0): OpenReceiver {
    const { maxBytes, ...where } = options
    const thread = new ReceiverThread(this.#options.url, {
      ...where,
      workspace: this.#options.workspace,
      secrets: [...this.#options.readKnownSecrets(), ...this.#secrets],
      ...(maxBytes === undefined ? {} : { limits: { maxBytes } }),
    })
    const opened = { thread, options }
    clearTimeout(this.#restart?.timer)
    this.#restart = null
    this.#open = opened
    const startedAtMs = performance.now()
    thread.ended.then(() => {
      if (this.#open !== opened) return
      this.#open = null
      const before = performance.now() - startedAtMs > STEADY_MS ? 0 : restarts
      const port = thread.standing?.port ?? options.port
      // A receiver that never listened has already reported why; one that did can find its port taken for a
      // while at most.
      if (thread.standing === null && restarts === 0) return
      // The folders it served and the callbacks it stored are in the workspace.
      const start = () => {
        const again = this.#start(
          { ...options, ...(port === undefined ? {} : { port }) },
          Math.min(before + 1, RESTARTS_MAX),
        )
        again.thread.ready.catch(() => {})
        return again
      }
      if (before === 0) start()
      else if (before === RESTARTS_MAX) this.#restart = { start }
      else this.#restart = { start, timer: setTimeout(start, before * RESTART_DELAY_MS).unref() }
    })
    thread.ready.then(() => this.#forgetGone(thread)).catch(() => {})
    return opened
  }
}

/**
 * Whether this receiver gets a run's callbacks: it does unless the mapping sets another address for every
 * row. Rows with an empty address get the receiver's.
 */
function isAwaiting({ operation, mapping }: Plan): boolean {
  const own = mapping['callback_url']
  // An empty template leaves the field out of every row, so the receiver's address fills it.
  const isForEveryRow = own?.kind === 'template' && own.template !== '' && !own.template.includes('{{')
  return isAsync(operation) && !isForEveryRow
}

function toReceiverMovedError(runId: string, wanted: string, found: string | null): SluiceError {
  return new SluiceError({
    id: 'receiver_moved',
    runId,
    wanted,
    found,
    port: URL.canParse(wanted) ? new URL(wanted).port : null,
  })
}

/** Events of the receiver's thread: where it stands, at the start and at every change. */
export interface ReceiverEvents {
  standing: ReceiverStanding
}

/** The main thread's end of the receiver's thread. */
export class ReceiverThread {
  /** Settles when the workspace can receive callbacks, here or in its other process; rejects if it cannot. */
  readonly ready: Promise<ReceiverStanding>
  /** Settles when the thread is gone. */
  readonly ended: Promise<void>
  readonly call: WorkerClient<Receiver>['call']
  readonly #client: WorkerClient<Receiver, ReceiverEvents>
  #standing: ReceiverStanding | null = null

  /** `url` is the entry `receiver-worker.ts`, or its bundle. */
  constructor(url: URL, task: ReceiverTask) {
    const ready = Promise.withResolvers<ReceiverStanding>()
    const worker = new Worker(url, { name: 'receiver', workerData: task })
    this.#client = new WorkerClient<Receiver, ReceiverEvents>(worker, {
      on: {
        standing: (standing) => {
          this.#standing = standing
          ready.resolve(standing)
        },
      },
      toFailure: (cause) => SluiceError.because(cause, { id: 'receiver_ended' }),
    })
    this.ended = this.#client.ended
    this.call = this.#client.call.bind(this.#client)
    this.ready = ready.promise
    this.ready.catch(() => {})
    this.call('start').catch((error: unknown) => this.close().then(() => ready.reject(error)))
  }

  /** Its present standing: a standby receiver listens once the holder is gone. Null before {@link ready}. */
  get standing(): ReceiverStanding | null {
    return this.#standing
  }

  /** Stores what has arrived, frees port and inbox, and ends the thread. */
  async close(): Promise<void> {
    await this.call('close').catch(() => {})
    await this.#client.close().catch(() => {})
  }
}
