import { z } from 'zod'
import { evaluationSchema } from '../lookback/evaluation.ts'
import { LABELLING_MAX_ROWS, labellingChangeSchema, labellingSchema } from '../lookback/labelling.ts'
import { ALLOCATIONS } from '../lookback/stratified-sample.ts'
import { findVerdictMistake, verdictImportSchema, verdictSchema } from '../lookback/verdict.ts'
import { ROW_EXPORT_FORMATS } from '../run/export-formats.ts'
import { base, doneSchema, ofRun, runIdSchema } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'
import { chosenSourceSchema } from './source.ts'

const VERDICTS_MAX = 100

const rowVerdictSchema = z.strictObject({
  verdict: verdictSchema.shape.verdict,
  rule: z.string().min(1).max(1_000).nullable(),
  note: z.string().max(10_000).nullable(),
})

const { stratum, stratum_rows } = verdictSchema.shape

/** See `GivenVerdict`. */
const givenVerdictSchema = rowVerdictSchema.extend({
  given_at: z.iso.datetime().optional(),
  stratum: stratum.optional(),
  stratum_rows: stratum_rows.optional(),
})

export const verdictsContract = {
  /** All verdicts on the rows of a run and its retries, by row. */
  list: base.input(runIdSchema).output(z.array(verdictSchema)),
  /**
   * Replaces all verdicts on a row, and returns the old and new ones. Refused if the row's verdicts are not
   * those of `before`. A restored verdict keeps its time, and its stratum unless another sample was drawn.
   */
  set: base
    .input(
      z.strictObject({
        ...runIdSchema.shape,
        row: z.int().min(1),
        before: z.array(rowVerdictSchema).max(VERDICTS_MAX).exactOptional(),
        verdicts: z
          .array(
            givenVerdictSchema.refine((verdict) => findVerdictMistake(verdict) === null, {
              error: 'should and should-not need a rule, the others take none',
            }),
          )
          .max(VERDICTS_MAX),
      }),
    )
    .output(z.object({ before: z.array(verdictSchema), after: z.array(verdictSchema) })),
  /** Writes the verdicts with their rows to a file; see `exports.create`. */
  export: base
    .input(
      ofRun({
        format: z.enum(ROW_EXPORT_FORMATS.map(({ ending }) => ending)),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
      }),
    )
    .output(exportedSchema),
  /**
   * Stores the verdicts of a file, all or none, in the place of those on their rows. Without `replaces`,
   * stores none if some rows have other verdicts. Fails with `BAD_SOURCE` or `BAD_USAGE`.
   */
  import: base
    .input(ofRun({ sourceId: chosenSourceSchema.shape.sourceId, replaces: z.boolean() }))
    .output(verdictImportSchema),
}

const startSchema = labellingSchema
  .pick({ by: true, allocation: true, seed: true, rules: true, showsDecision: true })
  .extend({
    size: z.int().min(1).max(LABELLING_MAX_ROWS),
    by: z.string().min(1).max(1_000).nullable(),
    allocation: z.enum(ALLOCATIONS),
    seed: z
      .int()
      .min(0)
      .max(2 ** 32 - 1),
  })

export const labellingContract = {
  /** The drawn rows and a person's progress; null if none were drawn. */
  read: base.input(runIdSchema).output(labellingSchema.nullable()),
  /** Draws rows, replacing those drawn before. Existing verdicts stay. */
  start: base.input(ofRun(startSchema.shape)).output(labellingSchema),
  /** Stores a person's progress. */
  change: base.input(ofRun({ change: labellingChangeSchema })).output(labellingSchema),
  /** Forgets which rows were drawn; their verdicts stay. */
  end: base.input(runIdSchema).output(doneSchema),
  /** How right the run's rules are by its verdicts alone, reweighted if rows were drawn by group. */
  estimate: base.input(runIdSchema).output(evaluationSchema),
}
