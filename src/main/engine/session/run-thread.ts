import type { Worker } from 'node:worker_threads'
import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { startSendingThread } from '../sending/sending-thread.ts'

/** What a run's thread is given to start with. Stays in memory: it holds secrets. */
export interface RunTask {
  runId: string
  workspace: string
  /** Null where nothing that is sent carries one. */
  apiKey: SealedSecret | null
  /** Null where the plan's proxy asks for none. */
  proxyCredentials: SealedSecret | null
  appVersion: string
  /** Error codes that mean "delivered before", in addition to the plan's. */
  deliveredCodes: readonly string[]
  /** Bases of callback and media URLs, for a run that is started; null where it needs none. */
  callbackBase: string | null
  mediaBase: string | null
  /** Wait for `begin` before anything is sent. */
  hold: boolean
  /** What to do if most rows would fail: end the run, or pause it for a person to decide. */
  whenFailing: 'stop' | 'pause'
  /** How long callbacks are awaited, milliseconds (default: as the plan says). */
  callbackTimeoutMs?: number | undefined
  /** Entry of the threads that send a load test. */
  loadWorkerUrl: string
  work:
    | { kind: 'start'; plan: Plan }
    | { kind: 'resume'; onUnknown: 'resend' | 'skip' }
    /** Send what did not succeed in the parent, as a child run. */
    | { kind: 'retry'; onUnknown: 'resend' | 'skip'; parentRunId: string }
    /** Only process the callbacks that came after the run's end. */
    | { kind: 'settle' }
    /** Take what k6 measured in as a run. */
    | { kind: 'import'; plan: Plan; files: readonly string[] }
}

/** Messages from the main thread to a run's thread. */
export type RunCommand =
  | { kind: 'begin'; limit?: number }
  | { kind: 'pause' }
  | { kind: 'resume' }
  | { kind: 'stop' }
  | { kind: 'set_concurrency'; concurrency: number }
  | { kind: 'set_api_key'; apiKey: SealedSecret }

/** Messages from a run's thread to the main thread. `ended` and `failed` are the last. */
export type RunEvent =
  | { kind: 'snapshot'; snapshot: RunSnapshot }
  | { kind: 'ready' }
  | { kind: 'ended' }
  | { kind: 'failed'; error: ErrorMessage }

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
