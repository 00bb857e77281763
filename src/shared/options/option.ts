import { z } from 'zod'
import { formatDurationMs } from '../messages/duration.ts'

/**
 * An option of a run or a load test is one entry of a table. Its key is its name in the plan; names that end in `Ms` are
 * durations, those in `Bytes` sizes. The plan's schema, the command line, the window's forms, the words in plan files and those of comparisons
 * are derived from the table, so a new option is an entry, and the code that acts on it.
 */
export interface PlanOption extends ValueWords {
  /** What a plan may say. Bounds, choices and the default are read from it. */
  schema: z.ZodType
  /** The words of values inside it, by their path. */
  parts?: Readonly<Record<string, ValueWords>>
  /** Which of the table's sections it is in, on the command line and in the window. */
  section?: string
  /** How the command line has it, such as `--warmup <duration>`; without it, it has not. */
  flag?: string
  /** The words of the help, to which a default is added (default: from `words`). */
  help?: string
  /** The only circumstance in which it does anything, and what is said if it is set in another one. */
  needs?: { circumstance: string; otherwise: string }
  /** Its choices and what a form calls them (default: those of the schema, by themselves). */
  choices?: readonly (readonly [value: string, label: string])[]
  /** How a form has it; without it, it is drawn by hand or not at all. */
  field?: OptionField
  /** What a list of what a load test does says of a value; null for nothing. */
  phrase?(value: never): string | null
}

/** What a value of a plan is called. */
export interface ValueWords {
  /** What it means, a sentence, which editors of plan files show. */
  words: string
  /** Its name in comparisons of plans (default: its key as words); null if it does not change what is measured. */
  setting?: string | null
}

interface OptionField {
  label: string
  title?: string
  /** Stands for nothing typed. */
  placeholder?: string
  /** What a new form begins with, if that is not the plan's default. */
  start?: string
  /** What a duration is expected to be, in a sentence of its own. */
  expected?: string
  /** In rem (default: 11). */
  width?: number
}

export type OptionTable = Readonly<Record<string, PlanOption>>

/** The schemas of a table, to make an object of. */
export function toShape<Table extends OptionTable>(
  table: Table,
): { -readonly [Name in keyof Table]: Table[Name]['schema'] } {
  const schemas = Object.entries(table).map(([name, { schema }]) => [name, schema])
  return Object.fromEntries(schemas)
}

/** What the values of an option are, as far as inputs and parsers know of them. */
export type OptionKind =
  | { kind: 'duration' | 'size' | 'integer' | 'number'; min: number; max: number }
  | { kind: 'choice'; choices: readonly (readonly [value: string, label: string])[] }
  | { kind: 'switch' | 'text' | 'other' }

/** The kind of an option, and its default: undefined if it has none. */
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

/** What the help of the command line says of an option, with its default unless the words have one. */
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
