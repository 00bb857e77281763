import { z } from 'zod'
import { trendMetricSchema } from '../load/metrics.ts'
import type { Verdict } from '../lookback/verdict.ts'
import { rowsInKeySchema } from '../mapping/rows-in-key.ts'
import { type Correction, correctionSchema } from '../plan/fixes.ts'
import { sourceFormatSchema } from '../plan/plan.ts'
import { type RowAndRecord, sourcePlaceSchema } from '../plan/source-place.ts'
import type { AnswerContent } from '../service/answer-content.ts'
import { requestsShape, rowAnswerSchema, rowStateSchema } from './item-state.ts'
import { problemSchema } from './problem.ts'
import { readAsSchema } from './read-as.ts'
import { type RowFilter, rowFilterSchema } from './row-filters.ts'
import { latencyBarsSchema, percentilesSchema } from './run.ts'

export const PAGE_MAX_ROWS = 500

const PAGE_MAX_COLUMNS = 300

/** Which rows are neither in a success file nor in its error file, in words. */
export const IN_NEITHER =
  'left out, not sent, waiting for a callback, or answered while the files were written'

/** The rows of a success file, and of the error file beside it. */
export const OUTCOME_FILES = {
  success: { state: 'succeeded' },
  errors: { unsuccessful: true },
} as const satisfies Record<string, RowFilter>

/** What rows can be ordered by; rows without it come last. Rows that are alike stay in the order of the source. */
const rowSortSchema = z.object({
  by: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['row', 'latency', 'callback-latency', 'attempts']) }),
    z.object({ kind: z.literal('score'), className: z.string() }),
  ]),
  order: z.enum(['ascending', 'descending']),
})

export type RowSort = z.infer<typeof rowSortSchema>

/** One page of results; `offset` counts matching rows. */
export const pageQuerySchema = z.object({
  filter: rowFilterSchema,
  /** Default: the order of the source. */
  sort: rowSortSchema.exactOptional(),
  /** Columns whose texts are read as well, as `--columns` of an export names them. */
  columns: z.array(z.string()).max(PAGE_MAX_COLUMNS).exactOptional(),
  offset: z.int().min(0),
  limit: z.int().min(1).max(PAGE_MAX_ROWS),
})

export type PageQuery = z.infer<typeof pageQuerySchema>

/** Where a row stands in the list that pages are read from. */
export const offsetQuerySchema = pageQuerySchema.pick({ filter: true, sort: true }).extend({
  row: z.int().min(1),
})

export type OffsetQuery = z.infer<typeof offsetQuerySchema>

export const resultRowSchema = z.object({
  /**
   * Number of the record in the source, 1-based, headers not counted, which identifies the row inside Sluice. A person
   * and a script see that of its place.
   */
  row: z.int(),
  place: sourcePlaceSchema,
  state: rowStateSchema,
  /** HTTP status of the last attempt; null if there was no answer. */
  status: z.int().nullable(),
  errorCode: z.string().nullable(),
  message: z.string().nullable(),
  taskId: z.string().nullable(),
  postId: z.string().nullable(),
  /** Identifier of an item of a custom index (docs/interface.md §2.4). */
  customIndexItemId: z.string().nullable(),
  answer: rowAnswerSchema.nullable(),
  triggeredRules: z.array(z.object({ ruleId: z.string(), ruleName: z.string() })),
  durationMs: z.number().nullable(),
  /** From the request being sent to its callback being received; null if there was none. */
  callbackLatencyMs: z.number().nullable(),
  attempts: z.int(),
  /** The highest score of each class, by name. */
  classScores: z.array(z.object({ className: z.string(), score: z.number() })),
  cells: z.array(z.string()),
})

export type ResultRow = z.infer<typeof resultRowSchema>

/** A page and how many rows match in all. */
export interface ResultPage {
  rows: ResultRow[]
  /** Of each row the text of each column that was asked for. */
  texts: string[][]
  total: number
  /** False while rows are still being counted: there are at least `total`. */
  isCounted: boolean
}

/** How long a body was before it was cut, bytes of UTF-8; null if that was not noted. */
const cutFromSchema = z.object({ bytes: z.int().nullable() })

export type CutFrom = z.infer<typeof cutFromSchema>

/** One try of a row's item. Times are milliseconds; a phase that did not happen is null. */
const attemptSchema = z.object({
  /** The run that made it: the one the row was read by, or a retry. */
  runId: z.string(),
  /** 1 for the first try of all. */
  number: z.int(),
  /** ISO 8601. */
  sentAt: z.string(),
  outcome: z.string(),
  status: z.int().nullable(),
  errorCode: z.string().nullable(),
  message: z.string().nullable(),
  durationMs: z.number().nullable(),
  waitingMs: z.number().nullable(),
  connectMs: z.number().nullable(),
  tlsMs: z.number().nullable(),
  /** The traceparent header that it went out with; absent if it had none. */
  traceparent: z.string().exactOptional(),
  /** The answer to it as it came, if another one is the row's by now; absent if there was none, or it was not kept. */
  response: z.object({ body: z.string(), cutFrom: cutFromSchema.nullable() }).exactOptional(),
})

export type AttemptDetail = z.infer<typeof attemptSchema>

/** A callback of a row's item as it came. */
const callbackSchema = z.object({
  /** ISO 8601. */
  receivedAt: z.string(),
  /** `settled`, `doubled`, `differing` or `unreadable`. */
  effect: z.string(),
  body: z.string(),
  /** Null if the body is whole. */
  cutFrom: cutFromSchema.nullable(),
})

export type CallbackDetail = z.infer<typeof callbackSchema>

/** Everything known of one row: its cells, the exact request, every attempt, the answer as it came. */
export const rowDetailSchema = z.object({
  result: resultRowSchema,
  columns: z.array(z.string()),
  /** Of its cells: what a fix of this row is told by. */
  rowHash: z.string(),
  /** The request body that was or will be sent, as JSON text, all rows of the item in it; null if there is none. */
  requestBody: z.string().nullable(),
  /** Of a row that is not sent: what its request would hold, mistakes and all. */
  unsentBody: z.string().exactOptional(),
  /** Of a row that shares its request with others: its own part of the body, and how many rows the request has. */
  requestPart: z.object({ body: z.string(), rows: z.int() }).exactOptional(),
  requestMethod: z.enum(['POST', 'GET']),
  requestUrl: z.string(),
  /** The last answer's body as it came; null if there was none. */
  responseBody: z.string().nullable(),
  /** Null if the body is whole. */
  responseCutFrom: cutFromSchema.nullable(),
  attempts: z.array(attemptSchema),
  callbacks: z.array(callbackSchema),
  problems: z.array(problemSchema),
  /** What is or was sent otherwise than the source has it; absent if nothing is. */
  corrections: z.array(correctionSchema).exactOptional(),
  /** Number of the record that the row is the second half of, where a fix split one. */
  halfOf: z.int().exactOptional(),
})

export type RowDetail = z.infer<typeof rowDetailSchema>

/** A row as an export writes it: its result, the exchange as it was, and what the service said beyond the result. */
export interface ExportRow extends ResultRow {
  /** Of a row of JSON, what each cell is there, a letter each: s text, j other JSON, n null, - missing; else null. */
  kinds: string | null
  /**
   * An earlier row of the same export that went out in the same request, where request, response and callbacks stand;
   * null if they stand here.
   */
  exchangeInRow: RowAndRecord | null
  /** What was sent otherwise than the source has it; absent if nothing was. */
  corrections?: readonly Correction[]
  /** What persons said of it; absent if nobody said anything of any row of the run. */
  verdicts?: readonly Verdict[]
  /** What the row sends by field, or would have sent; only if a format asks for it. */
  fields?: Readonly<Record<string, unknown>>
  /** Every try of the run and its retries, oldest first; empty if the format has no place for them. */
  tries: AttemptDetail[]
  /** The id of the trace that the last try went out with; absent if it had none. */
  traceId?: string
  /** As it was sent; null if nothing was. */
  request: { method: 'POST' | 'GET'; url: string; body: string | null } | null
  /** The last answer; null if there was none. */
  response: { body: string; cutFrom: CutFrom | null } | null
  callbacks: CallbackDetail[]
  /** Of the answer that decided the row, in async that of the callback. */
  content: AnswerContent
  /** What the service has as notes of a term; null if it did not say. */
  termNotes: string | null
}

const runSecondSchema = z.object({
  /** Seconds since sending started. */
  second: z.int(),
  ...requestsShape,
  /** Of what ended in this second: requests, and callbacks that came. */
  latencyMs: z.partialRecord(trendMetricSchema, percentilesSchema),
})

export type RunSecond = z.infer<typeof runSecondSchema>

/** A run's latency over time and its whole distribution. */
export const latencySeriesSchema = z.object({
  seconds: z.array(runSecondSchema),
  /** The whole distribution of each latency that was measured. */
  bars: latencyBarsSchema,
})

export type LatencySeries = z.infer<typeof latencySeriesSchema>

/** How the first words beyond ASCII of a text look in an encoding that it may be in. */
const encodingReadingSchema = z.object({ encoding: z.string(), sample: z.string() })

export type EncodingReading = z.infer<typeof encodingReadingSchema>

/** The first rows of a source, as the chosen encoding, delimiter and header read them. */
export const sourcePreviewSchema = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.object({ row: z.int(), place: sourcePlaceSchema, cells: z.array(z.string()) })),
  encoding: z.string(),
  /** Where the encoding comes from: the person, a byte-order mark, strict decoding, or a guess. */
  encodingBy: z.enum(['given', 'bom', 'strict', 'guess']),
  /** Of a guess that is uncertain: how the text reads in the encoding and in those that it may be in instead. */
  encodingReadings: z.array(encodingReadingSchema).exactOptional(),
  delimiter: z.string(),
  delimiterBy: z.enum(['given', 'ending', 'guess']),
  /** Around cells of delimited text, '' for nothing; these four are absent in other formats. */
  quote: z.string().exactOptional(),
  quoteBy: z.enum(['given', 'guess', 'default']).exactOptional(),
  /** Before a quote that is part of a cell; '' if quotes are doubled. */
  escape: z.string().exactOptional(),
  escapeBy: z.enum(['given', 'guess', 'default']).exactOptional(),
  header: z.boolean(),
  /** Columns of a workbook with links, the columns that have those, and the first cell with one; absent without any. */
  links: z.array(z.object({ name: z.string(), linkName: z.string(), cell: z.string() })).exactOptional(),
  /** Of JSON: arrays of objects in its rows, which may be the rows that were meant. */
  rowsInKeys: z.array(rowsInKeySchema).exactOptional(),
  /** The record that looks like the header, if titles above it are read as one. */
  likelyHeaderRow: z.int().exactOptional(),
  /** How the source is read; encoding and delimiter are those of text, '' if a format has none. */
  format: sourceFormatSchema.exactOptional(),
  /** Files of a source that has several, in the order of their rows; encoding and delimiter above are those of the first. */
  files: z
    .array(
      z.object({
        name: z.string(),
        path: z.string(),
        format: sourceFormatSchema,
        sizeBytes: z.number(),
        encoding: z.string(),
        encodingReadings: z.array(encodingReadingSchema).exactOptional(),
        delimiter: z.string(),
        sheet: z.string().nullable(),
        /** Of a file that is not short, the count follows from its beginning. */
        rows: z.object({ count: z.int(), isExact: z.boolean() }).exactOptional(),
      }),
    )
    .exactOptional(),
  /** How each file is read. */
  readAs: z.array(readAsSchema),
  /** Names of a workbook's sheets in its order, hidden ones among them. */
  sheets: z.array(z.string()).exactOptional(),
  /** About how many rows each of them has below its header; null if that was not looked at. */
  sheetRows: z.array(z.int().nullable()).exactOptional(),
  /** The sheet that the rows are from. */
  sheet: z.string().exactOptional(),
  /** Of a table with columns of our exports: whether the apostrophes before its formulas are taken off. */
  ownExport: z.enum(['unguarded', 'as-is']).exactOptional(),
  /** Problems within the preview: ragged rows, broken quotes, undecodable bytes. */
  problems: z.array(problemSchema),
  sizeBytes: z.number(),
})

export type SourcePreview = z.infer<typeof sourcePreviewSchema>

/** How a run is exported; the file's ending chooses the format. */
export interface ExportOptions {
  file: string
  /** A project of k6, whatever the name; else the ending says the format. */
  format?: 'k6'
  /** Cells exactly as they were, formulas unguarded. */
  lossless?: boolean
  filter?: RowFilter
  /** Columns of a table by name, in order, or one of the words of `chooseColumns`; else those of the operation. */
  columns?: readonly string[]
  /** Adds a column for each rule that any row triggered. */
  rulesAsColumns?: boolean
  /** Stands between the cells of a CSV file: a comma (the default), semicolon, bar or tab, or that of the `source`. */
  delimiter?: string
  /** Whether a CSV file begins with a byte-order mark (default: true). */
  byteOrderMark?: boolean
  /** Only rows that triggered one of these rules, by name or id. */
  rules?: readonly string[]
}
