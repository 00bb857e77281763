import { type Command, InvalidArgumentError, Option } from 'commander'
import { CALLBACK_OPTIONS } from '../../../shared/options/callback-options.ts'
import {
  ACCEPT_CODES,
  type AcceptCode,
  acceptCodeSchema,
  joinAccepted,
} from '../../../shared/run/accept-code.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import type { ProgressKind } from '../progress/progress-reporter.ts'
import type { OverwriteFlags } from '../written-files.ts'
import { collect, createDurationParser, createIntegerParser, parseBaseUrl } from './parse-values.ts'
import { addTableOptions, type FlagsOf } from './table-options.ts'

/** Ends a command's help with examples to paste, then exit codes. `examples.test.ts` runs every example. */
export function addExamples(command: Command, examples: readonly string[], exitCodes?: string): Command {
  const lines = examples.map((example) => `  ${COMMAND_PREFIX} ${example}`)
  const exits = exitCodes === undefined ? '' : `\n\nExit codes: ${exitCodes}`
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}${exits}`)
}

export interface WorkspaceFlags {
  workspace?: string
}

/** The same, and whether to print a document instead of text. */
export interface DocumentFlags extends WorkspaceFlags {
  json?: true
}

/** How a command that sends reports. */
export interface ReportingFlags extends DocumentFlags {
  quiet?: true
  progress?: ProgressKind
}

/** What to do with rows with an unknown outcome. */
export interface UnknownFlags {
  onUnknown: 'ask' | 'resend' | 'skip'
  resendIndexAdds?: true
}

export function addWorkspaceOption(command: Command): Command {
  return command.option(
    '--workspace <folder>',
    "folder for runs (default: $SLUICE_WORKSPACE, then the system's data folder)",
  )
}

export function addDocumentOptions(command: Command, what: 'document' | 'array' = 'document'): Command {
  return addWorkspaceOption(command.option('--json', `one JSON ${what} on stdout`))
}

export function addReportingOptions(command: Command): Command {
  return addWorkspaceOption(command)
    .option('--quiet', 'no progress on stderr')
    .addOption(
      new Option(
        '--progress <how>',
        'progress on stderr: text, or json for a line of JSON each second, with --quiet, too (default: text)',
      ).choices(['text', 'json']),
    )
    .option('--json', 'print JSON instead of the summary')
}

export function addOnUnknownOption(command: Command): Command {
  command.addOption(
    new Option(
      '--on-unknown <choice>',
      'what to do with rows that were sent but have no usable answer: resend, skip, or ask (without a terminal, ask means skip)',
    )
      .choices(['ask', 'resend', 'skip'])
      .default('ask'),
  )
  return command.option(
    '--resend-index-adds',
    'also resend `index add` rows without a usable answer; may add items twice',
  )
}

/** Where to export an ended run. */
export interface ExportFlags extends OverwriteFlags {
  export?: string
}

export function addExportOption(command: Command): Command {
  command.option('--export <file>', 'export the results to this file when the run has ended')
  return addOverwriteOption(command)
}

export function addOverwriteOption(command: Command): Command {
  return command.option(
    '--overwrite',
    'replace the output file even if this workspace did not write it, or it was changed since',
  )
}

/** Whether the confirmation was given on the command line. */
export interface YesFlags {
  yes?: true
}

export function addYesOption(command: Command): Command {
  return command.option('--yes', 'skip the confirmation before sending to production')
}

/** Warnings that were accepted on the command line. */
export interface AcceptFlags {
  accept?: AcceptCode[]
}

export function addAcceptOption(command: Command): Command {
  return command.option(
    '--accept <codes>',
    `send in spite of these warnings, without asking: ${ACCEPT_CODES.join(', ')}; separated by commas, repeatable`,
    parseAcceptCodes,
  )
}

function parseAcceptCodes(text: string, previous: readonly AcceptCode[] | undefined): AcceptCode[] {
  const codes = text.split(',').map((part) => {
    const code = acceptCodeSchema.safeParse(part.trim())
    if (code.success) return code.data
    throw new InvalidArgumentError(`expected ${ACCEPT_CODES.join(', ')}, found \`${part.trim()}\`.`)
  })
  return joinAccepted(previous, codes)
}

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

export function addAsyncOption(command: Command): Command {
  return command.option('--async', 'asynchronous mode: results arrive as callbacks')
}

/** Whether a load test's metrics can be scraped. */
export interface MetricsFlags {
  metricsPort?: number
  metricsHost?: string
  metricsLinger?: number
  out?: OutTarget[]
}

/** Where `--out` writes. */
export type OutTarget = { kind: 'ndjson'; file: string } | { kind: 'otlp'; url: string }

function collectOut(text: string, previous: OutTarget[] | undefined): OutTarget[] {
  const [, kind, target = ''] = /^(ndjson|otlp)=(.+)$/.exec(text) ?? []
  if (kind === undefined || target === '-') {
    throw new InvalidArgumentError(`expected ndjson=FILE or otlp=URL, found \`${text}\`.`)
  }
  const parsed: OutTarget =
    kind === 'otlp' ? { kind, url: parseBaseUrl(target) } : { kind: 'ndjson', file: target }
  return [...(previous ?? []), parsed]
}

export function addMetricsOption(command: Command): Command {
  return command
    .optionsGroup('Metrics:')
    .option(
      '--metrics-port <n>',
      'serve Prometheus metrics with k6 names at http://127.0.0.1:<n>/metrics; 0 picks a free port (default: off)',
      createIntegerParser(0, 65_535),
    )
    .option(
      '--metrics-host <host>',
      'address to serve them at, such as 0.0.0.0; whoever reaches it can read them (default: 127.0.0.1)',
      parseHost,
    )
    .option(
      '--metrics-linger <duration>',
      'after the test, serve until the final figures are read, at most this long (default: none)',
      createDurationParser('1h', { allowsZero: true }),
    )
    .option(
      '--out <kind=target>',
      'tell each second of a load test as it ends: ndjson=FILE, or otlp=URL of an OpenTelemetry collector, such as otlp=http://127.0.0.1:4318; repeatable',
      collectOut,
    )
}

/** Where callbacks arrive, and how long to wait for them. */
export type CallbackFlags = FlagsOf<typeof CALLBACK_OPTIONS>

function parseHost(text: string): string {
  if (/^[\w.:[\]-]+$/.test(text) && !text.includes('://')) return text
  throw new InvalidArgumentError(`expected a host name or IP address such as 0.0.0.0, found \`${text}\`.`)
}

export function addReceiverOptions(command: Command): Command {
  return addTableOptions(command, CALLBACK_OPTIONS, ['receiver'], { host: parseHost })
}

export function addCallbackOptions(command: Command): Command {
  addReceiverOptions(command.optionsGroup('Callbacks:'))
  return addTableOptions(command, CALLBACK_OPTIONS, ['awaiting'], { url: parseBaseUrl })
}
