import type { Command } from 'commander'
import { addCallbackOptions, type CallbackFlags } from './callback-options.ts'
import { collectMapping, collectTemplate, type FieldAssignment } from './mapping-option.ts'
import type { MetricsFlags } from './metrics-option.ts'
import { createIntegerParser, createPositiveNumberParser } from './number-option.ts'
import { addServiceOptions, type ServiceFlags } from './service-options.ts'
import {
  addOnUnknownOption,
  addReportingOptions,
  addYesOption,
  type ReportingFlags,
  type UnknownFlags,
  type YesFlags,
} from './shared-options.ts'
import { addSourceOptions, type SourceFlags } from './source-options.ts'

/** What only matters while a plan runs, and is in no plan. */
export interface RunTimeFlags extends ReportingFlags, UnknownFlags, YesFlags, MetricsFlags {
  dryRun?: true
  exportK6?: string
}

/** What the options of every sending command hold once parsed. */
export interface SendingFlags extends RunTimeFlags, ServiceFlags, SourceFlags, CallbackFlags {
  map?: FieldAssignment[]
  set?: FieldAssignment[]
  retries: number
  name?: string
  savePlan?: string
}

/** Declares what only matters while a plan runs. */
export function addRunTimeOptions(command: Command): Command {
  command.option('--dry-run', 'read, map and check everything, show the first request, send nothing')
  addYesOption(command)
  addOnUnknownOption(command)
  return addReportingOptions(command)
}

/** How fast a run sends that is no load test. */
export interface PaceFlags {
  concurrency?: number
  rate?: number
}

/** Declares how fast a run sends that is no load test. */
export function addPaceOptions(command: Command): Command {
  return command
    .optionsGroup('Pace:')
    .option('--concurrency <n>', 'requests in flight at most (default: 4)', createIntegerParser(1, 10_000))
    .option(
      '--rate <n>',
      'requests started each second, on a schedule',
      createPositiveNumberParser(1_000_000),
    )
    .option('--retries <n>', 'tries after the first, where repeating is safe', createIntegerParser(0, 100), 3)
}

/**
 * Declares everything a command that starts a run from a source takes (design §4), its own options apart; `addPace`
 * declares how it presses.
 */
export function addSendingOptions(command: Command, addPace: (command: Command) => Command): Command {
  addServiceOptions(command)
  addSourceOptions(command)
  command
    .optionsGroup('Request:')
    .option(
      '--map <field=column>',
      'fill a field from a column, by name or 1-based number; repeatable',
      collectMapping,
    )
    .option(
      '--set <field=template>',
      'fill a field with a text; {{row}}, {{run}} and {{column name}} are filled in; repeatable',
      collectTemplate,
    )
  addCallbackOptions(command)
  addPace(command)
  command
    .optionsGroup('Run:')
    .option('--name <text>', 'what to call the run')
    .option('--save-plan <file>', 'write all of this as a plan that `plan FILE` runs, too')
  return addRunTimeOptions(command)
}
