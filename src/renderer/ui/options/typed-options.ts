import { z } from 'zod'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import { type OptionTable, type PlanOption, readOption } from '../../../shared/options/option.ts'

/**
 * The options of a table as a form holds them during typing: durations as text, null for an open number or
 * choice, everything else as in the plan.
 */

type FieldNames<Table extends OptionTable> = {
  [Name in keyof Table]: Table[Name] extends { field: object } ? Name : never
}[keyof Table]

type TypedSchema<Name, Schema> = Name extends `${string}Ms`
  ? z.ZodDefault<z.ZodString>
  : Schema extends
        | z.ZodOptional<infer Inner extends z.ZodType>
        | z.ZodExactOptional<infer Inner extends z.ZodType>
    ? z.ZodDefault<z.ZodNullable<Inner>>
    : Schema

type TypedShape<Table extends OptionTable> = {
  -readonly [Name in FieldNames<Table>]: TypedSchema<Name, Table[Name]['schema']>
}

/** The typed values of a table's options that have fields. */
export type TypedOptions<Table extends OptionTable> = z.infer<z.ZodObject<TypedShape<Table>>>

/** The schemas of typed values, with the initial values of a new form. */
export function toTypedShape<Table extends OptionTable>(table: Table): TypedShape<Table> {
  const shape = Object.entries<PlanOption>(table).flatMap(([name, option]) =>
    option.field === undefined ? [] : [[name, toTypedSchema(name, option, option.field.start)] as const],
  )
  return Object.fromEntries(shape) as TypedShape<Table>
}

function toTypedSchema(name: string, option: PlanOption, start?: string): z.ZodType {
  const { kind, otherwise } = readOption(name, option)
  if (kind === 'duration') {
    return z.string().default(start ?? (otherwise === undefined ? '' : formatDurationMs(Number(otherwise))))
  }
  const { schema } = option
  const isOptional = schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional
  return isOptional ? (schema.unwrap() as z.ZodType).nullable().default(null) : schema
}

export function nameOption({ field }: PlanOption): string {
  return field?.label.toLowerCase() ?? ''
}

/**
 * The typed values for a plan, without those left open or without effect in these circumstances; and mistakes
 * in them, by the options' names in sentences.
 */
export function readTyped(
  table: OptionTable,
  typed: Readonly<Record<string, unknown>>,
  circumstances: readonly string[] = [],
): { values: Record<string, unknown>; mistakes: Record<string, string> } {
  const values: Record<string, unknown> = {}
  const mistakes: Record<string, string> = {}
  for (const [name, option] of Object.entries(table)) {
    if (option.field === undefined || !isOfUse(option, circumstances)) continue
    const value = readValue(name, option, typed[name])
    const isOpen = value === null || (value === undefined && option.schema.safeParse(undefined).success)
    if (isOpen) continue
    if (option.schema.safeParse(value).success) values[name] = value
    else mistakes[nameOption(option)] = option.field.expected ?? toExpected(name, option)
  }
  return { values, mistakes }
}

/** Whether an option has an effect in these circumstances. */
export function isOfUse({ needs }: PlanOption, circumstances: readonly string[]): boolean {
  return needs === undefined || circumstances.includes(needs.circumstance)
}

/** A typed value for a plan; undefined or null if it is left open, NaN if it is not a valid duration. */
function readValue(name: string, option: PlanOption, typed: unknown): unknown {
  const kind = readOption(name, option)
  if (kind.kind !== 'duration') return typed
  const text = String(typed).trim()
  if (text !== '') return parseDurationMs(text) ?? Number.NaN
  return kind.min === 0 || kind.otherwise === undefined ? undefined : Number.NaN
}

function toExpected(name: string, option: PlanOption): string {
  const kind = readOption(name, option)
  if (kind.kind !== 'duration') return 'Expected another value.'
  return `Expected a duration such as 30s, from ${formatDurationMs(kind.min)} to ${formatDurationMs(kind.max)}.`
}
