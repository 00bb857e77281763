import { z } from 'zod'

/** What a person can say of a row. */
export const VERDICTS = ['agree', 'should', 'should-not', 'unsure'] as const

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

/** What is wrong with a verdict, or null. */
export function findVerdictMistake({ verdict, rule }: Pick<NewVerdict, 'verdict' | 'rule'>): string | null {
  const takesRule = verdict === 'should' || verdict === 'should-not'
  if (takesRule && rule === null) return `${verdict} needs a rule`
  if (!takesRule && rule !== null) return `${verdict} does not take a rule`
  return null
}

/** The verdict that a text names, or null: `should not` and `SHOULD_NOT` are `should-not`. */
export function parseVerdict(text: string): Verdict['verdict'] | null {
  const wanted = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-')
  return VERDICTS.find((verdict) => verdict === wanted) ?? null
}
