import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseBaseUrl } from './base-url-option.ts'
import { parseDelimiter } from './delimiter-option.ts'
import { createIntegerParser } from './number-option.ts'

/** What can be a source. */
const SOURCE_FORMATS = ['csv', 'tsv', 'xlsx', 'jsonl', 'folder'] as const

/** How a source is read. */
export interface SourceFlags {
  format?: (typeof SOURCE_FORMATS)[number]
  sheet?: string | number
  /** False under `--no-header`. */
  header: boolean
  headerRow?: number
  encoding?: string
  delimiter?: string
  mediaTemplate?: string
  mediaHost?: true
  mediaUrl?: string
}

/** Parser of `--sheet`: digits alone are a 1-based number, anything else a name. */
function parseSheet(text: string): string | number {
  if (text === '') throw new InvalidArgumentError('expected a sheet name, or a number from 1.')
  if (!/^\d+$/.test(text)) return text
  if (Number(text) < 1) throw new InvalidArgumentError(`expected a sheet number from 1, found \`${text}\`.`)
  return Number(text)
}

/** Declares how a source is read (docs/sources.md). */
export function addSourceOptions(command: Command): Command {
  return command
    .optionsGroup('Source:')
    .addOption(
      new Option('--format <format>', 'source format (default: from the file extension)').choices(
        SOURCE_FORMATS,
      ),
    )
    .option('--sheet <name|n>', 'sheet name or number (default: the first visible sheet)', parseSheet)
    .option('--no-header', 'treat the first record as data, not as column names')
    .option(
      '--header-row <n>',
      'record with the column names; earlier records are skipped (default: 1)',
      createIntegerParser(1, 1_048_576),
    )
    .option('--encoding <name>', 'character encoding, such as windows-1252 (default: detected)')
    .option(
      '--delimiter <character>',
      'character between cells, or `tab` (default: detected)',
      parseDelimiter,
    )
    .option(
      '--media-template <template>',
      'URL template for the media files of a folder, such as https://media.example.com/{{path}}',
    )
    .option('--media-host', 'serve the media files of a folder from this machine during the run')
    .option('--media-url <url>', 'like --media-host, at this public URL', parseBaseUrl)
}
