import type { LoadComparison } from '../../../shared/load/compare.ts'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import type { ErrorMessage } from '../../../shared/messages/error-messages.ts'
import type { Plan, PlanSource } from '../../../shared/plan/plan.ts'
import type {
  ExportOptions,
  ExportResult,
  FacetList,
  LatencySeries,
  PageQuery,
  ProblemGroup,
  ResultPage,
  RowDetail,
  RowFilter,
} from '../../../shared/run/results.ts'
import type { RunSummary } from '../../../shared/run/run.ts'

/** The questions that the queries' thread answers, each with what it needs and what it gives. */
export interface Queries {
  summary: { give: Record<never, never>; get: RunSummary | null }
  plan: { give: Record<never, never>; get: Plan | null }
  addresses: {
    give: Record<never, never>
    get: { runToken: string; callbackBase: string | null; mediaBase: string | null } | null
  }
  /** The names of the source's columns. */
  columns: { give: Record<never, never>; get: string[] }
  /** Ids of the run and the retries below it, itself first, then oldest first. */
  members: { give: Record<never, never>; get: string[] }
  /** Ids of all runs of the whole that the run belongs to, the first run first. */
  whole: { give: Record<never, never>; get: string[] }
  /** The run itself or that of its retries that can go on. */
  resumable: { give: Record<never, never>; get: string }
  /** Which of the run and its retries have callbacks that nobody has processed, or rows that have become overdue. */
  late: { give: Record<never, never>; get: string[] }
  page: { give: { query: PageQuery }; get: ResultPage }
  row: { give: { row: number }; get: RowDetail }
  facets: { give: { filter: RowFilter }; get: FacetList }
  problems: { give: Record<never, never>; get: ProblemGroup[] }
  latency: { give: Record<never, never>; get: LatencySeries }
  /** All that a report of a load test shows. */
  load: { give: Record<never, never>; get: LoadReport }
  /** This run compared with another, whose journal is `otherFile`. */
  compare: { give: { otherFile: string }; get: LoadComparison }
  export: { give: { options: ExportOptions }; get: ExportResult }
}

/** The name of a question about a run. */
export type QueryKind = keyof Queries

/** A question on its way to the thread. */
export type QueryRequest =
  | { id: number; kind: QueryKind; file: string; held: readonly string[]; give: Queries[QueryKind]['give'] }
  | { id: number; kind: 'preview'; source: PlanSource; limit: number }
  /** The journal is about to be deleted: let go of it. */
  | { id: number; kind: 'forget'; file: string }

/** The answer to the question with that id. */
export type QueryResponse =
  | { id: number; kind: 'answer'; value: unknown }
  | { id: number; kind: 'error'; error: ErrorMessage }
