import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import type { InboxCounts } from './inbox.ts'
import type { MediaFolder } from './media-registry.ts'
import type {
  ReceiverCall,
  ReceiverCallKind,
  ReceiverCalls,
  ReceiverEvent,
  ReceiverStanding,
  ReceiverTask,
} from './messages.ts'

/** The main thread's end of the receiver's thread. */
export class ReceiverThread {
  /** Settles when callbacks of the workspace can come in, here or at its other process. Rejects with what hinders it. */
  readonly ready: Promise<ReceiverStanding>
  /** Settles when the thread is gone. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #standing: ReceiverStanding | null = null
  #failure: SluiceError | null = null
  #isGone = false
  #lastId = 0

  /** `url` is the entry `receiver-worker.ts`, or its bundle. */
  constructor(url: URL, task: ReceiverTask) {
    const ready = Promise.withResolvers<ReceiverStanding>()
    const ended = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.ended = ended.promise
    this.ready.catch(() => {})
    this.#worker = new Worker(url, { name: 'receiver', workerData: task })
    this.#worker.on('message', (event: ReceiverEvent) => {
      switch (event.kind) {
        case 'standing':
          this.#standing = event.standing
          ready.resolve(event.standing)
          break
        case 'failed':
          this.#failure = new SluiceError(event.error)
          break
        case 'answer':
          this.#take(event.id)?.resolve(event.value)
          break
        case 'error':
          this.#take(event.id)?.reject(new SluiceError(event.error))
          break
      }
    })
    this.#worker.on('error', (error) => {
      this.#failure ??= toEnded(error)
    })
    this.#worker.on('exit', () => {
      this.#isGone = true
      const failure = this.#failure ?? toEnded(undefined)
      ready.reject(failure)
      for (const call of this.#open.values()) call.reject(failure)
      this.#open.clear()
      ended.resolve()
    })
  }

  /** How it stands now: a receiver that stood by listens once the holder is gone. Null before {@link ready}. */
  get standing(): ReceiverStanding | null {
    return this.#standing
  }

  /** What the workspace's receiver has counted, whichever process listens. */
  counts(): Promise<InboxCounts> {
    return this.#call('counts', null)
  }

  /**
   * Posts to an address behind a public base and waits until it is in the workspace's inbox. Throws
   * `RECEIVER_UNAVAILABLE` with what was tried, what came back, and what to do.
   */
  async selfTest(publicUrl: string): Promise<void> {
    await this.#call('selfTest', publicUrl)
  }

  /**
   * Serves the files of a folder at the run's media URLs, until {@link stopServing} or until nobody holds the run's
   * journal any more. Throws `BAD_SOURCE` where the folder cannot be read.
   */
  async serveFolder(folder: MediaFolder): Promise<void> {
    await this.#call('serveFolder', folder)
  }

  /** Serves a run's files no more; what is being sent ends. */
  async stopServing(run: Pick<MediaFolder, 'runToken' | 'runId'>): Promise<void> {
    await this.#call('stopServing', run)
  }

  /** Has these secrets, too, taken out of every callback before it is stored. */
  async guard(secrets: readonly SealedSecret[]): Promise<void> {
    await this.#call('guard', secrets)
  }

  /** Deletes the callbacks of runs that are gone. A receiver that stands by leaves that to the holder. */
  async forget(runTokens: readonly string[]): Promise<void> {
    await this.#call('forget', runTokens)
  }

  /** Stores what has arrived, frees port and inbox, and ends the thread. */
  async close(): Promise<void> {
    if (!this.#isGone) await this.#call('close', null).catch(() => {})
    await this.ended
  }

  async #call<K extends ReceiverCallKind>(
    kind: K,
    give: ReceiverCalls[K]['give'],
  ): Promise<ReceiverCalls[K]['get']> {
    if (this.#isGone) throw this.#failure ?? toEnded(undefined)
    const open = Promise.withResolvers<unknown>()
    this.#lastId += 1
    this.#open.set(this.#lastId, open)
    this.#worker.postMessage({ id: this.#lastId, kind, give } as ReceiverCall)
    return (await open.promise) as ReceiverCalls[K]['get']
  }

  #take(id: number): PromiseWithResolvers<unknown> | undefined {
    const open = this.#open.get(id)
    this.#open.delete(id)
    return open
  }
}

function toEnded(cause: unknown): SluiceError {
  return new SluiceError(
    { id: 'receiver_ended', reason: cause instanceof Error ? cause.message : null },
    { cause },
  )
}
