import { z } from 'zod'
import { rowAndRecordShape, type SourcePlace, sourcePlaceSchema } from '../plan/source-place.ts'
import type { RowAnswer, RowState } from '../run/item-state.ts'

export const VERDICTS = ['agree', 'should', 'should-not', 'unsure'] as const

/** Among verdicts, stands for rows that nobody has judged. */
export const NO_VERDICT = 'none'

export const verdictSchema = z.object({
  /** Number of the record. */
  row: z.int(),
  /**
   * `agree`: the triggered rules are right. `should` and `should-not`: right except for one rule, which is
   * missing or should not have triggered. `unsure`: the person cannot tell.
   */
  verdict: z.enum(VERDICTS),
  /** Name or id of the rule of `should` and `should-not`; null for the others. */
  rule: z.string().nullable(),
  note: z.string().nullable(),
  /** ISO 8601. */
  given_at: z.string(),
  /** Stratum of the sample in which the row was judged, and its number of rows; null outside a sample. */
  stratum: z.string().nullable(),
  stratum_rows: z.int().nullable(),
})

export type Verdict = z.infer<typeof verdictSchema>

export type PlacedVerdict = Verdict & { place: SourcePlace }

export const verdictDocumentSchema = verdictSchema.extend(rowAndRecordShape)

export type VerdictDocument = z.infer<typeof verdictDocumentSchema>

export type NewVerdict = Omit<Verdict, 'given_at'>

/** Each verdict in words, for facets and buttons. */
export const VERDICT_WORDS: Record<Verdict['verdict'] | typeof NO_VERDICT, string> = {
  agree: 'agree',
  should: 'should trigger',
  'should-not': 'should not trigger',
  unsure: 'unsure',
  [NO_VERDICT]: 'no verdict',
}

/** A verdict with its rule in words, such as `should trigger Spam`. */
export function describeVerdict({ verdict, rule }: Pick<Verdict, 'verdict' | 'rule'>): string {
  return rule === null ? VERDICT_WORDS[verdict] : `${VERDICT_WORDS[verdict]} ${rule}`
}

const rowVerdictSchema = verdictSchema.pick({ verdict: true, rule: true, note: true })

/** A verdict without the row that it is about. */
export type RowVerdict = z.infer<typeof rowVerdictSchema>

/** The verdicts on a row with their notes in words, on one line. */
export function describeVerdicts(verdicts: readonly RowVerdict[]): string {
  return verdicts
    .map((one) => {
      const note = one.note?.replaceAll(/\s+/g, ' ')
      return `${describeVerdict(one)}${note === undefined ? '' : ` (${note})`}`
    })
    .join(', ')
}

/** A verdict to store; with its other members if it is restored as it was. */
export type GivenVerdict = RowVerdict & {
  [Key in 'given_at' | 'stratum' | 'stratum_rows']?: Verdict[Key] | undefined
}

export interface VerdictReplacement {
  before: Verdict[]
  after: Verdict[]
}

/** What the import of a file of verdicts did, or found before it did anything. */
export const verdictImportSchema = z.object({
  /** Verdicts that were stored. */
  verdicts: z.int(),
  /** What of the file was not read, a sentence each. */
  notes: z.array(z.string()),
  /** Rows that had other verdicts than the file. */
  differingRows: z.int(),
  /** The first of them, by row. */
  differing: z.array(
    z.object({
      place: sourcePlaceSchema,
      known: z.array(rowVerdictSchema),
      given: z.array(rowVerdictSchema),
    }),
  ),
})

export type VerdictImport = z.infer<typeof verdictImportSchema>

/**
 * Whether the service decided about a row: only then can a person agree or disagree. A duplicate that counts
 * as delivered succeeded without a decision, and so did a row whose answer says nothing of the content.
 */
export function isDecided({
  state,
  errorCode,
  answer,
}: {
  state: RowState
  errorCode: string | null
  answer: RowAnswer | null
}): boolean {
  return state === 'succeeded' && errorCode === null && answer !== 'no_result'
}

/** Whether a verdict filter matches a row with these verdicts. */
export function isOfVerdict(
  verdicts: readonly RowVerdict[],
  wanted: Verdict['verdict'] | typeof NO_VERDICT,
): boolean {
  if (wanted === NO_VERDICT) return verdicts.length === 0
  return verdicts.some(({ verdict }) => verdict === wanted)
}

/**
 * The verdicts on a row after one more. A verdict about a rule joins those about other rules; any other
 * replaces them all. The row's note stays.
 */
export function addVerdict(
  known: readonly RowVerdict[],
  { verdict, rule }: Pick<Verdict, 'verdict' | 'rule'>,
): RowVerdict[] {
  const kept = rule === null ? [] : known.filter((one) => one.rule !== null && one.rule !== rule)
  return [...kept, { verdict, rule, note: known[0]?.note ?? null }]
}

/** The verdicts on a row with a new note. A note alone becomes `unsure`, which decides nothing. */
export function setNote(known: readonly RowVerdict[], text: string): RowVerdict[] {
  const note = text.trim() === '' ? null : text.trim()
  if (known.length > 0) return known.map((one) => ({ ...one, note }))
  return note === null ? [] : [{ verdict: 'unsure', rule: null, note }]
}

/**
 * The verdicts that follow from a person's labels of a row: the decision is right, or some rules are missing
 * or should not have triggered. Rules are compared by name.
 */
export function toVerdicts(
  labels: ReadonlySet<string>,
  triggered: readonly string[],
): Pick<Verdict, 'verdict' | 'rule'>[] {
  const missing = [...labels].filter((rule) => !triggered.includes(rule))
  const wrong = triggered.filter((rule) => !labels.has(rule))
  if (missing.length + wrong.length === 0) return [{ verdict: 'agree', rule: null }]
  return [
    ...missing.map((rule) => ({ verdict: 'should' as const, rule })),
    ...wrong.map((rule) => ({ verdict: 'should-not' as const, rule })),
  ]
}

/** The labels that follow from verdicts; the reverse of {@link toVerdicts}. Null if they leave that open. */
export function toLabels(
  verdicts: readonly Pick<Verdict, 'verdict' | 'rule'>[],
  triggered: readonly string[],
): Set<string> | null {
  if (verdicts.length === 0 || verdicts.some(({ verdict }) => verdict === 'unsure')) return null
  const labels = new Set(triggered)
  for (const { verdict, rule } of verdicts) {
    if (rule !== null && verdict === 'should') labels.add(rule)
    if (rule !== null && verdict === 'should-not') labels.delete(rule)
  }
  return labels
}

/** What is wrong with a verdict, or null. */
export function findVerdictMistake({ verdict, rule }: Pick<NewVerdict, 'verdict' | 'rule'>): string | null {
  const takesRule = verdict === 'should' || verdict === 'should-not'
  if (takesRule && rule === null) return `${verdict} needs a rule`
  if (!takesRule && rule !== null) return `${verdict} does not take a rule`
  return null
}

/** The verdict that a text means, or null: `should not` and `SHOULD_NOT` are `should-not`. */
export function parseVerdict(text: string): Verdict['verdict'] | null {
  const wanted = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-')
  return VERDICTS.find((verdict) => verdict === wanted) ?? null
}
