import { SluiceError } from '../../../shared/messages/errors.ts'
import type { FacetList, ResultPage, RowFilter } from '../../../shared/run/results.ts'
import { type RunFamily, readRunFamily } from '../journal/run-family.ts'
import { ReaderPool } from '../journal/run-view.ts'
import { readLatencySeries } from '../journal/seconds.ts'
import { compareTwoRuns } from '../lookback/compared-run.ts'
import { readLoadReport } from '../results/load-report.ts'
import { findStanding, summarizeRun } from '../results/run-summary.ts'
import { findLateRuns } from '../run/late-callbacks.ts'
import { readFacets, readProblemGroups } from '../run/results/facets.ts'
import { isSimple, readPage } from '../run/results/result-page.ts'
import { readRow } from '../run/results/row-detail.ts'
import { RowIndexes } from '../run/results/row-index.ts'
import { isLeaseHeld } from '../workspace/lease.ts'
import { toRunId } from '../workspace/workspace-files.ts'
import type { Queries, QueryKind, QueryRequest } from './query-thread.ts'

/** Answers that are read from the journal alone. */
const ANSWERS: {
  [K in Exclude<QueryKind, 'page' | 'facets' | 'export'>]: (
    family: RunFamily,
    give: Queries[K]['give'],
    held: readonly string[],
  ) => Queries[K]['get'] | Promise<Queries[K]['get']>
} = {
  summary: summarizeRun,
  plan: ({ record }) => record.plan,
  addresses: ({ record: { runToken, callbackBase, mediaBase } }) => ({ runToken, callbackBase, mediaBase }),
  members: ({ members }) => members.map(({ record }) => record.runId),
  whole: ({ whole }) => whole.map(({ record }) => record.runId),
  resumable: ({ members }) => findStanding(members).record.runId,
  late: findLateRuns,
  columns: ({ record }) => record.columns,
  row: (view, { row }) => readRow(view, row),
  problems: readProblemGroups,
  latency: readLatencySeries,
  load: readLoadReport,
  compare: (view, { otherFile }, held) => {
    const other = readFamily(otherFile, held)
    if (other === null) throw toCutOff(otherFile)
    return compareTwoRuns(view, other)
  },
}

type RunQuestion = Extract<QueryRequest, { kind: QueryKind }>

const pool = new ReaderPool()
const indexes = new RowIndexes()

/** Answers one question of the main thread. Throws the `SluiceError` of what is wrong. */
export async function answerQuery(request: QueryRequest): Promise<unknown> {
  // Readers of sources and writers of files are loaded where they are asked for: most questions need neither.
  if (request.kind === 'preview') {
    const { previewSource } = await import('../source/preview.ts')
    return previewSource(request.source, request.limit)
  }
  if (request.kind === 'forget') {
    indexes.forget(request.file)
    return pool.forget(request.file)
  }
  const view = readFamily(request.file, request.held)
  if (view === null) {
    // Cut off before it was written down, or just being made.
    if (request.kind === 'late' || request.kind === 'members' || request.kind === 'whole') return []
    if (request.kind === 'summary' || request.kind === 'plan' || request.kind === 'addresses') return null
    if (request.kind === 'resumable') return toRunId(request.file)
    throw toCutOff(request.file)
  }
  return answer(request, view)
}

/** `held` are the runs of this process; whether another one holds a run is looked up. */
function readFamily(file: string, held: readonly string[]): RunFamily | null {
  return readRunFamily(pool, file, (runId, itsFile) => held.includes(runId) || isLeaseHeld(itsFile))
}

function toCutOff(file: string): SluiceError {
  return new SluiceError({ id: 'run_file_unplanned', file })
}

function answer(request: RunQuestion, view: RunFamily): unknown {
  const { kind, give } = request
  if (kind === 'export') return answerExport(request, give as Queries['export']['give'])
  if (kind === 'page') return answerPage(request, view, give as Queries['page']['give'])
  if (kind === 'facets') return answerFacets(request, view, give as Queries['facets']['give'])
  return answerAlone(kind, view, request)
}

function answerAlone<K extends keyof typeof ANSWERS>(
  kind: K,
  view: RunFamily,
  { give, held }: { give: Queries[K]['give']; held: readonly string[] },
): unknown {
  return ANSWERS[kind](view, give, held)
}

async function answerExport(
  request: RunQuestion,
  { options }: Queries['export']['give'],
): Promise<Queries['export']['get']> {
  const { exportRun } = await import('../results/export-run.ts')
  // The reader may have been closed meanwhile, to make room for another run's.
  return exportRun(openView(request), options)
}

async function answerPage(
  request: RunQuestion,
  view: RunFamily,
  { query }: Queries['page']['give'],
): Promise<ResultPage> {
  if (isSimple(query.filter)) return readPage(view, query)
  const counted = await askIndex(request, query.filter, query.offset + query.limit)
  // The reader may have been closed meanwhile, to make room for another run's.
  return readPage(openView(request), query, counted)
}

async function answerFacets(
  request: RunQuestion,
  view: RunFamily,
  { filter }: Queries['facets']['give'],
): Promise<FacetList> {
  if (Object.keys(filter).length === 0) return readFacets(view, filter)
  const counted = await askIndex(request, filter, Number.POSITIVE_INFINITY)
  return readFacets(openView(request), filter, counted)
}

function askIndex(request: RunQuestion, filter: RowFilter, rows: number) {
  return indexes.ask(request.file, filter, { rows, openView: () => openView(request) })
}

function openView(request: RunQuestion): RunFamily {
  const view = readFamily(request.file, request.held)
  if (view === null) throw toCutOff(request.file)
  return view
}
