import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'

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
