import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LatencyOverlay } from '../../../shared/load/latency-overlay.ts'
import type { LoadComparison } from '../../../shared/load/load-comparison.ts'
import type { ChangedRows, CompareOptions, DecisionComparison } from '../../../shared/lookback/comparison.ts'
import type { Evaluation } from '../../../shared/lookback/evaluation.ts'
import type { Ledger, LedgerQuery } from '../../../shared/lookback/ledger.ts'
import type { PrunableRuns, Retention } from '../../../shared/lookback/retention.ts'
import type { FoundRuns, RunListQuery, RunPage } from '../../../shared/lookback/run-list.ts'
import type { Sample, SampleOptions } from '../../../shared/lookback/stratified-sample.ts'
import { type Trend, type TrendLabels, toTrendPoint } from '../../../shared/lookback/trend.ts'
import type { LastMapping } from '../../../shared/mapping/saved-mappings.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { Operation } from '../../../shared/plan/operation.ts'
import type { Plan, PlanSource } from '../../../shared/plan/plan.ts'
import type { CallbackOverview } from '../../../shared/run/callback-overview.ts'
import type { ExportResult, SourcePreview } from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import type { Engine, RunReader } from '../engine-interface.ts'
import type { RunBases } from '../receiver/workspace-receiver.ts'
import { isThere } from '../workspace/is-there.ts'
import { isRunId, toJournalFile } from '../workspace/workspace-files.ts'

/** A run as the queries' thread finds it: its journal, and the ids of the runs that this process holds. */
export interface AskedRun {
  file: string
  held: readonly string[]
}

/** The workspace as the queries' thread is asked about it, with the ids of the runs that this process holds. */
export interface AskedWorkspace {
  workspace: string
  held: readonly string[]
}

/** Where a run's requests say that callbacks and media are found. */
interface RunAddresses extends RunBases {
  runToken: string
}

/** What is read of one run. A run that was cut off before it was written down has no summary, plan or addresses. */
interface RunQueries {
  summarize(run: AskedRun): RunSummary | null
  readPlan(run: AskedRun): Plan | null
  readAddresses(run: AskedRun): RunAddresses | null
  /** Ids of the run and the retries below it, itself first, then oldest first. */
  listMembers(run: AskedRun): string[]
  /** Ids of all runs of the whole that the run belongs to, the first run first. */
  listWhole(run: AskedRun): string[]
  /** The run itself or that of its retries that can be resumed. */
  findResumable(run: AskedRun): string
  /** Which of the run and its retries have callbacks that nobody has processed, or rows that have become overdue. */
  listLate(run: AskedRun): string[]
  compare(run: AskedRun, other: AskedRun): LoadComparison
  compareLatencies(run: AskedRun, others: readonly AskedRun[]): LatencyOverlay
  compareDecisions(run: AskedRun, other: AskedRun, options: CompareOptions): Promise<DecisionComparison>
  listChanges(
    run: AskedRun,
    other: AskedRun,
    options: Parameters<Engine['listChanges']>[2],
  ): Promise<ChangedRows>
}

/** A function of {@link RunReader} as the thread has it, which finds the run by its journal. */
type Query<Read> = Read extends (runId: string, ...args: infer Args) => infer Result
  ? (run: AskedRun, ...args: Args) => Result | Awaited<Result>
  : never

/** What the queries' thread answers. */
export type QueryCalls = { [Name in keyof RunReader]: Query<RunReader[Name]> } & RunQueries & {
    listRuns(asked: AskedWorkspace, query: RunListQuery): Promise<RunPage>
    findRuns(asked: AskedWorkspace, reference: string): Promise<FoundRuns>
    findPrunable(asked: AskedWorkspace, retention: Retention): Promise<PrunableRuns>
    findLastMapping(
      asked: AskedWorkspace,
      operation: Operation,
      columns: readonly string[],
    ): Promise<LastMapping | null>
    /** Tokens of all runs; null where a journal cannot be read. */
    listTokens(asked: AskedWorkspace): Promise<string[] | null>
    /** Ids of the runs and retries that have callbacks to process, or rows that have become overdue. */
    listLateRuns(asked: AskedWorkspace): Promise<string[]>
    readCallbackOverview(asked: AskedWorkspace): Promise<CallbackOverview>
    readCallbackBody(asked: AskedWorkspace, id: number): Promise<string | null>
    /** The first rows of a source. Throws `BAD_SOURCE`. */
    previewSource(source: PlanSource, limit: number): Promise<SourcePreview>
    /** Draws a sample of the rows of a source into a file. */
    sampleSource(source: PlanSource, options: SampleOptions): Promise<Sample>
    readLedger(asked: AskedWorkspace, query: LedgerQuery, page: LedgerPage): Promise<Ledger>
    exportLedger(asked: AskedWorkspace, query: LedgerQuery, file: string): Promise<ExportResult>
    /** Lets go of a journal that is about to be deleted. */
    forget(file: string): Promise<void>
  }

type LedgerPage = Parameters<Engine['readLedger']>[1]

/** The queries about one run, and what each is asked besides the run. */
type RunQuery = Exclude<keyof QueryCalls, WorkspaceQuery | 'previewSource' | 'sampleSource' | 'forget'>
type WorkspaceQuery =
  | 'listRuns'
  | 'findRuns'
  | 'findPrunable'
  | 'findLastMapping'
  | 'listLateRuns'
  | 'listTokens'
  | 'readCallbackOverview'
  | 'readCallbackBody'
  | 'readLedger'
  | 'exportLedger'
type RestOf<Name extends RunQuery> =
  Parameters<QueryCalls[Name]> extends [AskedRun, ...infer Rest] ? Rest : never

/** Reads the runs that a workspace has, as their journals say, and starts nothing. */
export class StoredRuns {
  readonly #workspace: string
  readonly #url: URL
  readonly #listHeld: () => readonly string[]
  readonly #thread: QueryThread
  /** Keeps the rows of two runs joined while a person looks through their changes. */
  readonly #comparing: QueryThread
  /** Ledgers read every row of many runs, which must not hold up the pages of one, and keep what they have read. */
  readonly #ledgers: QueryThread
  /** Keeps the evaluations that windows look at, and reads the rows of their cells. */
  readonly #evaluations: QueryThread
  readonly #apart = new Set<QueryThread>()

  /** `url` is the entry `query-worker.ts`, or its bundle; `listHeld` gives the ids of the runs that this process holds. */
  constructor(workspace: string, url: URL, listHeld: () => readonly string[]) {
    this.#workspace = workspace
    this.#url = url
    this.#listHeld = listHeld
    this.#thread = new QueryThread(url)
    this.#comparing = new QueryThread(url)
    this.#ledgers = new QueryThread(url)
    this.#evaluations = new QueryThread(url)
  }

  /** Asks about a run by its id. Throws `RUN_NOT_FOUND`. */
  async ask<Name extends RunQuery>(
    name: Name,
    runId: string,
    ...rest: RestOf<Name>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    const args = [this.#find(runId), ...rest] as unknown as Parameters<QueryCalls[Name]>
    return this.#thread.ask(name, ...args)
  }

  /** A page of the runs that are asked for, each together with its retries. */
  list(query: RunListQuery): Promise<RunPage> {
    return this.#thread.ask('listRuns', this.#toAskedWorkspace(), query)
  }

  /** The runs that a reference means. */
  find(reference: string): Promise<FoundRuns> {
    return this.#thread.ask('findRuns', this.#toAskedWorkspace(), reference)
  }

  /** The runs that exceed the limits of retention. */
  findPrunable(retention: Retention): Promise<PrunableRuns> {
    return this.#thread.ask('findPrunable', this.#toAskedWorkspace(), retention)
  }

  /** How a source with these columns was mapped when it was last sent; null where none was. */
  findLastMapping(operation: Operation, columns: readonly string[]): Promise<LastMapping | null> {
    return this.#thread.ask('findLastMapping', this.#toAskedWorkspace(), operation, columns)
  }

  /** Ids of all runs and retries that have callbacks to process, or rows that have become overdue. */
  listLate(): Promise<string[]> {
    return this.#thread.ask('listLateRuns', this.#toAskedWorkspace())
  }

  /** What came to the receiver of the workspace. */
  readCallbackOverview(): Promise<CallbackOverview> {
    return this.#thread.ask('readCallbackOverview', this.#toAskedWorkspace())
  }

  /** The body of a callback in the inbox. */
  readCallbackBody(id: number): Promise<string | null> {
    return this.#thread.ask('readCallbackBody', this.#toAskedWorkspace(), id)
  }

  /** The plan a run was started with. Throws `RUN_NOT_FOUND`, also where the run was cut off before it had one. */
  async readPlan(runId: string): Promise<Plan> {
    return (await this.ask('readPlan', runId)) ?? refuseUnplanned(runId)
  }

  /** A run together with its retries. Throws as {@link readPlan} does. */
  async summarize(runId: string): Promise<RunSummary> {
    return (await this.ask('summarize', runId)) ?? refuseUnplanned(runId)
  }

  /** Run B compared with run A. */
  async compare(a: string, b: string): Promise<LoadComparison> {
    return this.ask('compare', a, this.#find(b))
  }

  /** Run B compared with run A by what was decided. */
  async compareDecisions(a: string, b: string, options: CompareOptions): Promise<DecisionComparison> {
    return this.#comparing.ask('compareDecisions', this.#find(a), this.#find(b), options)
  }

  /** A page of the rows that changed from run A to run B. */
  async listChanges(
    a: string,
    b: string,
    options: Parameters<Engine['listChanges']>[2],
  ): Promise<ChangedRows> {
    return this.#comparing.ask('listChanges', this.#find(a), this.#find(b), options)
  }

  /** The latencies of several runs over one another, each compared with the first. */
  async compareLatencies(first: string, ...others: string[]): Promise<LatencyOverlay> {
    return this.askApart(
      'compareLatencies',
      first,
      others.map((runId) => this.#find(runId)),
    )
  }

  /** The runs of one source, oldest first. A run that cannot be evaluated by the labels says why. */
  async readTrend(source: string, labels: TrendLabels): Promise<Trend> {
    const found = await this.list({ search: basename(source), order: 'oldest' })
    const runs = found.runs.filter((run) => run.source === source)
    const points: Trend['runs'] = []
    for (const run of runs) {
      points.push(toTrendPoint(run, labels === null ? null : await this.#evaluate(run.run_id, labels)))
    }
    return { source, runs: points }
  }

  async #evaluate(runId: string, labels: NonNullable<TrendLabels>): Promise<Evaluation | string> {
    const nothing = { slices: [], scores: [], wantedPrecisions: [], whatIf: [], assertions: [], list: [] }
    try {
      return await this.askApart('evaluateRun', runId, { ...labels, ...nothing })
    } catch (error) {
      if (error instanceof SluiceError && error.code === 'BAD_USAGE') return error.message
      throw error
    }
  }

  /** Reads the first rows of a source. Throws `BAD_SOURCE`. */
  previewSource(source: PlanSource, limit: number): Promise<SourcePreview> {
    return this.#thread.ask('previewSource', source, limit)
  }

  /** Draws a sample of the rows of a source. Throws `BAD_SOURCE`, `BAD_USAGE` and what an export throws. */
  sampleSource(source: PlanSource, options: SampleOptions): Promise<Sample> {
    return this.#thread.ask('sampleSource', source, options)
  }

  /**
   * Asks as {@link ask} does, in a thread of its own: what reads every row of a run must not hold up the pages that a
   * person looks at meanwhile.
   */
  async askApart<Name extends RunQuery>(
    name: Name,
    runId: string,
    ...rest: RestOf<Name>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    return this.#askInOwnThread(
      name,
      ...([this.#find(runId), ...rest] as unknown as Parameters<QueryCalls[Name]>),
    )
  }

  /**
   * Asks as {@link ask} does, in the thread that keeps evaluations where the answer is one or needs its cells: making one
   * must not hold up the pages that a person looks at meanwhile.
   */
  async askEvaluations<Name extends RunQuery>(
    name: Name,
    runId: string,
    ...rest: RestOf<Name>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    const args = [this.#find(runId), ...rest] as unknown as Parameters<QueryCalls[Name]>
    return this.#evaluations.ask(name, ...args)
  }

  /** Reads a page of a ledger, in the ledgers' thread. */
  readLedger(query: LedgerQuery, page: LedgerPage): Promise<Ledger> {
    return this.#ledgers.ask('readLedger', this.#toAskedWorkspace(), query, page)
  }

  /** Writes entries of a ledger to a file, in the ledgers' thread. */
  exportLedger(query: LedgerQuery, file: string): Promise<ExportResult> {
    return this.#ledgers.ask('exportLedger', this.#toAskedWorkspace(), query, file)
  }

  async #askInOwnThread<Name extends keyof QueryCalls>(
    name: Name,
    ...args: Parameters<QueryCalls[Name]>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    const thread = new QueryThread(this.#url)
    this.#apart.add(thread)
    try {
      return await thread.ask(name, ...args)
    } finally {
      this.#apart.delete(thread)
      await thread.close()
    }
  }

  /**
   * Tokens of all runs; a child run has the token of the first of its chain, which may be gone. Rejects where a journal
   * cannot be read, since its token is then unknown.
   */
  async readRunTokens(): Promise<ReadonlySet<string>> {
    const tokens = await this.#thread.ask('listTokens', this.#toAskedWorkspace())
    if (tokens === null) throw new Error('a journal cannot be read')
    return new Set(tokens)
  }

  /** Lets go of a journal that is about to be deleted. */
  async forget(runId: string): Promise<void> {
    const file = toJournalFile(this.#workspace, runId)
    const keeping = [this.#thread, this.#comparing, this.#ledgers, this.#evaluations]
    await Promise.all(keeping.map((thread) => thread.forget(file)))
  }

  /** Ends the threads; open queries are rejected. */
  async close(): Promise<void> {
    const keeping = [this.#thread, this.#comparing, this.#ledgers, this.#evaluations]
    const threads = [...keeping, ...this.#apart]
    await Promise.all(threads.map((thread) => thread.close()))
  }

  #find(runId: string): AskedRun {
    const asked = this.#toAsked(runId)
    if (isRunId(runId) && isThere(asked.file)) return asked
    throw new SluiceError({ id: 'run_not_found', runId, workspace: this.#workspace })
  }

  #toAskedWorkspace(): AskedWorkspace {
    return { workspace: this.#workspace, held: this.#listHeld() }
  }

  #toAsked(runId: string): AskedRun {
    return { file: toJournalFile(this.#workspace, runId), held: this.#listHeld() }
  }
}

function refuseUnplanned(runId: string): never {
  throw new SluiceError({ id: 'run_unplanned', runId })
}

/** The main thread's end of a thread that answers queries, so that no query holds the main thread up. */
class QueryThread {
  readonly #url: URL
  #thread: { worker: Worker; client: WorkerClient<QueryCalls>; asking: number } | null = null

  /** The thread starts with the first query. */
  constructor(url: URL) {
    this.#url = url
  }

  /** Asks the thread. Rejects with the `SluiceError` of what is wrong. */
  async ask<Name extends keyof QueryCalls>(
    name: Name,
    ...args: Parameters<QueryCalls[Name]>
  ): Promise<Awaited<ReturnType<QueryCalls[Name]>>> {
    const thread = this.#thread ?? this.#start()
    thread.asking += 1
    thread.worker.ref()
    try {
      return await thread.client.call(name, ...args)
    } finally {
      thread.asking -= 1
      // An idle thread does not keep the process alive.
      if (thread.asking === 0) thread.worker.unref()
    }
  }

  /** Lets go of a journal that is about to be deleted. */
  async forget(file: string): Promise<void> {
    if (this.#thread !== null) await this.ask('forget', file)
  }

  /** Ends the thread; open queries are rejected. */
  async close(): Promise<void> {
    await this.#thread?.client.end()
  }

  #start() {
    const worker = new Worker(this.#url, { name: 'queries' })
    const client = new WorkerClient<QueryCalls>(worker, {
      on: {},
      toFailure: (cause) => new SluiceError({ id: 'query_cut_off', reason: toThrownText(cause) }, { cause }),
    })
    const thread = { worker, client, asking: 0 }
    this.#thread = thread
    void client.ended.then(() => {
      if (this.#thread === thread) this.#thread = null
    })
    return thread
  }
}
