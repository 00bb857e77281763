import { findNearest } from '../messages/find-nearest.ts'
import type { MappingMistake } from '../messages/mapping-messages.ts'
import {
  emptyNotesOf,
  fieldsOf,
  listFieldNames,
  type Operation,
  parseFieldName,
  REQUEST_FIELD,
} from '../operations/operations.ts'
import type { FieldSource, Mapping } from '../plan/plan.ts'
import { toFound } from '../run/problem.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../service/request-field.ts'
import { findDoubtfulColumns } from './doubt-columns.ts'
import {
  findColumn,
  findColumnOfName,
  findOtherName,
  isFolderColumns,
  type SuggestedMapping,
  toColumnIndex,
  toComparable,
} from './match-columns.ts'
import { findPlaceholder, isConstantTemplate, parseTemplate } from './templates.ts'

export interface MappedTable {
  operation: Operation
  columns: readonly string[]
  /** Whether the column names come from the source; otherwise columns only have numbers. */
  hasHeader: boolean
  /** Whether files of a folder fill the content themselves. */
  hasMediaFiles: boolean
}

/**
 * All mistakes in a mapping: unknown fields, columns and placeholders, ids that no row could use, and
 * required fields that nothing fills. If rows may be whole requests, missing fields are reported row by row
 * instead.
 */
export function checkMapping(mapping: Mapping, table: MappedTable): MappingMistake[] {
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

function findMissing(mapping: Mapping, table: MappedTable): MappingMistake[] {
  const { operation, columns } = table
  const listed = listColumns(columns)
  const mistakes: MappingMistake[] = []
  for (const { name, required } of fieldsOf(operation)) {
    if (required !== 'always' || !isEmpty(mapping[name])) continue
    mistakes.push({ id: 'field_missing', field: name, columns: listed })
  }
  const content = fieldsOf(operation).filter(({ required }) => required === 'content')
  const [first, second] = content.map(({ name }) => name)
  const isFilled = content.some(({ name }) => !isEmpty(mapping[name]))
  if (first === undefined || second === undefined || isFilled || table.hasMediaFiles) return mistakes
  const { hasHeader } = table
  mistakes.push({ id: 'content_missing', field: first, other: second, columns: listed, hasHeader })
  return mistakes
}

/** A column's new name would clear the notes of every term, which is a loss, so a person must ask for it. */
function findUnsaidClearing(mapping: Mapping, { operation }: MappedTable): MappingMistake[] {
  if (emptyNotesOf(operation) !== 'clear') return []
  if (mapping['notes'] !== undefined || !isEmpty(mapping[REQUEST_FIELD.name])) return []
  return [{ id: 'notes_cleared_by_omission', field: 'notes' }]
}

/**
 * Questions for a person at the window beyond {@link checkMapping}, before the rows are read: an update
 * without notes changes nothing, and an id that is the same on every row is refused from the second row on.
 * `rows` are the first rows; if each of them is a whole request, nothing is missing.
 */
export function assessMapping(
  mapping: Mapping,
  operation: Operation,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[] = [],
): MappingMistake[] {
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
    mistakes.push({ id: 'post_id_constant', field: 'post_id' })
  }
  if (emptyNotesOf(operation) !== null && !areWhole && isEmpty(mapping['notes'])) {
    const isKnown = mistakes.some(({ field }) => field === 'notes')
    if (!isKnown) mistakes.push({ id: 'notes_missing', field: 'notes' })
  }
  return mistakes
}

/**
 * Whether nothing needs asking: every column is a field by its exact name, nothing is missing, and no columns
 * look swapped.
 */
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
    assessMapping(suggested.mapping, operation, columns, rows).length === 0 &&
    findDoubtfulColumns(suggested.mapping, columns, rows).length === 0
  )
}

/** What is wrong with the source of one field: an unknown field, column or placeholder. */
function findSourceMistakes(
  operation: Operation,
  field: string,
  source: FieldSource,
  columns: readonly string[],
): MappingMistake[] {
  if (parseFieldName(field, operation) === null) return [toUnknownField(operation, field)]
  if (source.kind === 'column') {
    const isName = findNumberedName(field, source, columns)
    if (isName.length > 0) return isName
    return [...findUnknownColumn(field, source.column, columns), ...findRenamedColumn(field, source, columns)]
  }
  return [
    ...findUnknownPlaceholders(field, source.template, columns, []),
    ...findForbiddenConstant(field, source.template),
  ]
}

/** The unknown placeholders of a template; `known` are allowed in addition to the usual ones. */
export function findUnknownPlaceholders(
  field: string,
  template: string,
  columns: readonly string[],
  known: readonly string[],
): MappingMistake[] {
  return parseTemplate(template).flatMap((part) =>
    part.kind === 'text' || known.includes(part.name.trim()) || findPlaceholder(part.name, columns) !== null
      ? []
      : [toUnknownPlaceholder(field, part.name, columns)],
  )
}

function toUnknownField(operation: Operation, field: string): MappingMistake {
  return {
    id: 'field_unknown',
    field,
    of: operation.kind === 'task' ? 'the service' : operation.kind,
    fields: listFieldNames(operation),
    nearest: findNearestName(
      field,
      fieldsOf(operation).map(({ name }) => name),
    ),
  }
}

function findUnknownColumn(
  field: string,
  column: string | number,
  columns: readonly string[],
): MappingMistake[] {
  if (findColumn(columns, column) !== null) return []
  const nearest = typeof column === 'string' ? findNearestName(column, columns) : null
  const [count, listed] = [columns.length, listColumns(columns)]
  return [{ id: 'column_unknown', field, column, count, columns: listed, nearest }]
}

/** A column number that is also the name of another column, while the numbered one has a name of its own. */
function findNumberedName(
  field: string,
  { column, name }: Extract<FieldSource, { kind: 'column' }>,
  columns: readonly string[],
): MappingMistake[] {
  if (typeof column !== 'number' || name !== undefined || !columns.includes(String(column))) return []
  const at = columns[column - 1] ?? null
  const isNamed = at === null || (at !== '' && columns.indexOf(at) === columns.lastIndexOf(at))
  if (at === String(column) || !isNamed) return []
  return [{ id: 'column_number_is_name', field, column, at, columns: listColumns(columns) }]
}

/** A number stored with its column's name that belongs to a column of another name in this source. */
function findRenamedColumn(
  field: string,
  source: Extract<FieldSource, { kind: 'column' }>,
  columns: readonly string[],
): MappingMistake[] {
  const now = findOtherName(source, columns)
  if (now === null) return []
  const [column, was, listed] = [Number(source.column), toFound(source.name ?? ''), listColumns(columns)]
  const isThere = findColumnOfName(columns, source.name ?? '') !== -1
  return [{ id: 'column_renamed', field, column, was, now: toFound(now), isThere, columns: listed }]
}

function toUnknownPlaceholder(field: string, name: string, columns: readonly string[]): MappingMistake {
  const nearest = findNearestName(name, ['row', 'run', ...columns])
  return { id: 'placeholder_unknown', field, name, columns: listColumns(columns), nearest }
}

/** Every row of such a mapping would be refused (docs/interface.md §2.1). */
function findForbiddenConstant(field: string, template: string): MappingMistake[] {
  if (field !== 'user_id' && field !== 'post_id') return []
  const constant = parseTemplate(template)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('')
  if (!FORBIDDEN_ID_CHARACTERS.test(constant)) return []
  return [{ id: 'id_forbidden', field, template, allowed: template.replaceAll(/[_;]/g, '-') }]
}

/** The existing columns for an error, each as "1 `id`", cut after thirty. */
export function listColumns(columns: readonly string[]): string {
  const listed = columns.slice(0, MOST_LISTED).map((name, index) => `${index + 1} \`${toFound(name)}\``)
  const more = columns.length - listed.length
  return more > 0 ? `${listed.join(', ')} and ${more} more` : listed.join(', ')
}

const MOST_LISTED = 30

/** The column or placeholder that a name most likely meant; null if none is similar. */
export function findNearestName(name: string, candidates: readonly string[]): string | null {
  const cut = (text: string) => toComparable(text).slice(0, LONGEST_COMPARED)
  const comparable = candidates.map(cut)
  const nearest = findNearest(cut(name), comparable)
  return nearest === null ? null : (candidates[comparable.indexOf(nearest)] ?? null)
}

const LONGEST_COMPARED = 64
