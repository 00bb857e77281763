import { type Command, InvalidArgumentError } from 'commander'
import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { STOP_OPTIONS } from '../../../shared/options/stop-options.ts'
import type { StopRule } from '../../../shared/plan/plan.ts'
import type { GivenKeyFlags } from './key-options.ts'
import { addOnlyNewOptions, type OnlyNewFlags } from './only-new-options.ts'
import { createIntegerParser, createPositiveNumberParser } from './parse-values.ts'
import { addServiceOptions, type ServiceFlags } from './service-options.ts'
import {
  type AcceptFlags,
  addAcceptOption,
  addCallbackOptions,
  addExportOption,
  addOnUnknownOption,
  addReportingOptions,
  addYesOption,
  type CallbackFlags,
  type ExportFlags,
  type MetricsFlags,
  type ReportingFlags,
  type UnknownFlags,
  type YesFlags,
} from './shared-options.ts'
import {
  addSourceOptions,
  collectMapping,
  collectTemplate,
  type FieldAssignment,
  type SourceFlags,
} from './source-options.ts'
import { addTableOptions, type FlagsOf, readFlags } from './table-options.ts'

/** The options that only matter while a plan runs; plans never store them. */
export interface RunTimeFlags
  extends ReportingFlags,
    UnknownFlags,
    YesFlags,
    AcceptFlags,
    MetricsFlags,
    ExportFlags,
    GivenKeyFlags {
  dryRun?: true
  limit?: number
  exportK6?: string
}

type RetryFlags = FlagsOf<typeof RETRY_OPTIONS>

export type StopFlags = FlagsOf<typeof STOP_OPTIONS>

/** The options of every sending command, once parsed. */
export interface SendingFlags
  extends RunTimeFlags,
    OnlyNewFlags,
    ServiceFlags,
    SourceFlags,
    CallbackFlags,
    RetryFlags {
  mapping?: string
  map?: FieldAssignment[]
  set?: FieldAssignment[]
  name?: string
  savePlan?: string
}

/** Declares the options that only matter while a plan runs. */
export function addRunTimeOptions(command: Command): Command {
  command.option('--dry-run', 'check every row and show the first request without sending anything')
  addYesOption(command)
  addAcceptOption(command)
  addOnUnknownOption(command)
  addExportOption(command)
  return addReportingOptions(command)
}

/** Declares `--limit`, for every command that sends each row once. */
export function addLimitOption(command: Command): Command {
  return command.option(
    '--limit <n>',
    'trial: send only the first n valid rows; `resume` sends the rest',
    createIntegerParser(1, Number.MAX_SAFE_INTEGER),
  )
}

/** How fast a run sends, except load tests. */
export interface PaceFlags extends RetryFlags, StopFlags {
  concurrency?: number
  rate?: number
}

export function addPaceOptions(command: Command): Command {
  command
    .optionsGroup('Pace:')
    .option(
      '--concurrency <n>',
      'maximum requests in flight (default: 4)',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option(
      '--rate <n>',
      'requests per second (default: as fast as --concurrency allows)',
      createPositiveNumberParser(1_000_000),
    )
  return addStopOptions(addTableOptions(command, RETRY_OPTIONS, ['pace']))
}

/** Declares when too many errors stop a run; a continued run keeps its own values by default. */
export function addStopOptions(command: Command, { isAgain = false } = {}): Command {
  const ofRun = ({ help }: { help: string }) => help.replace(/\(default: .*\)$/, "(default: the run's value)")
  const { errorPercent, afterRows } = STOP_OPTIONS
  const again = {
    errorPercent: { ...errorPercent, help: ofRun(errorPercent) },
    afterRows: { ...afterRows, help: ofRun(afterRows) },
  }
  return addTableOptions(command, isAgain ? again : STOP_OPTIONS, ['stop'], {
    errorPercent: parseErrorPercent,
  })
}

function parseErrorPercent(text: string): number {
  const percent = Number(text.trim().replace(/ ?%$/, ''))
  if (/^\+?(\d+\.?\d*|\.\d+) ?%?$/.test(text.trim()) && percent <= 100) return percent
  throw new InvalidArgumentError(`expected a share such as 50% or 100%, found \`${text}\`.`)
}

export const NO_STOP_OF_LOADS =
  '--stop-at-errors and --stop-after-rows do not apply to load tests, which have thresholds.'

/** The stop rule of options over the plan's; empty if they give none. */
export function toStopRule(flags: StopFlags, planned?: StopRule): { stop?: Partial<StopRule> } {
  const given = readFlags(STOP_OPTIONS, flags)
  return Object.keys(given).length === 0 ? {} : { stop: { ...planned, ...given } }
}

/** Declares all options of a command that starts a run, except its own; `addPace` those of the pace. */
export function addSendingOptions(
  command: Command,
  addPace: (command: Command) => Command,
  { offersOnlyNew }: { offersOnlyNew: boolean },
): Command {
  addServiceOptions(command)
  addSourceOptions(command)
  command
    .optionsGroup('Mapping:')
    .option(
      '--mapping <mapping>',
      'saved mapping to begin with, or `last` for that of the last run of a file with the same columns',
    )
    .option(
      '--map <field=column>',
      'column for a field, by name or number from 1; repeatable',
      collectMapping,
    )
    .option(
      '--set <field=template>',
      'text for a field, with {{row}} (record number, as in sluice_record), {{run}} and {{column name}} as placeholders; repeatable',
      collectTemplate,
    )
  addOnlyNewOptions(command.optionsGroup('Sent before:'), offersOnlyNew)
  addCallbackOptions(command)
  addPace(command)
  command
    .optionsGroup('Run:')
    .option('--name <text>', 'run name (default: the file name)')
    .option('--save-plan <file>', 'also save these options as a plan file, to run with `plan`')
  return addRunTimeOptions(command)
}
