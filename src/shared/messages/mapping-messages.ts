import { findLikeliest, nameRowsInKey, type RowsInKey, toJqFilter } from '../mapping/rows-in-key.ts'
import { quoteForShell } from '../shell-command.ts'
import { chooseWording, type ErrorEntry, type Surface, type Wording } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'

/** What is wrong with one field of a mapping. */
interface MistakeWords {
  text: string
  /** The choices, for the command line, which does not show the table. */
  there?: string
  remedy: Wording
}

/** A remedy for the command line, which names the likely intention if there is one. */
function orNearest(nearest: string | null, remedy: string, wanted = nearest): string {
  return nearest === null ? remedy : `Did you mean \`${wanted}\`?`
}

/** `columns` are the choices, listed for a sentence. */
const MAPPING_MISTAKES = {
  field_missing: ({ field, columns }: { field: string; columns: string }) => ({
    text: `${field} is required but not mapped`,
    there: `the columns are ${columns}`,
    remedy: {
      terminal: `Map a column with --map ${field}=COLUMN, or use the same value in every row with --set ${field}=VALUE.`,
      window: `Choose the column with ${field}, or enter one value for all rows.`,
    },
  }),
  content_missing: (args: {
    field: string
    /** The alternative field. */
    other: string
    columns: string
    hasHeader: boolean
  }) => {
    const isText = args.field === 'text_data'
    const numbered = args.hasHeader ? '' : ' Without a header, use column numbers.'
    return {
      text: `${args.field} or ${args.other} is required, but neither is mapped`,
      there: `the columns are ${args.columns}`,
      remedy: {
        terminal: `Map the column with the content: --map ${args.field}=COLUMN ${isText ? 'for text, ' : ''}or --map ${args.other}=COLUMN for media URLs.${numbered}`,
        window: isText
          ? `Choose ${args.field} for the column with the text, or ${args.other} for the column with the URLs of images or videos.`
          : `Choose ${args.field} or ${args.other} for the column with the URLs.`,
      },
    }
  },
  notes_cleared_by_omission: () => ({
    text: 'notes: no column is mapped, so the notes of every term would be cleared',
    remedy: {
      terminal: 'Map the column with the notes: --map notes=COLUMN. To clear all notes: --set notes=',
      window: 'Choose the column with the notes.',
    },
  }),
  notes_missing: () => ({
    text: 'notes is required: an update only changes notes',
    remedy: {
      terminal: 'Map the column with the notes: --map notes=COLUMN.',
      window: 'Choose the column with the notes.',
    },
  }),
  post_id_constant: () => ({
    text: 'post_id would be the same on every row',
    remedy: {
      terminal: 'Use --set post_id={{run}}-{{row}}.',
      window: 'Use {{row}} or {{run}}-{{row}}, so that each submission gets its own post_id.',
    },
  }),
  field_unknown: (args: {
    field: string
    /** Whose field it would be: the service's, for a task, or an operation's. */
    of: string
    fields: readonly string[]
    nearest: string | null
  }) => ({
    text: `${args.of} has no field \`${args.field}\`; its fields are ${listWords(args.fields)}`,
    remedy: {
      terminal: orNearest(args.nearest, 'Map one of these fields.'),
      window: 'Choose one of these fields.',
    },
  }),
  column_unknown: (args: {
    field: string
    column: string | number
    count: number
    columns: string
    nearest: string | null
  }) => ({
    text: `${args.field}: column ${typeof args.column === 'number' ? args.column : `\`${args.column}\``} does not exist`,
    there: `the source has ${args.count === 1 ? '1 column' : `${args.count} columns`}: ${args.columns}`,
    remedy: {
      terminal:
        args.nearest === null
          ? `Use one of these columns, by name or number: --map ${args.field}=COLUMN. If these are not column names but data from the first row, add --no-header.`
          : `Did you mean \`${args.nearest}\`? --map ${quoteForShell(`${args.field}=${args.nearest}`)}`,
      window: 'Choose one of its columns.',
    },
  }),
  column_number_is_name: (args: {
    field: string
    column: number
    /** The name of the numbered column; null if it has none. */
    at: string | null
    columns: string
  }) => ({
    text: `${args.field}: ${args.at === null ? `column ${args.column} does not exist, but one` : `column ${args.column} is called \`${args.at}\`, and another`} is called \`${args.column}\``,
    there: `the columns are ${args.columns}`,
    remedy: {
      terminal: `Write the name of the column between braces: --set ${[String(args.column), ...(args.at ? [args.at] : [])].map((name) => quoteForShell(`${args.field}={{${name}}}`)).join(' or --set ')}.`,
      window: `Choose the column with ${args.field}.`,
    },
  }),
  column_renamed: (args: {
    field: string
    column: number
    /** The name that was stored with the number. */
    was: string
    now: string
    /** Whether another column of the source has that name. */
    isThere: boolean
    columns: string
  }) => ({
    text: `${args.field}: column ${args.column} was called \`${args.was}\` and is called \`${args.now}\` now`,
    there: `the columns are ${args.columns}`,
    remedy: {
      terminal: `Choose the column with the command that reads the file: --map ${args.isThere ? quoteForShell(`${args.field}=${args.was}`) : `${args.field}=COLUMN`}. In a plan, change the column of ${args.field}.`,
      window: `Choose the column with ${args.field}.`,
    },
  }),
  placeholder_unknown: (args: { field: string; name: string; columns: string; nearest: string | null }) => ({
    text: `${args.field}: \`{{${args.name}}}\` is neither {{row}} nor {{run}} nor a column`,
    there: `the columns are ${args.columns}`,
    remedy: {
      terminal: orNearest(
        args.nearest,
        'Use the exact name of a column between the braces.',
        `{{${args.nearest}}}`,
      ),
      window: 'Use {{row}}, {{run}} or the name of a column between the braces.',
    },
  }),
  id_forbidden: ({ field, template, allowed }: { field: string; template: string; allowed: string }) => ({
    text: `${field} must not contain \`_\` or \`;\`, and \`${template}\` does`,
    remedy: {
      terminal: `Use a hyphen instead: --set ${field}=${quoteForShell(allowed)}`,
      window: 'Use a hyphen instead.',
    },
  }),
  media_path_missing: ({ template }: { template: string }) => ({
    text: `media: the template \`${template}\` has no {{path}}, so every file would have the same address`,
    remedy: 'Put {{path}} where the path belongs, as in https://host/{{path}}.',
  }),
  too_many_models: ({ models }: { models: readonly string[] }) => ({
    text: `models: v1 accepts only one model, found ${models.map((model) => `\`${model}\``).join(', ')}`,
    remedy: {
      terminal: 'Use one model, or submit to v2, which accepts several: --api v2.',
      window: 'Use one model, or submit to v2, which accepts several.',
    },
  }),
} satisfies Record<string, (args: never) => MistakeWords>

type MistakeId = keyof typeof MAPPING_MISTAKES

type ArgsOf<Entry> = Entry extends (args: infer Args) => unknown ? Args : never

/** A mistake in a mapping: the field, and what is wrong with it as a catalogue id and its arguments. */
export type MappingMistake = {
  [Id in MistakeId]: { id: Id; field: string } & ArgsOf<(typeof MAPPING_MISTAKES)[Id]>
}[MistakeId]

/** The words of a mistake for one surface: what is wrong, the choices, and what to do. */
export function sayMistake(
  mistake: MappingMistake,
  surface: Surface,
): { message: string; there: string | null; remedy: string } {
  const say: (args: never) => MistakeWords = MAPPING_MISTAKES[mistake.id]
  const { text, there = null, remedy } = say(mistake as never)
  return { message: text, there, remedy: chooseWording(remedy, surface) }
}

/** Which sheet of a workbook was read, if the plan names none and there are several. */
export interface SheetChoice {
  sheet: NamedSheet
  others: readonly NamedSheet[]
}

/** A sheet and its approximate number of rows; null if unknown. */
interface NamedSheet {
  name: string
  rows: number | null
  isHidden?: boolean | undefined
}

/** Other sheets that are listed, at most. */
const SHOWN_SHEETS = 8

/** Which sheet is read, and which others exist; without a full stop. */
export function sayFoundSheets({ sheet, others }: SheetChoice): string {
  const more = others.length - SHOWN_SHEETS
  const names = others.slice(0, SHOWN_SHEETS).map(sayNamedSheet)
  return `Reading the sheet ${sayNamedSheet(sheet)}. The workbook also has ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Which sheet is read, and how to read another. */
export function saySheetChoice(choice: SheetChoice, surface: Surface): string {
  const found = sayFoundSheets(choice)
  return surface === 'terminal'
    ? `${found}. To read another sheet, add --sheet NAME.`
    : `${found}. You can choose another sheet under Source.`
}

function sayNamedSheet(sheet: NamedSheet): string {
  return labelSheet({ ...sheet, name: `"${sheet.name}"` })
}

/** A sheet with what is known of it: `Posts (1,234 rows)`, `Old (hidden, 3 rows)`. */
export function labelSheet({ name, rows, isHidden = false }: NamedSheet): string {
  const known = [...(isHidden ? ['hidden'] : []), ...(rows === null ? [] : [formatCounted(rows, 'row')])]
  return known.length === 0 ? name : `${name} (${known.join(', ')})`
}

function sayHeaderRow(row: number, surface: Surface): string {
  return surface === 'terminal'
    ? `Row ${row} looks like the header: pass --header-row ${row}.`
    : `Row ${row} looks like the header: choose it on Source.`
}

/** How to turn the objects of an array into rows, as an instruction. */
export function sayToOwnFile(filter: string, surface: Surface): string {
  return surface === 'terminal'
    ? `write them to a separate file, as in: jq -c ${quoteForShell(filter)} FILE > rows.jsonl (jq 1.7 or later; earlier versions round long numbers)`
    : 'save that array as a separate file, and choose that file'
}

/** Names arrays that may hold the rows, and what to do. */
export function sayRowsInKeys(found: readonly RowsInKey[], surface: Surface): string {
  const likeliest = findLikeliest(found)
  if (likeliest === null) return ''
  const named = found.map((one) => {
    const count = one.objects === null ? '' : ` (${formatCounted(one.objects, 'object')})`
    return `\`${nameRowsInKey(one)}\`${count}`
  })
  return `The rows may be in ${named.join(', ')}. To send each object as a row, ${sayToOwnFile(toJqFilter(likeliest), surface)}.`
}

/** Names without a column in a source, and the columns that it has. */
interface UnnamedColumns {
  unnamed: readonly string[]
  sourceColumns: readonly string[]
}

export const MAPPING_MESSAGES = {
  only_new_without_key: {
    code: 'BAD_PLAN',
    words: ({ generated, keys }: { generated: string | null; keys: readonly string[] }) => {
      const example = keys.map((key) => `--new-by ${key}`).join(' or ')
      return {
        text: `cannot tell what was sent before: ${generated ?? 'the id of each row'} is generated for each run, not read from the source`,
        remedy: {
          terminal: `Map a column that has an id of each row, such as --map post_id=COLUMN, or name what tells rows apart, such as ${example === '' ? '--new-by COLUMN' : example}.`,
          window:
            'Choose other fields or columns by which rows are the same, map a column that has an id of each row, or send all rows.',
        },
      }
    },
  },
  only_new_by_nothing: {
    code: 'BAD_PLAN',
    words: ({ unnamed, sourceColumns }: UnnamedColumns) => ({
      text: `neither a field nor a column is called ${unnamed.map((name) => `\`${name}\``).join(', ')}, by which rows are to be recognized`,
      remedy: {
        terminal: `With --new-by, name fields of the request or columns of the source, joined by +. Its columns: ${sourceColumns.join(', ')}.`,
        window: `Its columns: ${sourceColumns.join(', ')}.`,
      },
    }),
  },
  columns_doubled: {
    code: 'BAD_PLAN',
    words: ({ column, columns }: { column: string; columns: string }) => ({
      text: `several columns of the source are called \`${column}\`: ${columns}`,
      remedy: 'In the file, rename all of them but the one that is meant.',
    }),
  },
  load_column_missing: {
    code: 'BAD_PLAN',
    words: ({ unnamed, sourceColumns }: UnnamedColumns) => ({
      text: `the source has no column ${unnamed.map((name) => `\`${name}\``).join(', ')}, which the load test names as a tag of its thresholds or as its weights`,
      remedy: `Its columns: ${sourceColumns.join(', ')}. Tags of all sources: status, expected_response, error_code, stage, scenario, method, name.`,
    }),
  },
  load_other_url: {
    code: 'BAD_PLAN',
    words: ({ tag, named, urls }: { tag: string; named: string; urls: readonly string[] }) => ({
      text: `a threshold is about requests with the ${tag} \`${named}\`, and the load test sends none of them`,
      remedy: `Name ${urls.map((url) => `\`${url}\``).join(' or ')}, or leave the tag out.`,
    }),
  },
  load_tag_missing: {
    code: 'BAD_PLAN',
    words: ({ column, named }: { column: string; named: string }) => ({
      text: `a threshold is about rows with \`${named}\` in ${column}, and no row that can be sent has it`,
      remedy: {
        terminal: `Correct the tag ${column} of the threshold, or leave it out. A value counts as the cell has it, capitals and spaces included.`,
        window: `Correct the tag ${column} of the threshold, or leave it out. A value counts as the cell has it, capitals and spaces included.`,
      },
    }),
  },
  load_weight_unusable: {
    code: 'BAD_PLAN',
    words: ({ row, column, found }: { row: number; column: string; found: string }) => ({
      text: `record ${row} has \`${found}\` in ${column}, which is not a weight`,
      remedy: {
        terminal:
          'Weights are numbers of at least 0, such as 1 or 2.5. Correct the source, or leave --weight out.',
        window:
          'Weights are numbers of at least 0, such as 1 or 2.5. Correct the source, or choose no weights.',
      },
    }),
  },
  mapping_unusable: {
    code: 'BAD_PLAN',
    words: ({
      mistakes,
      sheetChoice,
      headerRow,
      rowsInKeys,
      onlyIn = [],
    }: {
      mistakes: readonly MappingMistake[]
      sheetChoice: SheetChoice | null
      /** The row that looks like the header, if another row is read as the header. */
      headerRow: number | null
      /** Arrays in a JSON source that may hold the rows. */
      rowsInKeys: readonly RowsInKey[]
      /** With several files, the columns that some files lack; absent if all have the same. */
      onlyIn?: readonly { file: string; columns: readonly string[] }[]
    }) => {
      const on = (surface: Surface) => mistakes.map((mistake) => sayMistake(mistake, surface))
      const said = on('terminal')
      // Most mistakes have the same choices.
      const text = said.flatMap(({ message, there }, index) =>
        there === null || said.slice(index + 1).some((later) => later.there === there)
          ? [message]
          : [message, there],
      )
      // If content is missing, the rows are most likely elsewhere.
      const isContentMissing = mistakes.some(({ id }) => id === 'content_missing')
      const inKeys = (surface: Surface) =>
        rowsInKeys.length === 0 ? [] : [sayRowsInKeys(rowsInKeys, surface)]
      // Another header row would give other columns.
      const advise = (surface: Surface) =>
        [
          ...(sheetChoice === null ? [] : [saySheetChoice(sheetChoice, surface)]),
          ...(isContentMissing ? inKeys(surface) : []),
          ...(headerRow === null
            ? new Set(on(surface).map(({ remedy }) => remedy))
            : [sayHeaderRow(headerRow, surface)]),
          ...(isContentMissing ? [] : inKeys(surface)),
          ...(onlyIn.length === 0 ? [] : [SAME_NAMES]),
        ].join(' ')
      text.push(...onlyIn.map(sayOnlyIn))
      return { text: text.join('; '), remedy: { terminal: advise('terminal'), window: advise('window') } }
    },
  },
} satisfies Record<string, ErrorEntry>

const SAME_NAMES =
  'A column that some of the files call differently needs one name in all of them; or send each file by itself.'

/** Columns named for each file; the remaining ones are counted. */
const OWN_NAMED = 5

function sayOnlyIn({ file, columns }: { file: string; columns: readonly string[] }): string {
  const named = columns.slice(0, OWN_NAMED).map((name) => `\`${name.slice(0, 60)}\``)
  const rest = columns.length - named.length
  return `not in all files: ${listWords(rest > 0 ? [...named, `${rest} more`] : named)} of ${file}`
}

/** `one, two and three`. */
function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
