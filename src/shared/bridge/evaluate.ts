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
  /**
   * Column with the labels, of the run or of `labels`, or a column for each rule; null where verdicts alone are the labels.
   */
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
  /** Verdicts are labels, and go before those of a column. */
  useVerdicts: z.boolean(),
  /** Which rule a label stands for; only these rules are judged. Without any, labels are names of rules. */
  positives: z.array(z.object({ value: z.string().max(1_000), rule: nameSchema })).max(1_000),
  /** What stands between several values of one label; null if each label is one value. */
  separator: z.string().min(1).max(20).nullable(),
  /** Columns of the source, or `language`, `model` or `variant`. */
  slices: z.array(nameSchema).max(10),
  /** Classes whose scores are held against a rule that does not have their name. */
  scores: z.array(z.object({ className: nameSchema, rule: nameSchema })).max(100),
})

/** Where the labels of a run are, what they mean, and what is judged by them, as a page asks. */
export type EvaluateQuestion = z.infer<typeof questionSchema>

/** See {@link EvaluateQuestion}, without what has a default. */
export type EvaluateQuestionInput = z.input<typeof questionSchema>

/** How right the rules of a run were, by labels. */
export const evaluateContract = {
  /** Where the labels of a run may be, from some of its rows. Fails with `BAD_USAGE` if its rules cannot be evaluated. */
  choices: base.input(runIdSchema).output(labelChoicesSchema),
  /**
   * The evaluation, or within a quarter of a second how far it is: it goes on only while it is asked for. Fails with
   * `BAD_USAGE` if there is nothing to evaluate.
   */
  ask: base.input(ofRun({ question: questionSchema })).output(evaluationStepSchema),
  /**
   * Writes the evaluated rows, or those of one cell, each with its label and the cell that each rule puts it in.
   * `targetId` is as in `exports.create`.
   */
  export: base
    .input(
      ofRun({
        question: questionSchema,
        /** Null for all evaluated rows; `rule` is null for any of the rules. */
        cell: z.object({ cell: z.enum(CELLS), rule: nameSchema.nullable() }).nullable(),
        format: z.enum(ROW_EXPORT_FORMATS.map(({ ending }) => ending)),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
      }),
    )
    .output(exportedSchema),
}
