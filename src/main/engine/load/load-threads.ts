import type { LoadSample } from '../../../shared/load/load-report.ts'
import { SluiceError, toSluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import { toMonotonicMs } from '../../../shared/unix-clock.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { startSendingThread } from '../sending/sending-thread.ts'
import type { ReuseEnd } from '../service/connection-reuse.ts'
import type { FirstRequest } from './first-request.ts'
import type { RuleCount } from './load-rules.ts'

/** Input of a sending thread. Stays in memory: it holds secrets. */
export interface LoadTask {
  workspace: string
  /** The run's journal, from which the thread reads the rows. */
  journalFile: string
  record: RunRecord
  apiKey: SealedSecret | null
  proxyCredentials: SealedSecret | null
  headerValues: SealedSecret | null
  appVersion: string
  /** Index of this thread and number of threads; requests are dealt out evenly. */
  share: { index: number; count: number }
}

/** What a sending thread does when the run's thread calls it. */
export interface LoadCalls {
  /** Reads everything needed to send. */
  prepare(task: LoadTask): void
  /** Sends row 1 before everything else; `stop` ends it. */
  tryFirst(): Promise<FirstRequest>
  /** Sends its share. `startMs`: when measuring begins, by {@link readClockMs}, after the warm-up. */
  run(startMs: number): Promise<void>
  stop(): void
  setApiKey(apiKey: SealedSecret): void
}

export type LoadUpdate =
  | {
      kind: 'records'
      index: number
      records: Float64Array
      kept: KeptRequest[]
      /** Errors and models that records refer to from now on, by number. */
      errors: [number, LoadErrorCause][]
      models: [number, string][]
      inFlight: number
      /** Answers to requests of the warm-up, which have no records, since the last update. */
      warmupAnswers: number
    }
  | { kind: 'reuse_ended'; index: number; why: ReuseEnd }
  | { kind: 'redacted'; index: number }
  | { kind: 'rules'; index: number; rules: RuleCount[] }
  | {
      kind: 'health'
      index: number
      health: SecondHealth
      /** Requests still waiting for an answer, as the records they would become without one. */
      open: Float64Array
    }

/** An error as records refer to it. */
export interface LoadErrorCause {
  outcome: Exclude<Outcome, 'succeeded'>
  status: number | null
  errorCode: string | null
  message: string
  /** Row of the first such request of its thread; missing if several causes are counted together. */
  row?: number
}

export interface KeptRequest {
  /** Drawn evenly from [0, 1): the smallest draws form the sample. Null for a request kept as an error. */
  draw: number | null
  sample: Omit<LoadSample, 'kept' | 'callbackLatencyMs'>
}

/** Health of a sending thread in one second of the measured time. */
export interface SecondHealth {
  /** Since measuring began, from 0; negative in the warm-up. */
  second: number
  /** Requests sent, and how many of them were retries. */
  sent: number
  retries: number
  dropped: number
  /** Due by the end of the second, not sent, and not held up by the cap. */
  behind: number
  inFlightMax: number
  /** Longest stall of the event loop. */
  eventLoopMaxUs: number
  gcPauses: number
  gcMaxUs: number
  gcUs: number
}

export interface LoadThreadsOptions {
  workerUrl: URL
  count: number
  task: Omit<LoadTask, 'share'>
  /** Called when every thread can begin. */
  onReady: () => void
  onUpdate: (update: LoadUpdate) => void
  /** Called when a thread has ended and reported everything. */
  onExit: (index: number) => void
  onError: (error: unknown) => void
}

export class LoadThreads {
  /** Settles when all threads are gone. */
  readonly ended: Promise<unknown>
  readonly #threads: WorkerClient<LoadCalls, { update: LoadUpdate }>[]
  /** Settles with the start of measuring, or with null if the load is stopped before. */
  readonly #start = Promise.withResolvers<number | null>()
  #ready = 0

  constructor(options: LoadThreadsOptions) {
    const { workerUrl, count, onUpdate } = options
    this.#threads = Array.from({ length: count }, (_, index) => {
      const worker = startSendingThread(workerUrl, { name: `load ${index + 1}` })
      return new WorkerClient(worker, { on: { update: onUpdate }, toFailure: toThreadError })
    })
    this.ended = Promise.all(this.#threads.map((thread, index) => this.#run(thread, index, options)))
  }

  /** Sends row 1 from the first thread. Call this once all threads can begin. */
  async tryFirst(): Promise<FirstRequest> {
    const [first] = this.#threads
    if (first === undefined) throw new Error('a load has at least one thread')
    return await first.call('tryFirst')
  }

  /** Begins to measure at `startMs`, by {@link readClockMs}; the warm-up comes before. */
  start(startMs: number): void {
    this.#start.resolve(startMs)
  }

  /** Sends nothing new. */
  stop(): void {
    this.#start.resolve(null)
    for (const thread of this.#threads) thread.send('stop')
  }

  /** Sends with another key from now on. */
  setApiKey(apiKey: SealedSecret): void {
    for (const thread of this.#threads) thread.send('setApiKey', apiKey)
  }

  async #run(
    thread: WorkerClient<LoadCalls, { update: LoadUpdate }>,
    index: number,
    { count, task, onReady, onExit, onError }: LoadThreadsOptions,
  ): Promise<void> {
    try {
      await thread.call('prepare', { ...task, share: { index, count } })
      this.#ready += 1
      if (this.#ready === count) onReady()
      const startMs = await this.#start.promise
      if (startMs !== null) await thread.call('run', startMs)
    } catch (error) {
      onError(error)
    }
    await thread.close().catch(onError)
    onExit(index)
  }
}

/** A thread holds what is in flight, which may be too much if requests are very large. */
function toThreadError(error: unknown): SluiceError {
  const isFull = toSystemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  return isFull
    ? new SluiceError({ id: 'load_thread_out_of_memory' }, { cause: error })
    : toSluiceError(error)
}

/**
 * Unix milliseconds, with fractions, of a clock that is never set and is the same in all threads of the
 * process. Loads are scheduled and measured with it: the machine's own time may jump, or go on while the
 * machine sleeps.
 */
export function readClockMs(): number {
  return performance.timeOrigin + performance.now()
}

/** Microseconds by {@link readClockMs} of Unix microseconds. */
export function toClockUs(unixUs: number): number {
  return Math.round((performance.timeOrigin + toMonotonicMs(unixUs / 1000)) * 1000)
}
