import { type Command, Option } from 'commander'
import { collect } from './number-option.ts'

/** Where runs are kept. */
export interface WorkspaceFlags {
  workspace?: string
}

/** How a command that sends reports. */
export interface ReportingFlags extends WorkspaceFlags {
  quiet?: true
  json?: true
}

/** What is done with rows whose fate is unknown. */
export interface UnknownFlags {
  onUnknown: 'ask' | 'resend' | 'skip'
  resendIndexAdds?: true
}

/** Declares `--workspace`. */
export function addWorkspaceOption(command: Command): Command {
  return command.option(
    '--workspace <folder>',
    "where runs are kept (default: $SLUICE_WORKSPACE, else the system's data folder)",
  )
}

/** Declares `--workspace`, `--quiet` and `--json`. */
export function addReportingOptions(command: Command): Command {
  return addWorkspaceOption(command)
    .option('--quiet', 'no progress on stderr')
    .option('--json', 'one JSON document on stdout instead of the summary')
}

/** Declares `--on-unknown` and `--resend-index-adds`. */
export function addOnUnknownOption(command: Command): Command {
  command.addOption(
    new Option(
      '--on-unknown <choice>',
      'rows that were sent but never answered: resend them, skip them, or ask (skips where no one can be asked)',
    )
      .choices(['ask', 'resend', 'skip'])
      .default('ask'),
  )
  return command.option(
    '--resend-index-adds',
    'resend such rows of `index add`, too, although their items may then be in the index twice',
  )
}

/** Whether a person has said beforehand what would be asked. */
export interface YesFlags {
  yes?: true
}

/** Declares `--yes`. */
export function addYesOption(command: Command): Command {
  return command.option('--yes', 'do not ask before sending to a connection that is marked as production')
}

/** Declares `--delivered-code`, repeatable. */
export function addDeliveredCodeOption(command: Command): Command {
  return command.option(
    '--delivered-code <code>',
    'an error code by which the service says it has this post already; counts as succeeded; repeatable',
    collect,
  )
}
