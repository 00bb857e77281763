import { z } from 'zod'
import { CELLS, evaluationStepSchema } from '../lookback/evaluation.ts'
import { labelChoicesSchema } from '../lookback/label-choices.ts'
import { shareSchema } from '../lookback/label-values.ts'
import { RULE_COLUMNS_MAX } from '../lookback/rule-columns.ts'
import { ROW_EXPORT_FORMATS } from '../run/export-formats.ts'
import { base, ofRun, runIdSchema } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'
import { sourceReadingSchema } from './source.ts'

const nameSchema = z.string().min(1).max(1_000)

const questionSchema = z.object({
  /** Column with the labels, of the run or `labels`, or a column for each rule; null for verdicts alone. */
  label: z
    .union([
      nameSchema,
      z
        .array(z.object({ column: nameSchema, rule: nameSchema, share: shareSchema.nullable() }))
        .min(1)
        .max(RULE_COLUMNS_MAX),
    ])
    .nullable(),
  /** A file of labels whose `key` column has the values of the run's `runKey`, `sluice_row` or `post_id`. */
  labels: z.object({ source: sourceReadingSchema, key: nameSchema, runKey: nameSchema }).exactOptional(),
  /** Verdicts are labels too, and win over those of a column. */
  useVerdicts: z.boolean(),
  /** Which rule each label stands for; only these are evaluated. If empty, labels are names of rules. */
  positives: z.array(z.object({ value: z.string().max(1_000), rule: nameSchema })).max(1_000),
  /** Separator of several values in one label; null if each label is one value. */
  separator: z.string().min(1).max(20).nullable(),
  /** Whether rows with an empty label should trigger no rule (default: they count as unlabelled). */
  emptyIsNegative: z.boolean().exactOptional(),
  /** Columns of the source, or `language`, `model` or `variant`. */
  slices: z.array(nameSchema).max(10),
  /** Classes whose scores are compared with a rule of another name. */
  scores: z.array(z.object({ className: nameSchema, rule: nameSchema })).max(100),
})

/** Where a run's labels are, what they mean, and what to evaluate with them. */
export type EvaluateQuestion = z.infer<typeof questionSchema>

/** See {@link EvaluateQuestion}, without what has a default. */
export type EvaluateQuestionInput = z.input<typeof questionSchema>

/** How right the rules of a run were, by labels. */
export const evaluateContract = {
  /** Where a run's labels may be, by some rows. Fails with `BAD_USAGE` if rules cannot be evaluated. */
  choices: base.input(runIdSchema).output(labelChoicesSchema),
  /**
   * The evaluation or, after a quarter of a second, its progress: it continues only while somebody asks.
   * Fails with `BAD_USAGE` if there is nothing to evaluate.
   */
  ask: base.input(ofRun({ question: questionSchema })).output(evaluationStepSchema),
  /**
   * Writes the evaluated rows, or those of one cell, each with its label and its cell for each rule.
   * `targetId` is as in `exports.create`.
   */
  export: base
    .input(
      ofRun({
        question: questionSchema,
        /** Null for all evaluated rows; `rule` is null for any rule. */
        cell: z.object({ cell: z.enum(CELLS), rule: nameSchema.nullable() }).nullable(),
        format: z.enum(ROW_EXPORT_FORMATS.map(({ ending }) => ending)),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
      }),
    )
    .output(exportedSchema),
}
