import { z } from 'zod'
import { rowAnswerSchema } from '../run/item-state.ts'
import type {
  Facet,
  FacetList,
  LatencySeries,
  PageQuery,
  ResultRow,
  RowDetail,
  RowFilter,
  RunSecond,
} from '../run/results.ts'
import { percentilesSchema } from '../run/run.ts'
import { problemGroupSchema, problemSchema, sourcePlaceSchema } from './problem-schema.ts'
import { base, matchType, runIdSchema, toStrict } from './procedure.ts'
import { excerptShape } from './source.ts'

/** Most rows of one page. */
const PAGE_MAX_ROWS = 500

/** Most rules of one filter. */
const FILTER_MAX_RULES = 1_000

const rowStateSchema = z.enum([
  'invalid',
  'pending',
  'sending',
  'acknowledged',
  'succeeded',
  'rejected',
  'failed',
  'unknown',
  'overdue',
])

/** See {@link RowFilter}. */
const rowFilterSchema = matchType<RowFilter>()(
  z.object({
    state: rowStateSchema.exactOptional(),
    unsuccessful: z.literal(true).exactOptional(),
    ruleIds: z.array(z.string()).max(FILTER_MAX_RULES).exactOptional(),
    errorCode: z.string().exactOptional(),
    cause: z.string().exactOptional(),
    answer: rowAnswerSchema.exactOptional(),
    search: z.string().exactOptional(),
  }),
)

const pageQuerySchema = matchType<PageQuery>()(
  z.object({
    filter: rowFilterSchema,
    offset: z.int().min(0),
    limit: z.int().min(1).max(PAGE_MAX_ROWS),
  }),
)

const resultRowSchema = matchType<ResultRow>()(
  z.object({
    row: z.int(),
    place: sourcePlaceSchema,
    state: rowStateSchema,
    status: z.int().nullable(),
    errorCode: z.string().nullable(),
    message: z.string().nullable(),
    taskId: z.string().nullable(),
    postId: z.string().nullable(),
    customIndexItemId: z.string().nullable(),
    answer: rowAnswerSchema.nullable(),
    triggeredRules: z.array(z.object({ ruleId: z.string(), ruleName: z.string() })),
    durationMs: z.number().nullable(),
    callbackLatencyMs: z.number().nullable(),
    attempts: z.int(),
    cells: z.array(z.string()),
  }),
)

const pageRowSchema = resultRowSchema.extend(excerptShape)

/** A {@link ResultRow} whose cells are excerpts. */
export type PageRow = z.infer<typeof pageRowSchema>

const pageSchema = z.object({
  rows: z.array(pageRowSchema),
  /** How many rows match in all; at least so many where they are not counted to the end. */
  total: z.int(),
  isCounted: z.boolean(),
})

/** One page of results as the window shows it. */
export type BridgePage = z.infer<typeof pageSchema>

const cutFromSchema = z.object({ bytes: z.int().nullable() }).nullable()

const rowDetailSchema = matchType<RowDetail>()(
  z.object({
    result: resultRowSchema,
    columns: z.array(z.string()),
    requestBody: z.string().nullable(),
    requestPart: z.object({ body: z.string(), rows: z.int() }).exactOptional(),
    requestMethod: z.enum(['POST', 'GET']),
    requestUrl: z.string(),
    responseBody: z.string().nullable(),
    responseCutFrom: cutFromSchema,
    attempts: z.array(
      z.object({
        runId: z.string(),
        number: z.int(),
        sentAt: z.string(),
        outcome: z.string(),
        status: z.int().nullable(),
        errorCode: z.string().nullable(),
        message: z.string().nullable(),
        durationMs: z.number().nullable(),
        waitingMs: z.number().nullable(),
        connectMs: z.number().nullable(),
        tlsMs: z.number().nullable(),
      }),
    ),
    callbacks: z.array(
      z.object({
        receivedAt: z.string(),
        effect: z.string(),
        body: z.string(),
        cutFrom: cutFromSchema,
      }),
    ),
    problems: z.array(problemSchema),
    classScores: z.array(z.object({ className: z.string(), score: z.number() })),
  }),
)

const facetSchema = matchType<Facet>()(
  z.object({
    kind: z.enum(['state', 'rule', 'error', 'cause', 'answer']),
    value: z.string(),
    label: z.string(),
    rows: z.int(),
  }),
)

const facetListSchema = matchType<FacetList>()(
  z.object({ facets: z.array(facetSchema), isCounted: z.boolean() }),
)

const barsSchema = z.array(z.object({ fromMs: z.number(), upToMs: z.number(), count: z.int() }))

const secondSchema = matchType<RunSecond>()(
  z.object({
    second: z.int(),
    sent: z.int(),
    succeeded: z.int(),
    rejected: z.int(),
    failed: z.int(),
    unknown: z.int(),
    httpReqDurationMs: percentilesSchema.nullable(),
    callbackLatencyMs: percentilesSchema.nullable(),
  }),
)

const latencySchema = matchType<LatencySeries>()(
  z.object({
    seconds: z.array(secondSchema),
    bars: z.object({ http_req_duration: barsSchema, callback_latency: barsSchema }),
  }),
)

/** The outcome of the rows of a run; rows only by page. */
export const resultsContract = {
  /** The names of the source's columns. */
  columns: base.input(runIdSchema).output(z.array(z.string())),
  page: base.input(toStrict(runIdSchema.extend(pageQuerySchema.shape))).output(pageSchema),
  facets: base.input(toStrict(runIdSchema.extend({ filter: rowFilterSchema }))).output(facetListSchema),
  /** Everything known of one row; a body that the journal cut says so. */
  row: base.input(toStrict(runIdSchema.extend({ row: z.int().min(1) }))).output(rowDetailSchema),
  /** Latency by second, from `sinceSecond` on where it is given, and the whole distribution. */
  latency: base
    .input(toStrict(runIdSchema.extend({ sinceSecond: z.int().min(0).exactOptional() })))
    .output(latencySchema),
}

/** What is wrong with the rows of a run. */
export const checkContract = {
  /** Problems by cause, with the first rows that have each. */
  problems: base.input(runIdSchema).output(z.array(problemGroupSchema)),
}

const requestSchema = z.object({
  row: z.int(),
  place: sourcePlaceSchema,
  method: z.enum(['POST', 'GET']),
  url: z.string(),
  /** Names and values in the order they are sent; the key is masked. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The exact JSON, all rows of the request in it; null where the request has none. */
  body: z.string().nullable(),
  /** Whether the row has errors, so that it is not sent. */
  isInvalid: z.boolean(),
  problems: z.array(problemSchema),
})

/** One row's request before or after it was sent. */
export type RequestReview = z.infer<typeof requestSchema>

/** The last look before anything is sent. */
export const reviewContract = {
  /** The exact request of any row of a run, held or not. */
  readRequest: base.input(toStrict(runIdSchema.extend({ row: z.int().min(1) }))).output(requestSchema),
}

/** Of rows: csv, xlsx, jsonl. Of load tests: html, junit.xml, hlog, csv of seconds, jsonl of kept requests. */
const exportFormatSchema = z.enum(['csv', 'xlsx', 'jsonl', 'html', 'junit.xml', 'hlog'])

/** Formats that an export may have; each is the ending of its file's name. */
export type ExportFormat = z.infer<typeof exportFormatSchema>

/** A file that a person chose in the save dialog, as a page holds it. */
export const exportTargetSchema = z.object({
  /** A handle of the main process: it cannot be guessed, and is good for one export. */
  targetId: z.string().min(1).max(100),
})

/** See {@link exportTargetSchema}. */
export type ExportTarget = z.infer<typeof exportTargetSchema>

const exportedSchema = z.discriminatedUnion('kind', [
  /** Written where the person chose. */
  z.object({ kind: z.literal('file'), file: z.string(), rows: z.int(), sizeBytes: z.number() }),
  /** Waits under this path of the page's own origin, once; `name` is what the download is called. */
  z.object({
    kind: z.literal('download'),
    url: z.string(),
    name: z.string(),
    rows: z.int(),
    sizeBytes: z.number(),
  }),
])

/** Where an export went. */
export type Exported = z.infer<typeof exportedSchema>

/** Results as files. */
export const exportsContract = {
  /**
   * Writes a run's rows, or what a load test measured, which knows no filter. On the desktop `targetId` is a file that
   * the save dialog named, good for one export; in a browser it is left out, and the answer says where to download the
   * file from, within an hour.
   */
  create: base
    .input(
      toStrict(
        runIdSchema.extend({
          format: exportFormatSchema,
          targetId: exportTargetSchema.shape.targetId.exactOptional(),
          /** Cells exactly as they were, formulas unguarded. */
          lossless: z.boolean().exactOptional(),
          filter: rowFilterSchema.exactOptional(),
        }),
      ),
    )
    .output(exportedSchema),
}
