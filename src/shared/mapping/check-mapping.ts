import { fieldsOf, listFieldNames, parseFieldName, REQUEST_FIELD } from '../plan/operation-fields.ts'
import type { FieldSource, Mapping, Operation } from '../plan/plan.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../service/limits.ts'
import { findColumn, findNearestName, listColumns } from './column-lookup.ts'
import { isFolderColumns } from './folder-columns.ts'
import { type SuggestedMapping, toColumnIndex } from './match-columns.ts'
import { findPlaceholder, isConstantTemplate, parseTemplate } from './templates.ts'

/** A mistake in a mapping and what to do about it. */
export interface Mistake {
  field: string
  message: string
  /** What there is to choose from, for those who do not see the table. */
  there?: string
  /** What to do on the command line. */
  hint: string
  /** What to do in the window. */
  todo: string
}

/** What a mapping is checked against. */
export interface MappedTable {
  operation: Operation
  columns: readonly string[]
  /** Whether the columns' names are the source's own; else they go by number. */
  hasHeader: boolean
  /** Whether files of a folder fill the content on their own. */
  hasMediaFiles: boolean
}

/**
 * Everything that is wrong with a mapping: unknown fields, columns and placeholders, ids that no row could use, and
 * required fields that nothing fills. Where rows may be whole requests, each of them says what it lacks.
 */
export function checkMapping(mapping: Mapping, table: MappedTable): Mistake[] {
  const { operation, columns } = table
  return [
    ...Object.entries(mapping).flatMap(([field, source]) =>
      findSourceMistakes(operation, field, source, columns),
    ),
    ...(isEmpty(mapping[REQUEST_FIELD.name]) ? findMissing(mapping, table) : []),
    ...findUnsaidClearing(mapping, table),
  ]
}

/** Whether nothing fills a field: no source, or a template without text. */
export function isEmpty(source: FieldSource | undefined): boolean {
  return source === undefined || (source.kind === 'template' && source.template === '')
}

function findMissing(mapping: Mapping, table: MappedTable): Mistake[] {
  const { operation, columns } = table
  const there = `the columns are ${listColumns(columns)}`
  const mistakes: Mistake[] = []
  for (const { name, required } of fieldsOf(operation)) {
    if (required !== 'always' || !isEmpty(mapping[name])) continue
    mistakes.push({
      field: name,
      message: `${name} is required and nothing fills it`,
      there,
      hint: `Say where it comes from: --map ${name}=COLUMN for a column, or --set ${name}=VALUE for the same value in every row.`,
      todo: `Choose the column that holds ${name}, or type one value for all rows.`,
    })
  }
  const content = fieldsOf(operation).filter(({ required }) => required === 'content')
  const [first, second] = content.map(({ name }) => name)
  const isFilled = content.some(({ name }) => !isEmpty(mapping[name]))
  if (first === undefined || second === undefined || isFilled || table.hasMediaFiles) return mistakes
  const [hint, todo] = toContentAdvice(first, second)
  mistakes.push({
    field: first,
    message: `one of ${first} and ${second} is required and nothing fills either`,
    there,
    hint: `Say which column holds the content: ${hint}${table.hasHeader ? '' : ' Without a header, columns go by number.'}`,
    todo,
  })
  return mistakes
}

function toContentAdvice(first: string, second: string): [hint: string, todo: string] {
  if (first !== 'text_data') {
    return [
      `--map ${first}=COLUMN or --map ${second}=COLUMN for addresses of media.`,
      `Choose ${first} or ${second} for the column with the addresses.`,
    ]
  }
  return [
    `--map ${first}=COLUMN for text, or --map ${second}=COLUMN for addresses of media.`,
    `Choose ${first} for the column with the text, or ${second} for the one with addresses of images or videos.`,
  ]
}

/** Clearing the notes of every term because a column has another name would be a loss; it must be asked for. */
function findUnsaidClearing(mapping: Mapping, { operation }: MappedTable): Mistake[] {
  if (operation.kind !== 'watchlist-update' || operation.emptyNotes !== 'clear') return []
  if (mapping['notes'] !== undefined || !isEmpty(mapping[REQUEST_FIELD.name])) return []
  return [
    {
      field: 'notes',
      message:
        'notes: empty notes are to be cleared, and no column fills them, which would clear those of every term',
      hint: 'Say which column holds them: --map notes=COLUMN. To clear them all: --set notes=',
      todo: 'Choose the column that holds the notes.',
    },
  ]
}

/**
 * What a person at the window is asked beyond {@link checkMapping}, before the rows are read: an update without notes
 * changes nothing, and an id that is the same on every row is refused from the second row on. `rows` are the first ones;
 * where each of them is a whole request, nothing is missing.
 */
export function assessMapping(
  mapping: Mapping,
  operation: Operation,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[] = [],
): Mistake[] {
  const whole = toColumnIndex(columns, mapping[REQUEST_FIELD.name])
  const areWhole = whole >= 0 && rows.every(({ cells }) => (cells[whole] ?? '') !== '')
  const { [REQUEST_FIELD.name]: request, ...others } = mapping
  const said = areWhole && request !== undefined ? { ...others, [REQUEST_FIELD.name]: request } : others
  const mistakes = checkMapping(said, {
    operation,
    columns,
    hasHeader: true,
    hasMediaFiles: isFolderColumns(columns),
  })
  const postId = mapping['post_id']
  if (postId?.kind === 'template' && postId.template !== '' && isConstantTemplate(postId.template)) {
    mistakes.push({
      field: 'post_id',
      message: 'post_id would be the same on every row',
      hint: 'Use --set post_id={{run}}-{{row}}.',
      todo: 'Put {{row}} or {{run}}-{{row}} into it, so that each submission has its own.',
    })
  }
  if (operation.kind === 'watchlist-update' && !areWhole && isEmpty(mapping['notes'])) {
    const isKnown = mistakes.some(({ field }) => field === 'notes')
    if (!isKnown) {
      mistakes.push({
        field: 'notes',
        message: 'No column holds the notes, which are all that an update changes',
        hint: 'Say which column holds them: --map notes=COLUMN.',
        todo: 'Choose the column that holds them.',
      })
    }
  }
  return mistakes
}

/** Whether there is nothing to ask: every column is a field by its exact name, and nothing is missing. */
export function isObvious(
  suggested: SuggestedMapping,
  operation: Operation,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[] = [],
): boolean {
  const used = Object.values(suggested.mapping).filter((source) => toColumnIndex(columns, source) >= 0)
  return (
    used.length === columns.length &&
    Object.values(suggested.confidence).every((confidence) => confidence === 'exact') &&
    assessMapping(suggested.mapping, operation, columns, rows).length === 0
  )
}

/** What is wrong with the source of one field: an unknown field, column or placeholder. */
function findSourceMistakes(
  operation: Operation,
  field: string,
  source: FieldSource,
  columns: readonly string[],
): Mistake[] {
  if (parseFieldName(field, operation) === null) return [toUnknownField(operation, field)]
  if (source.kind === 'column') return findUnknownColumn(field, source.column, columns)
  return [
    ...findUnknownPlaceholders(field, source.template, columns, []),
    ...findForbiddenConstant(field, source.template),
  ]
}

/** The placeholders of a template that are not known; `known` are those allowed in addition to the usual ones. */
export function findUnknownPlaceholders(
  field: string,
  template: string,
  columns: readonly string[],
  known: readonly string[],
): Mistake[] {
  return parseTemplate(template).flatMap((part) =>
    part.kind === 'text' || known.includes(part.name.trim()) || findPlaceholder(part.name, columns) !== null
      ? []
      : [toUnknownPlaceholder(field, part.name, columns)],
  )
}

function toUnknownField(operation: Operation, field: string): Mistake {
  const nearest = findNearestName(
    field,
    fieldsOf(operation).map(({ name }) => name),
  )
  const names = listFieldNames(operation)
  const last = names.pop() ?? ''
  return {
    field,
    message: `${operation.kind === 'task' ? 'the service' : operation.kind} has no field \`${field}\`; its fields are ${names.length === 0 ? last : `${names.join(', ')} and ${last}`}`,
    hint: nearest === null ? 'Map one of these fields.' : `Did you mean \`${nearest}\`?`,
    todo: 'Choose one of these fields.',
  }
}

function findUnknownColumn(field: string, column: string | number, columns: readonly string[]): Mistake[] {
  if (findColumn(columns, column) !== null) return []
  const there = `the source has ${columns.length === 1 ? '1 column' : `${columns.length} columns`}: ${listColumns(columns)}`
  const nearest = typeof column === 'string' ? findNearestName(column, columns) : null
  return [
    {
      field,
      message: `${field}: there is no column ${typeof column === 'number' ? column : `\`${column}\``}`,
      there,
      hint:
        nearest === null
          ? `Name one of them or its number: --map ${field}=COLUMN. Where these are the cells of a first row, the source has no header: --no-header.`
          : `Did you mean \`${nearest}\`? --map ${quoteForShell(`${field}=${nearest}`)}`,
      todo: 'Choose one of its columns.',
    },
  ]
}

function quoteForShell(argument: string): string {
  return /^[\w.=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}

function toUnknownPlaceholder(field: string, name: string, columns: readonly string[]): Mistake {
  const nearest = findNearestName(name, ['row', 'run', ...columns])
  return {
    field,
    message: `${field}: \`{{${name}}}\` is neither {{row}} nor {{run}} nor a column`,
    there: `the columns are ${listColumns(columns)}`,
    hint:
      nearest === null
        ? 'Put the exact name of a column between the braces.'
        : `Did you mean \`{{${nearest}}}\`?`,
    todo: 'Use {{row}}, {{run}} or the name of a column between the braces.',
  }
}

/** Every row of such a mapping would be refused (docs/interface.md §2.1). */
function findForbiddenConstant(field: string, template: string): Mistake[] {
  if (field !== 'user_id' && field !== 'post_id') return []
  const constant = parseTemplate(template)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('')
  if (!FORBIDDEN_ID_CHARACTERS.test(constant)) return []
  return [
    {
      field,
      message: `${field} must not contain \`_\` or \`;\`, and \`${template}\` does`,
      hint: `Use a hyphen instead: --set ${field}=${quoteForShell(template.replaceAll(/[_;]/g, '-'))}`,
      todo: 'Use a hyphen instead.',
    },
  ]
}
