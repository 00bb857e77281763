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

/** Describes the rows that are neither in a success file nor in its error file. */
export const IN_NEITHER =
  'sent before and skipped, left out, not sent, waiting for a callback, or answered while the files were written'

/** The rows of a success file, and of the error file beside it. */
export const OUTCOME_FILES = {
  success: { state: 'succeeded' },
  errors: { unsuccessful: true },
} as const satisfies Record<string, RowFilter>

/** Orders of rows; rows without a value come last, and equal rows keep the order of the source. */
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
  /** Columns whose texts are read too, named as in `--columns`. */
  columns: z.array(z.string()).max(PAGE_MAX_COLUMNS).exactOptional(),
  offset: z.int().min(0),
  limit: z.int().min(1).max(PAGE_MAX_ROWS),
})

export type PageQuery = z.infer<typeof pageQuerySchema>

/** Asks for a row's position in the list that pages are read from. */
export const offsetQuerySchema = pageQuerySchema.pick({ filter: true, sort: true }).extend({
  row: z.int().min(1),
})

export type OffsetQuery = z.infer<typeof offsetQuerySchema>

export const resultRowSchema = z.object({
  /**
   * Number of the record in the source, 1-based, not counting headers, which identifies the row inside
   * Sluice. People and scripts see the number of its place instead.
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
  /** From sending the request to receiving its callback; null without a callback. */
  callbackLatencyMs: z.number().nullable(),
  attempts: z.int(),
  /** The highest score of each class, by name. */
  classScores: z.array(z.object({ className: z.string(), score: z.number() })),
  cells: z.array(z.string()),
})

export type ResultRow = z.infer<typeof resultRowSchema>

export interface ResultPage {
  rows: ResultRow[]
  /** For each row, the texts of the requested columns. */
  texts: string[][]
  total: number
  /** False while rows are still being counted: there are at least `total`. */
  isCounted: boolean
}

/** Length of a body before it was cut, in bytes of UTF-8; null if unknown. */
const cutFromSchema = z.object({ bytes: z.int().nullable() })

export type CutFrom = z.infer<typeof cutFromSchema>

/** One try of a row's item. Times are milliseconds; a phase that did not happen is null. */
const attemptSchema = z.object({
  /** The run that made it: the requested run or a retry. */
  runId: z.string(),
  /** 1 for the very first try. */
  number: z.int(),
  /** ISO 8601; null if the process died before it was recorded. */
  sentAt: z.string().nullable(),
  outcome: z.string(),
  status: z.int().nullable(),
  errorCode: z.string().nullable(),
  message: z.string().nullable(),
  durationMs: z.number().nullable(),
  waitingMs: z.number().nullable(),
  connectMs: z.number().nullable(),
  tlsMs: z.number().nullable(),
  /** The traceparent header that it was sent with; absent if it had none. */
  traceparent: z.string().exactOptional(),
  /**
   * The answer to this try as received, if the row's current body is from another try; absent if there was
   * none, or it was not kept.
   */
  response: z.object({ body: z.string(), cutFrom: cutFromSchema.nullable() }).exactOptional(),
})

export type AttemptDetail = z.infer<typeof attemptSchema>

/** A callback of a row's item, as received. */
const callbackSchema = z.object({
  /** ISO 8601. */
  receivedAt: z.string(),
  /** `settled`, `doubled`, `differing` or `unreadable`. */
  effect: z.string(),
  body: z.string(),
  /** Null if the body is complete. */
  cutFrom: cutFromSchema.nullable(),
})

export type CallbackDetail = z.infer<typeof callbackSchema>

/** Everything known about one row: its cells, the exact request, every attempt, the answer as received. */
export const rowDetailSchema = z.object({
  result: resultRowSchema,
  columns: z.array(z.string()),
  /** Hash of its cells, by which a fix recognizes the row. */
  rowHash: z.string(),
  /** The request body as JSON text, sent or to be sent, with all rows of the item; null if there is none. */
  requestBody: z.string().nullable(),
  /** For a row that is not sent: its would-be request, including mistakes. */
  unsentBody: z.string().exactOptional(),
  /** For a row that shares its request: its own part of the body, and the number of rows in the request. */
  requestPart: z.object({ body: z.string(), rows: z.int() }).exactOptional(),
  requestMethod: z.enum(['POST', 'GET']),
  requestUrl: z.string(),
  /** The last answer's body, as received; null if there was none. */
  responseBody: z.string().nullable(),
  /** Null if the body is complete. */
  responseCutFrom: cutFromSchema.nullable(),
  attempts: z.array(attemptSchema),
  callbacks: z.array(callbackSchema),
  problems: z.array(problemSchema),
  /** Differences between the source and what is or was sent; absent if there are none. */
  corrections: z.array(correctionSchema).exactOptional(),
  /** Number of the record that a fix split, if this row is its second half. */
  halfOf: z.int().exactOptional(),
})

export type RowDetail = z.infer<typeof rowDetailSchema>

/** A row for an export: its result, the exact exchange, and the rest of the service's answer. */
export interface ExportRow extends ResultRow {
  /** For a row of JSON, each cell's type as a letter: s text, j other JSON, n null, - missing; else null. */
  kinds: string | null
  /**
   * An earlier row of the same export that was sent in the same request, and holds request, response and
   * callbacks; null if this row holds them.
   */
  exchangeInRow: RowAndRecord | null
  /** Differences between the source and what was sent; absent if there are none. */
  corrections?: readonly Correction[]
  /** People's verdicts on it; absent if no row of the run has any. */
  verdicts?: readonly Verdict[]
  /** The row's values by field, sent or to be sent; only if a format needs them. */
  fields?: Readonly<Record<string, unknown>>
  /** All tries in the run and its retries, oldest first; empty if the format does not include them. */
  tries: AttemptDetail[]
  /** The trace id that the last try was sent with; absent if it had none. */
  traceId?: string
  /** As sent, its body null for GET; null if nothing was sent. */
  request: { method: 'POST' | 'GET'; url: string; body: string | null } | null
  /** The last answer; null if there was none. */
  response: { body: string; cutFrom: CutFrom | null } | null
  callbacks: CallbackDetail[]
  /** Content of the answer that decided the row; for an async row, of the callback. */
  content: AnswerContent
  /** The service's notes of a term; null if its answer has none. */
  termNotes: string | null
}

const runSecondSchema = z.object({
  /** Seconds since sending started. */
  second: z.int(),
  ...requestsShape,
  /** Latencies of the requests that ended, and of the callbacks that arrived, in this second. */
  latencyMs: z.partialRecord(trendMetricSchema, percentilesSchema),
})

export type RunSecond = z.infer<typeof runSecondSchema>

/** A run's latency over time and its whole distribution. */
export const latencySeriesSchema = z.object({
  seconds: z.array(runSecondSchema),
  /** The whole distribution of each measured latency. */
  bars: latencyBarsSchema,
})

export type LatencySeries = z.infer<typeof latencySeriesSchema>

/** How the first non-ASCII words of a text look in a possible encoding. */
const encodingReadingSchema = z.object({ encoding: z.string(), sample: z.string() })

export type EncodingReading = z.infer<typeof encodingReadingSchema>

/** The first rows of a source, read with the chosen encoding, delimiter and header. */
export const sourcePreviewSchema = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.object({ row: z.int(), place: sourcePlaceSchema, cells: z.array(z.string()) })),
  encoding: z.string(),
  /** Where the encoding comes from: the person, a byte-order mark, strict decoding, or a guess. */
  encodingBy: z.enum(['given', 'bom', 'strict', 'guess']),
  /** For an uncertain guess: how the text looks in the guessed encoding and in the alternatives. */
  encodingReadings: z.array(encodingReadingSchema).exactOptional(),
  delimiter: z.string(),
  delimiterBy: z.enum(['given', 'ending', 'guess']),
  /** Encloses cells of delimited text, '' for none; these four members are absent in other formats. */
  quote: z.string().exactOptional(),
  quoteBy: z.enum(['given', 'guess', 'default']).exactOptional(),
  /** Precedes a quote that is part of a cell; '' if quotes are doubled. */
  escape: z.string().exactOptional(),
  escapeBy: z.enum(['given', 'guess', 'default']).exactOptional(),
  header: z.boolean(),
  /** A workbook's columns with links, each with its column of links and first linked cell; absent if none. */
  links: z.array(z.object({ name: z.string(), linkName: z.string(), cell: z.string() })).exactOptional(),
  /** For JSON: arrays of objects in its rows, which may be the intended rows. */
  rowsInKeys: z.array(rowsInKeySchema).exactOptional(),
  /** The record that looks like the header, if titles above it were read as the header. */
  likelyHeaderRow: z.int().exactOptional(),
  /** How the source is read; encoding and delimiter are those of text, '' if the format has none. */
  format: sourceFormatSchema.exactOptional(),
  /** The files of a source with several, in row order; encoding and delimiter above are the first's. */
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
        /** For a long file, the count is estimated from its beginning. */
        rows: z.object({ count: z.int(), isExact: z.boolean() }).exactOptional(),
      }),
    )
    .exactOptional(),
  readAs: z.array(readAsSchema),
  /** Names of a workbook's sheets in order, including hidden ones. */
  sheets: z.array(z.string()).exactOptional(),
  /** Approximate number of rows in each sheet, below its header; null if it was not examined. */
  sheetRows: z.array(z.int().nullable()).exactOptional(),
  hiddenSheets: z.array(z.string()).exactOptional(),
  /** The sheet that the rows are from. */
  sheet: z.string().exactOptional(),
  /** For a table with columns of Sluice's exports: whether apostrophes before formulas are removed. */
  ownExport: z.enum(['unguarded', 'as-is']).exactOptional(),
  /** Problems within the preview: ragged rows, broken quotes, undecodable bytes. */
  problems: z.array(problemSchema),
  sizeBytes: z.number(),
})

export type SourcePreview = z.infer<typeof sourcePreviewSchema>

/** How to export a run; the file's ending selects the format. */
export interface ExportOptions {
  file: string
  /** A k6 project, whatever the name; by default the ending selects the format. */
  format?: 'k6'
  /** Cells exactly as in the source, formulas unguarded. */
  lossless?: boolean
  filter?: RowFilter
  /** Columns by name, in order, or groups of `chooseColumns` (default: the operation's columns). */
  columns?: readonly string[]
  /** Adds a column for each rule that any row triggered. */
  rulesAsColumns?: boolean
  /** Separates a CSV file's cells: a comma (default), semicolon, bar or tab, or the `source`'s delimiter. */
  delimiter?: string
  /** Whether a CSV file begins with a byte-order mark (default: true). */
  byteOrderMark?: boolean
}
