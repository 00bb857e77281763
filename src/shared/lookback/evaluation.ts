import { z } from 'zod'
import type { PlanSource } from '../plan/plan.ts'
import { rowAndRecordShape } from '../plan/source-place.ts'
import { writtenRowsSchema } from '../run/written-rows.ts'
import type { Positive } from './labels.ts'
import type { RuleColumn } from './rule-columns.ts'

/** A share from 0 to 1 with its 95 % confidence interval; null if there are no rows to compute it from. */
export const metricSchema = z.object({
  value: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
})

export type Metric = z.infer<typeof metricSchema>

/** Rows by what a rule did, and whether it should have. */
const matrixSchema = z.object({
  true_positives: z.number(),
  false_positives: z.number(),
  false_negatives: z.number(),
  true_negatives: z.number(),
})

export const judgedSchema = z.object({
  /** Labelled rows. */
  matrix: matrixSchema,
  /** Estimate for all rows that a stratified sample was drawn from; null without one. */
  estimated: matrixSchema.nullable(),
  precision: metricSchema,
  recall: metricSchema,
  f1: metricSchema,
})

/** How right a rule was. */
export type Judged = z.infer<typeof judgedSchema>

export const judgedRuleSchema = judgedSchema.extend({ rule: z.string(), rule_ids: z.array(z.string()) })

/** How right one rule was, by name. */
export type JudgedRule = z.infer<typeof judgedRuleSchema>

/** A cell of a matrix: true or false, positive or negative. */
export const CELLS = ['tp', 'fp', 'fn', 'tn'] as const

export type Cell = (typeof CELLS)[number]

/** Most rows of a cell in a document; an export has all. */
export const LISTED_MAX = 50

const averagesSchema = z.object({
  precision: z.number().nullable(),
  recall: z.number().nullable(),
  f1: z.number().nullable(),
})

const thresholdPointSchema = matrixSchema.extend({
  /** Rows with at least this score are found. */
  threshold: z.number(),
  ...averagesSchema.shape,
})

export type ThresholdPoint = z.infer<typeof thresholdPointSchema>

const judgedScoreSchema = z.object({
  class: z.string(),
  /** The rule whose labels the scores are compared with. */
  rule: z.string(),
  rows: z.int(),
  /** Labelled and answered rows without a score of the class; they are left out. */
  without_score: z.int(),
  average_precision: z.number().nullable(),
  roc_auc: z.number().nullable(),
  best_f1: thresholdPointSchema.nullable(),
  /** For each wanted precision, the threshold that reaches it and finds the most; null if none does. */
  wanted: z.array(z.object({ precision: z.number(), point: thresholdPointSchema.nullable() })),
  what_if: z.array(thresholdPointSchema),
  /** Points of the whole curve, ascending by threshold; at most {@link POINTS_MAX}. */
  points: z.array(thresholdPointSchema),
})

/** How well the scores of a class separate a rule's rows from others. */
export type JudgedScore = z.infer<typeof judgedScoreSchema>

/** Most points of a curve in a document; its other figures use the whole curve. */
export const POINTS_MAX = 200

const scoreCurveSchema = z.object({
  thresholds: z.array(z.number()),
  /** Rows at or above each threshold that should be found, and those that should not. */
  truePositives: z.array(z.number()),
  falsePositives: z.array(z.number()),
  /** All rows that should be found, and all that should not. */
  positives: z.number(),
  negatives: z.number(),
})

/** The results of all thresholds, from the highest score down. */
export type ScoreCurve = z.infer<typeof scoreCurveSchema>

const scoreBarSchema = z.object({
  from: z.number(),
  /** Scores are below it; the last bar includes it. Equal to `from` if the bar stands for one score. */
  to: z.number(),
  /** Rows that should be found, and rows that should not. */
  positives: z.number(),
  negatives: z.number(),
})

/** One bar of the distribution of a class' scores. */
export type ScoreBar = z.infer<typeof scoreBarSchema>

const drawnScoreSchema = z.object({
  class: z.string(),
  rule: z.string(),
  /** At most about {@link CURVE_STEPS} thresholds. */
  curve: scoreCurveSchema,
  bars: z.array(scoreBarSchema),
})

/** A judged class's scores for drawing: their distribution, and a curve along which a threshold moves. */
export type DrawnScore = z.infer<typeof drawnScoreSchema>

/** Approximate number of thresholds in a drawn curve. */
export const CURVE_STEPS = 1_000

export const SCORE_BARS = 60

const sliceSchema = z.object({
  column: z.string(),
  /** Most rows first. */
  values: z.array(
    z.object({ value: z.string(), rows: z.int(), overall: judgedSchema, rules: z.array(judgedRuleSchema) }),
  ),
  /** Rows of values that are not listed. */
  further_rows: z.int(),
})

/** What `evaluate --json` prints: how right the rules of a run were, by its labels. */
export const evaluationSchema = z.object({
  run_id: z.string(),
  name: z.string(),
  labels: z.object({
    from: z.array(z.enum(['column', 'file', 'verdicts'])),
    /** What each value of a label means, most rows first; the rest are in `further_values`. */
    values: z.array(z.object({ value: z.string(), rows: z.int(), rules: z.array(z.string()) })),
    further_values: z.int(),
    /** Evaluated rows whose label is a verdict. */
    verdict_rows: z.int(),
    /** Values that stand for no rule and do not say that nothing is wrong either; absent if none. */
    unread: z.array(z.object({ value: z.string(), rows: z.int() })).exactOptional(),
  }),
  /** Every row of the run is in exactly one of the counts after `read`. */
  rows: z.object({
    read: z.int(),
    evaluated: z.int(),
    without_label: z.int(),
    /** The person's verdict was that they are unsure. */
    unsure: z.int(),
    /** The labels file has different labels for their key. */
    conflicting_label: z.int(),
    /** Labelled, but the service did not answer. */
    without_answer: z.int(),
  }),
  /** Strata of the sample that was labelled; null if the labelled rows are not a stratified sample. */
  strata: z.array(z.object({ stratum: z.string(), rows: z.int(), labelled: z.int() })).nullable(),
  /** Any of the rules, taken as one. */
  overall: judgedSchema,
  rules: z.array(judgedRuleSchema),
  macro: averagesSchema,
  micro: averagesSchema,
  /** Rules that triggered and that no label names. */
  not_judged: z.array(z.object({ rule: z.string(), rows: z.int() })),
  slices: z.array(sliceSchema),
  scores: z.array(judgedScoreSchema),
  assertions: z.array(z.object({ expression: z.string(), value: z.number().nullable(), ok: z.boolean() })),
  /** Rows of the requested cells. */
  listed: z.array(
    z.object({
      cell: z.enum(CELLS),
      /** Null for any of the rules. */
      rule: z.string().nullable(),
      total: z.int(),
      /** The first {@link LISTED_MAX} of them. */
      rows: z.array(
        z.object({
          ...rowAndRecordShape,
          label: z.string(),
          triggered_rules: z.array(z.string()),
          cells: z.array(z.string()),
        }),
      ),
    }),
  ),
  exported: writtenRowsSchema.nullable(),
  warnings: z.array(z.string()),
})

export type Evaluation = z.infer<typeof evaluationSchema>

/** Rows of one cell of a rule's matrix; a null rule stands for any of the rules. */
export interface CellChoice {
  cell: Cell
  rule: string | null
}

/** A filter of results: rows of a cell of an evaluation that the engine keeps. */
export const evaluatedCellSchema = z.object({
  /** The `id` of an {@link EvaluationStep}. */
  evaluation: z.string().max(100),
  cell: z.enum(CELLS),
  /** Null for any of the rules. */
  rule: z.string().nullable(),
})

export type EvaluatedCell = z.infer<typeof evaluatedCellSchema>

export const evaluationStepSchema = z.object({
  /** Names the evaluation in an {@link EvaluatedCell}. */
  id: z.string(),
  /** How many rows were examined, of how many; null once the evaluation covers the run's current state. */
  progress: z.object({ rows: z.int(), of: z.int() }).nullable(),
  /** Null until there is one; while there is `progress`, an evaluation of an earlier state of the run. */
  evaluation: evaluationSchema.nullable(),
  scores: z.array(drawnScoreSchema),
})

/** The state of an evaluation, which only progresses while somebody asks for it. */
export type EvaluationStep = z.infer<typeof evaluationStepSchema>

/** A file of labels, and how to find its rows in the run. */
export interface LabelsFile {
  source: PlanSource
  /** Column of the file that identifies the row. */
  key: string
  /** Column of the run with the same values (default: of the same name; `sluice_row` is the row's number). */
  runKey?: string
}

/** Where a run's labels are, what they mean, and what to judge with them. */
export interface EvaluationQuestion {
  /** Column with the labels, of the run or `labels`, or a column for each rule; null for verdicts alone. */
  label: string | readonly RuleColumn[] | null
  labels?: LabelsFile
  /** Verdicts are labels too, and win over those of a column. */
  useVerdicts: boolean
  positives: readonly Positive[]
  /** Separator of several values in one label; null if each label is one value. */
  separator: string | null
  /** Whether rows with an empty label should trigger no rule (default: they count as unlabelled). */
  emptyIsNegative?: boolean
  /** Columns of the source, or `language`, `model` or `variant`. */
  slices: readonly string[]
  /** Classes whose scores are compared with a rule, besides those named like a label or rule. */
  scores: readonly { className: string; rule: string }[]
}

/** A parsed `--assert`. */
export interface Assertion {
  expression: string
  figure: 'precision' | 'recall' | 'f1'
  /** A rule, or `overall`, `macro` or `micro`. */
  of: string
  operator: '>=' | '>' | '<=' | '<' | '=='
  /** A share from 0 to 1. */
  limit: number
}

/** Where labels are, and what they mean. */
export type LabelQuestion = Omit<EvaluationQuestion, 'slices' | 'scores'>

export interface EvaluateOptions extends EvaluationQuestion {
  wantedPrecisions: readonly number[]
  whatIf: readonly { className: string; threshold: number }[]
  assertions: readonly Assertion[]
  /** Cells whose first rows are listed. */
  list: readonly CellChoice[]
  /** A file for the evaluated rows, or for those of `list` if it has any cells. */
  exportFile?: string
}
