import { type Command, Option } from 'commander'
import { parseBaseUrl } from './base-url-option.ts'
import { parseDelimiter } from './delimiter-option.ts'
import { parseTimeoutMs } from './duration-option.ts'
import { collectMapping, collectTemplate, type FieldAssignment } from './mapping-option.ts'
import { collect, createIntegerParser, createPositiveNumberParser } from './number-option.ts'
import {
  addDeliveredCodeOption,
  addOnUnknownOption,
  addReportingOptions,
  type ReportingFlags,
  type UnknownFlags,
} from './shared-options.ts'

/** What the options of `task` hold once parsed. */
export interface SendingFlags extends ReportingFlags, UnknownFlags {
  baseUrl?: string
  apiKeyEnv: string
  deliveredCode?: string[]
  /** False under `--no-header`. */
  header: boolean
  encoding?: string
  delimiter?: string
  map?: FieldAssignment[]
  set?: FieldAssignment[]
  model?: string[]
  api: 'v1' | 'v2'
  legacy?: true
  concurrency?: number
  rate?: number
  retries: number
  timeout: number
  name?: string
  dryRun?: true
}

/** Declares everything a command that starts a run from a source takes (design §4). */
export function addSendingOptions(command: Command): Command {
  command
    .optionsGroup('Service:')
    .option('--base-url <url>', 'address of the service, such as https://api.example.com', parseBaseUrl)
    .option('--api-key-env <name>', 'environment variable that holds the API key', 'SLUICE_API_KEY')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for an answer, such as 30s or 500ms')
        .argParser(parseTimeoutMs)
        .default(60_000, '60s'),
    )
    .option('--retries <n>', 'tries after the first, where repeating is safe', createIntegerParser(0, 100), 3)
  addDeliveredCodeOption(command)
  command
    .optionsGroup('Source:')
    .option('--no-header', 'the first line is a row, not the names of the columns')
    .option('--encoding <name>', 'character encoding, such as windows-1252; recognised unless given')
    .option('--delimiter <character>', 'what stands between cells; `tab` for a tab', parseDelimiter)
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
    .option('--model <name>', 'model to run; repeatable, v1 takes one', collect)
    .option('--legacy', 'ask for the legacy response, which holds the class scores')
    .addOption(new Option('--api <version>', 'version of the interface').choices(['v1', 'v2']).default('v1'))
    .optionsGroup('Pace:')
    .option('--concurrency <n>', 'requests in flight at most (default: 4)', createIntegerParser(1, 10_000))
    .option(
      '--rate <n>',
      'requests started each second, on a schedule',
      createPositiveNumberParser(1_000_000),
    )
    .optionsGroup('Run:')
    .option('--name <text>', 'what to call the run')
    .option('--dry-run', 'read, map and check everything, show the first request, send nothing')
  addOnUnknownOption(command)
  return addReportingOptions(command)
}
