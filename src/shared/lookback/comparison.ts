import { z } from 'zod'
import { rowAndRecordShape, sourcePlaceSchema } from '../plan/source-place.ts'
import { runStateSchema } from '../run/run.ts'
import { writtenRowsSchema } from '../run/written-rows.ts'
import type { LabelQuestion } from './evaluation.ts'
import { judgedSchema, metricSchema } from './evaluation.ts'

/** Most runs that are compared at once: more colours could not be told apart. */
export const COMPARED_MAX = 8

/** Changed rows in a document by default; an export has all. */
export const CHANGES_LISTED = 50

const comparedRunSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  /** ISO 8601. */
  created_at: z.string(),
  state: runStateSchema,
  /** Rows read; a retry's rows count with their first run. */
  rows: z.int(),
  /** Rows whose outcome is still to come: not sent yet, or waiting for an answer. */
  unfinished: z.int(),
  /** Rows whose key the other run does not have. */
  only_here: z.int(),
  /** Rows without a key, for example with an empty cell. */
  without_key: z.int(),
  /** Rows whose key occurs several times in either run, so that their partners are unknown. */
  ambiguous: z.int(),
})

/** Rows of both runs by whether a rule triggered, and the probability of such a change by chance alone. */
const flipsSchema = z.object({
  /** Triggered in both. */
  both: z.int(),
  /** Triggered in B only. */
  newly: z.int(),
  /** Triggered in A only. */
  no_longer: z.int(),
  neither: z.int(),
  /**
   * McNemar's exact test, two-sided: the probability of a change at least this uneven if both directions were
   * equally likely.
   */
  p: z.number(),
})

export type Flips = z.infer<typeof flipsSchema>

const ruleFlipsSchema = flipsSchema.extend({ rule: z.string(), rule_ids: z.array(z.string()) })

const changedSchema = z.object({
  rows: z.int(),
  /** Decided or ended differently. */
  changed: z.int(),
  /** Null without rows. */
  share: z.number().nullable(),
})

const groupSchema = changedSchema.extend({
  /** Rows answered in both runs, to which the figures below refer. */
  decided: z.int(),
  /** Any rule. */
  overall: flipsSchema,
  /** Most changes first. */
  rules: z.array(ruleFlipsSchema),
})

/** Rows that both runs have, and what changed on them. */
export type ComparedGroup = z.infer<typeof groupSchema>

const largestMoveSchema = z.object({
  ...rowAndRecordShape,
  place: sourcePlaceSchema,
  a: z.number(),
  b: z.number(),
})

const scoreMovesSchema = z.object({
  class: z.string(),
  /** Whether the rows have an answer from the service's cache. */
  from_cache: z.boolean(),
  /** Rows whose score is higher in B, and lower; classes with neither are left out. */
  rose: z.int(),
  fell: z.int(),
  /** Rows by change of score, B minus A, ascending: each move stands for those within half of `width`. */
  distribution: z.object({
    width: z.number(),
    moves: z.array(z.object({ move: z.number(), rows: z.int() })),
  }),
  /** B minus A, over the rows that moved. */
  mean: z.number(),
  mean_absolute: z.number(),
  /** The largest rise and fall, each with its row of B; null if no score moved that way. */
  largest_rise: largestMoveSchema.nullable(),
  largest_fall: largestMoveSchema.nullable(),
})

export type ScoreMoves = z.infer<typeof scoreMovesSchema>

const changeOfMetricsSchema = z.object({
  a: judgedSchema,
  b: judgedSchema,
  /** B minus A. */
  change: z.object({ precision: metricSchema, recall: metricSchema, f1: metricSchema }),
  /** Rows on which only A, or only B, was right, with McNemar's exact test. */
  right_only_in_a: z.int(),
  right_only_in_b: z.int(),
  p: z.number(),
})

/** How right a rule was in both runs. */
export type ChangeOfMetrics = z.infer<typeof changeOfMetricsSchema>

const ruleChangeSchema = changeOfMetricsSchema.extend({ rule: z.string(), rule_ids: z.array(z.string()) })

const sideOfRowSchema = z.object({
  ...rowAndRecordShape,
  place: sourcePlaceSchema,
  /** `succeeded`, or the state with the code of its error. */
  outcome: z.string(),
  triggered_rules: z.array(z.string()),
})

export const changedRowSchema = z.object({
  /** What pairs the two rows; null if that is the row's number or content. */
  key: z.string().nullable(),
  a: sideOfRowSchema,
  b: sideOfRowSchema,
  newly: z.array(z.string()),
  no_longer: z.array(z.string()),
  /** Cells of the row in B. */
  cells: z.array(z.string()),
})

/** A row that was decided differently, or ended differently. */
export type ChangedRow = z.infer<typeof changedRowSchema>

const changedRowsSchema = z.object({ total: z.int(), offset: z.int(), rows: z.array(changedRowSchema) })

/** A page of the changed rows, and their total. */
export type ChangedRows = z.infer<typeof changedRowsSchema>

/** The decisions of two runs in `compare --json`. */
export const decisionComparisonSchema = z.object({
  /** `post_id`, `row`, `content`, or the name of a column. */
  joined_by: z.string(),
  a: comparedRunSchema,
  b: comparedRunSchema,
  /** Rows that both runs have. */
  joined: groupSchema,
  /** Rows of both runs that are not compared, since one of the runs has no outcome for them yet. */
  unfinished: z.int(),
  /** Rows of both runs that are not compared, since a correction left them out of one of the runs. */
  left_out: z.int(),
  /**
   * Paired rows for which neither run has an answer of the service: all ended as `failed`, `unknown` or
   * `overdue`, with the same error, or by an answer without a result.
   */
  unanswered: z.int(),
  /** Rows of both runs that are not compared: one run skipped them, since an earlier run had sent them. */
  skipped: z.int(),
  /** The first keys that occur several times in a run; empty if keys are hashes of content. */
  ambiguous_keys: z.array(z.string()),
  /** Paired rows with an answer marked as from the service's cache: their content was analysed before. */
  from_cache: changedSchema,
  /** Outcomes that differ, most rows first; the remaining ones are only counted. */
  outcomes: z.object({
    listed: z.array(z.object({ a: z.string(), b: z.string(), rows: z.int() })),
    further_rows: z.int(),
  }),
  /** Rows that both runs decided, with a score of the same class in both. */
  scored_rows: z.int(),
  scores: z.array(scoreMovesSchema),
  /** How right both runs were on the labelled rows that both decided; null without labels. */
  labels: z
    .object({
      rows: z.int(),
      without_label: z.int(),
      unsure: z.int(),
      conflicting_label: z.int(),
      overall: changeOfMetricsSchema,
      rules: z.array(ruleChangeSchema),
    })
    .nullable(),
  listed: changedRowsSchema,
  exported: writtenRowsSchema.nullable(),
  warnings: z.array(z.string()),
})

export type DecisionComparison = z.infer<typeof decisionComparisonSchema>

/** Which changed rows to list and export; a rule is a name or id. */
export const changeFilterSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['changed', 'outcome', 'from-cache']) }),
  z.object({ kind: z.enum(['newly', 'no-longer']), rule: z.string().min(1) }),
])

export type ChangeFilter = z.infer<typeof changeFilterSchema>

export interface CompareOptions {
  /** `post_id`, `row`, `content` or a column; null chooses what both runs have in common. */
  by: string | null
  list: ChangeFilter
  offset: number
  limit: number
  /** A file for the changed rows of `list`. */
  exportFile?: string
  /** Labels as for `evaluate`; null to compare without labels. */
  labels: LabelQuestion | null
}
