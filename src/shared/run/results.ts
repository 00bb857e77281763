import type { LatencyBar } from '../load/latency-meter.ts'
import type { PlanSource } from '../plan/plan.ts'
import type { SourcePlace } from '../plan/source-place.ts'
import type { AppealFindings, TaskFindings } from '../service/answer-findings.ts'
import type { ItemState, RowAnswer } from './item-state.ts'
import type { Problem } from './problem.ts'
import type { Percentiles } from './run.ts'

/** What the results table shows a row as: its item's state, or `invalid` where it was never sent. */
export type RowState = ItemState | 'invalid'

/** Stands among rules for the rows that succeeded without triggering any. */
export const NO_RULE = ''

/** Which rows a page holds; an absent member does not narrow. */
export interface RowFilter {
  state?: RowState
  /** Rows that ended without success: invalid, rejected, failed, unknown or overdue; not together with `state`. */
  unsuccessful?: true
  /** Rows that triggered at least one of these rules; {@link NO_RULE} stands for succeeding without any. */
  ruleIds?: string[]
  /** Rows that ended without success and with this service error code. */
  errorCode?: string
  /** Rows that did not succeed for this cause, a key of `toErrorKey` or `toInvalidKey`. */
  cause?: string
  /** Rows with this answer of the service. */
  answer?: RowAnswer
  /** Rows any of whose cells contains this text, ASCII letters in either case. */
  search?: string
}

/** One page of results. `offset` counts matching rows; `limit` is at most 500. */
export interface PageQuery {
  filter: RowFilter
  offset: number
  limit: number
}

/** One row of the results table. */
export interface ResultRow {
  /** Number of the record in the source, 1-based, headers not counted; it stands for the row everywhere in Sluice. */
  row: number
  /** Where it stands in the source. */
  place: SourcePlace
  state: RowState
  /** HTTP status of the last attempt; null where there was no answer. */
  status: number | null
  errorCode: string | null
  message: string | null
  taskId: string | null
  postId: string | null
  /** Identifier of an item of a custom index (docs/interface.md §2.4). */
  customIndexItemId: string | null
  answer: RowAnswer | null
  triggeredRules: { ruleId: string; ruleName: string }[]
  durationMs: number | null
  /** From the request being sent to its callback being received; null where there was none. */
  callbackLatencyMs: number | null
  attempts: number
  cells: string[]
}

/** A page and how many rows match in all. */
export interface ResultPage {
  rows: ResultRow[]
  total: number
  /** False while rows are still being counted: there are at least `total`. */
  isCounted: boolean
}

/** One try of a row's item. Times are milliseconds; a phase that did not happen is null. */
export interface AttemptDetail {
  /** The run that made it: the one the row was read by, or a retry. */
  runId: string
  /** 1 for the first try of all. */
  number: number
  /** ISO 8601. */
  sentAt: string
  outcome: string
  status: number | null
  errorCode: string | null
  message: string | null
  durationMs: number | null
  waitingMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

/** How long a body was before it was cut, bytes of UTF-8; null where that was not noted. */
export interface CutFrom {
  bytes: number | null
}

/** A callback of a row's item as it came. */
export interface CallbackDetail {
  /** ISO 8601. */
  receivedAt: string
  /** `settled`, `doubled` or `unreadable`. */
  effect: string
  body: string
  /** Null where the body is whole. */
  cutFrom: CutFrom | null
}

/** Everything known of one row: its cells, the exact request, every attempt, the answer as it came. */
export interface RowDetail {
  result: ResultRow
  columns: string[]
  /** The request body that was or will be sent, as JSON text, all rows of the item in it; null where there is none. */
  requestBody: string | null
  /** Of a row that shares its request with others: its own part of the body, and how many rows the request has. */
  requestPart?: { body: string; rows: number }
  requestMethod: 'POST' | 'GET'
  requestUrl: string
  /** The last answer's body as it came; null where there was none. */
  responseBody: string | null
  /** Null where the body is whole. */
  responseCutFrom: CutFrom | null
  attempts: AttemptDetail[]
  callbacks: CallbackDetail[]
  problems: Problem[]
  classScores: { className: string; score: number }[]
}

/** A row as an export writes it: its result, the exchange as it was, and what the service said beyond the result. */
export interface ExportRow extends ResultRow {
  /** Of a row of JSON, what each cell is there, a letter each: s text, j other JSON, n null, - missing; else null. */
  kinds: string | null
  /**
   * An earlier row of the same export that went out in the same request, where request, response and callbacks stand;
   * null where they stand here.
   */
  exchangeInRow: number | null
  /** Every try of the run and its retries, oldest first; empty where the format has no place for them. */
  tries: AttemptDetail[]
  /** As it was sent; null where nothing was. */
  request: { method: 'POST' | 'GET'; url: string; body: string | null } | null
  /** The last answer; null where there was none. */
  response: { body: string; cutFrom: CutFrom | null } | null
  callbacks: CallbackDetail[]
  classScores: { className: string; score: number }[]
  /** Of a task. */
  task: TaskFindings | null
  /** Of an appeal. */
  appeal: AppealFindings | null
  /** What the service has as notes of a term; null where it did not say. */
  termNotes: string | null
  /** The `message` of an answer of an index or a watchlist. */
  serviceMessage: string | null
}

/** A value and how many rows have it. A `cause` is that of an error without a code, or what kept a row back. */
export interface Facet {
  kind: 'state' | 'rule' | 'error' | 'cause' | 'answer'
  value: string
  label: string
  rows: number
}

/** What the rows under a filter can be narrowed by; those of one kind disregard what the filter says of their kind. */
export interface FacetList {
  facets: Facet[]
  /** False while rows are still being counted: each facet has at least as many. */
  isCounted: boolean
}

/** Problems of one cause, with the first rows that have it. */
export interface ProblemGroup {
  severity: Problem['severity']
  code: Problem['code']
  field: string | null
  message: string
  rows: number
  examples: Problem[]
}

/** One second of a run. */
export interface RunSecond {
  /** Seconds since sending started. */
  second: number
  sent: number
  succeeded: number
  rejected: number
  failed: number
  unknown: number
  httpReqDurationMs: Percentiles | null
  /** Of the callbacks that came in this second. */
  callbackLatencyMs: Percentiles | null
}

/** A run's latency over time and its whole distribution. */
export interface LatencySeries {
  seconds: RunSecond[]
  /** The whole distribution of each latency; empty where nothing was measured. */
  bars: { http_req_duration: LatencyBar[]; callback_latency: LatencyBar[] }
}

/** The first rows of a source, as the chosen encoding, delimiter and header read them. */
export interface SourcePreview {
  columns: string[]
  rows: { row: number; place: SourcePlace; cells: string[] }[]
  encoding: string
  /** How the encoding was told: by the person, by a byte-order mark, by strict decoding, or guessed. */
  encodingBy: 'given' | 'bom' | 'strict' | 'guess'
  delimiter: string
  delimiterBy: 'given' | 'ending' | 'guess'
  header: boolean
  /** How the source is read; encoding and delimiter are those of text, '' where a format has none. */
  format?: NonNullable<PlanSource['format']>
  /** Names of a workbook's sheets in its order, hidden ones among them. */
  sheets?: string[]
  /** The sheet that the rows are from. */
  sheet?: string
  /** Problems within the preview: ragged rows, broken quotes, undecodable bytes. */
  problems: Problem[]
  sizeBytes: number
}

/** What an export wrote. */
export interface ExportResult {
  file: string
  rows: number
  sizeBytes: number
}

/** How a run is exported; the file's ending chooses the format. */
export interface ExportOptions {
  file: string
  /** A project of k6, whatever the name; else the ending says the format. */
  format?: 'k6'
  /** Cells exactly as they were, formulas unguarded. */
  lossless?: boolean
  filter?: RowFilter
}
