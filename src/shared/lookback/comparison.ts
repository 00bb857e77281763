import { z } from 'zod'
import { rowAndRecordShape, sourcePlaceSchema } from '../plan/source-place.ts'
import { runStateSchema } from '../run/run.ts'
import { writtenRowsSchema } from '../run/written-rows.ts'
import type { EvaluateOptions } from './evaluation.ts'
import { judgedSchema, metricSchema } from './evaluation.ts'

/** Most runs that are compared at once: the tones of more could not be told apart. */
export const COMPARED_MAX = 8

/** Changed rows that a document lists unless more are asked for; an export has all. */
export const CHANGES_LISTED = 50

const comparedRunSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  /** ISO 8601. */
  created_at: z.string(),
  state: runStateSchema,
  /** Rows that were read; retries count with their first run. */
  rows: z.int(),
  /** Rows whose outcome is still to come: not sent yet, or waiting for an answer. */
  unfinished: z.int(),
  /** Rows whose key the other run does not have. */
  only_here: z.int(),
  /** Rows without a key, such as an empty cell. */
  without_key: z.int(),
  /** Rows whose key several rows of either run have, so that nobody knows which belong together. */
  ambiguous: z.int(),
})

/** Rows of both runs by whether a rule triggered, and how likely chance alone makes a change that uneven. */
const flipsSchema = z.object({
  /** Triggered in both. */
  both: z.int(),
  /** Triggered in B only. */
  newly: z.int(),
  /** Triggered in A only. */
  no_longer: z.int(),
  neither: z.int(),
  /** McNemar's exact test, two-sided: the probability of so uneven a change or more, if each direction were as likely. */
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
  /** Answered in both runs; the figures below are of these. */
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
  /** Of rows with an answer from the service's cache, or of the others. */
  from_cache: z.boolean(),
  /** Rows whose score is higher in B, and lower; classes without any are left out. */
  rose: z.int(),
  fell: z.int(),
  /** Rows by how far their score moved, B minus A, ascending: each move stands for those within half of `width`. */
  distribution: z.object({
    width: z.number(),
    moves: z.array(z.object({ move: z.number(), rows: z.int() })),
  }),
  /** B minus A, over the rows that moved. */
  mean: z.number(),
  /** The mean without signs. */
  mean_absolute: z.number(),
  /** The largest rise and fall, each with its row of B; null if no score moved that way. */
  largest_rise: largestMoveSchema.nullable(),
  largest_fall: largestMoveSchema.nullable(),
})

export type ScoreMoves = z.infer<typeof scoreMovesSchema>

const changeOfMetricsSchema = z.object({
  a: judgedSchema,
  b: judgedSchema,
  /** B minus A, with the interval of a paired bootstrap. */
  change: z.object({ precision: metricSchema, recall: metricSchema, f1: metricSchema }),
  /** Rows on which only A was right, and only B, and McNemar's exact test of them. */
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
  /** What both rows have in common; null if that is the row's number or content. */
  key: z.string().nullable(),
  a: sideOfRowSchema,
  b: sideOfRowSchema,
  newly: z.array(z.string()),
  no_longer: z.array(z.string()),
  /** Of B. */
  cells: z.array(z.string()),
})

/** A row that was decided differently, or ended differently. */
export type ChangedRow = z.infer<typeof changedRowSchema>

const changedRowsSchema = z.object({ total: z.int(), offset: z.int(), rows: z.array(changedRowSchema) })

/** A page of the changed rows, and how many there are in all. */
export type ChangedRows = z.infer<typeof changedRowsSchema>

/** What `compare --json` says of the decisions of two runs. */
export const decisionComparisonSchema = z.object({
  /** `post_id`, `row`, `content`, or the name of a column. */
  joined_by: z.string(),
  a: comparedRunSchema,
  b: comparedRunSchema,
  /** Rows that both runs have. */
  joined: groupSchema,
  /** Rows of both runs that are not compared, since one of the runs has no outcome of them yet. */
  unfinished: z.int(),
  /** Rows of both runs that are not compared, since a correction left them out of one of the runs. */
  left_out: z.int(),
  /** Joined rows of which neither run learned the service's word: all were `failed`, `unknown` or `overdue`, with the same error. */
  unanswered: z.int(),
  /** Rows of both runs that are not compared, since one of the runs skipped them: an earlier run had sent them. */
  skipped: z.int(),
  /** The first keys that several rows of a run have; empty if these are hashes of content. */
  ambiguous_keys: z.array(z.string()),
  /** Joined rows with an answer marked as from the service's cache: their content had been analysed before. */
  from_cache: changedSchema,
  /** Outcomes that differ, most rows first; the rest are counted. */
  outcomes: z.object({
    listed: z.array(z.object({ a: z.string(), b: z.string(), rows: z.int() })),
    further_rows: z.int(),
  }),
  /** Rows that both runs decided and have a score of the same class for. */
  scored_rows: z.int(),
  scores: z.array(scoreMovesSchema),
  /** With labels: how right both runs were on all rows that both decided. Null without. */
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

/** Which changed rows are listed and exported; a rule is a name or id. */
export const changeFilterSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['changed', 'outcome', 'from-cache']) }),
  z.object({ kind: z.enum(['newly', 'no-longer']), rule: z.string().min(1) }),
])

export type ChangeFilter = z.infer<typeof changeFilterSchema>

/** How the decisions of two runs are compared. */
export interface CompareOptions {
  /** `post_id`, `row`, `content` or a column; null chooses what both runs have in common. */
  by: string | null
  list: ChangeFilter
  offset: number
  limit: number
  /** A file for the changed rows of `list`. */
  exportFile?: string
  /** Labels as `evaluate` takes them, and a seed by which the intervals of changes are drawn; null compares without. */
  labels:
    | (Pick<EvaluateOptions, 'label' | 'labels' | 'useVerdicts' | 'positives' | 'separator'> & {
        seed: number
      })
    | null
}
