import type { LatencyOverlay } from '../../shared/load/latency-overlay.ts'
import type { LoadComparison } from '../../shared/load/load-comparison.ts'
import type { LoadReport } from '../../shared/load/load-report.ts'
import type { TrendMetric } from '../../shared/load/metrics.ts'
import type { AnnotationChange, Annotations } from '../../shared/lookback/annotations.ts'
import type { Baseline } from '../../shared/lookback/baseline.ts'
import type { ChangedRows, CompareOptions, DecisionComparison } from '../../shared/lookback/comparison.ts'
import type {
  EvaluateOptions,
  Evaluation,
  EvaluationQuestion,
  EvaluationStep,
} from '../../shared/lookback/evaluation.ts'
import type { LabelChoices } from '../../shared/lookback/label-choices.ts'
import type { Labelling, LabellingChange, LabellingOptions } from '../../shared/lookback/labelling.ts'
import type { Ledger, LedgerQuery } from '../../shared/lookback/ledger.ts'
import type { PrunableRuns, Retention } from '../../shared/lookback/retention.ts'
import type { FoundRuns, RunListQuery, RunPage } from '../../shared/lookback/run-list.ts'
import type { ReportOptions, RunReport } from '../../shared/lookback/run-report.ts'
import type { Sample, SampleOptions } from '../../shared/lookback/stratified-sample.ts'
import type { Trend, TrendLabels } from '../../shared/lookback/trend.ts'
import type {
  GivenVerdict,
  NewVerdict,
  PlacedVerdict,
  RowVerdict,
  VerdictReplacement,
} from '../../shared/lookback/verdict.ts'
import type { LastMapping } from '../../shared/mapping/saved-mappings.ts'
import type { PlanConnection } from '../../shared/plan/connection.ts'
import type { Fix } from '../../shared/plan/fixes.ts'
import type { Operation } from '../../shared/plan/operation.ts'
import type { Plan, PlanSource } from '../../shared/plan/plan.ts'
import type { SourceChange } from '../../shared/plan/source-fingerprint.ts'
import type { SystemRoute } from '../../shared/plan/system-route.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import type { CallbackOverview, ReceiverTest } from '../../shared/run/callback-overview.ts'
import type { ColumnEntry } from '../../shared/run/choose-columns.ts'
import type { ProblemGroup } from '../../shared/run/problem.ts'
import type {
  ExportOptions,
  ExportResult,
  FacetList,
  LatencySeries,
  OffsetQuery,
  PageQuery,
  ResultPage,
  RowDetail,
  RowFilter,
  SourcePreview,
} from '../../shared/run/results.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import type { ConnectionCheck } from '../../shared/service/connection-check.ts'
import type {
  ScratchCallback,
  ScratchEndpoint,
  ScratchExchange,
  ScratchProblem,
} from '../../shared/service/scratchpad.ts'
import type { ApiKey, ProxyCredentials } from './secrets/bound-secret.ts'
import type { FindSystemProxy } from './secrets/system-proxy.ts'

/** What an engine is made of. */
export interface EngineOptions {
  /** Folder that holds journals; made if it is missing. */
  workspace: string
  /** Finds proxies of the system (default: those that the environment of this process names). */
  findSystemProxy?: FindSystemProxy
  /** Entry of the runs' threads (default: the engine's own, which tests replace). */
  runWorkerUrl?: URL
}

/** How the workspace's receiver is opened; what is not said is the workspace's own. */
export interface ReceiverOptions {
  host?: string
  port?: number
  maxBytes?: number
}

/** The workspace's callback receiver. */
export interface ReceiverStatus {
  /** Where it listens. */
  baseUrl: string
  /** `standby`: another process of this workspace listens, and takes this one's callbacks too. */
  role: 'listening' | 'standby'
  /** Callbacks stored since the workspace was made. */
  received: number
  /** Callbacks that were refused, by why; malformed ones are stored anyway. */
  refused: Record<string, number>
  /** HEAD and GET requests to addresses of callbacks, since the workspace was made. */
  probes: number
}

/** How a run is started. */
export interface StartOptions {
  /** The API key, which must belong to the plan's addresses; only appeals and trials need none. */
  apiKey?: ApiKey
  /** Where the plan's proxy asks for credentials. */
  proxyCredentials?: ProxyCredentials
  /** Read and check the source, then wait for `begin` before anything is sent. */
  hold?: boolean
  /** Send that many rows and end: a trial, whose rest `resumeRun` sends (default: all). */
  limit?: number
  /** Warnings of the source that a person has accepted, in addition to the plan's. Others end the run before anything is sent. */
  accept?: readonly AcceptCode[]
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
}

/** How a run is retried. */
export interface RetryOptions extends ResumeOptions {
  /**
   * All fixes of the retry's plan. With them, rows are taken over, too, that were never sent since they are invalid or
   * were left out, and all rows are checked again; the run itself stays as it is.
   */
  fixes?: readonly Fix[]
}

/** A run that this process holds. */
export interface RunHandle {
  readonly runId: string
  /** Settles when the source is read and checked. Rejects with the `SluiceError` that ended intake. */
  readonly ready: Promise<void>
  /** Settles when the run has ended and its journal is closed. Rejects where the run could not go on. */
  readonly ended: Promise<RunSummary>
  /** The newest picture; null before the first. */
  snapshot(): RunSnapshot | null
  /** Calls the listener at most ten times a second; returns the way to stop it. */
  onSnapshot(listener: (snapshot: RunSnapshot) => void): () => void
  /**
   * Starts a held run; with `limit`, sends that many items and holds again. While these are being sent, another `begin`
   * applies as soon as they have ended. Warnings that are open and not among `accept` end the run.
   */
  begin(options?: { limit?: number; accept?: readonly AcceptCode[] }): void
  /** Sends nothing new; what is in flight ends. */
  pause(): void
  resume(): void
  /** Drains what is in flight, keeps the rest pending, and ends the run as `interrupted`. */
  stop(): void
  setConcurrency(concurrency: number): void
  /** Sends with another key from now on. Throws `NO_API_KEY` where it is for other addresses. */
  setApiKey(apiKey: ApiKey): void
}

/** Reads a run and its retries. Throws `RUN_NOT_FOUND`. */
export interface RunReader {
  /** The names of the columns of the run's source. */
  readColumns(runId: string): Promise<string[]>
  /** Every column that a table of the run's rows can have. */
  listColumns(runId: string): Promise<ColumnEntry[]>
  readPage(runId: string, query: PageQuery): Promise<ResultPage>
  /** The offset that a page has a row at; null where the row does not match, or was not looked at yet. */
  findOffset(runId: string, query: OffsetQuery): Promise<number | null>
  /** Reads the row of a record. */
  readRow(runId: string, row: number): Promise<RowDetail>
  /** The record of the row that a person names by the spreadsheet's number. Throws `BAD_USAGE` if it is not exactly one. */
  findRow(runId: string, row: string): Promise<number>
  readFacets(runId: string, filter?: RowFilter): Promise<FacetList>
  /** Languages, models, variants and scores of the rows; the first questions find them uncounted. */
  readFoundFacets(runId: string, filter?: RowFilter): Promise<FacetList>
  /**
   * Reads what the answers of an ended run say and stores it, so that whoever looks at the run need not wait for it. Rests
   * for half of the time, and ends where the run goes on.
   */
  storeFindings(runId: string): Promise<void>
  readProblems(runId: string): Promise<ProblemGroup[]>
  /** Causes of warnings of a run and its whole that a person has yet to accept, each with the rows that would be sent. */
  readOpenWarnings(runId: string): Promise<ProblemGroup[]>
  /** Latencies of the run, over time and as distributions (default: http_req_duration and callback_latency). */
  readLatency(runId: string, metrics?: readonly TrendMetric[]): Promise<LatencySeries>
  /** All that a report of a load test shows. Throws `BAD_USAGE` where the run is none. */
  readLoadReport(runId: string): Promise<LoadReport>
  exportRun(runId: string, options: ExportOptions): Promise<ExportResult>
  /** Holds what a run's rules did against labels. Throws `BAD_USAGE` where there is nothing to evaluate. */
  evaluateRun(runId: string, options: EvaluateOptions): Promise<Evaluation>
  /**
   * The evaluation that a question asks for, or after a quarter of a second how far it is. It goes on only while it is
   * asked for, and is kept as long as neither the run nor its labels change. Throws as {@link evaluateRun} does.
   */
  evaluateInSteps(runId: string, question: EvaluationQuestion): Promise<EvaluationStep>
  /** What the columns of a run say of where its labels are, from some of its rows. */
  readLabelChoices(runId: string): Promise<LabelChoices>
  /**
   * Reports a bulk run with its failures, rules and course, and writes the report where a file is named. Throws
   * `BAD_USAGE`, and what an evaluation and an export throw.
   */
  reportRun(runId: string, options: ReportOptions): Promise<RunReport>
  /** Draws a sample of the answered rows into a file. Throws `BAD_USAGE` and what an export throws. */
  sampleRun(runId: string, options: SampleOptions): Promise<Sample>
  /** Draws rows of a run to be labelled one by one, in place of those drawn before. Throws `BAD_USAGE`. */
  startLabelling(runId: string, options: LabellingOptions): Promise<Labelling>
  /** The rows that were drawn to be labelled and how far a person has come; null where none were. */
  readLabelling(runId: string): Promise<Labelling | null>
  /** Notes how far a person has come. Throws `BAD_USAGE` where no rows were drawn. */
  changeLabelling(runId: string, change: LabellingChange): Promise<Labelling>
  /** Forgets which rows were drawn; the verdicts on them stay. */
  endLabelling(runId: string): Promise<void>
  /** What persons said of the rows of a run and its retries, by row. */
  readVerdicts(runId: string): Promise<PlacedVerdict[]>
  /** How a source has changed since the run read its own. */
  findSourceChange(runId: string, source: PlanSource): Promise<SourceChange>
  /** Stores verdicts, all or none. Throws `BAD_USAGE` where the run has no such row. */
  storeVerdicts(runId: string, verdicts: readonly NewVerdict[]): Promise<void>
  /**
   * Puts verdicts in the place of all that was said of a row, and returns both. While rows are drawn to
   * be labelled, each of them counts for its stratum, and all others for themselves. Throws `BAD_USAGE` where the run has no such row, or other verdicts on it than
   * those of `before`.
   */
  replaceVerdicts(
    runId: string,
    row: number,
    verdicts: readonly GivenVerdict[],
    before?: readonly RowVerdict[],
  ): Promise<VerdictReplacement>
  /** Stores the verdicts of a file, all or none, and returns how many. Throws `BAD_SOURCE` and `BAD_USAGE`. */
  importVerdicts(runId: string, source: PlanSource): Promise<number>
  /**
   * Changes the name, tags and note of a run and its retries, which are kept next to the journal. Throws `BAD_USAGE` where
   * they cannot be so.
   */
  annotateRun(runId: string, change: AnnotationChange): Promise<Annotations>
  /** Writes the verdicts to a file, each with the cells of its row. Throws what an export throws. */
  exportVerdicts(runId: string, file: string): Promise<ExportResult>
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

/** Starts, stops and reads runs: all that the command line and the bridge need. */
export interface Engine extends RunReader {
  readonly workspace: string
  previewSource(source: PlanSource, limit: number): Promise<SourcePreview>
  /** Draws a sample of the rows of a source into a file. Throws `BAD_SOURCE`, `BAD_USAGE` and what an export throws. */
  sampleSource(source: PlanSource, options: SampleOptions): Promise<Sample>
  /**
   * What all runs of one service made of its indexes, watchlists or appeals, a page of its entries. Throws `BAD_USAGE`
   * where there is no such run, several services are left, or the list does not exist.
   */
  readLedger(query: LedgerQuery, page: { offset: number; limit: number }): Promise<Ledger>
  /** Writes entries of a ledger to a file that can be the source of a run. Throws what an export and the ledger throw. */
  exportLedger(query: LedgerQuery, file: string): Promise<ExportResult>
  /**
   * Throws `BAD_USAGE` if a run of the plan could not be exported to a file, such as for its ending, and
   * `FILE_UNWRITABLE` if the file cannot be written. Writes nothing.
   */
  checkExport(plan: Plan, file: string): Promise<void>
  startRun(plan: Plan, options?: StartOptions): Promise<RunHandle>
  /**
   * Goes on with the run, or with that of its retries that was interrupted. Throws `RUN_NOT_FOUND`, `RUN_BUSY` (another
   * process holds it) or `RUN_NOT_RESUMABLE`.
   */
  resumeRun(runId: string, options: ResumeOptions): Promise<RunHandle>
  /**
   * Sends what did not succeed in a run and its retries, whichever of them is named, as a retry with the same post_ids
   * and bodies, as far as fixes do not correct them.
   */
  retryRun(runId: string, options: RetryOptions): Promise<RunHandle>
  /**
   * Processes the callbacks that came for a run and its retries, or for all runs, while nobody held them, and marks what
   * has become overdue. Reading alone shows results as they are stored, so this is called before a person looks. Resolves
   * with whether there was anything.
   */
  settleLate(runId?: string): Promise<boolean>
  /** The handle of a run that this process holds. */
  heldRun(runId: string): RunHandle | null
  /** A page of the runs that are asked for (default: all, newest first), each together with its retries. */
  listRuns(query?: RunListQuery): Promise<RunPage>
  /** The runs that exceed the limits of retention; none that a process holds, and none that is needed. */
  findPrunable(retention: Retention): Promise<PrunableRuns>
  /** The runs that a person's reference means: an id, the beginning of one, or `latest`. */
  findRuns(reference: string): Promise<FoundRuns>
  /** How a source with these columns was mapped when it was last sent by such an operation; null where none was. */
  findLastMapping(operation: Operation, columns: readonly string[]): Promise<LastMapping | null>
  summarizeRun(runId: string): Promise<RunSummary>
  /** The plan a run was started with. */
  readPlan(runId: string): Promise<Plan>
  /** Run B compared with run A: latencies, errors, throughput, plans. */
  compareRuns(a: string, b: string): Promise<LoadComparison>
  /** Run B compared with run A by what was decided. Throws `BAD_USAGE` where that cannot be compared. */
  compareDecisions(a: string, b: string, options: CompareOptions): Promise<DecisionComparison>
  /** A page of the rows that changed from run A to run B; cheap after {@link compareDecisions} of the same two. */
  listChanges(
    a: string,
    b: string,
    options: Pick<CompareOptions, 'by' | 'list' | 'offset' | 'limit'>,
  ): Promise<ChangedRows>
  /** The latencies of several runs over one another, each of the others compared with the first. */
  compareLatencies(first: string, ...others: string[]): Promise<LatencyOverlay>
  /** The runs that others are compared with, oldest first. */
  readBaselines(): Baseline[]
  /** Makes a run the baseline of its connection and source in place of the one of that name. */
  setBaseline(runId: string, name: string): Promise<Baseline>
  /** Removes the baselines that a run is, or those of a name alone, and returns them. */
  removeBaselines(runId: string, name: string | null): Baseline[]
  /** All runs of one source, oldest first. With labels each of them is evaluated. */
  readTrend(source: string, labels: TrendLabels): Promise<Trend>
  /**
   * Stores what k6 measured as a run of its own, with the plan of the run it was exported from where that is named.
   * Several files have to be JSON lines of one run. Throws `BAD_SOURCE`.
   */
  importK6(files: readonly string[], options?: { ofRunId?: string; name?: string }): Promise<RunSummary>
  /**
   * Removes a run, the retries below it, and whatever is kept of them in the workspace, for good. Throws `RUN_BUSY` while
   * a process holds one of them.
   */
  deleteRun(runId: string): Promise<void>
  /** Removes several, and returns those that a process holds, which are left alone. */
  deleteRuns(runIds: readonly string[]): Promise<string[]>
  /**
   * Removes all that was ever recorded in the workspace, and returns how many runs and retries that were. Connections and
   * settings stay. Throws `RUN_BUSY` while a process runs something or receives callbacks here.
   */
  wipe(): Promise<number>
  /** How requests to a connection's base URL leave this machine. Rejects with `BAD_PLAN`; see {@link FindSystemProxy}. */
  findSystemRoute(connection: Pick<PlanConnection, 'baseUrl' | 'proxy' | 'systemProxy'>): Promise<SystemRoute>
  /**
   * Asks a service whether address and key are right, without sending content. Throws `BAD_PLAN` for certificates that
   * cannot be used.
   */
  checkConnection(
    connection: PlanConnection,
    secrets: { apiKey: ApiKey | null; proxyCredentials: ProxyCredentials | null },
  ): Promise<ConnectionCheck>
  /** Single requests by hand. */
  readonly scratchpad: Scratchpad
  /** Opens the callback receiver, which then stays open until {@link close}. Throws `RECEIVER_UNAVAILABLE`. */
  openReceiver(options?: ReceiverOptions): Promise<ReceiverStatus>
  /** The receiver as it stands; null while it is not open. */
  receiverStatus(): Promise<ReceiverStatus | null>
  /** Posts to the receiver's public base and waits for the arrival. Throws `RECEIVER_UNAVAILABLE` with what went wrong. */
  testReceiver(publicUrl: string): Promise<ReceiverTest>
  /** What came to the receiver of the workspace, whichever process listens, and which runs wait for more. */
  readCallbackOverview(): Promise<CallbackOverview>
  /** The body of a callback in the inbox as text; null where it is gone. */
  readCallbackBody(id: number): Promise<string | null>
  /** Stops held runs and the queries' thread. */
  close(): Promise<void>
}
