import type { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { startSendingThread } from '../sending/sending-thread.ts'
import type { RunCommand, RunEvent, RunTask } from './messages.ts'

/** The main thread's end of a run's thread. */
export class RunThread {
  readonly runId: string
  /** Settles when the source is read and checked; rejects with the `SluiceError` that ended intake. */
  readonly ready: Promise<void>
  /** Settles when the thread has let its journal go; rejects with what made it give up. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #listeners = new Set<(snapshot: RunSnapshot) => void>()
  #snapshot: RunSnapshot | null = null
  #isReady = false

  constructor(url: URL, task: RunTask) {
    this.runId = task.runId
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.ended = ended.promise
    // Whoever only waits for the end must not be killed by an unhandled failure of intake, and the other way round.
    this.ready.catch(() => {})
    this.ended.catch(() => {})
    this.#worker = startSendingThread(url, { name: `run ${task.runId}`, workerData: task })
    let failure: SluiceError | null = null
    this.#worker.on('message', (event: RunEvent) => {
      switch (event.kind) {
        case 'snapshot':
          this.#publish(event.snapshot)
          break
        case 'ready':
          this.#isReady = true
          ready.resolve()
          break
        case 'failed':
          failure = new SluiceError(event.error)
          break
      }
    })
    this.#worker.on('error', (error) => {
      failure ??= toCrash(task.runId, error)
    })
    // The journal is free only when the thread is gone, whatever its last words were.
    this.#worker.on('exit', (code) => {
      if (code !== 0) failure ??= toCrash(task.runId, new Error(`its thread ended with code ${code}`))
      if (failure === null) {
        ready.resolve()
        ended.resolve()
      } else {
        ready.reject(failure)
        ended.reject(failure)
      }
    })
  }

  /** Whether the source was read and checked. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** The newest picture; null before the first. */
  snapshot(): RunSnapshot | null {
    return this.#snapshot
  }

  /** Calls the listener with each new picture; returns the way to stop it. */
  onSnapshot(listener: (snapshot: RunSnapshot) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells the thread what the person wants. */
  command(command: RunCommand): void {
    this.#worker.postMessage(command)
  }

  #publish(snapshot: RunSnapshot): void {
    this.#snapshot = snapshot
    for (const listener of this.#listeners) listener(snapshot)
  }
}

function toCrash(runId: string, cause: unknown): SluiceError {
  return new SluiceError({ id: 'run_broke_off', runId, reason: toThrownText(cause) }, { cause })
}
