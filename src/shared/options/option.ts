import { z } from 'zod'
import { formatDurationMs } from '../messages/duration.ts'

/**
 * An option of a run or a load test is one entry of a table. Its key is its name in the plan; names that end
 * in `Ms` are durations, those in `Bytes` sizes. The plan's schema, the command line, the window's forms, the
 * words in plan files and the words of comparisons are derived from the table, so a new option is an entry
 * plus the code that acts on it.
 */
export interface PlanOption extends ValueWords {
  /** The values that a plan may have. Bounds, choices and the default are derived from it. */
  schema: z.ZodType
  /** The words for values inside it, by path. */
  parts?: Readonly<Record<string, ValueWords>>
  /** Its section on the command line and in the window. */
  section?: string
  /** Its flag, such as `--warmup <duration>`; without one, it is not on the command line. */
  flag?: string
  /** The help text, to which a default is added (default: from `words`). */
  help?: string
  /** The only circumstance in which it has an effect, and the error if it is set in another one. */
  needs?: { circumstance: string; otherwise: string }
  /** Its choices with their labels in a form (default: the schema's values as labels). */
  choices?: readonly (readonly [value: string, label: string])[]
  /** Its field in a form; without one, it is drawn by hand or not at all. */
  field?: OptionField
  /** A phrase about a value for the list of what a load test does; null for none. */
  phrase?(value: never): string | null
}

/** Names and words for a value of a plan. */
export interface ValueWords {
  /** Its meaning, as a sentence, which editors of plan files show. */
  words: string
  /** Its name in comparisons of plans (default: its key as words); null if it affects no measurement. */
  setting?: string | null
}

interface OptionField {
  label: string
  title?: string
  /** Shown in an empty field. */
  placeholder?: string
  /** Initial value in a new form, if it differs from the plan's default. */
  start?: string
  /** What an error expects of a duration, as a separate sentence. */
  expected?: string
  /** Width in rem (default: 11). */
  width?: number
}

export type OptionTable = Readonly<Record<string, PlanOption>>

/** The schemas of a table, for an object schema. */
export function toShape<Table extends OptionTable>(
  table: Table,
): { -readonly [Name in keyof Table]: Table[Name]['schema'] } {
  const schemas = Object.entries(table).map(([name, { schema }]) => [name, schema])
  return Object.fromEntries(schemas)
}

/** The kinds of option values that inputs and parsers distinguish. */
export type OptionKind =
  | { kind: 'duration' | 'size' | 'integer' | 'number'; min: number; max: number }
  | { kind: 'choice'; choices: readonly (readonly [value: string, label: string])[] }
  | { kind: 'switch' | 'text' | 'other' }

/** The kind of an option and its default, undefined if it has none. */
export function readOption(
  name: string,
  { schema, choices }: PlanOption,
): OptionKind & { otherwise: unknown } {
  const isWrapped =
    schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional
  const inner = isWrapped ? (schema.unwrap() as z.ZodType) : schema
  return {
    ...(choices === undefined ? readKind(name, inner) : { kind: 'choice', choices }),
    otherwise: schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined,
  }
}

function readKind(name: string, schema: z.ZodType): OptionKind {
  if (schema instanceof z.ZodNumber) {
    const unit = name.endsWith('Ms') ? 'duration' : name.endsWith('Bytes') ? 'size' : null
    const kind = unit ?? (schema.isInt ? 'integer' : 'number')
    return { kind, min: schema.minValue ?? -Infinity, max: schema.maxValue ?? Infinity }
  }
  if (schema instanceof z.ZodEnum) {
    return { kind: 'choice', choices: schema.options.map((value) => [String(value), String(value)]) }
  }
  if (schema instanceof z.ZodBoolean) return { kind: 'switch' }
  return { kind: schema instanceof z.ZodString ? 'text' : 'other' }
}

/** The command-line help of an option, with its default unless the text has one. */
export function toHelp(name: string, option: PlanOption): string {
  const { words, help } = option
  const text =
    help ?? `${words.charAt(0).toLowerCase()}${words.slice(1)}`.replace(/([,;] in milliseconds)?\.$/, '')
  const { kind, otherwise } = readOption(name, option)
  if (otherwise === undefined || kind === 'switch' || kind === 'other' || text.includes('(default: '))
    return text
  const isNone = kind === 'duration' && otherwise === 0
  const value = isNone ? 'none' : kind === 'duration' ? formatDurationMs(Number(otherwise)) : otherwise
  return `${text} (default: ${value})`
}
