import { setImmediate, setTimeout } from 'node:timers/promises'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import type { SpeedQuestion } from '../../../shared/load/speed-gate.ts'
import type { AnnotationChange } from '../../../shared/lookback/annotations.ts'
import type { CompareOptions } from '../../../shared/lookback/comparison.ts'
import type { EvaluateOptions, EvaluationQuestion } from '../../../shared/lookback/evaluation.ts'
import type { LabellingChange, LabellingOptions } from '../../../shared/lookback/labelling.ts'
import type { LedgerQuery } from '../../../shared/lookback/ledger.ts'
import type { Retention } from '../../../shared/lookback/retention.ts'
import type { RunListQuery } from '../../../shared/lookback/run-list.ts'
import type { ReportOptions } from '../../../shared/lookback/run-report.ts'
import type { SampleOptions } from '../../../shared/lookback/stratified-sample.ts'
import type { GivenVerdict, NewVerdict, RowVerdict } from '../../../shared/lookback/verdict.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Operation, OperationKind } from '../../../shared/operations/operations.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import type { ExportOptions, OffsetQuery, PageQuery } from '../../../shared/run/results.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { explainFailure } from '../journal/journal-damage.ts'
import { KeptLatencies } from '../journal/latency-series.ts'
import {
  findHeldCorrection,
  isRetriedInPlace,
  listWholeFiles,
  ReaderPool,
  type RunFamily,
  readRunFamily,
} from '../journal/run-family.ts'
import { wasSentWith } from '../journal/sent-with.ts'
import { Catalogue } from '../lookback/catalogue/catalogue.ts'
import { compareLatencies, compareSides } from '../lookback/compared-run.ts'
import type { KeptEvaluations } from '../lookback/kept-evaluations.ts'
import type { KeptPairs } from '../lookback/kept-pairs.ts'
import { changeLabelling, endLabelling, findStratum, readLabelling } from '../lookback/labelling-store.ts'
import type { Ledgers } from '../lookback/ledger/read-ledger.ts'
import { readLoadReport } from '../results/load-report.ts'
import { findStanding, summarizeRun } from '../results/run-summary.ts'
import { findLateRuns } from '../run/callback-settler.ts'
import { readPlacedVerdicts, replaceVerdicts, storeVerdicts } from '../run/journal/verdict-store.ts'
import { readFacets, readFoundFacets } from '../run/results/facets.ts'
import { needsFindings } from '../run/results/found-rows.ts'
import { KeptIndexes } from '../run/results/kept-indexes.ts'
import { readMarkedPlan, readPlanAgain } from '../run/results/marked-plan.ts'
import { readOpenWarningsOfWhole } from '../run/results/open-warnings.ts'
import { readProblemGroups } from '../run/results/problem-groups.ts'
import { type Counted, isSimplePage, readPage } from '../run/results/result-page.ts'
import { readRow } from '../run/results/row-detail.ts'
import { RowFindings, STORED_FROM_ROWS } from '../run/results/row-findings.ts'
import { RowIndexes } from '../run/results/row-indexes.ts'
import { findOffset } from '../run/results/row-offset.ts'
import { findTypedRow } from '../run/results/typed-rows.ts'
import { isLeaseHeld } from '../workspace/lease.ts'
import { changeAnnotations } from '../workspace/run-annotations.ts'
import { noteExport } from '../workspace/workspace-exports.ts'
import { toJournalFile, toRunId } from '../workspace/workspace-files.ts'

/** A run as it is asked about: its journal, and the ids of the runs that the asking process holds. */
export interface AskedRun {
  file: string
  held: readonly string[]
}

/** The workspace as it is asked about, with the ids of the runs that the asking process holds. */
export interface AskedWorkspace {
  workspace: string
  held: readonly string[]
}

/** Runs whose findings are kept, one of them being stored; of 1,000,000 rows with six classes each has about 40 MB. */
const FINDINGS_MAX = 3

/** How long a question waits for findings, milliseconds, and how long one that says nothing without them. */
const FINDINGS_PATIENCE_MS = 30
const COUNTING_PATIENCE_MS = 250

const pool = new ReaderPool()
let indexes = new RowIndexes()
let latencies = new KeptLatencies()
let findings = createFindings()
/** Ends once the findings of every run that was to be stored so far are. */
let storing: Promise<void> = Promise.resolve()
/** Journals that are deleted or about to be: nothing opens them again unasked. */
const forgotten = new Set<string>()
const catalogues = new Map<string, Catalogue>()
let pairs: KeptPairs | null = null
let evaluations: KeptEvaluations | null = null
let ledgers: Ledgers | null = null

const calls = {
  /**
   * The run together with its retries. Throws `RUN_NOT_RESUMABLE` if it was cut off before it was written down.
   */
  summarizeRun: (run: AskedRun) => summarizeRun(findPlanned(run)),
  /** The plan a run was started with. Throws as {@link summarizeRun} does. */
  readPlan: (run: AskedRun) => readMarkedPlan(findPlanned(run)),
  /** The plan by which the whole of a run is run again. Throws as {@link summarizeRun} does. */
  readPlanAgain: (run: AskedRun) => readPlanAgain(findPlanned(run)),
  /**
   * Where a run's requests say that callbacks and media are found; null if it was cut off before that was written down.
   */
  readAddresses: (run: AskedRun) =>
    readOr(null, run, ({ record: { runToken, callbackBase, mediaBase } }) => ({
      runToken,
      callbackBase,
      mediaBase,
    })),
  /** Ids of the run and the retries below it, itself first, then oldest first. */
  listMembers: (run: AskedRun) => readOr([], run, ({ members }) => members.map(({ record }) => record.runId)),
  /** Ids of all runs of the whole that the run belongs to, the first run first. */
  listWhole: (run: AskedRun) => readOr([], run, ({ whole }) => whole.map(({ record }) => record.runId)),
  /** Whether a retry goes on in the journal of the run itself. */
  isRetriedInPlace: (run: AskedRun) => readOr(false, run, isRetriedInPlace),
  findHeldCorrection: (run: AskedRun) => readOr(null, run, findHeldCorrection),
  /** The run itself or that of its retries that can be resumed. */
  findResumable: (run: AskedRun) =>
    readOr(toRunId(run.file), run, ({ members }) => findStanding(members).record.runId),
  /**
   * Which of the run and its retries have callbacks that nobody has processed, or rows that have become overdue.
   */
  listLate: (run: AskedRun) => readOr([], run, findLateRuns),
  /** The names of the columns of the run's source. */
  readColumns: (run: AskedRun) => openFamily(run).record.columns,
  /** The row of a record. */
  readRow: (run: AskedRun, row: number) => readRow(openFamily(run), row),
  /**
   * The record of the row that a person names by the spreadsheet's number. Throws `BAD_USAGE` if it is not exactly one.
   */
  findRow: (run: AskedRun, row: string) => findTypedRow(openFamily(run), row),
  readProblems: (run: AskedRun) => readProblemGroups(openFamily(run)),
  /**
   * Causes of warnings of a run and its whole that a person has yet to accept, each with the rows that would be sent.
   */
  readOpenWarnings: (run: AskedRun) => readOr([], run, readOpenWarningsOfWhole),
  /** Latencies of the run, over time and as distributions (default: http_req_duration and callback_latency). */
  readLatency: (run: AskedRun, metrics?: readonly TrendMetric[]) => latencies.read(openFamily(run), metrics),
  /** All that a report of a load test shows. Throws `BAD_USAGE` if the run is none. */
  readLoadReport: (run: AskedRun) => readLoadReport(openFamily(run)),
  /** The runs of B compared with those of A: latencies, errors, throughput, plans, and the speed of B judged if asked. */
  compareRuns: (a: AskedRun[], b: AskedRun[], asked: SpeedQuestion | null) =>
    compareSides(a.map(openFamily), b.map(openFamily), asked),
  /** The latencies of several runs over one another, each of the others compared with the first. */
  compareLatencies: (...runs: AskedRun[]) => compareLatencies(runs.map(openFamily)),
  async readPage(run: AskedRun, query: PageQuery) {
    const counted = isSimplePage(query) ? undefined : await count(run, query)
    // The reader may have been closed meanwhile, to make room for another run's.
    const family = openFamily(run)
    const page = readPage(family, query, counted)
    const { columns = [] } = query
    if (columns.length === 0) return { ...page, texts: page.rows.map(() => []) }
    const { readRowColumns } = await import('../run/export/row-columns.ts')
    const rows = page.rows.map(({ row }) => row)
    return { ...page, texts: readRowColumns(openFamily(run), rows, columns) }
  },
  /** The offset that a page has a row at; null if the row does not match, or was not looked at yet. */
  async findOffset(run: AskedRun, query: OffsetQuery) {
    const counted = isSimplePage(query) ? undefined : await count(run, query)
    return findOffset(openFamily(run), query, counted)
  },
  async readFacets(run: AskedRun, filter: RowFilter = {}) {
    const counted = Object.keys(filter).length === 0 ? undefined : await count(run, { filter })
    return readFacets(openFamily(run), filter, counted)
  },
  /** Languages, models, variants and scores of the rows; the first questions find them uncounted. */
  async readFoundFacets(run: AskedRun, filter: RowFilter = {}) {
    // What is asked at the same time and takes less, as the first page does, is answered first.
    await setImmediate()
    const counted = await count(run, { filter }, { withFindings: true, patienceMs: COUNTING_PATIENCE_MS })
    if (counted.findings?.isComplete === true) {
      for (const className of counted.findings.classes) {
        counted.findings.bandsOf(className)
        await setImmediate()
      }
    }
    return readFoundFacets(openFamily(run), filter, counted)
  },
  /**
   * Reads what the answers of an ended run say and stores it, so that whoever looks at the run need not wait for it. Rests
   * for half of the time unless it `isAwaited`, and ends if the run goes on.
   */
  storeFindings(run: AskedRun, { isAwaited = false }: { isAwaited?: boolean } = {}) {
    const stored = storing.then(() => storeFindings(run, isAwaited))
    storing = stored.catch(() => {})
    return stored
  },
  /** Every column that a table of the run's rows can have. */
  async listColumns(run: AskedRun) {
    // The first page and facets, asked for at the same time, travel while the columns are looked for.
    await setImmediate()
    const { listRowColumns } = await import('../run/export/row-columns.ts')
    return listRowColumns(openFamily(run))
  },
  // Readers of sources and writers of files are loaded when they are asked for: most queries need neither.
  async exportRun(run: AskedRun, options: ExportOptions) {
    const { exportRun } = await import('../results/export-run.ts')
    const among = await listCell(run, options.filter)
    const family = openFamily(run)
    const result = await exportRun(family, options, among)
    noteExport(family.workspace, family.record.runId, result.file)
    return result
  },
  /** Holds what a run's rules did against labels. Throws `BAD_USAGE` if there is nothing to evaluate. */
  async evaluateRun(run: AskedRun, options: EvaluateOptions) {
    const { evaluateRun } = await import('../lookback/evaluate-run.ts')
    return evaluateRun(openFamily(run), options)
  },
  /**
   * The evaluation that a question asks for, or after a quarter of a second how far it is. It goes on only while it is
   * asked for, and is kept as long as neither the run nor its labels change. Throws as {@link evaluateRun} does.
   */
  async evaluateInSteps(run: AskedRun, question: EvaluationQuestion) {
    return (await openEvaluations()).ask(run.file, question, () => openFamily(run))
  },
  /** What the columns of a run say of where its labels are, from some of its rows. */
  readLabelChoices: async (run: AskedRun) =>
    (await import('../lookback/label-choices.ts')).readLabelChoices(openFamily(run)),
  /**
   * Reports a bulk run with its failures, rules and course, and writes the report if a file is named. Throws `BAD_USAGE`,
   * and what an evaluation and an export throw.
   */
  reportRun: async (run: AskedRun, options: ReportOptions) =>
    (await import('../lookback/report/run-report.ts')).reportRun(openFamily(run), options),
  /** Run B compared with run A by what was decided. Throws `BAD_USAGE` if that cannot be compared. */
  async compareDecisions(run: AskedRun, other: AskedRun, options: CompareOptions) {
    const { compareDecisions } = await import('../lookback/compare-decisions.ts')
    return compareDecisions(await openPairs(), openFamily(run), openFamily(other), options)
  },
  /**
   * A page of the rows that changed from run A to run B; cheap after {@link compareDecisions} of the same two.
   */
  async listChanges(
    run: AskedRun,
    other: AskedRun,
    options: Pick<CompareOptions, 'by' | 'list' | 'offset' | 'limit'>,
  ) {
    const { listChanges } = await import('../lookback/compare-decisions.ts')
    return listChanges(await openPairs(), openFamily(run), openFamily(other), options)
  },
  /** Draws a sample of the answered rows into a file. Throws `BAD_USAGE` and what an export throws. */
  sampleRun: async (run: AskedRun, options: SampleOptions) =>
    (await import('../lookback/draw-sample.ts')).sampleRun(openFamily(run), options),
  /**
   * Draws a sample of the rows of a source into a file. Throws `BAD_SOURCE`, `BAD_USAGE` and what an export throws.
   */
  sampleSource: async (source: PlanSource, options: SampleOptions) =>
    (await import('../lookback/draw-sample.ts')).sampleSource(source, options),
  /** Draws rows of a run to be labelled one by one, in place of those drawn before. Throws `BAD_USAGE`. */
  startLabelling: async (run: AskedRun, options: LabellingOptions) =>
    (await import('../lookback/draw-sample.ts')).startLabelling(openFamily(run), options),
  /** The rows that were drawn to be labelled and how far a person has come; null if none were. */
  readLabelling: (run: AskedRun) => readLabelling(openFamily(run)),
  /** Notes how far a person has come. Throws `BAD_USAGE` if no rows were drawn. */
  changeLabelling: (run: AskedRun, change: LabellingChange) => changeLabelling(openFamily(run), change),
  /** Forgets which rows were drawn; the verdicts on them stay. */
  endLabelling: (run: AskedRun) => endLabelling(openFamily(run)),
  /** What persons said of the rows of a run and its retries, by row. */
  readVerdicts: (run: AskedRun) => readPlacedVerdicts(openFamily(run)),
  /** Stores verdicts, all or none. Throws `BAD_USAGE` if the run has no such row. */
  storeVerdicts: (run: AskedRun, verdicts: readonly NewVerdict[]) => storeVerdicts(openFamily(run), verdicts),
  /**
   * Puts verdicts in the place of all that was said of a row, and returns both. While rows are drawn to be labelled, each
   * of them counts for its stratum, and all others for themselves. Throws `BAD_USAGE` if the run has no such row, or other
   * verdicts on it than those of `before`.
   */
  replaceVerdicts: (
    run: AskedRun,
    row: number,
    verdicts: readonly GivenVerdict[],
    before?: readonly RowVerdict[],
  ) => {
    const family = openFamily(run)
    return replaceVerdicts(family, row, verdicts, { stratum: findStratum(family, row), before })
  },
  /** Stores the verdicts of a file, all or none, and returns how many. Throws `BAD_SOURCE` and `BAD_USAGE`. */
  importVerdicts: async (run: AskedRun, source: PlanSource) =>
    (await import('../lookback/verdict-files.ts')).importVerdicts(openFamily(run), source),
  /** Writes the verdicts to a file, each with the cells of its row. Throws what an export throws. */
  exportVerdicts: async (run: AskedRun, file: string) =>
    (await import('../lookback/verdict-files.ts')).exportVerdicts(openFamily(run), file),
  /** The first rows of a source. Throws `BAD_SOURCE`. */
  previewSource: async (source: PlanSource, limit: number) =>
    (await import('../source/preview.ts')).previewSource(source, limit),
  /**
   * What all runs of one service made of its indexes, watchlists or appeals, a page of its entries. Throws `BAD_USAGE` if
   * there is no such run, several services are left, or the list does not exist.
   */
  readLedger: async (asked: AskedWorkspace, query: LedgerQuery, page: { offset: number; limit: number }) =>
    (await import('../lookback/ledger/read-ledger.ts')).readLedger(await openLedgers(), asked, query, page),
  /**
   * Writes entries of a ledger to a file that can be the source of a run. Throws what an export and the ledger throw.
   */
  async exportLedger(asked: AskedWorkspace, query: LedgerQuery, file: string) {
    const { exportLedger } = await import('../lookback/ledger/export-ledger.ts')
    return exportLedger(await openLedgers(), asked, query, file)
  },
  /** Whether a run or its retries were sent with a key, by its fingerprint; null if nobody knows. */
  wasSentWith: (run: AskedRun, fingerprint: string | null) =>
    wasSentWith(
      openFamily(run).whole.map(({ db }) => db),
      'key',
      fingerprint,
    ),
  /** How a source has changed since the run read its own. */
  async findSourceChange(run: AskedRun, source: PlanSource) {
    const { findSourceChange } = await import('../source/source-fingerprint.ts')
    return findSourceChange(source, openFamily(run).record.sourceFingerprint)
  },
  /**
   * Changes the name, tags and note of a run and its retries, which are kept next to the journal. Throws `BAD_USAGE` if
   * a name, tag or note is not allowed.
   */
  annotateRun: (run: AskedRun, change: AnnotationChange) => {
    const { whole, workspace, record } = openFamily(run)
    const changed = changeAnnotations(workspace, whole[0]?.record.runId ?? record.runId, change)
    openCatalogue(workspace).keep(record.runId, run.held)
    return changed
  },
  /** A page of the runs that are asked for (default: all, newest first), each together with its retries. */
  listRuns: ({ workspace, held }: AskedWorkspace, query: RunListQuery = {}) =>
    openCatalogue(workspace).list(query, held),
  /** The same from the journals that could be read within a moment; the page says how many are left. */
  listRunsSoFar: ({ workspace, held }: AskedWorkspace, query: RunListQuery = {}) =>
    openCatalogue(workspace).listSoFar(query, held),
  /** Has the catalogue show a run that has just ended. */
  keepRun: ({ workspace, held }: AskedWorkspace, runId: string) => openCatalogue(workspace).keep(runId, held),
  /** The runs that a person's reference means: an id, the beginning of one, or `latest`. */
  findRuns: ({ workspace, held }: AskedWorkspace, reference: string) =>
    openCatalogue(workspace).find(reference, held),
  /** The runs that exceed the limits of retention; none that a process holds, and none that is needed. */
  findPrunable: ({ workspace, held }: AskedWorkspace, retention: Retention) =>
    openCatalogue(workspace).findPrunable(retention, held),
  /** How a source with these columns was mapped when it was last sent by such an operation; null if none was. */
  async findLastMapping(
    { workspace, held }: AskedWorkspace,
    operation: Operation,
    columns: readonly string[],
  ) {
    const { findLastMapping, LOOKED_THROUGH } = await import('./last-mapping.ts')
    const query = { operations: [operation.kind], limit: LOOKED_THROUGH }
    const { runs } = await openCatalogue(workspace).list(query, held)
    return findLastMapping(runs, { operation, columns }, (runId) =>
      findFamily({ file: toJournalFile(workspace, runId), held }),
    )
  },
  /**
   * Tokens of all runs; a retry has the token of the first of its chain, which may be gone. Null if a journal cannot be read.
   */
  listTokens: ({ workspace, held }: AskedWorkspace) => openCatalogue(workspace).listTokens(held),
  /** Ids of the runs and retries that did such an operation, and of those that cannot be read. */
  listRunsOf: async ({ workspace, held }: AskedWorkspace, operation: OperationKind) =>
    (await openCatalogue(workspace).listRunsOf([operation], held)).map(({ id }) => id),
  /** What came to the receiver of the workspace, whichever process listens, and which runs wait for more. */
  async readCallbackOverview({ workspace, held }: AskedWorkspace) {
    const { readCallbackOverview } = await import('../lookback/callback-overview.ts')
    return readCallbackOverview(workspace, (tokens) =>
      openCatalogue(workspace).listCallbackRuns(tokens, held),
    )
  },
  /** The body of a callback in the inbox as text; null if it is gone. */
  readCallbackBody: async ({ workspace }: AskedWorkspace, id: number) =>
    (await import('../lookback/callback-overview.ts')).readCallbackBody(workspace, id),
  /** Ids of the runs and retries that have callbacks to process, or rows that have become overdue. */
  listLateRuns: ({ workspace, held }: AskedWorkspace) => openCatalogue(workspace).listLate(held),
  /** Lets go of a journal that is about to be deleted. */
  async forget(file: string) {
    forgotten.add(file)
    indexes.forget(file)
    findings.forget(file)
    latencies.forget(file)
    evaluations?.forget(file)
    pool.forget(file)
    pairs?.close()
    await ledgers?.forget()
  },
}

/** What the thread answers: each question as it is asked here, by journals and workspaces instead of runs. */
export type QueryCalls = typeof calls

export const queries = explaining(calls)

/** Called after each question. */
export function checkpointJournals(): void {
  pool.checkpoint()
}

/** Lets go of all journals and of what is known of them, for a thread that goes on with other workspaces. */
export function forgetAll(): void {
  pool.close()
  indexes = new RowIndexes()
  latencies = new KeptLatencies()
  findings = createFindings()
  forgotten.clear()
  catalogues.clear()
  pairs?.close()
  pairs = null
  evaluations = null
  ledgers = null
}

function createFindings(): KeptIndexes<RowFindings> {
  return new KeptIndexes({ kept: FINDINGS_MAX, patienceMs: FINDINGS_PATIENCE_MS })
}

/** The same questions, whose failures say which journal is damaged if one is. */
function explaining(asked: QueryCalls): QueryCalls {
  const explained = Object.entries(asked).map(([name, ask]) => {
    const answer = async (...args: unknown[]) => {
      try {
        return await (ask as (...args: unknown[]) => unknown)(...args)
      } catch (error) {
        throw explainFailure(error, args.flatMap(listJournals))
      }
    }
    return [name, answer]
  })
  return Object.fromEntries(explained) as QueryCalls
}

/** The journals that a question reads for an argument: those of the whole of a run. */
function listJournals(arg: unknown): string[] {
  const isRun = typeof arg === 'object' && arg !== null && 'file' in arg && 'held' in arg
  return isRun ? listWholeFiles(String(arg.file)) : []
}

/** Stores the findings of a run that has ended, a piece at a time. One run after the other, so that each is finished. */
async function storeFindings(run: AskedRun, isAwaited: boolean): Promise<void> {
  while (!forgotten.has(run.file)) {
    const family = openFamily(run)
    const { record, whole } = family
    const isKind = record.plan.operation.kind === 'task' && record.plan.load === undefined
    if (!isKind || record.rowsRead < STORED_FROM_ROWS || whole.some(({ isHeld }) => isHeld)) return
    if (RowFindings.areStored(family)) return
    const startedAtMs = performance.now()
    const { isCounted } = await askFindings(run, FINDINGS_PATIENCE_MS)
    if (isCounted) return
    // Other questions go first.
    if (!isAwaited) await setTimeout(performance.now() - startedAtMs)
  }
}

function openCatalogue(workspace: string): Catalogue {
  const catalogue = catalogues.get(workspace) ?? new Catalogue(workspace)
  catalogues.set(workspace, catalogue)
  return catalogue
}

async function openPairs(): Promise<KeptPairs> {
  const { KeptPairs } = await import('../lookback/kept-pairs.ts')
  pairs ??= new KeptPairs()
  return pairs
}

async function openLedgers(): Promise<Ledgers> {
  const { Ledgers: Opened } = await import('../lookback/ledger/read-ledger.ts')
  ledgers ??= new Opened(openCatalogue)
  return ledgers
}

function readOr<Value>(otherwise: Value, run: AskedRun, read: (family: RunFamily) => Value): Value {
  const family = findFamily(run)
  return family === null ? otherwise : read(family)
}

function openFamily(run: AskedRun): RunFamily {
  const family = findFamily(run)
  if (family === null) throw new SluiceError({ id: 'run_file_unplanned', file: run.file })
  return family
}

/** A run may have been cut off before it was written down, or just be in the making. */
function findPlanned(run: AskedRun): RunFamily {
  const family = findFamily(run)
  if (family === null) throw new SluiceError({ id: 'run_unplanned', runId: toRunId(run.file) })
  return family
}

/** Whether another process holds a run is looked up. */
function findFamily({ file, held }: AskedRun): RunFamily | null {
  return readRunFamily(pool, file, (runId, itsFile) => held.includes(runId) || isLeaseHeld(itsFile))
}

/** What a question about all rows needs, as far as it is known within a moment. */
async function count(
  run: AskedRun,
  query: Pick<PageQuery, 'filter' | 'sort'> & Partial<PageQuery>,
  { withFindings = needsFindings(query), patienceMs = FINDINGS_PATIENCE_MS } = {},
): Promise<Counted> {
  const among = await listCell(run, query.filter)
  const openView = () => openFamily(run)
  const counted = withFindings
    ? await askFindings(run, patienceMs)
    : { index: findFindings(openView()), isCounted: true }
  const found = withFindings ? counted.index : null
  if (counted.index?.isWhole === true && (query.filter.search ?? '') === '') {
    const index = indexes.ofFindings(openView(), counted.index, among)
    return { index, findings: found, isCounted: counted.isCounted }
  }
  const rows =
    found === null
      ? (query.offset ?? Number.POSITIVE_INFINITY) + (query.limit ?? 0)
      : Number.POSITIVE_INFINITY
  const { index, isCounted } = await indexes.ask(run.file, query.filter, { rows, among, openView })
  return { index, findings: found, isCounted: isCounted && counted.isCounted }
}

/** The findings of a run as far as they are known within a moment. */
function askFindings(run: AskedRun, patienceMs: number): Promise<{ index: RowFindings; isCounted: boolean }> {
  return findings.ask(run.file, '', {
    create: (before) => new RowFindings(before),
    isEnough: () => false,
    openView: () => openFamily(run),
    patienceMs,
  })
}

/** The rows of the filter's cell; null if it has none. */
async function listCell(run: AskedRun, filter: RowFilter | undefined): Promise<Uint32Array | null> {
  if (filter?.cell === undefined) return null
  return (await openEvaluations()).list(filter.cell, () => openFamily(run))
}

/** The findings of a run, if they were counted or stored and the run has not changed since. */
function findFindings(family: RunFamily): RowFindings | null {
  // While a run goes on, what was stored of it is old.
  const isHeld = family.members.some((member) => member.isHeld)
  return findings.find(family.file, '', family, () => (isHeld ? null : RowFindings.load(family)))
}

async function openEvaluations(): Promise<KeptEvaluations> {
  const { KeptEvaluations } = await import('../lookback/kept-evaluations.ts')
  evaluations ??= new KeptEvaluations()
  return evaluations
}
