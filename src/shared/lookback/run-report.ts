import { z } from 'zod'
import { trendMetricSchema } from '../load/metrics.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'
import { requestsShape } from '../run/item-state.ts'
import { errorGroupSchema, percentilesSchema, runSummarySchema } from '../run/run.ts'
import { type EvaluateOptions, evaluationSchema } from './evaluation.ts'

/** Causes that a report lists; further ones are counted. */
export const CAUSES_MAX = 100

/** Rows that a report names of each cause. */
export const EXAMPLES_MAX = 10

/** A stretch of a run, as a chart shows it as one point. */
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
  /** Times in which nothing ended, such as between a run and its retry; points leave them out. */
  pauses: z.array(z.object({ after_s: z.number(), length_s: z.number() })),
})

/** How a run went over time. */
export type RunCourse = z.infer<typeof courseSchema>

const failureSchema = errorGroupSchema.extend({
  /** Further messages with the same outcome, status and code. */
  further_messages: z.int(),
  /** What to do about it; null where the message says it. */
  advice: z.string().nullable(),
  /** The first rows; their cells only with content. */
  examples: z.array(z.object({ ...rowAndRecordShape, cells: z.array(z.string()).nullable() })),
})

/** Rows that did not succeed for one cause. */
export type Failure = z.infer<typeof failureSchema>

/** What `report RUN --json` prints: all that a report of a bulk run shows. */
export const runReportSchema = z.object({
  app_version: z.string(),
  /** Whether cells, messages and terms are in it as they are; else what quotes a cell is left out. */
  has_content: z.boolean(),
  summary: runSummarySchema,
  /** Columns of the source; null without content. */
  columns: z.array(z.string()).nullable(),
  course: courseSchema,
  /** Most rows first. */
  failures: z.array(failureSchema),
  /** Causes and their rows beyond the first {@link CAUSES_MAX}. */
  further_failures: z.object({ causes: z.int(), rows: z.int() }),
  /** Of tasks: rows that succeeded without triggering a rule. */
  rows_without_rule: z.int().nullable(),
  /** Null unless labels were named. */
  evaluation: evaluationSchema.nullable(),
  written: z.object({ file: z.string(), bytes: z.int() }).nullable(),
})

export type RunReport = z.infer<typeof runReportSchema>

export interface ReportOptions {
  /** Written in the format of its ending, `.html`, `.md` or `.xlsx`; without it the report is only returned. */
  file?: string
  withContent: boolean
  /** Null leaves the evaluation out. */
  evaluation: EvaluateOptions | null
}

/** Characters that a message and a cell must share before the message is taken to quote the cell. */
const QUOTE_MIN = 8

/** Shortest cell that is recognised where a message has all of it. */
const WHOLE_MIN = 4

/**
 * A message of the service without what it quotes of a row: every part that one of the cells has too stands as `…`.
 * Letters are compared in either case.
 */
export function withoutQuotes(message: string, cells: readonly string[]): string {
  const lower = message.toLowerCase()
  // Letters whose other case is longer would shift every position behind them.
  if (lower.length !== message.length) return cells.some((cell) => cell.trim() !== '') ? '…' : message
  const texts = cells.map((cell) => cell.trim().toLowerCase()).filter((cell) => cell.length >= WHOLE_MIN)
  let kept = ''
  for (let at = 0; at < message.length; ) {
    const length = Math.max(0, ...texts.map((text) => countQuoted(lower, at, text)))
    if (length === 0) kept += message[at]
    else if (!kept.endsWith('…')) kept += '…'
    at += Math.max(1, length)
  }
  return kept.toWellFormed()
}

/** How many characters of a cell stand at a place of a message; 0 where they are too few to be a quote. */
function countQuoted(message: string, at: number, text: string): number {
  if (text.length < QUOTE_MIN) {
    const isWord = !/[\p{L}\p{N}]/u.test(`${message[at - 1] ?? ''}${message[at + text.length] ?? ''}`)
    return isWord && message.startsWith(text, at) ? text.length : 0
  }
  if (/\s/.test(message[at] ?? '') || at + QUOTE_MIN > message.length) return 0
  if (!text.includes(message.slice(at, at + QUOTE_MIN))) return 0
  let length = QUOTE_MIN
  while (at + length < message.length && text.includes(message.slice(at, at + length + 1))) length += 1
  return message.slice(at, at + length).trimEnd().length
}
