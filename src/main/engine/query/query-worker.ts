import { setImmediate, setTimeout } from 'node:timers/promises'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { PageQuery, RowFilter } from '../../../shared/run/results.ts'
import { serveCalls } from '../../worker-rpc.ts'
import { KeptLatencies } from '../journal/latency-series.ts'
import { ReaderPool, type RunFamily, readRunFamily } from '../journal/run-family.ts'
import { Catalogue } from '../lookback/catalogue/catalogue.ts'
import { compareLatencies, compareTwoRuns } from '../lookback/compared-run.ts'
import type { KeptEvaluations } from '../lookback/kept-evaluations.ts'
import { KeptPairs } from '../lookback/kept-pairs.ts'
import { changeLabelling, endLabelling, findStratum, readLabelling } from '../lookback/labelling-store.ts'
import type { Ledgers } from '../lookback/ledger/read-ledger.ts'
import { readLoadReport } from '../results/load-report.ts'
import { findStanding, summarizeRun } from '../results/run-summary.ts'
import { findLateRuns } from '../run/callback-settler.ts'
import { readPlacedVerdicts, replaceVerdicts, storeVerdicts } from '../run/journal/verdict-store.ts'
import { readFacets, readFoundFacets, readProblemGroups } from '../run/results/facets.ts'
import { needsFindings } from '../run/results/found-rows.ts'
import { KeptIndexes } from '../run/results/kept-indexes.ts'
import { readOpenWarningsOfWhole } from '../run/results/open-warnings.ts'
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
import type { AskedRun, QueryCalls } from './stored-runs.ts'

/** Runs whose findings are kept, one of them being stored; of 1,000,000 rows with six classes each has about 40 MB. */
const FINDINGS_MAX = 3

/** How long a question waits for findings, milliseconds, and how long one that says nothing without them. */
const FINDINGS_PATIENCE_MS = 30
const COUNTING_PATIENCE_MS = 250

const pool = new ReaderPool()
const indexes = new RowIndexes()
const latencies = new KeptLatencies()
const pairs = new KeptPairs(findFindings)
const findings = new KeptIndexes<RowFindings>({ kept: FINDINGS_MAX, patienceMs: FINDINGS_PATIENCE_MS })
/** Ends once the findings of every run that was to be stored so far are. */
let storing: Promise<void> = Promise.resolve()
/** Journals that are deleted or about to be: nothing opens them again unasked. */
const forgotten = new Set<string>()
const catalogues = new Map<string, Catalogue>()
let evaluations: KeptEvaluations | null = null
let ledgers: Ledgers | null = null

const calls: QueryCalls = {
  // A run may have been cut off before it was written down, or just be in the making.
  summarize: (run) => readOr(null, run, summarizeRun),
  readPlan: (run) => readOr(null, run, ({ record }) => record.plan),
  readAddresses: (run) =>
    readOr(null, run, ({ record: { runToken, callbackBase, mediaBase } }) => ({
      runToken,
      callbackBase,
      mediaBase,
    })),
  listMembers: (run) => readOr([], run, ({ members }) => members.map(({ record }) => record.runId)),
  listWhole: (run) => readOr([], run, ({ whole }) => whole.map(({ record }) => record.runId)),
  findResumable: (run) => readOr(toRunId(run.file), run, ({ members }) => findStanding(members).record.runId),
  listLate: (run) => readOr([], run, findLateRuns),
  readColumns: (run) => openFamily(run).record.columns,
  readRow: (run, row) => readRow(openFamily(run), row),
  findRow: (run, row) => findTypedRow(openFamily(run), row),
  readProblems: (run) => readProblemGroups(openFamily(run)),
  readOpenWarnings: (run) => readOr([], run, readOpenWarningsOfWhole),
  readLatency: (run, metrics) => latencies.read(openFamily(run), metrics),
  readLoadReport: (run) => readLoadReport(openFamily(run)),
  compare: (run, other) => compareTwoRuns(openFamily(run), openFamily(other)),
  compareLatencies: (run, others) => compareLatencies([run, ...others].map(openFamily)),
  async readPage(run, query) {
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
  async findOffset(run, query) {
    const counted = isSimplePage(query) ? undefined : await count(run, query)
    return findOffset(openFamily(run), query, counted)
  },
  async readFacets(run, filter = {}) {
    const counted = Object.keys(filter).length === 0 ? undefined : await count(run, { filter })
    return readFacets(openFamily(run), filter, counted)
  },
  async readFoundFacets(run, filter = {}) {
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
  storeFindings(run) {
    const stored = storing.then(() => storeFindings(run))
    storing = stored.catch(() => {})
    return stored
  },
  async listColumns(run) {
    // The first page and facets, asked for at the same time, travel while the columns are looked for.
    await setImmediate()
    const { listRowColumns } = await import('../run/export/row-columns.ts')
    return listRowColumns(openFamily(run))
  },
  // Readers of sources and writers of files are loaded where they are asked for: most queries need neither.
  async exportRun(run, options) {
    const { exportRun } = await import('../results/export-run.ts')
    const among = await listCell(run, options.filter)
    const family = openFamily(run)
    const result = await exportRun(family, options, among)
    noteExport(family.workspace, family.record.runId, result.file)
    return result
  },
  async evaluateRun(run, options) {
    const { evaluateRun } = await import('../lookback/evaluate-run.ts')
    const family = openFamily(run)
    return evaluateRun(family, options, findFindings(family))
  },
  async evaluateInSteps(run, question) {
    return (await openEvaluations()).ask(run.file, question, () => openFamily(run))
  },
  async readLabelChoices(run) {
    const { readLabelChoices } = await import('../lookback/label-choices.ts')
    return readLabelChoices(openFamily(run))
  },
  async reportRun(run, options) {
    const { reportRun } = await import('../lookback/report/run-report.ts')
    return reportRun(openFamily(run), options)
  },
  async compareDecisions(run, other, options) {
    const { compareDecisions } = await import('../lookback/compare-decisions.ts')
    return compareDecisions(pairs, openFamily(run), openFamily(other), options)
  },
  async listChanges(run, other, options) {
    const { listChanges } = await import('../lookback/compare-decisions.ts')
    return listChanges(pairs, openFamily(run), openFamily(other), options)
  },
  async sampleRun(run, options) {
    const { sampleRun } = await import('../lookback/draw-sample.ts')
    return sampleRun(openFamily(run), options)
  },
  async sampleSource(source, options) {
    const { sampleSource } = await import('../lookback/draw-sample.ts')
    return sampleSource(source, options)
  },
  async startLabelling(run, options) {
    const { startLabelling } = await import('../lookback/draw-sample.ts')
    return startLabelling(openFamily(run), options)
  },
  readLabelling: (run) => readLabelling(openFamily(run)),
  changeLabelling: (run, change) => changeLabelling(openFamily(run), change),
  endLabelling: (run) => endLabelling(openFamily(run)),
  readVerdicts: (run) => readPlacedVerdicts(openFamily(run)),
  storeVerdicts: (run, verdicts) => storeVerdicts(openFamily(run), verdicts),
  replaceVerdicts: (run, row, verdicts, before) => {
    const family = openFamily(run)
    return replaceVerdicts(family, row, verdicts, { stratum: findStratum(family, row), before })
  },
  async importVerdicts(run, source) {
    const { importVerdicts } = await import('../lookback/verdict-files.ts')
    return importVerdicts(openFamily(run), source)
  },
  async exportVerdicts(run, file) {
    const { exportVerdicts } = await import('../lookback/verdict-files.ts')
    return exportVerdicts(openFamily(run), file)
  },
  async previewSource(source, limit) {
    const { previewSource } = await import('../source/preview.ts')
    return previewSource(source, limit)
  },
  async readLedger(asked, query, page) {
    const { readLedger } = await import('../lookback/ledger/read-ledger.ts')
    return readLedger(await openLedgers(), asked, query, page)
  },
  async exportLedger(asked, query, file) {
    const { exportLedger } = await import('../lookback/ledger/export-ledger.ts')
    return exportLedger(await openLedgers(), asked, query, file)
  },
  async findSourceChange(run, source) {
    const { findSourceChange } = await import('../source/source-fingerprint.ts')
    return findSourceChange(source, openFamily(run).record.sourceFingerprint)
  },
  annotateRun: (run, change) => {
    const { whole, workspace, record } = openFamily(run)
    return changeAnnotations(workspace, whole[0]?.record.runId ?? record.runId, change)
  },
  listRuns: ({ workspace, held }, query) => openCatalogue(workspace).list(query, held),
  findRuns: ({ workspace, held }, reference) => openCatalogue(workspace).find(reference, held),
  findPrunable: ({ workspace, held }, retention) => openCatalogue(workspace).findPrunable(retention, held),
  async findLastMapping({ workspace, held }, operation, columns) {
    const { findLastMapping, LOOKED_THROUGH } = await import('./last-mapping.ts')
    const query = { operations: [operation.kind], limit: LOOKED_THROUGH }
    const { runs } = await openCatalogue(workspace).list(query, held)
    return findLastMapping(runs, { operation, columns }, (runId) =>
      findFamily({ file: toJournalFile(workspace, runId), held }),
    )
  },
  listTokens: ({ workspace, held }) => openCatalogue(workspace).listTokens(held),
  async readCallbackOverview({ workspace, held }) {
    const { readCallbackOverview } = await import('../lookback/callback-overview.ts')
    return readCallbackOverview(workspace, (tokens) =>
      openCatalogue(workspace).listCallbackRuns(tokens, held),
    )
  },
  async readCallbackBody({ workspace }, id) {
    const { readCallbackBody } = await import('../lookback/callback-overview.ts')
    return readCallbackBody(workspace, id)
  },
  listLateRuns: ({ workspace, held }) => openCatalogue(workspace).listLate(held),
  async forget(file) {
    forgotten.add(file)
    indexes.forget(file)
    findings.forget(file)
    latencies.forget(file)
    evaluations?.forget(file)
    pool.forget(file)
    pairs.close()
    await ledgers?.forget()
  },
}

serveCalls<QueryCalls>(calls, () => pool.checkpoint())

/** Stores the findings of a run that has ended, a piece at a time. One run after the other, so that each is finished. */
async function storeFindings(run: AskedRun): Promise<void> {
  while (!forgotten.has(run.file)) {
    const family = openFamily(run)
    const { record, whole } = family
    const isKind = record.plan.operation.kind === 'task' && record.plan.load === undefined
    if (!isKind || record.rowsRead < STORED_FROM_ROWS || whole.some(({ isHeld }) => isHeld)) return
    if (RowFindings.areStored(family)) return
    const startedAtMs = performance.now()
    const { isCounted } = await askFindings(run, FINDINGS_PATIENCE_MS)
    if (isCounted) return
    // Nobody waits for it: other questions go first.
    await setTimeout(performance.now() - startedAtMs)
  }
}

function openCatalogue(workspace: string): Catalogue {
  const catalogue = catalogues.get(workspace) ?? new Catalogue(workspace)
  catalogues.set(workspace, catalogue)
  return catalogue
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

/** The rows of the filter's cell; null where it has none. */
async function listCell(run: AskedRun, filter: RowFilter | undefined): Promise<Uint32Array | null> {
  if (filter?.cell === undefined) return null
  return (await openEvaluations()).list(filter.cell, () => openFamily(run))
}

/** The findings of a run as it is now, where they were counted or stored before. */
function findFindings(family: RunFamily): RowFindings | null {
  // While a run goes on, what was stored of it is old.
  const isHeld = family.members.some((member) => member.isHeld)
  return findings.find(family.file, '', family, () => (isHeld ? null : RowFindings.load(family)))
}

async function openEvaluations(): Promise<KeptEvaluations> {
  const { KeptEvaluations } = await import('../lookback/kept-evaluations.ts')
  evaluations ??= new KeptEvaluations(findFindings)
  return evaluations
}
