import { SluiceError } from '../../../shared/errors.ts'
import { previewSource } from '../intake/preview.ts'
import { toWorkspace } from '../journal/workspace-files.ts'
import { compareTwoRuns } from './compared-run.ts'
import { exportRun } from './export-run.ts'
import { readFacets, readProblemGroups } from './facets.ts'
import { hasLateCallbacks } from './late-callbacks.ts'
import { readLatencySeries } from './latency-series.ts'
import { readLoadReport } from './load-report.ts'
import type { Queries, QueryKind, QueryRequest } from './query-messages.ts'
import { ReaderPool } from './reader-pool.ts'
import { readPage } from './result-page.ts'
import { readRow } from './row-detail.ts'
import { summarizeRun } from './run-summary.ts'
import { type RunView, readRunView } from './run-view.ts'

const ANSWERS: {
  [K in QueryKind]: (
    view: RunView,
    give: Queries[K]['give'],
  ) => Queries[K]['get'] | Promise<Queries[K]['get']>
} = {
  summary: summarizeRun,
  plan: ({ record }) => record.plan,
  addresses: ({ record: { runToken, callbackBase, mediaBase } }) => ({ runToken, callbackBase, mediaBase }),
  late: hasLateCallbacks,
  page: (view, { query }) => readPage(view, query),
  row: (view, { row }) => readRow(view, row),
  facets: readFacets,
  problems: readProblemGroups,
  latency: readLatencySeries,
  load: readLoadReport,
  compare: (view, { otherFile, isOtherHeld }) => {
    const other = readRunView(pool.get(otherFile), isOtherHeld, toWorkspace(otherFile))
    if (other === null) throw toCutOff(otherFile)
    return compareTwoRuns(view, other)
  },
  export: (view, { options }) => exportRun(view, options),
}

const pool = new ReaderPool()

/** Answers one question of the main thread. Throws the `SluiceError` of what is wrong. */
export async function answerQuery(request: QueryRequest): Promise<unknown> {
  if (request.kind === 'preview') return previewSource(request.source, request.limit)
  if (request.kind === 'forget') return pool.forget(request.file)
  const view = readRunView(pool.get(request.file), request.isHeld, toWorkspace(request.file))
  if (view === null) {
    // Cut off before it was written down, or just being made.
    if (request.kind === 'late') return false
    if (request.kind === 'summary' || request.kind === 'plan' || request.kind === 'addresses') return null
    throw toCutOff(request.file)
  }
  return answer(request.kind, view, request.give)
}

function toCutOff(file: string): SluiceError {
  return new SluiceError({
    code: 'RUN_NOT_FOUND',
    message: `the run of ${file} was cut off before it had a plan`,
    hint: 'Nothing of it was sent; it can be deleted.',
  })
}

function answer<K extends QueryKind>(kind: K, view: RunView, give: Queries[K]['give']): unknown {
  return ANSWERS[kind](view, give)
}
