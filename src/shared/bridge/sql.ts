import { z } from 'zod'
import { base, runIdSchema } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'

/** Rows that a page gets at most. */
export const SQL_SHOWN_ROWS = 500

const statementShape = {
  /** The runs that are asked about, each with its retries. */
  runIds: z.array(runIdSchema.shape.runId).min(1).max(10),
  sql: z.string().min(1).max(100_000),
}

const answerSchema = z.object({
  columns: z.array(z.string()),
  /**
   * The first {@link SQL_SHOWN_ROWS} at most, with values as excerpts; integers too large for a number are
   * strings of digits.
   */
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
  /** How many rows the answer has. */
  total: z.int(),
})

/** The answer to a statement, as far as a page shows it. */
export type SqlAnswer = z.infer<typeof answerSchema>

/** SQL about the rows of runs, see docs/sql.md. A statement ends with its call. */
export const sqlContract = {
  ask: base.input(z.strictObject(statementShape)).output(answerSchema),
  /** Writes all rows to a file; see `exports.create`. */
  save: base
    .input(
      z.strictObject({
        ...statementShape,
        format: z.enum(['csv', 'jsonl']),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
      }),
    )
    .output(exportedSchema),
}
