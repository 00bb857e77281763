import type { Worker } from 'node:worker_threads'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { startSendingThread } from '../sending/sending-thread.ts'
import type { LoadCommand, LoadEvent, LoadTask } from './load-messages.ts'

/** Source of measured requests. */
export type LoadUpdate = Exclude<LoadEvent, { kind: 'ready' | 'failed' }>

/** What sending threads are made of. */
export interface LoadThreadsOptions {
  workerUrl: URL
  count: number
  task: Omit<LoadTask, 'share'>
  /** Every thread can begin. */
  onReady: () => void
  onUpdate: (news: LoadUpdate) => void
  /** A thread has ended and reported everything. */
  onExit: (index: number) => void
  /** A thread broke off. */
  onError: (error: unknown) => void
}

/** The threads that send a load. */
export class LoadThreads {
  /** Settles when all of them are gone. */
  readonly ended: Promise<void>
  readonly #workers: Worker[]
  #ready = 0
  #gone = 0

  constructor(options: LoadThreadsOptions) {
    const { workerUrl, count, task, onExit, onError } = options
    const ended = Promise.withResolvers<void>()
    this.ended = ended.promise
    this.#workers = Array.from({ length: count }, (_, index) => {
      const given: LoadTask = { ...task, share: { index, count } }
      const worker = startSendingThread(workerUrl, { name: `load ${index + 1}`, workerData: given })
      worker.on('message', (event: LoadEvent) => this.#take(event, options))
      worker.on('error', (error) => onError(toThreadError(error)))
      worker.on('exit', () => {
        onExit(index)
        this.#gone += 1
        if (this.#gone === count) ended.resolve()
      })
      return worker
    })
  }

  /** Tells every thread. */
  tell(command: LoadCommand): void {
    for (const worker of this.#workers) worker.postMessage(command)
  }

  #take(event: LoadEvent, { count, onReady, onUpdate, onError }: LoadThreadsOptions): void {
    switch (event.kind) {
      case 'ready':
        this.#ready += 1
        if (this.#ready === count) onReady()
        break
      case 'failed':
        onError(new SluiceError(event.error))
        break
      default:
        onUpdate(event)
    }
  }
}

/** A thread holds what is in flight; of very large requests that may be too much. */
function toThreadError(error: unknown): unknown {
  const isFull = toSystemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  if (!isFull) return error
  return new SluiceError({ id: 'load_thread_out_of_memory' })
}

/**
 * Unix milliseconds, with fractions, of a clock that is never set and is the same in every thread of the process: what
 * a load is scheduled and measured with. The machine's own time may jump, or go on while the machine sleeps.
 */
export function readClockMs(): number {
  return performance.timeOrigin + performance.now()
}
