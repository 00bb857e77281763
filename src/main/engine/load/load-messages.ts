import type { LoadSample } from '../../../shared/load/load-report.ts'
import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import type { Outcome } from '../../../shared/run/item-state.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import type { ReuseEnd } from '../service/connection-reuse.ts'

/** What a sending thread is given. Stays in memory: it holds secrets. */
export interface LoadTask {
  workspace: string
  /** The run's journal, from which the thread reads the rows. */
  journalFile: string
  record: RunRecord
  apiKey: SealedSecret | null
  proxyCredentials: SealedSecret | null
  appVersion: string
  /** Which of how many threads this is; requests are dealt out evenly. */
  share: { index: number; count: number }
}

/** What a sending thread gets at its start. */
export type LoadCommand =
  /** `startMs`: when measuring begins, by the load's clock; the warm-up comes before. */
  { kind: 'start'; startMs: number } | { kind: 'stop' } | { kind: 'set_api_key'; apiKey: SealedSecret }

/** An error as records refer to it. */
export interface LoadErrorCause {
  outcome: Exclude<Outcome, 'succeeded'>
  status: number | null
  errorCode: string | null
  message: string
}

/** A request that may be kept whole. */
export interface KeptRequest {
  /** Drawn evenly from [0, 1): the requests with the smallest are the sample. Null for one that is kept as an error. */
  draw: number | null
  sample: Omit<LoadSample, 'kept' | 'callbackLatencyMs'>
}

/** How a sending thread did in one second of the measured time. */
export interface SecondHealth {
  /** Since measuring began, from 0; negative in the warm-up. */
  second: number
  sent: number
  dropped: number
  /** Due at the end of the second, not sent, and not kept waiting by the cap. */
  behind: number
  inFlightMax: number
  /** Longest time that the event loop stood still. */
  eventLoopMaxUs: number
  gcPauses: number
  gcMaxUs: number
  gcUs: number
}

/** What a sending thread says. `failed` is its last word; one that says nothing more and ends is done. */
export type LoadEvent =
  /** Everything is read that is needed to send. */
  | { kind: 'ready' }
  | {
      kind: 'records'
      index: number
      records: Float64Array
      kept: KeptRequest[]
      /** Errors and models that records refer to from now on, by their number. */
      errors: [number, LoadErrorCause][]
      models: [number, string][]
      inFlight: number
    }
  | { kind: 'reuse_ended'; index: number; why: ReuseEnd }
  | { kind: 'health'; index: number; health: SecondHealth }
  | { kind: 'failed'; index: number; error: ErrorMessage }
