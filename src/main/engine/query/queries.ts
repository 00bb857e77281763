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

/** A queried run: its journal, and the ids of the runs that the asking process holds. */
export interface AskedRun {
  file: string
  held: readonly string[]
}

/** The queried workspace, with the ids of the runs that the asking process holds. */
export interface AskedWorkspace {
  workspace: string
  held: readonly string[]
}

/**
 * Most runs whose findings are kept, including one being stored; those of a run of 1,000,000 rows with six
 * classes take about 40 MB.
 */
const FINDINGS_MAX = 3

/** How long a question waits for findings, and how long one that has no answer without them, milliseconds. */
const FINDINGS_PATIENCE_MS = 30
const COUNTING_PATIENCE_MS = 250

const pool = new ReaderPool()
let indexes = new RowIndexes()
let latencies = new KeptLatencies()
let findings = createFindings()
/** Settles once the findings of every run queued so far are stored. */
let storing: Promise<void> = Promise.resolve()
/** Journals that are or will be deleted; none is reopened unless asked for. */
const forgotten = new Set<string>()
const catalogues = new Map<string, Catalogue>()
let pairs: KeptPairs | null = null
let evaluations: KeptEvaluations | null = null
let ledgers: Ledgers | null = null

const calls = {
  /** The run with its retries. Throws `RUN_NOT_RESUMABLE` if it was cut off before it was recorded. */
  summarizeRun: (run: AskedRun) => summarizeRun(findPlanned(run)),
  /** The plan a run was started with. Throws as {@link summarizeRun} does. */
  readPlan: (run: AskedRun) => readMarkedPlan(findPlanned(run)),
  /** The plan for running the whole of a run again. Throws as {@link summarizeRun} does. */
  readPlanAgain: (run: AskedRun) => readPlanAgain(findPlanned(run)),
  /** The bases of a run's callback and media URLs; null if it was cut off before they were recorded. */
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
  /** Whether a retry continues in the run's own journal. */
  isRetriedInPlace: (run: AskedRun) => readOr(false, run, isRetriedInPlace),
  findHeldCorrection: (run: AskedRun) => readOr(null, run, findHeldCorrection),
  /** The run itself or the one of its retries that can be resumed. */
  findResumable: (run: AskedRun) =>
    readOr(toRunId(run.file), run, ({ members }) => findStanding(members).record.runId),
  /** Which of the run and its retries have unprocessed callbacks or rows that have become overdue. */
  listLate: (run: AskedRun) => readOr([], run, findLateRuns),
  readColumns: (run: AskedRun) => openFamily(run).record.columns,
  readRow: (run: AskedRun, row: number) => readRow(openFamily(run), row),
  /** The record of a row given by spreadsheet number. Throws `BAD_USAGE` unless it is exactly one. */
  findRow: (run: AskedRun, row: string) => findTypedRow(openFamily(run), row),
  readProblems: (run: AskedRun) => readProblemGroups(openFamily(run)),
  /**
   * Warnings of a run and its whole, by cause, that a person has yet to accept, with the affected rows that
   * would be sent.
   */
  readOpenWarnings: (run: AskedRun) => readOr([], run, readOpenWarningsOfWhole),
  /** Latencies over time and as distributions; http_req_duration and callback_latency by default. */
  readLatency: (run: AskedRun, metrics?: readonly TrendMetric[]) => latencies.read(openFamily(run), metrics),
  /** Everything that a report of a load test shows. Throws `BAD_USAGE` if the run is not a load test. */
  readLoadReport: (run: AskedRun) => readLoadReport(openFamily(run)),
  /** Compares B's runs with A's: latencies, errors, throughput, plans; judges the speed of B if asked. */
  compareRuns: (a: AskedRun[], b: AskedRun[], asked: SpeedQuestion | null) =>
    compareSides(a.map(openFamily), b.map(openFamily), asked),
  /** The latencies of several runs in one overlay, each compared with the first. */
  compareLatencies: (...runs: AskedRun[]) => compareLatencies(runs.map(openFamily)),
  async readPage(run: AskedRun, query: PageQuery) {
    const counted = isSimplePage(query) ? undefined : await count(run, query)
    // The reader may have been closed meanwhile to make room for another run's.
    const family = openFamily(run)
    const page = readPage(family, query, counted)
    const { columns = [] } = query
    if (columns.length === 0) return { ...page, texts: page.rows.map(() => []) }
    const { readRowColumns } = await import('../run/export/row-columns.ts')
    const rows = page.rows.map(({ row }) => row)
    return { ...page, texts: readRowColumns(openFamily(run), rows, columns) }
  },
  /** The offset of a row in the pages; null if the row does not match or was not read yet. */
  async findOffset(run: AskedRun, query: OffsetQuery) {
    const counted = isSimplePage(query) ? undefined : await count(run, query)
    return findOffset(openFamily(run), query, counted)
  },
  async readFacets(run: AskedRun, filter: RowFilter = {}) {
    const counted = Object.keys(filter).length === 0 ? undefined : await count(run, { filter })
    return readFacets(openFamily(run), filter, counted)
  },
  /** Files, languages, models, variants and scores of the rows; not counted yet at the first questions. */
  async readFoundFacets(run: AskedRun, filter: RowFilter = {}) {
    // Quicker questions asked at the same time, such as the first page, are answered first.
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
   * Reads the findings of an ended run and stores them, so that nobody who looks at the run has to wait for
   * them. Rests half of the time unless it `isAwaited`; ends if the run continues.
   */
  storeFindings(run: AskedRun, { isAwaited = false }: { isAwaited?: boolean } = {}) {
    const stored = storing.then(() => storeFindings(run, isAwaited))
    storing = stored.catch(() => {})
    return stored
  },
  /** Every column that a table of the run's rows can have. */
  async listColumns(run: AskedRun) {
    // Send off the first page and facets, requested at the same time, while the columns are found.
    await setImmediate()
    const { listRowColumns } = await import('../run/export/row-columns.ts')
    return listRowColumns(openFamily(run))
  },
  // Source readers and file writers are loaded on demand: most queries need neither.
  async exportRun(run: AskedRun, options: ExportOptions) {
    const { exportRun } = await import('../results/export-run.ts')
    const among = await listCell(run, options.filter)
    const family = openFamily(run)
    const result = await exportRun(family, options, among)
    noteExport(family.workspace, family.record.runId, result.file)
    return result
  },
  /** Compares what a run's rules did with labels. Throws `BAD_USAGE` if there is nothing to evaluate. */
  async evaluateRun(run: AskedRun, options: EvaluateOptions) {
    const { evaluateRun } = await import('../lookback/evaluate-run.ts')
    return evaluateRun(openFamily(run), options)
  },
  /**
   * The requested evaluation, or its progress after a quarter of a second. It continues only while requested,
   * and is kept until the run or its labels change. Throws as {@link evaluateRun} does.
   */
  async evaluateInSteps(run: AskedRun, question: EvaluationQuestion) {
    return (await openEvaluations()).ask(run.file, question, () => openFamily(run))
  },
  /** What the columns of a run suggest about where its labels are, from some of its rows. */
  readLabelChoices: async (run: AskedRun) =>
    (await import('../lookback/label-choices.ts')).readLabelChoices(openFamily(run)),
  /**
   * Reports on a bulk run with its failures, rules and course, and writes the report if a file is named.
   * Throws `BAD_USAGE`, and what an evaluation and an export throw.
   */
  reportRun: async (run: AskedRun, options: ReportOptions) =>
    (await import('../lookback/report/run-report.ts')).reportRun(openFamily(run), options),
  /** Compares the decisions of run B with those of run A. Throws `BAD_USAGE` if they cannot be compared. */
  async compareDecisions(run: AskedRun, other: AskedRun, options: CompareOptions) {
    const { compareDecisions } = await import('../lookback/compare-decisions.ts')
    return compareDecisions(await openPairs(), openFamily(run), openFamily(other), options)
  },
  /** A page of the rows that changed from run A to run B; cheap after {@link compareDecisions} of both. */
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
  /** Draws a sample of a source's rows into a file. Throws `BAD_SOURCE`, `BAD_USAGE` and as exports do. */
  sampleSource: async (source: PlanSource, options: SampleOptions) =>
    (await import('../lookback/draw-sample.ts')).sampleSource(source, options),
  /** Draws rows of a run to be labelled one by one; replaces those drawn before. Throws `BAD_USAGE`. */
  startLabelling: async (run: AskedRun, options: LabellingOptions) =>
    (await import('../lookback/draw-sample.ts')).startLabelling(openFamily(run), options),
  /** The rows drawn to be labelled, and a person's progress; null if none were drawn. */
  readLabelling: (run: AskedRun) => readLabelling(openFamily(run)),
  /** Stores a person's progress. Throws `BAD_USAGE` if no rows were drawn. */
  changeLabelling: (run: AskedRun, change: LabellingChange) => changeLabelling(openFamily(run), change),
  /** Forgets which rows were drawn; the verdicts on them stay. */
  endLabelling: (run: AskedRun) => endLabelling(openFamily(run)),
  readVerdicts: (run: AskedRun) => readPlacedVerdicts(openFamily(run)),
  /** Stores verdicts, all or none. Throws `BAD_USAGE` if the run has no such row. */
  storeVerdicts: (run: AskedRun, verdicts: readonly NewVerdict[]) => storeVerdicts(openFamily(run), verdicts),
  /**
   * Replaces all verdicts on a row, and returns the old and the new ones. While rows are drawn to be
   * labelled, each counts for its stratum and all others for themselves. Throws `BAD_USAGE` if the run has no
   * such row, or other verdicts on it than `before`.
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
  /**
   * Stores the verdicts of a file, all or none, in the place of those on their rows; without `replaces`, none
   * if some rows have other verdicts. Throws `BAD_SOURCE` and `BAD_USAGE`.
   */
  importVerdicts: async (run: AskedRun, source: PlanSource, replaces: boolean) =>
    (await import('../lookback/verdict-files.ts')).importVerdicts(openFamily(run), source, replaces),
  /** Writes the verdicts to a file, each with the cells of its row. Throws what an export throws. */
  exportVerdicts: async (run: AskedRun, file: string) =>
    (await import('../lookback/verdict-files.ts')).exportVerdicts(openFamily(run), file),
  /** The first rows of a source. Throws `BAD_SOURCE`. */
  previewSource: async (source: PlanSource, limit: number) =>
    (await import('../source/preview.ts')).previewSource(source, limit),
  /**
   * What all runs of one service did to its indexes, watchlists or appeals, a page of entries. Throws
   * `BAD_USAGE` if there is no such run, several services remain, or the list does not exist.
   */
  readLedger: async (asked: AskedWorkspace, query: LedgerQuery, page: { offset: number; limit: number }) =>
    (await import('../lookback/ledger/read-ledger.ts')).readLedger(await openLedgers(), asked, query, page),
  /** Writes a ledger's entries to a file that can be a run's source. Throws as exports and ledgers do. */
  async exportLedger(asked: AskedWorkspace, query: LedgerQuery, file: string) {
    const { exportLedger } = await import('../lookback/ledger/export-ledger.ts')
    return exportLedger(await openLedgers(), asked, query, file)
  },
  /** Whether a run or its retries were sent with a key, by fingerprint; null if unknown. */
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
   * Changes the name, tags and note of a run and its retries, which are stored next to the journal. Throws
   * `BAD_USAGE` if one of them is not allowed.
   */
  annotateRun: (run: AskedRun, change: AnnotationChange) => {
    const { whole, workspace, record } = openFamily(run)
    const changed = changeAnnotations(workspace, whole[0]?.record.runId ?? record.runId, change)
    openCatalogue(workspace).keep(record.runId, run.held)
    return changed
  },
  /** A page of the requested runs (default: all, newest first), each with its retries. */
  listRuns: ({ workspace, held }: AskedWorkspace, query: RunListQuery = {}) =>
    openCatalogue(workspace).list(query, held),
  /** The same from the journals that can be read within a moment; the page says how many are left. */
  listRunsSoFar: ({ workspace, held }: AskedWorkspace, query: RunListQuery = {}) =>
    openCatalogue(workspace).listSoFar(query, held),
  /** Updates the catalogue with a run that has just ended. */
  keepRun: ({ workspace, held }: AskedWorkspace, runId: string) => openCatalogue(workspace).keep(runId, held),
  /** The runs that a person's reference means: an id, the beginning of one, or `latest`. */
  findRuns: ({ workspace, held }: AskedWorkspace, reference: string) =>
    openCatalogue(workspace).find(reference, held),
  /** The runs beyond the limits of retention, except those that a process holds or that are needed. */
  findPrunable: ({ workspace, held }: AskedWorkspace, retention: Retention) =>
    openCatalogue(workspace).findPrunable(retention, held),
  /** How a source with these columns was mapped when it was last sent by this operation; null if never. */
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
  /** Tokens of all runs; retries have the first run's, perhaps deleted. Null if a journal is unreadable. */
  listTokens: ({ workspace, held }: AskedWorkspace) => openCatalogue(workspace).listTokens(held),
  /** Ids of the runs and retries of this operation, and of those that cannot be read. */
  listRunsOf: async ({ workspace, held }: AskedWorkspace, operation: OperationKind) =>
    (await openCatalogue(workspace).listRunsOf([operation], held)).map(({ id }) => id),
  /** Callbacks received in the workspace, whichever process listens, and the runs that wait for more. */
  async readCallbackOverview({ workspace, held }: AskedWorkspace) {
    const { readCallbackOverview } = await import('../lookback/callback-overview.ts')
    return readCallbackOverview(workspace, (tokens) =>
      openCatalogue(workspace).listCallbackRuns(tokens, held),
    )
  },
  /** The body of a callback in the inbox as text; null if it is gone. */
  readCallbackBody: async ({ workspace }: AskedWorkspace, id: number) =>
    (await import('../lookback/callback-overview.ts')).readCallbackBody(workspace, id),
  /** Ids of the runs and retries with callbacks to process or rows that have become overdue. */
  listLateRuns: ({ workspace, held }: AskedWorkspace) => openCatalogue(workspace).listLate(held),
  /** Releases a journal that is about to be deleted. */
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

/** The thread's queries as defined here, by journals and workspaces instead of runs. */
export type QueryCalls = typeof calls

export const queries = explaining(calls)

/** Called after each question. */
export function checkpointJournals(): void {
  pool.checkpoint()
}

/** Releases all journals and what is known of them, for a thread that goes on to other workspaces. */
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

/** Wraps the queries so that a failure names the damaged journal, if there is one. */
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

/** The journals read for an argument of a query: those of the whole of a run. */
function listJournals(arg: unknown): string[] {
  const isRun = typeof arg === 'object' && arg !== null && 'file' in arg && 'held' in arg
  return isRun ? listWholeFiles(String(arg.file)) : []
}

/** Stores the findings of an ended run piece by piece, one run after the other, so that each is finished. */
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

/** Throws for a run cut off before it was recorded, or still being created. */
function findPlanned(run: AskedRun): RunFamily {
  const family = findFamily(run)
  if (family === null) throw new SluiceError({ id: 'run_unplanned', runId: toRunId(run.file) })
  return family
}

/** Looks up whether another process holds a run. */
function findFamily({ file, held }: AskedRun): RunFamily | null {
  return readRunFamily(pool, file, (runId, itsFile) => held.includes(runId) || isLeaseHeld(itsFile))
}

/** Data for a query over all rows, or the part of it found within a moment. */
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

/** A run's findings, or the part of them found within a moment. */
function askFindings(run: AskedRun, patienceMs: number): Promise<{ index: RowFindings; isCounted: boolean }> {
  return findings.ask(run.file, '', {
    create: (before) => new RowFindings(before),
    isEnough: () => false,
    openView: () => openFamily(run),
    patienceMs,
  })
}

/** The rows in the filter's cell; null if it has none. */
async function listCell(run: AskedRun, filter: RowFilter | undefined): Promise<Uint32Array | null> {
  if (filter?.cell === undefined) return null
  return (await openEvaluations()).list(filter.cell, () => openFamily(run))
}

/** The findings of a run, if they were counted or stored and are up to date. */
function findFindings(family: RunFamily): RowFindings | null {
  // While a run continues, its stored findings are outdated.
  const isHeld = family.members.some((member) => member.isHeld)
  return findings.find(family.file, '', family, () => (isHeld ? null : RowFindings.load(family)))
}

async function openEvaluations(): Promise<KeptEvaluations> {
  const { KeptEvaluations } = await import('../lookback/kept-evaluations.ts')
  evaluations ??= new KeptEvaluations()
  return evaluations
}
