import type { StreamedSecond } from '../../shared/load/streamed-second.ts'
import type { ScratchEndpoint } from '../../shared/operations/operations.ts'
import type { PlanConnection } from '../../shared/plan/connection.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import type { StopRule } from '../../shared/plan/plan.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import type { ScratchCallback, ScratchExchange, ScratchProblem } from '../../shared/service/scratchpad.ts'
import type { StartProcess } from '../own-process.ts'
import type { ApiKey, ProxyCredentials } from './secrets/bound-secret.ts'
import type { HeaderValues } from './secrets/header-values.ts'
import type { FindSystemProxy } from './secrets/system-proxy.ts'

export interface EngineOptions {
  /** Folder that holds journals; made if it is missing. */
  workspace: string
  /** Finds proxies of the system (default: those that the environment of this process names). */
  findSystemProxy?: FindSystemProxy
  /** Starts the processes of SQL statements (default: as processes of Node, which the desktop app is not). */
  startProcess?: StartProcess
  /** Whether a person looks at pages while longer questions are answered, which then have threads of their own. */
  isOfWindow?: boolean
  /** Entry of the runs' threads (default: the engine's own, which tests replace). */
  runWorkerUrl?: URL
}

/** How the workspace's receiver is opened; what is not said is the workspace's own. */
export interface ReceiverOptions {
  host?: string
  port?: number
  maxBytes?: number
}

export interface StartOptions {
  /** The API key, which must belong to the plan's addresses; only appeals and trials need none. */
  apiKey?: ApiKey
  /** Where the plan's proxy asks for credentials. */
  proxyCredentials?: ProxyCredentials
  /** Where the plan's headers take values from variables or files. */
  headerValues?: HeaderValues
  /** Read and check the source, then wait for `begin` before anything is sent. */
  hold?: boolean
  /** Send that many rows and end: a trial, whose rest `resumeRun` sends (default: all). */
  limit?: number
  /** Warnings of the source that a person has accepted, in addition to the plan's. Others end the run before anything is sent. */
  accept?: readonly AcceptCode[]
  /** The service forgets what it was sent, as the window's sandbox does: nothing is told of earlier runs. */
  isForgetful?: boolean
  /** Nothing will be sent: the receiver's public base is not tested. */
  isTrial?: boolean
  /**
   * What to do where continuing would fail most rows (a wrong key, nothing reachable, mostly errors): `pause`, where a
   * person can be asked, or `stop`, the default.
   */
  whenFailing?: 'stop' | 'pause'
}

/** How a run is resumed or retried. `onUnknown` says whether rows of unknown outcome are sent again. */
export interface ResumeOptions extends StartOptions {
  /** Further error codes that mean "this post_id was delivered before", in addition to the plan's. */
  deliveredCodes?: readonly string[]
  onUnknown: 'resend' | 'skip'
  /** Index adds of unknown outcome may be sent again although that may add items twice. */
  resendIndexAdds?: boolean
  /** How long callbacks are awaited from now on, milliseconds (default: as the plan says). */
  callbackTimeoutMs?: number
  /** When too many errors stop the run from now on (default: as the plan says). */
  stop?: Partial<StopRule>
  /** Does not test the public address of the callback receiver (default: as the plan says). */
  skipCallbackTest?: boolean
}

export interface RetryOptions extends ResumeOptions {
  /**
   * All fixes of the retry's plan. With them, rows are taken over, too, that were never sent since they are invalid or
   * were left out, and all rows are checked again; the run itself stays as it is.
   */
  fixes?: readonly Fix[]
}

/** How a paused run goes on. */
export interface GoingOn {
  /** What it stopped for. */
  accept?: readonly AcceptCode[]
  /** However many rows do not succeed from now on; a later resume or retry counts them again. */
  despiteErrors?: boolean
}

/** A run that this process holds. */
export interface RunHandle {
  readonly runId: string
  /** Settles when the source is read and checked. Rejects with the `SluiceError` that ended intake. */
  readonly ready: Promise<void>
  /** Settles when the run has ended and its journal is closed. Rejects if the run could not go on. */
  readonly ended: Promise<RunSummary>
  /** The newest picture; null before the first. */
  snapshot(): RunSnapshot | null
  /** Calls the listener at most ten times a second; returns the way to stop it. */
  onSnapshot(listener: (snapshot: RunSnapshot) => void): () => void
  /** Calls the listener with each second of a load test that is over; returns the way to stop it. */
  onSecond(listener: (second: StreamedSecond) => void): () => void
  /**
   * Starts a held run; with `limit`, sends that many items and holds again. While these are being sent, another `begin`
   * applies as soon as they have ended. Warnings that are open and not among `accept` end the run.
   */
  begin(options?: { limit?: number; accept?: readonly AcceptCode[] }): void
  /** Sends nothing new; what is in flight ends. */
  pause(): void
  /** Goes on with a paused run. */
  resume(options?: GoingOn): void
  /** Drains what is in flight, keeps the rest pending, and ends the run as `interrupted`. */
  stop(): void
  setConcurrency(concurrency: number): void
  /** Sends with another key from now on. Throws `NO_API_KEY` if it is for other addresses. */
  setApiKey(apiKey: ApiKey): void
}

/** A request that a person wrote. */
interface ScratchRequest {
  connection: PlanConnection
  endpoint: ScratchEndpoint
  /** The JSON of its body, sent as it stands. */
  text: string
  /** Public address that leads to the receiver (default: where it listens). */
  callbackUrl?: string
}

/** What a request is sent with. */
export interface ScratchSecrets {
  apiKey?: ApiKey
  proxyCredentials?: ProxyCredentials
  headerValues?: HeaderValues
}

/** Sends single requests by hand, each once; nothing of them is journaled. */
export interface Scratchpad {
  /** What the rules for rows say against a text, the first of it where it is much. */
  check(endpoint: ScratchEndpoint, text: string): ScratchProblem[]
  /** The text without a callback_url that belongs to a row of a run, which a callback would settle. */
  withoutOwnCallback(text: string): string
  /**
   * Sends a request and waits for its answer. An async one that names no callback_url gets an address of the receiver.
   * Throws `BAD_USAGE` for a text that is no JSON object, `NO_API_KEY`, `RECEIVER_UNAVAILABLE` and `BAD_PLAN`.
   */
  send(request: ScratchRequest, secrets: ScratchSecrets): Promise<ScratchExchange>
  /** The callback of a request, once it has come; null before. It is shown once and then forgotten. */
  takeCallback(id: string): Promise<ScratchCallback | null>
}
