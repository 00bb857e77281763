import { type Command, Option } from 'commander'
import { collect, createIntegerParser } from './parse-values.ts'

/** Where runs are kept. */
export interface WorkspaceFlags {
  workspace?: string
}

/** How a command that sends reports. */
export interface ReportingFlags extends WorkspaceFlags {
  quiet?: true
  json?: true
}

/** What is done with rows with an unknown outcome. */
export interface UnknownFlags {
  onUnknown: 'ask' | 'resend' | 'skip'
  resendIndexAdds?: true
}

/** Declares `--workspace`. */
export function addWorkspaceOption(command: Command): Command {
  return command.option(
    '--workspace <folder>',
    "folder for runs (default: $SLUICE_WORKSPACE, then the system's data folder)",
  )
}

/** Declares `--workspace`, `--quiet` and `--json`. */
export function addReportingOptions(command: Command): Command {
  return addWorkspaceOption(command)
    .option('--quiet', 'no progress on stderr')
    .option('--json', 'print JSON instead of the summary')
}

/** Declares `--on-unknown` and `--resend-index-adds`. */
export function addOnUnknownOption(command: Command): Command {
  command.addOption(
    new Option(
      '--on-unknown <choice>',
      'rows sent without a usable answer: resend, skip, or ask (without a terminal, ask means skip)',
    )
      .choices(['ask', 'resend', 'skip'])
      .default('ask'),
  )
  return command.option('--resend-index-adds', 'also resend such rows of `index add`; may add items twice')
}

/** Whether the confirmation was given on the command line. */
export interface YesFlags {
  yes?: true
}

/** Declares `--yes`. */
export function addYesOption(command: Command): Command {
  return command.option('--yes', 'skip the confirmation before sending to production')
}

/** Declares `--delivered-code`, repeatable. */
export function addDeliveredCodeOption(command: Command): Command {
  return command.option(
    '--delivered-code <code>',
    'error code that means the service already has the post; counts as succeeded; repeatable',
    collect,
  )
}

/** Whether the service answers at once and posts the results later. */
export interface AsyncFlags {
  async?: true
}

/** Declares `--async`. */
export function addAsyncOption(command: Command): Command {
  return command.option('--async', 'asynchronous mode: results arrive as callbacks')
}

/** Whether a load test's figures can be scraped. */
export interface MetricsFlags {
  metricsPort?: number
}

/** Declares `--metrics-port`. */
export function addMetricsOption(command: Command): Command {
  return command
    .optionsGroup('Metrics:')
    .option(
      '--metrics-port <n>',
      'serve Prometheus metrics with k6 names at http://127.0.0.1:<n>/metrics; 0 picks a free port (default: off)',
      createIntegerParser(0, 65_535),
    )
}
