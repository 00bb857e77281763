import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { formatDurationMs } from '../../../shared/messages/duration.ts'
import { type OptionTable, type PlanOption, readOption, toHelp } from '../../../shared/options/option.ts'
import {
  createDurationParser,
  createIntegerParser,
  createPositiveNumberParser,
  createSizeParser,
} from './parse-values.ts'

/** The name that commander gives to a flag's value. */
type Attribute<Flag> = Flag extends `--no-${infer Name}`
  ? Camel<Name>
  : Flag extends `--${infer Name} ${string}`
    ? Camel<Name>
    : Flag extends `--${infer Name}`
      ? Camel<Name>
      : never

type Camel<Words> = Words extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Words

/** The values that commander parses for the options of a table. */
export type FlagsOf<Table extends OptionTable> = {
  -readonly [Name in keyof Table as Attribute<Table[Name]['flag']>]?: NonNullable<
    z.output<Table[Name]['schema']>
  >
}

/** The given values of a table's options, by their names in a plan. */
type Given<Table extends OptionTable> = {
  -readonly [Name in keyof Table]?: NonNullable<z.output<Table[Name]['schema']>>
}

/** Parses a text, or adds it to what was parsed before. */
type Parser = (text: string, previous: never) => unknown

/**
 * Declares the command-line options of a table, or of some of its sections, section by section. `parsers`
 * read values whose schema does not say how.
 */
export function addTableOptions<Table extends OptionTable>(
  command: Command,
  table: Table,
  sections: readonly string[],
  parsers: { [Name in keyof Table]?: Parser } = {},
): Command {
  const entries = Object.entries<PlanOption>(table)
  for (const section of sections) {
    for (const [name, entry] of entries) {
      if (entry.section !== section || entry.flag === undefined) continue
      command.addOption(createOption(name, entry, entry.flag, parsers[name]))
    }
  }
  return command
}

function createOption(name: string, entry: PlanOption, flag: string, parser?: Parser): Option {
  const option = new Option(flag, toHelp(name, entry))
  const kind = readOption(name, entry)
  if (parser !== undefined) return option.argParser(parser as (text: string, previous: unknown) => unknown)
  switch (kind.kind) {
    case 'duration':
      return option.argParser(createDurationParser(formatLongest(kind.max), { allowsZero: kind.min === 0 }))
    case 'size':
      return option.argParser(createSizeParser(kind.min, kind.max))
    case 'integer':
      return option.argParser(createIntegerParser(kind.min, kind.max))
    case 'number':
      return option.argParser(createPositiveNumberParser(kind.max))
    case 'choice':
      return option.choices(kind.choices.map(([value]) => value))
    case 'switch':
    case 'text':
      return option
    case 'other':
      throw new TypeError(`${flag} needs a parser`)
  }
}

const DAY_MS = 86_400_000

function formatLongest(ms: number): string {
  return ms >= DAY_MS && ms % DAY_MS === 0 ? `${ms / DAY_MS}d` : formatDurationMs(ms)
}

/** The values that options gave for a table, without those they left open. */
export function readFlags<Table extends OptionTable>(table: Table, flags: FlagsOf<Table>): Given<Table> {
  const values: Readonly<Record<string, unknown>> = flags
  const given = Object.entries<PlanOption>(table).flatMap(([name, { flag }]) => {
    const value = flag === undefined ? undefined : values[new Option(flag).attributeName()]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(given) as Given<Table>
}
