import { type Command, InvalidArgumentError } from 'commander'
import { SOURCE_OPTIONS } from '../../../shared/options/source-options.ts'
import type { FieldSource, Mapping } from '../../../shared/plan/plan.ts'
import { createIntegerParser, parseBaseUrl, parseQuote, parseSourceDelimiter } from './parse-values.ts'
import { addTableOptions, type FlagsOf } from './table-options.ts'

export type SourceFlags = FlagsOf<typeof SOURCE_OPTIONS> & {
  mediaTemplate?: string
  mediaHost?: true
  mediaUrl?: string
}

/** Parser of `--sheet`. Digits alone may be a name too, which only the workbook can tell. */
function parseSheet(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected a sheet name, or a number from 1.')
  if (/^0+$/.test(text)) throw new InvalidArgumentError(`expected a sheet number from 1, found \`${text}\`.`)
  return text
}

/** Declares how a source is read (docs/sources.md). */
export function addSourceOptions(command: Command): Command {
  return addTableOptions(
    command.optionsGroup('Source:'),
    SOURCE_OPTIONS,
    ['file', 'header', 'workbook', 'text'],
    {
      sheet: parseSheet,
      headerRow: createIntegerParser(1, 1_048_576),
      delimiter: parseSourceDelimiter,
      quote: parseQuote,
      escape: parseQuote,
    },
  )
    .option(
      '--media-template <template>',
      'URL template for the media files of a folder, such as https://media.example.com/{{path}}',
    )
    .option('--media-host', 'serve the media files of a folder from this machine during the run')
    .option('--media-url <url>', 'like --media-host, at this public URL', parseBaseUrl)
}

/** One `--map` or `--set`: a field and where its value comes from. */
export interface FieldAssignment {
  field: string
  source: FieldSource
}

function splitAssignment(text: string, shape: string): { field: string; value: string } {
  const equals = text.indexOf('=')
  const field = text.slice(0, equals).trim()
  if (equals <= 0 || field === '') {
    throw new InvalidArgumentError(`expected ${shape}, found \`${text}\`.`)
  }
  return { field, value: text.slice(equals + 1) }
}

/** Parser of `--map FIELD=COLUMN`. Digits alone are a 1-based column number, anything else a header name. */
export function collectMapping(text: string, previous: FieldAssignment[] | undefined): FieldAssignment[] {
  const { field, value } = splitAssignment(text, 'FIELD=COLUMN, such as text_data=Message or text_data=2')
  if (value === '') {
    throw new InvalidArgumentError(`expected a column name or its 1-based number after \`${field}=\`.`)
  }
  const isNumber = /^\d+$/.test(value)
  if (isNumber && (Number(value) < 1 || Number(value) > 16_384)) {
    throw new InvalidArgumentError(`expected a column number from 1 to 16384, found \`${value}\`.`)
  }
  const source = { kind: 'column', column: isNumber ? Number(value) : value } satisfies FieldSource
  return [...(previous ?? []), { field, source }]
}

/** Parser of `--set FIELD=TEMPLATE`; each row fills in `{{row}}`, `{{run}}` and `{{column name}}`. */
export function collectTemplate(text: string, previous: FieldAssignment[] | undefined): FieldAssignment[] {
  const { field, value } = splitAssignment(text, 'FIELD=TEMPLATE, such as user_id=import or post_id={{id}}')
  return [...(previous ?? []), { field, source: { kind: 'template', template: value } }]
}

/** The mapping of all assignments. Throws `InvalidArgumentError` if a field is filled twice. */
export function toMapping(assignments: readonly FieldAssignment[]): Mapping {
  const mapping: Mapping = {}
  for (const { field, source } of assignments) {
    if (Object.hasOwn(mapping, field)) {
      throw new InvalidArgumentError(`${field} is set twice; use one --map or --set per field.`)
    }
    // Assigning to a field called __proto__ would change the prototype.
    Object.defineProperty(mapping, field, {
      value: source,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return mapping
}
