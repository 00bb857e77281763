import { z } from 'zod'
import { loadChartSecondSchema, loadReportSchema } from '../load/load-report.ts'
import { trendMetricSchema } from '../load/metrics.ts'
import { sourcePlaceSchema } from '../plan/source-place.ts'
import { columnEntrySchema } from '../run/choose-columns.ts'
import { BATCH_EXPORT_FORMATS, LOAD_EXPORT_FORMATS, ROW_EXPORT_FORMATS } from '../run/export-formats.ts'
import { problemGroupSchema, problemSchema } from '../run/problem.ts'
import {
  latencySeriesSchema,
  offsetQuerySchema,
  pageQuerySchema,
  resultRowSchema,
  rowDetailSchema,
} from '../run/results.ts'
import { facetListSchema, rowFilterSchema } from '../run/row-filters.ts'
import { latencyBarsSchema, runSummarySchema } from '../run/run.ts'
import { cutNamesSchema } from '../run/written-rows.ts'
import { base, ofRun, runIdSchema, toStrict } from './procedure.ts'
import { chosenSourceSchema, excerptShape } from './source.ts'

/** A result with excerpts of its cells and of the texts in the requested columns. */
const pageRowSchema = resultRowSchema.extend({
  ...excerptShape,
  texts: z.array(z.string()),
  textLengths: z.array(z.int()),
})

export type PageRow = z.infer<typeof pageRowSchema>

const pageSchema = z.object({
  rows: z.array(pageRowSchema),
  /** How many rows match; a lower bound until `isCounted`. */
  total: z.int(),
  isCounted: z.boolean(),
})

export type BridgePage = z.infer<typeof pageSchema>

/** The outcome of a run's rows, which are only read by page. */
export const resultsContract = {
  /** The names of the source's columns. */
  columns: base.input(runIdSchema).output(z.array(z.string())),
  /** Every column that a table of the rows can have. */
  listColumns: base.input(runIdSchema).output(z.array(columnEntrySchema)),
  page: base.input(ofRun(pageQuerySchema.shape)).output(pageSchema),
  /** The offset of a row in the page; null if the row does not match the filter, or was not examined yet. */
  findOffset: base.input(ofRun(offsetQuerySchema.shape)).output(z.int().nullable()),
  facets: base.input(ofRun({ filter: rowFilterSchema })).output(facetListSchema),
  /**
   * Files, languages, models, variants and scores. Empty until all rows are counted, which continues only
   * while callers keep asking.
   */
  foundFacets: base.input(ofRun({ filter: rowFilterSchema })).output(facetListSchema),
  /** Everything known about one row; bodies that the journal cut are marked. */
  row: base.input(ofRun({ row: z.int().min(1) })).output(rowDetailSchema),
  /**
   * Latencies by second, from `sinceSecond` on if given, and as whole distributions (default:
   * http_req_duration and callback_latency).
   */
  latency: base
    .input(
      ofRun({
        sinceSecond: z.int().min(0).exactOptional(),
        metrics: z.array(trendMetricSchema).exactOptional(),
      }),
    )
    .output(latencySeriesSchema),
}

export const checkContract = {
  /** Problems by cause, each with its first rows. */
  problems: base.input(runIdSchema).output(z.array(problemGroupSchema)),
  /** Causes of warnings to accept before sending, each with the rows that would be sent. */
  openWarnings: base.input(runIdSchema).output(z.array(problemGroupSchema)),
}

/** Longest text that is looked up as the number of a row, UTF-16 code units. */
const ROW_TEXT_MAX = 40

const requestSchema = z.object({
  row: z.int(),
  place: sourcePlaceSchema,
  method: z.enum(['POST', 'GET']),
  url: z.string(),
  /** Names and values; the key is masked, and values from variables or files are given by reference. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  /** The exact JSON with all rows of the request; null if the request has no body. */
  body: z.string().nullable(),
  /** Why the row is not sent; null if it is. */
  unsentBecause: z.string().nullable(),
  problems: z.array(problemSchema),
})

/** One row's request, before or after it is sent. */
export type RequestReview = z.infer<typeof requestSchema>

/** The exact requests, before anything is sent. */
export const reviewContract = {
  /** The exact request of any row of a run, held or not. */
  readRequest: base.input(ofRun({ row: z.int().min(1) })).output(requestSchema),
  /** The record of the row whose number a person typed. */
  findRow: base.input(ofRun({ row: z.string().max(ROW_TEXT_MAX) })).output(z.int()),
}

/** Most seconds that a window gets, and the most that a chart shows. */
export const LOAD_SECONDS_MAX = 1_200

/** A load test's report as the window shows it: its distributions as bars, its seconds thinned. */
const overviewSchema = loadReportSchema.extend({
  /**
   * At most {@link LOAD_SECONDS_MAX}: each stretch of a longer test is represented by its second with the
   * worst p99, and marked as limited if any of its seconds was.
   */
  seconds: z.array(loadChartSecondSchema),
  measuredSeconds: z.int(),
  bars: latencyBarsSchema,
})

export type LoadOverview = z.infer<typeof overviewSchema>

export const loadContract = {
  /**
   * All measurements so far, with these latencies by second (default: http_req_duration, response_time and
   * callback_latency). Fails with `BAD_USAGE` if the run is not a load test.
   */
  report: base.input(ofRun({ metrics: z.array(trendMetricSchema).exactOptional() })).output(overviewSchema),
  /**
   * Imports k6 results as a run; several files must be JSON lines of one run. With `ofRunId`, the imported
   * run takes the plan of the load test that was exported to k6. Fails with `BAD_SOURCE`.
   */
  importK6: base
    .input(
      toStrict(
        z.object({
          sourceIds: z.array(chosenSourceSchema.shape.sourceId).min(1).max(100),
          name: z.string().min(1).max(200).exactOptional(),
          ofRunId: runIdSchema.shape.runId.exactOptional(),
        }),
      ),
    )
    .output(runSummarySchema),
}

const exportFormatSchema = z.enum(
  [...ROW_EXPORT_FORMATS, ...BATCH_EXPORT_FORMATS, ...LOAD_EXPORT_FORMATS].map(({ ending }) => ending),
)

/** Export formats; each is the ending of its file's name. */
export type ExportFormat = z.infer<typeof exportFormatSchema>

/** A file that a person chose in the save dialog, as a page holds it. */
export const exportTargetSchema = z.object({
  /** A handle of the main process: it cannot be guessed, and works for one export. */
  targetId: z.string().min(1).max(100),
})

export type ExportTarget = z.infer<typeof exportTargetSchema>

const writtenShape = {
  rows: z.int(),
  sizeBytes: z.number(),
  guardedCells: z.int().exactOptional(),
  leftOut: z.int().exactOptional(),
  withoutResult: z.int().exactOptional(),
  cutColumns: z.array(cutNamesSchema).exactOptional(),
  damaged: z.object({ rows: z.int(), first: z.array(z.string()) }).exactOptional(),
}

export const exportedSchema = z.discriminatedUnion('kind', [
  /** Written to the file that the person chose. */
  z.object({ kind: z.literal('file'), file: z.string(), ...writtenShape }),
  /** Available once under this path of the page's own origin; `name` is the name of the download. */
  z.object({ kind: z.literal('download'), url: z.string(), name: z.string(), ...writtenShape }),
])

export type Exported = z.infer<typeof exportedSchema>

export const exportsContract = {
  /**
   * Writes a run's rows, or what a load test measured; `filter` is only for rows. On the desktop, `targetId`
   * is a file that the save dialog named, for one export. A browser leaves it out and can download the file
   * from the returned address for an hour.
   */
  create: base
    .input(
      ofRun({
        format: exportFormatSchema,
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
        /** Cells exactly as in the source, formulas unguarded. */
        lossless: z.boolean().exactOptional(),
        filter: rowFilterSchema.exactOptional(),
        /** Columns of a table, named as in `--columns`. */
        columns: z.array(z.string()).min(1).max(1_000).exactOptional(),
      }),
    )
    .output(exportedSchema),
  /**
   * Writes a success file and an error file of a run's rows, each as `create` does. On the desktop, the error
   * file is written beside the file that the save dialog named, and never replaces a file.
   */
  createOutcomes: base
    .input(
      ofRun({
        format: z.enum([...ROW_EXPORT_FORMATS, ...BATCH_EXPORT_FORMATS].map(({ ending }) => ending)),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
        lossless: z.boolean().exactOptional(),
      }),
    )
    .output(
      z.object({
        success: exportedSchema,
        errors: exportedSchema,
        /** Rows that are in neither file. */
        inNeither: z.int(),
      }),
    ),
}
