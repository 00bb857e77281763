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
  /** Folder that holds the journals; created if missing. */
  workspace: string
  /** Finds the system's proxies (default: those in this process's environment). */
  findSystemProxy?: FindSystemProxy
  /** Starts the processes of SQL statements (default: with Node, which the desktop app is not). */
  startProcess?: StartProcess
  /** Whether a person uses screens while longer questions are answered, which then get their own threads. */
  isOfWindow?: boolean
  /** Entry of the runs' threads (default: the engine's own; tests replace it). */
  runWorkerUrl?: URL
}

/** How to open the workspace's receiver; anything missing comes from the workspace. */
export interface ReceiverOptions {
  host?: string
  port?: number
  maxBytes?: number
}

export interface SendingSecrets {
  /**
   * The API key, which must belong to the addresses of the connection; not needed for appeals and dry runs.
   */
  apiKey?: ApiKey
  /** Required if the connection's proxy needs credentials. */
  proxyCredentials?: ProxyCredentials
  /** Required if the connection's headers take values from variables or files. */
  headerValues?: HeaderValues
}

export interface StartOptions extends SendingSecrets {
  /** Reads and checks the source, then waits for `begin` before anything is sent. */
  hold?: boolean
  /** Sends this many rows and ends: a trial, whose rest `resumeRun` sends (default: all). */
  limit?: number
  /** Accepted source warnings, in addition to the plan's. Others end the run before anything is sent. */
  accept?: readonly AcceptCode[]
  /** The service forgets its requests, as the window's sandbox does, so earlier runs do not matter. */
  isForgetful?: boolean
  /** Nothing will be sent: the receiver's public base is not tested, and no list shows the run. */
  isDryRun?: boolean
  /**
   * What to do when continuing would fail most rows (a wrong key, nothing reachable, mostly errors): `pause`
   * if a person can be asked, or `stop` (default).
   */
  whenFailing?: 'stop' | 'pause'
}

/** Options to resume or retry a run. `onUnknown` decides whether rows of unknown outcome are resent. */
export interface ResumeOptions extends StartOptions {
  /** Further error codes that mean "this post_id was already delivered", in addition to the plan's. */
  deliveredCodes?: readonly string[]
  onUnknown: 'resend' | 'skip'
  /** Allows resending index adds of unknown outcome, which may add items twice. */
  resendIndexAdds?: boolean
  /** How long to wait for callbacks from now on, milliseconds (default: as in the plan). */
  callbackTimeoutMs?: number
  /** When too many errors stop the run from now on (default: as in the plan). */
  stop?: Partial<StopRule>
  /** Skips the test of the callback receiver's public address (default: as in the plan). */
  skipCallbackTest?: boolean
  /** Of an interrupted trial, sends only the rest of the trial. Only for `resumeRun`. */
  endsWithTrial?: boolean
}

export interface RetryOptions extends ResumeOptions {
  /**
   * All fixes of the retry's plan. With fixes, rows that were never sent because they were invalid or left
   * out are also included, and all rows are checked again; the run itself stays unchanged.
   */
  fixes?: readonly Fix[]
}

/** How to continue a paused run. */
export interface GoingOn {
  /** The warnings it paused for. */
  accept?: readonly AcceptCode[]
  /** Continues however many rows fail; a later resume or retry counts them again. */
  despiteErrors?: boolean
}

/** A run that this process holds. */
export interface RunHandle {
  readonly runId: string
  /** Resolves when the source is read and checked. Rejects with the `SluiceError` that ended intake. */
  readonly ready: Promise<void>
  /** Resolves when the run has ended and its journal is closed. Rejects if the run could not continue. */
  readonly ended: Promise<RunSummary>
  /** The latest snapshot; null before the first. */
  snapshot(): RunSnapshot | null
  /** Calls the listener at most ten times a second; returns a function that removes it. */
  onSnapshot(listener: (snapshot: RunSnapshot) => void): () => void
  /** Calls the listener after each second of a load test; returns a function that removes it. */
  onSecond(listener: (second: StreamedSecond) => void): () => void
  /**
   * Starts a held run; with `limit`, sends that many items and holds again. A `begin` during that time takes
   * effect once they have ended. Open warnings that are not in `accept` end the run.
   */
  begin(options?: { limit?: number; accept?: readonly AcceptCode[] }): void
  /** Sends nothing new; requests in flight may finish. */
  pause(): void
  /** Continues a paused run. */
  resume(options?: GoingOn): void
  /** Waits for requests in flight, keeps the rest pending, and ends the run as `interrupted`. */
  stop(): void
  setConcurrency(concurrency: number): void
  /** Uses another key from now on. Throws `NO_API_KEY` if it belongs to other addresses. */
  setApiKey(apiKey: ApiKey): void
}

interface ScratchRequest {
  connection: PlanConnection
  endpoint: ScratchEndpoint
  /** The body's JSON, sent unchanged. */
  text: string
  /** Public address of the receiver (default: its own). */
  callbackUrl?: string
}

/** Sends single manual requests, each once, without a journal. */
export interface Scratchpad {
  /** Checks a text by the rules for rows; returns the first problems if there are many. */
  check(endpoint: ScratchEndpoint, text: string): ScratchProblem[]
  /** Removes a callback_url that belongs to a row of a run, since a callback would settle that row. */
  withoutOwnCallback(text: string): string
  /**
   * Sends a request and waits for its answer. An async request without a callback_url gets an address of the
   * receiver. Throws `BAD_USAGE` for a text that is not a JSON object, `NO_API_KEY`, `RECEIVER_UNAVAILABLE`
   * and `BAD_PLAN`.
   */
  send(request: ScratchRequest, secrets: SendingSecrets): Promise<ScratchExchange>
  /** The callback of a request; null until it has come. Returned only once, then forgotten. */
  takeCallback(id: string): Promise<ScratchCallback | null>
}
