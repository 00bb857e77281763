import { z } from 'zod'
import { toComparable as toComparableName } from '../mapping/match-columns.ts'
import { AFFIRMATIVES, isMissing, NEGATIVES, parseList } from './label-values.ts'
import { ANY_RULE, toComparable, toComparableValue } from './labels.ts'

/** Most distinct values listed for a column; a column with more does not hold labels. */
export const CHOICE_VALUES_MAX = 50

const columnSchema = z.object({
  name: z.string(),
  /** Values in the examined rows, most rows first; empty if there are too many, or they are content. */
  values: z.array(z.object({ value: z.string(), rows: z.int() })),
})

/** A column of a run that may hold labels. */
export type LabelColumn = z.infer<typeof columnSchema>

const positivesSchema = z.array(z.object({ value: z.string(), rule: z.string() }))

export const labelChoicesSchema = z.object({
  columns: z.array(columnSchema),
  /** Whether rows are from several files. */
  hasFiles: z.boolean(),
  /** Rules that rows triggered, most rows first. */
  rules: z.array(z.object({ rule: z.string(), rows: z.int() })),
  /** Classes with a score in any of the examined rows. */
  classes: z.array(z.string()),
  /** Verdicts of people, and the rows that have any: a row can have one for each of several rules. */
  verdicts: z.int(),
  judged: z.int(),
  /** Rows examined, of how many. */
  looked: z.int(),
  rows: z.int(),
  /** The column most likely to hold labels, and what its values seem to stand for; null if none is likely. */
  guess: z
    .object({ label: z.string(), positives: positivesSchema, separator: z.string().nullable() })
    .nullable(),
})

/** Where a run's labels may be and what they may mean. */
export type LabelChoices = z.infer<typeof labelChoicesSchema>

/** Names of label columns in the form of {@link toComparableName}, the likeliest first. */
const NAMES = [
  'label',
  'labels',
  'truth',
  'groundtruth',
  'gold',
  'goldlabel',
  'expected',
  'expectedlabel',
  'annotation',
  'annotations',
  'class',
  'category',
  'classification',
  'target',
  'verdict',
  'decision',
  'tag',
  'tags',
  'violation',
  'isspam',
  'istoxic',
  'toxic',
  'spam',
  'v1',
]

const SEPARATORS = [';', '|', ','] as const

/** Finds the column most likely to hold labels, by its name and by whether its values name rules. */
export function guessLabels(
  columns: readonly LabelColumn[],
  rules: readonly string[],
): LabelChoices['guess'] {
  let best: { points: number; guess: NonNullable<LabelChoices['guess']> } | null = null
  for (const column of columns) {
    const guess = guessColumn(column, rules)
    if (guess !== null && (best === null || guess.points > best.points)) best = guess
  }
  return best?.guess ?? null
}

/** What the values of a label column seem to stand for. */
export function guessMeaning(
  { name, values }: LabelColumn,
  rules: readonly string[],
): Pick<NonNullable<LabelChoices['guess']>, 'positives' | 'separator'> {
  const { parts, separator } = splitLabels(values)
  const positives = parts.flatMap((value) => {
    const rule = guessRule(value, { rules, column: name, isOneOfTwo: isOppositeOfNegative(value, parts) })
    return rule === null ? [] : [{ value, rule }]
  })
  return { positives, separator }
}

/** The values of a label column, each with its rows; a label with several values counts for each of them. */
export function splitValues(column: LabelColumn, separator: string): { value: string; rows: number }[] {
  const counts = new Map<string, number>()
  for (const { value, rows } of column.values) {
    const parts = parseList(value) ?? (separator === '' ? [value] : value.split(separator))
    for (const part of isMissing(value) ? [] : parts) {
      const text = part.trim()
      if (text !== '') counts.set(text, (counts.get(text) ?? 0) + rows)
    }
  }
  return [...counts].map(([value, rows]) => ({ value, rows }))
}

/**
 * Columns that seem to say yes or no for a rule of their own: each of their cells does, and they have the
 * name of exactly one rule, perhaps without words that do not tell what the rule finds. If a rule has several
 * columns, the one with its full name counts; without such a column, none does.
 */
export function guessRuleColumns(
  columns: readonly LabelColumn[],
  rules: readonly string[],
): { column: string; rule: string }[] {
  const found = columns.flatMap(({ name, values }) => {
    const said = values.map(({ value }) => value).filter((value) => !isMissing(value))
    if (said.length === 0 || !said.every(isYesOrNo)) return []
    const words = splitWords(name)
    const [whole, ...others] = rules.filter((rule) => isSameWords(splitWords(rule), words))
    if (whole !== undefined) return others.length > 0 ? [] : [{ column: name, rule: whole, isWhole: true }]
    const core = withoutWords(words, COLUMN_WORDS)
    const [rule, ...more] = rules.filter((one) =>
      isSameWords(withoutWords(splitWords(one), RULE_WORDS), core),
    )
    return rule === undefined || more.length > 0 ? [] : [{ column: name, rule, isWhole: false }]
  })
  return found
    .filter((one) => {
      const rivals = found.filter((other) => other !== one && other.rule === one.rule)
      return rivals.length === 0 || (one.isWhole && rivals.every(({ isWhole }) => !isWhole))
    })
    .map(({ column, rule }) => ({ column, rule }))
}

/** Words that do not tell what a rule finds, both in its name and in that of a column. */
const RULE_WORDS = new Set(
  'likely possible possibly probable suspected contains content text speech'.split(' '),
)
const COLUMN_WORDS = new Set([...RULE_WORDS, ...'is has label flag'.split(' ')])

function withoutWords(words: readonly string[], left: ReadonlySet<string>): readonly string[] {
  return words.filter((word) => !left.has(word))
}

function isYesOrNo(value: string): boolean {
  return NEGATIVES.has(toComparableValue(value)) || AFFIRMATIVES.has(toComparableValue(value))
}

function isSameWords(one: readonly string[], other: readonly string[]): boolean {
  return one.length > 0 && one.length === other.length && one.every((word, at) => word === other[at])
}

function guessColumn(column: LabelColumn, rules: readonly string[]) {
  const { name } = column
  const { parts } = splitLabels(column.values)
  if (parts.length === 0) return null
  const meaning = guessMeaning(column, rules)
  // Many columns say yes and no; few of them hold labels.
  const naming = meaning.positives.filter(({ rule }) => rule !== ANY_RULE)
  const known = parts.filter((part) => isYesOrNo(part) || naming.some(({ value }) => value === part))
  const named = NAMES.indexOf(toComparableName(name))
  // Either the name decides, or values that are nearly all known and include a rule: a column of countries
  // has no such values.
  const points =
    (named === -1 ? 0 : 2 - named / NAMES.length) + (naming.length > 0 ? 1 : 0) + known.length / parts.length
  if (named === -1 && (naming.length === 0 || known.length < parts.length)) return null
  return { points, guess: { label: name, ...meaning } }
}

/** The distinct values of labels, and the separator that joins several in one label. */
function splitLabels(values: LabelColumn['values']): { parts: readonly string[]; separator: string | null } {
  const filled = values.map(({ value }) => value).filter((value) => !isMissing(value))
  const separator = guessSeparator(filled.filter((value) => parseList(value) === null))
  const parts = filled.flatMap(
    (value) => parseList(value) ?? (separator === null ? [value] : value.split(separator)),
  )
  return { parts: [...new Set(parts.map((part) => part.trim()))].filter((part) => part !== ''), separator }
}

/** Whether a value is one of two, and the other one says that nothing is wrong. */
function isOppositeOfNegative(value: string, parts: readonly string[]): boolean {
  const [other, ...more] = parts.filter((part) => part !== value)
  return other !== undefined && more.length === 0 && NEGATIVES.has(toComparableValue(other))
}

/** A separator whose joined parts also occur in other values. */
function guessSeparator(values: readonly string[]): string | null {
  for (const separator of SEPARATORS) {
    const joined = values.filter((value) => value.includes(separator))
    if (joined.length === 0) continue
    const alone = new Set(values.filter((value) => !value.includes(separator)).map(toComparable))
    const parts = joined
      .flatMap((value) => value.split(separator).map(toComparable))
      .filter((part) => part !== '')
    if (parts.every((part) => alone.has(part) || parts.filter((other) => other === part).length > 1))
      return separator
  }
  return null
}

/**
 * The rule that a value seems to stand for: the one of its name, else the only one with all of its words. If
 * a value only says that something is wrong: the only rule, the rule of the column's name, or any rule. None
 * if the value or the column's name negates something, as `no_spam` does.
 */
function guessRule(
  value: string,
  { rules, column, isOneOfTwo }: { rules: readonly string[]; column: string; isOneOfTwo: boolean },
): string | null {
  const wanted = toComparable(value)
  if (rules.length === 0 || NEGATIVES.has(wanted)) return null
  const same = rules.find((rule) => toComparable(rule) === wanted)
  if (same !== undefined) return same
  if (isDenial(value, rules)) return null
  if (AFFIRMATIVES.has(wanted)) {
    if (isDenial(column, rules)) return null
    const candidates = rules.length === 1 ? rules : findByWords(column, rules)
    return candidates.length === 1 ? (candidates[0] ?? null) : ANY_RULE
  }
  const candidates = findByWords(value, rules)
  if (candidates.length === 0) return isOneOfTwo ? ANY_RULE : null
  return candidates.length === 1 ? (candidates[0] ?? null) : null
}

const DENIALS = new Set('no not non never without isnt'.split(' '))

/** Whether a text says that something is not wrong, such as `not_spam`, `NonToxic` or `is_safe`. */
function isDenial(text: string, rules: readonly string[]): boolean {
  const words = splitWords(text.replaceAll(/(\p{Lowercase_Letter})(\p{Uppercase_Letter})/gu, '$1 $2'))
  const ofRules = new Set(rules.flatMap(splitWords))
  return words.some((word) => {
    const [, denied] = /^(?:is)?(?:not|non|no|un|anti)(.{3,})$/.exec(word) ?? []
    return (
      DENIALS.has(word) ||
      (NEGATIVES.has(word) && !/^(?:n|\d+)$/.test(word)) ||
      (denied !== undefined && ofRules.has(denied))
    )
  })
}

function findByWords(text: string, rules: readonly string[]): readonly string[] {
  const words = splitWords(text).filter((word) => word.length >= WORD_MIN)
  if (words.length === 0) return []
  return rules.filter((rule) => {
    const own = splitWords(rule)
    return words.every((word) => own.includes(word))
  })
}

/** Fewest characters of a word that identifies a rule. */
const WORD_MIN = 3

function splitWords(text: string): string[] {
  return toComparable(text)
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((word) => word !== '')
}
