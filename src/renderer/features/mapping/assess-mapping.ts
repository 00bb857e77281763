import { isFolderColumns } from '../../../shared/folder-columns.ts'
import { REQUEST_FIELD } from '../../../shared/operation-fields.ts'
import type { Mapping, Operation } from '../../../shared/plan.ts'
import { FORBIDDEN_ID_CHARACTERS } from '../../../shared/service/limits.ts'
import { contentFieldsOf, fieldsFor } from './fields.ts'
import { type SuggestedMapping, toColumnIndex } from './match-columns.ts'

/** Something that keeps a mapping from being used, and what to do about it. */
export interface MappingGap {
  field: string
  message: string
  todo: string
}

/** Everything that is missing or contradictory in a mapping of rows such as these; empty where it can be used. */
export function assessMapping(
  mapping: Mapping,
  operation: Operation,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[] = [],
): MappingGap[] {
  const gaps: MappingGap[] = []
  if (!areWholeRequests(mapping, columns, rows)) {
    gaps.push(...findMissing(mapping, operation, columns))
  }
  for (const [field, source] of Object.entries(mapping)) {
    if (source.kind === 'column' && toColumnIndex(columns, source) < 0) {
      gaps.push({
        field,
        message: `${field} is mapped to the column ${JSON.stringify(source.column)}, which this table has not.`,
        todo: 'Choose one of its columns.',
      })
    }
    if (source.kind === 'template') gaps.push(...assessTemplate(field, source.template, columns))
  }
  return gaps
}

/** Where the first rows are whole requests, each of them has, or lacks, what it needs by itself. */
function areWholeRequests(
  mapping: Mapping,
  columns: readonly string[],
  rows: readonly { cells: readonly string[] }[],
): boolean {
  const index = toColumnIndex(columns, mapping[REQUEST_FIELD.name])
  return index >= 0 && rows.every(({ cells }) => (cells[index] ?? '') !== '')
}

function findMissing(mapping: Mapping, operation: Operation, columns: readonly string[]): MappingGap[] {
  const gaps: MappingGap[] = []
  const content = contentFieldsOf(operation)
  const [first, second] = content
  const isContentFilled = content.some((field) => isFilled(mapping, field.name))
  if (first !== undefined && second !== undefined && !isContentFilled && !isFolderColumns(columns)) {
    gaps.push({
      field: first.name,
      message: 'No column holds the content yet.',
      todo:
        first.name === 'text_data'
          ? 'Choose text_data for the column with the text, or url for the one with addresses of images or videos.'
          : `Choose ${first.name} or ${second.name} for the column with the addresses.`,
    })
  }
  for (const field of fieldsFor(operation)) {
    if (field.required === 'always' && !isFilled(mapping, field.name)) {
      gaps.push({
        field: field.name,
        message: `${field.name} is required and has no value yet.`,
        todo: 'Choose the column that holds it, or type one value for all rows.',
      })
    }
  }
  if (operation.kind === 'watchlist-update' && !isFilled(mapping, 'notes')) {
    gaps.push({
      field: 'notes',
      message: 'No column holds the notes, which are all that an update changes.',
      todo:
        operation.emptyNotes === 'clear'
          ? 'Choose it; without one the notes of every term would be cleared.'
          : 'Choose the column that holds them.',
    })
  }
  return gaps
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

function assessTemplate(field: string, template: string, columns: readonly string[]): MappingGap[] {
  const gaps: MappingGap[] = []
  for (const [, name = ''] of template.matchAll(PLACEHOLDER)) {
    const wanted = name.trim()
    if (wanted === 'row' || wanted === 'run' || columns.includes(name) || columns.includes(wanted)) continue
    gaps.push({
      field,
      message: `${field}: there is no column ${JSON.stringify(wanted)} to fill {{${name}}}.`,
      todo: 'Use {{row}}, {{run}} or the name of a column between the braces.',
    })
  }
  const fixed = template.replace(PLACEHOLDER, '')
  if ((field === 'user_id' || field === 'post_id') && FORBIDDEN_ID_CHARACTERS.test(fixed)) {
    gaps.push({
      field,
      message: `${field} must not contain _ or ;, and ${JSON.stringify(template)} does.`,
      todo: 'Use a hyphen instead.',
    })
  }
  if (field === 'post_id' && fixed === template && template !== '') {
    gaps.push({
      field,
      message: 'post_id would be the same on every row.',
      todo: 'Put {{row}} or {{run}}-{{row}} into it, so that each submission has its own.',
    })
  }
  return gaps
}

function isFilled(mapping: Mapping, field: string): boolean {
  const source = mapping[field]
  return source !== undefined && (source.kind === 'column' || source.template !== '')
}

/** Whether the screen has nothing to ask: every column is a field by its exact name, and nothing is missing. */
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
