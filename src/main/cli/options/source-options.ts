import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseBaseUrl } from './base-url-option.ts'
import { parseDelimiter } from './delimiter-option.ts'
import { createIntegerParser } from './number-option.ts'

/** What can be a source. */
export const SOURCE_FORMATS = ['csv', 'tsv', 'xlsx', 'jsonl', 'folder'] as const

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
  if (text === '') throw new InvalidArgumentError("expected a sheet's name or its number from 1.")
  if (!/^\d+$/.test(text)) return text
  if (Number(text) < 1) throw new InvalidArgumentError(`sheets are counted from 1, found \`${text}\`.`)
  return Number(text)
}

/** Declares how a source is read (design §4). */
export function addSourceOptions(command: Command): Command {
  return command
    .optionsGroup('Source:')
    .addOption(
      new Option('--format <format>', "what the source is (default: by the file's ending)").choices(
        SOURCE_FORMATS,
      ),
    )
    .option('--sheet <name|n>', "a spreadsheet's sheet, by name or number (default: the first)", parseSheet)
    .option('--no-header', 'the first record is a row, not the names of the columns')
    .option(
      '--header-row <n>',
      'the record that names the columns; those before it are passed over',
      createIntegerParser(1, 1_048_576),
    )
    .option('--encoding <name>', 'character encoding, such as windows-1252; recognised unless given')
    .option('--delimiter <character>', 'what stands between cells; `tab` for a tab', parseDelimiter)
    .option(
      '--media-template <template>',
      "addresses of a folder's media files, such as https://media.example.com/{{path}}",
    )
    .option(
      '--media-host',
      "serve a folder's media files to the service ourselves, at the receiver's own address",
    )
    .option('--media-url <url>', 'the same, where the service reaches it at this public base', parseBaseUrl)
}
