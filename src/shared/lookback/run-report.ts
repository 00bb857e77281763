import { z } from 'zod'
import { trendMetricSchema } from '../load/metrics.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'
import { requestsShape } from '../run/item-state.ts'
import { errorGroupSchema, percentilesSchema, runSummarySchema } from '../run/run.ts'
import { type EvaluateOptions, evaluationSchema } from './evaluation.ts'

/** Causes listed in a report; further ones are counted. */
export const CAUSES_MAX = 100

/** Rows named in a report for each cause. */
export const EXAMPLES_MAX = 10

/** A stretch of a run: one point in a chart. */
const courseSecondSchema = z.object({
  /** Seconds since sending began, without pauses. */
  from_s: z.number(),
  to_s: z.number(),
  ...requestsShape,
  /** Percentiles of its worst second. */
  latency_ms: z.partialRecord(trendMetricSchema, percentilesSchema),
  /** Whether latencies of any of its seconds may include delays of this machine. */
  limited: z.boolean(),
})

export type CoursePoint = z.infer<typeof courseSecondSchema>

const courseSchema = z.object({
  points: z.array(courseSecondSchema),
  /** Times in which nothing ended, for example between a run and its retry; no point covers them. */
  pauses: z.array(z.object({ after_s: z.number(), length_s: z.number() })),
})

export type RunCourse = z.infer<typeof courseSchema>

const failureSchema = errorGroupSchema.extend({
  /** Further messages with the same outcome, status and code. */
  further_messages: z.int(),
  /** What to do about it; null if the message says it. */
  advice: z.string().nullable(),
  /** The first rows; their cells only with content. */
  examples: z.array(z.object({ ...rowAndRecordShape, cells: z.array(z.string()).nullable() })),
})

/** Rows that did not succeed for the same reason. */
export type Failure = z.infer<typeof failureSchema>

/** What `report RUN --json` prints: everything in a report of a bulk run. */
export const runReportSchema = z.object({
  app_version: z.string(),
  /** Whether cells, messages and terms are included unchanged; else all that quotes a cell is left out. */
  has_content: z.boolean(),
  summary: runSummarySchema,
  /** Columns of the source; null without content. */
  columns: z.array(z.string()).nullable(),
  course: courseSchema,
  /** Most rows first. */
  failures: z.array(failureSchema),
  /** Causes and their rows beyond the first {@link CAUSES_MAX}. */
  further_failures: z.object({ causes: z.int(), rows: z.int() }),
  /** For tasks: rows that succeeded without triggering a rule. */
  rows_without_rule: z.int().nullable(),
  /** Null unless labels were named. */
  evaluation: evaluationSchema.nullable(),
  written: z.object({ file: z.string(), bytes: z.int() }).nullable(),
})

export type RunReport = z.infer<typeof runReportSchema>

export interface ReportOptions {
  /** Written in the format of its ending: `.html`, `.md` or `.xlsx`. Without a file, only returned. */
  file?: string
  withContent: boolean
  /** Null leaves the evaluation out. */
  evaluation: EvaluateOptions | null
}
