import type { StreamedSecond } from '../../../shared/load/streamed-second.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PlanConnection } from '../../../shared/plan/connection.ts'
import type { Fix } from '../../../shared/plan/fixes.ts'
import type { Plan, StopRule } from '../../../shared/plan/plan.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import type { GoingOn } from '../engine-interface.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { startSendingThread } from '../sending/sending-thread.ts'

/** Input of a run's thread. Stays in memory: it holds secrets. */
export interface RunTask {
  runId: string
  workspace: string
  /** Null if nothing sent carries one. */
  apiKey: SealedSecret | null
  /** Null if the proxy requires none. */
  proxyCredentials: SealedSecret | null
  /** Null if no header takes a value from a variable or file. */
  headerValues: SealedSecret | null
  /** The system's proxy for requests, determined anew each time; null if there is none. */
  systemProxy: PlanConnection['proxy'] | null
  appVersion: string
  /** Error codes that mean "delivered before", in addition to the plan's. */
  deliveredCodes: readonly string[]
  /** Bases of callback and media URLs for a run being started; null if it needs none. */
  callbackBase: string | null
  mediaBase: string | null
  /** Wait for `begin` before anything is sent. */
  hold: boolean
  /** See `StartOptions`. */
  isDryRun?: boolean | undefined
  /** For a run being started: how many rows to send before it ends (default: all). */
  limit?: number | undefined
  /** See `ResumeOptions`. */
  endsWithTrial?: boolean | undefined
  /** Runs and retries that may have sent rows with the same operation, if a source is to be read. */
  earlierRuns?: readonly string[] | undefined
  /** The source's warnings that a person has accepted, in addition to the plan's. */
  accept: readonly AcceptCode[]
  /** What to do if most rows would fail: end the run, or pause it for a person to decide. */
  whenFailing: 'stop' | 'pause'
  /** How long callbacks are awaited, milliseconds (default: the plan's). */
  callbackTimeoutMs?: number | undefined
  /** When too many errors stop the run (default: the plan's). */
  stop?: Partial<StopRule> | undefined
  /** Entry of the threads that send a load test. */
  loadWorkerUrl: string
  /** Entry of the thread that looks up what was sent before. */
  searchWorkerUrl: string
  work:
    | { kind: 'start'; plan: Plan }
    | { kind: 'resume'; onUnknown: 'resend' | 'skip' }
    /** Requeue what did not succeed, and continue like `resume`. */
    | { kind: 'retry'; onUnknown: 'resend' | 'skip' }
    /** The same with these fixes and with rows never sent; all rows are checked again. */
    | { kind: 'correct'; onUnknown: 'resend' | 'skip'; fixes: readonly Fix[] }
    /** Send what did not succeed in the parent, as a child run; with `fixes` also unsent rows, corrected. */
    | { kind: 'child'; onUnknown: 'resend' | 'skip'; parentRunId: string; fixes?: readonly Fix[] | undefined }
    /** Only process the callbacks that came after the run's end. */
    | { kind: 'settle' }
    /** Store what k6 measured as a run. */
    | { kind: 'import'; plan: Plan; files: readonly string[] }
}

/** Whether a session creates the journal that it writes. */
export function makesRun({ kind }: RunTask['work']): boolean {
  return kind === 'start' || kind === 'child' || kind === 'import'
}

/** A person's command to a running run. */
export type RunCommand =
  | { kind: 'begin'; limit?: number; accept?: readonly AcceptCode[] }
  | { kind: 'pause' }
  | ({ kind: 'resume' } & GoingOn)
  | { kind: 'stop' }
  | { kind: 'set_concurrency'; concurrency: number }
  | { kind: 'set_api_key'; apiKey: SealedSecret }
  /** Somebody listens to the seconds of a load test, which take time to report. */
  | { kind: 'tell_seconds' }

/** What the main thread can call in a run's thread. */
export interface RunCalls {
  /** Runs to the end. Throws the `SluiceError` that ended it early. */
  run(task: RunTask): Promise<void>
  command(command: RunCommand): void
}

/** Events of a run's thread: small snapshots, the end of reading and checking, seconds of a load test. */
export interface RunEvents {
  snapshot: RunSnapshot
  ready: null
  /** A second of a load test is over. */
  second: StreamedSecond
}

/** The main thread's end of a run's thread. */
export class RunThread {
  /** Settles when the source is read and checked; rejects with the `SluiceError` that ended intake. */
  readonly ready: Promise<void>
  /** Settles when the thread has released its journal; rejects with what made it give up. */
  readonly ended: Promise<void>
  readonly #client: WorkerClient<RunCalls, RunEvents>
  readonly #listeners = new Set<(snapshot: RunSnapshot) => void>()
  readonly #secondListeners = new Set<(second: StreamedSecond) => void>()
  #snapshot: RunSnapshot | null = null
  #isReady = false

  constructor(url: URL, task: RunTask) {
    const { runId } = task
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.#client = new WorkerClient<RunCalls, RunEvents>(startSendingThread(url, { name: `run ${runId}` }), {
      on: {
        snapshot: (snapshot) => this.#publish(snapshot),
        second: (second) => {
          for (const listener of this.#secondListeners) listener(second)
        },
        ready: () => {
          this.#isReady = true
          ready.resolve()
        },
      },
      toFailure: (cause) => SluiceError.because(cause, { id: 'run_broke_off', runId }),
    })
    this.ended = this.#run(task)
    this.ended.then(ready.resolve, ready.reject)
    // Waiting only for the end must not crash on an unhandled failure of intake, or vice versa.
    this.ready.catch(() => {})
    this.ended.catch(() => {})
  }

  /** Whether the source was read and checked. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** The newest snapshot; null before the first. */
  snapshot(): RunSnapshot | null {
    return this.#snapshot
  }

  /** Calls the listener with each new snapshot; returns a function that stops it. */
  onSnapshot(listener: (snapshot: RunSnapshot) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls the listener with each second of a load test that is over; returns a function that stops it. */
  onSecond(listener: (second: StreamedSecond) => void): () => void {
    if (this.#secondListeners.size === 0) this.command({ kind: 'tell_seconds' })
    this.#secondListeners.add(listener)
    return () => this.#secondListeners.delete(listener)
  }

  command(command: RunCommand): void {
    this.#client.send('command', command)
  }

  async #run(task: RunTask): Promise<void> {
    // The journal is certainly free only once the thread is gone, so both cases wait for that.
    try {
      await this.#client.call('run', task)
    } catch (error) {
      await this.#client.close().catch(() => {})
      throw error
    }
    await this.#client.close()
  }

  #publish(snapshot: RunSnapshot): void {
    this.#snapshot = snapshot
    for (const listener of this.#listeners) listener(snapshot)
  }
}
