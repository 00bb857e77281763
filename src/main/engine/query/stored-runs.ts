import { basename, matchesGlob } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Evaluation } from '../../../shared/lookback/evaluation.ts'
import {
  nameTrendGroup,
  type Trend,
  type TrendGroup,
  type TrendLabels,
  toTrendPoint,
} from '../../../shared/lookback/trend.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { isSameSource, listRunSources } from '../../../shared/plan/source-paths.ts'
import { refuseWidePattern } from '../../../shared/plan/wide-pattern.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { WorkerClient } from '../../worker-rpc.ts'
import { isThere } from '../workspace/is-there.ts'
import { isRunId, toJournalFile } from '../workspace/workspace-files.ts'
import type { AskedRun, AskedWorkspace, QueryCalls } from './queries.ts'

/**
 * Megabytes for short-lived objects. V8's default is 192 on machines with much memory; with a third of that
 * exports take no longer. A long-lived thread keeps what it once took.
 */
const YOUNG_MB = 64
const YOUNG_KEPT_MB = 6

/** Whether a run belongs to a group; runs with a tag were found by it. */
function createGroupCheck(group: TrendGroup): (run: RunSummary) => boolean {
  if (group.kind === 'tag') return () => true
  if (group.kind === 'sources') {
    const isNamed = (path: string) => group.paths.some((named) => isSameSource(named, path))
    return (run) => listRunSources(run).every(isNamed)
  }
  const { pattern } = group
  refuseWidePattern(pattern)
  const hasFolder = /[\\/]/.test(pattern)
  return (run) => listRunSources(run).every((path) => matchesGlob(hasFolder ? path : basename(path), pattern))
}

/** How a question of `queries.ts` is asked. */
interface Asking {
  /** Its subject: callers name runs by id, and leave the workspace out. */
  about: 'run' | 'two runs' | 'two sides' | 'runs' | 'workspace' | 'source'
  /**
   * The thread that answers a window (default: `pages`). Slow queries must not hold up the pages that a
   * person looks at: `own` is a thread for this query alone, the others keep what they have read.
   */
  thread?: ThreadName | 'own'
  /** Whether its rows may be those in a cell of an evaluation, which only the evaluations' thread knows. */
  mayNameCell?: true
}

const THREADS = ['pages', 'comparing', 'ledgers', 'evaluations'] as const

type ThreadName = (typeof THREADS)[number]

type Table = Partial<Record<keyof QueryCalls, Asking>>

/** Runs as a whole, and sources that may become one. */
const RUNS = {
  listRuns: { about: 'workspace' },
  listRunsSoFar: { about: 'workspace' },
  findRuns: { about: 'workspace' },
  findPrunable: { about: 'workspace' },
  findLastMapping: { about: 'workspace' },
  summarizeRun: { about: 'run' },
  readPlan: { about: 'run' },
  readPlanAgain: { about: 'run' },
  annotateRun: { about: 'run' },
  previewSource: { about: 'source' },
  sampleSource: { about: 'source' },
  findSourceChange: { about: 'run' },
} as const satisfies Table

/** Rows of a run, their outcomes, and reports on them. */
const RESULTS = {
  readColumns: { about: 'run' },
  listColumns: { about: 'run' },
  readPage: { about: 'run', mayNameCell: true },
  findOffset: { about: 'run', mayNameCell: true },
  readRow: { about: 'run' },
  findRow: { about: 'run' },
  readFacets: { about: 'run', mayNameCell: true },
  readFoundFacets: { about: 'run', mayNameCell: true },
  storeFindings: { about: 'run' },
  readProblems: { about: 'run' },
  readOpenWarnings: { about: 'run' },
  readLatency: { about: 'run' },
  readLoadReport: { about: 'run' },
  exportRun: { about: 'run', thread: 'own', mayNameCell: true },
  reportRun: { about: 'run', thread: 'own' },
} as const satisfies Table

/** Answers compared with labels, verdicts and other runs, and lists of the service. */
const LOOKBACK = {
  evaluateRun: { about: 'run', thread: 'own' },
  evaluateInSteps: { about: 'run', thread: 'evaluations' },
  readLabelChoices: { about: 'run' },
  sampleRun: { about: 'run', thread: 'own' },
  startLabelling: { about: 'run', thread: 'own' },
  readLabelling: { about: 'run' },
  changeLabelling: { about: 'run' },
  endLabelling: { about: 'run' },
  readVerdicts: { about: 'run' },
  storeVerdicts: { about: 'run' },
  replaceVerdicts: { about: 'run' },
  importVerdicts: { about: 'run' },
  exportVerdicts: { about: 'run' },
  compareRuns: { about: 'two sides', thread: 'own' },
  compareDecisions: { about: 'two runs', thread: 'comparing' },
  listChanges: { about: 'two runs', thread: 'comparing' },
  compareLatencies: { about: 'runs', thread: 'own' },
  readLedger: { about: 'workspace', thread: 'ledgers' },
  exportLedger: { about: 'workspace', thread: 'ledgers' },
} as const satisfies Table

const RECEIVER = {
  readCallbackOverview: { about: 'workspace' },
  readCallbackBody: { about: 'workspace' },
} as const satisfies Table

/** Queries by the engine itself. */
const OWN_QUERIES = {
  readAddresses: { about: 'run' },
  listMembers: { about: 'run' },
  listWhole: { about: 'run' },
  isRetriedInPlace: { about: 'run' },
  wasSentWith: { about: 'run' },
  findHeldCorrection: { about: 'run' },
  findResumable: { about: 'run' },
  listLate: { about: 'run' },
  listLateRuns: { about: 'workspace' },
  keepRun: { about: 'workspace' },
  listTokens: { about: 'workspace' },
  listRunsOf: { about: 'workspace' },
} as const satisfies Record<
  Exclude<
    keyof QueryCalls,
    keyof typeof RUNS | keyof typeof RESULTS | keyof typeof LOOKBACK | keyof typeof RECEIVER | 'forget'
  >,
  Asking
>

type ToArgs<About extends Asking['about'], Args> = About extends 'run'
  ? Args extends [AskedRun, ...infer Rest]
    ? [runId: string, ...Rest]
    : never
  : About extends 'two runs'
    ? Args extends [AskedRun, AskedRun, ...infer Rest]
      ? [a: string, b: string, ...Rest]
      : never
    : About extends 'two sides'
      ? Args extends [AskedRun[], AskedRun[], ...infer Rest]
        ? [a: readonly string[], b: readonly string[], ...Rest]
        : never
      : About extends 'runs'
        ? string[]
        : About extends 'workspace'
          ? Args extends [AskedWorkspace, ...infer Rest]
            ? Rest
            : never
          : Args

type Asked<Asks extends Table> = {
  [Name in keyof Asks & keyof QueryCalls]: (
    ...args: Asks[Name] extends Asking ? ToArgs<Asks[Name]['about'], Parameters<QueryCalls[Name]>> : never
  ) => Promise<Awaited<ReturnType<QueryCalls[Name]>>>
}

/**
 * Answers about the runs in a workspace, from their journals; starts nothing. `queries.ts` explains each
 * query. All that are about a run throw `RUN_NOT_FOUND`.
 */
export class StoredRuns {
  readonly runs: Asked<typeof RUNS>
  readonly results: Asked<typeof RESULTS>
  readonly lookback: Asked<typeof LOOKBACK>
  readonly receiver: Asked<typeof RECEIVER>
  readonly own: Asked<typeof OWN_QUERIES>
  readonly #workspace: string
  readonly #url: URL
  readonly #listHeld: () => readonly string[]
  readonly #hasOneThread: boolean
  readonly #threads: Record<ThreadName, QueryThread>
  readonly #ownThreads = new Set<QueryThread>()

  /**
   * `url` is the entry `query-worker.ts`, or its bundle; `listHeld` gives the ids of the runs that this
   * process holds. `hasOneThread`: one thread answers all queries, which saves a command from starting
   * others; in a window a slow query would hold up pages.
   */
  constructor(
    workspace: string,
    url: URL,
    { listHeld, hasOneThread }: { listHeld: () => readonly string[]; hasOneThread: boolean },
  ) {
    this.#workspace = workspace
    this.#url = url
    this.#listHeld = listHeld
    this.#hasOneThread = hasOneThread
    const create = () => new QueryThread(url, hasOneThread ? YOUNG_MB : YOUNG_KEPT_MB)
    this.#threads = { pages: create(), comparing: create(), ledgers: create(), evaluations: create() }
    this.runs = this.#toFunctions(RUNS)
    this.results = this.#toFunctions(RESULTS)
    this.lookback = this.#toFunctions(LOOKBACK)
    this.receiver = this.#toFunctions(RECEIVER)
    this.own = this.#toFunctions(OWN_QUERIES)
  }

  /** All runs of a group, oldest first, each evaluated if there are labels, or with the reason why not. */
  async readTrend(group: TrendGroup, labels: TrendLabels): Promise<Trend> {
    const query = group.kind === 'tag' ? { tags: [group.tag] } : {}
    const found = await this.runs.listRuns({ ...query, order: 'oldest' })
    const runs = found.runs.filter(createGroupCheck(group))
    const points: Trend['runs'] = []
    for (const run of runs) {
      points.push(toTrendPoint(run, labels === null ? null : await this.#evaluate(run.run_id, labels)))
    }
    return { source: nameTrendGroup(group), by: group.kind, runs: points }
  }

  async #evaluate(runId: string, labels: NonNullable<TrendLabels>): Promise<Evaluation | string> {
    const nothing = { slices: [], scores: [], wantedPrecisions: [], whatIf: [], assertions: [], list: [] }
    try {
      return await this.lookback.evaluateRun(runId, { ...labels, ...nothing })
    } catch (error) {
      if (error instanceof SluiceError && error.code === 'BAD_USAGE') return error.message
      throw error
    }
  }

  /** Tokens of all runs. Rejects if a journal cannot be read, since its token is then unknown. */
  async readRunTokens(): Promise<ReadonlySet<string>> {
    const tokens = await this.own.listTokens()
    if (tokens === null) throw new Error('a journal cannot be read')
    return new Set(tokens)
  }

  /** The journal of a run. Throws `RUN_NOT_FOUND`. */
  findFile(runId: string): string {
    const file = toJournalFile(this.#workspace, runId)
    if (isRunId(runId) && isThere(file)) return file
    throw new SluiceError({ id: 'run_not_found', runId, workspace: this.#workspace })
  }

  async forget(runId: string): Promise<void> {
    const file = toJournalFile(this.#workspace, runId)
    await Promise.all(THREADS.map((name) => this.#threads[name].forget(file)))
  }

  /** Ends the threads; open queries are rejected. */
  async close(): Promise<void> {
    const threads = [...Object.values(this.#threads), ...this.#ownThreads]
    await Promise.all(threads.map((thread) => thread.close()))
  }

  #toFunctions<Asks extends Table>(table: Asks): Asked<Asks> {
    const entries = Object.entries(table) as [keyof QueryCalls, Asking][]
    return Object.fromEntries(
      entries.map(([name, asking]) => [name, (...args: unknown[]) => this.#ask(name, asking, args)]),
    ) as unknown as Asked<Asks>
  }

  async #ask(name: keyof QueryCalls, asking: Asking, given: readonly unknown[]): Promise<unknown> {
    const args = this.#toArgs(asking.about, given) as Parameters<QueryCalls[typeof name]>
    const thread = this.#hasOneThread ? 'pages' : chooseThread(asking, given)
    if (thread !== 'own') return this.#threads[thread].ask(name, ...args)
    const own = new QueryThread(this.#url, YOUNG_MB)
    this.#ownThreads.add(own)
    try {
      return await own.ask(name, ...args)
    } finally {
      this.#ownThreads.delete(own)
      await own.close()
    }
  }

  #toArgs(about: Asking['about'], given: readonly unknown[]): unknown[] {
    const runs = { run: 1, 'two runs': 2, 'two sides': 2, runs: given.length, workspace: 0, source: 0 }[about]
    const find = (arg: unknown): unknown => (Array.isArray(arg) ? arg.map(find) : this.#find(String(arg)))
    const found = given.map((arg, index) => (index < runs ? find(arg) : arg))
    return about === 'workspace' ? [{ workspace: this.#workspace, held: this.#listHeld() }, ...found] : found
  }

  #find(runId: string): AskedRun {
    return { file: this.findFile(runId), held: this.#listHeld() }
  }
}

function chooseThread(
  { thread = 'pages', mayNameCell }: Asking,
  given: readonly unknown[],
): ThreadName | 'own' {
  return mayNameCell && given.some(namesCell) ? 'evaluations' : thread
}

/** Whether a filter, or an object with one, names a cell of an evaluation. */
function namesCell(arg: unknown): boolean {
  if (typeof arg !== 'object' || arg === null) return false
  if ('filter' in arg) return namesCell(arg.filter)
  return 'cell' in arg && arg.cell !== undefined
}

/** The main thread's end of a query thread, so that no query holds up the main thread. */
class QueryThread {
  readonly #url: URL
  readonly #youngMb: number
  #thread: { worker: Worker; client: WorkerClient<QueryCalls>; asking: number } | null = null

  /** The thread starts with the first query. */
  constructor(url: URL, youngMb: number) {
    this.#url = url
    this.#youngMb = youngMb
  }

  /** Asks the thread. Rejects with the `SluiceError` of the failure. */
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

  async forget(file: string): Promise<void> {
    if (this.#thread !== null) await this.ask('forget', file)
  }

  /** Ends the thread; open queries are rejected. */
  async close(): Promise<void> {
    await this.#thread?.client.end()
  }

  #start() {
    const resourceLimits = { maxYoungGenerationSizeMb: this.#youngMb }
    const worker = new Worker(this.#url, { name: 'queries', resourceLimits })
    const client = new WorkerClient<QueryCalls>(worker, {
      on: {},
      toFailure: (cause) => SluiceError.because(cause, { id: 'query_cut_off' }),
    })
    const thread = { worker, client, asking: 0 }
    this.#thread = thread
    void client.ended.then(() => {
      if (this.#thread === thread) this.#thread = null
    })
    return thread
  }
}
