import { z } from 'zod'

/** What a person can say of a row. */
const VERDICTS = ['agree', 'should', 'should-not', 'unsure'] as const

const verdictSchema = z.object({
  row: z.int(),
  /**
   * `agree`: what triggered is right. `should` and `should-not`: right but for one rule, which is missing or too much.
   * `unsure`: cannot be told.
   */
  verdict: z.enum(VERDICTS),
  /** Name or id of the rule of `should` and `should-not`; null of the others. */
  rule: z.string().nullable(),
  note: z.string().nullable(),
  /** ISO 8601. */
  given_at: z.string(),
  /** Stratum of the sample that the row was judged in, and how many rows that has; null outside a sample. */
  stratum: z.string().nullable(),
  stratum_rows: z.int().nullable(),
})

/** What a person said of a row of a run. */
export type Verdict = z.infer<typeof verdictSchema>

/** A verdict that is to be stored. */
export type NewVerdict = Omit<Verdict, 'given_at'>
