import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { trimName } from '../../../shared/mapping/id-text.ts'
import {
  countOwnColumns,
  findColumn,
  hasLoneHeader,
  isNameless,
} from '../../../shared/mapping/match-columns.ts'
import { mayBeRows, nameRowsInKey, toJqFilter } from '../../../shared/mapping/rows-in-key.ts'
import { findShadowing, listColumnsOf } from '../../../shared/mapping/templates.ts'
import type { PlanWarning } from '../../../shared/messages/problem-messages.ts'
import {
  emptyNotesOf,
  fieldsOf,
  type Operation,
  REQUEST_FIELD,
  type TaskOperation,
} from '../../../shared/operations/operations.ts'
import { DEFAULT_POST_ID } from '../../../shared/operations/task.ts'
import type { FieldSource, Mapping, Plan } from '../../../shared/plan/plan.ts'
import { isJsonLinesExport } from '../../../shared/run/export-columns.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { mayDoubtHeader } from '../source/header-doubt.ts'
import type { SourceReader } from '../source/source-reader.ts'
import { findFilledBy } from './left-out-content.ts'
import { fillsUserMetadata, findConstantModels, findModelWarning } from './validate-row.ts'

/** Oddities of every row, reported once. `mapping` is resolved; `header` has the source's column names. */
export function findPlanWarnings(
  { operation, mapping: stated }: Plan,
  mapping: Mapping,
  columns: readonly string[],
  header: readonly string[] | null = null,
): PlanWarning[] {
  const ofAll = [...findShadowed(stated, columns), ...findDoubledColumns(mapping, columns, header ?? [])]
  if (operation.kind === 'task') return [...findTaskWarnings(operation, mapping), ...ofAll]
  return [...findUpdateWarnings(operation, mapping), ...ofAll]
}

/**
 * Fields that a kept mapping fills by the number of an unnamed column although the source then had another
 * number of columns: the numbers may mean others now. Rows can be longer than the first ones, so columns are
 * counted `atFirst`; `columns` are those of all rows.
 */
export function findMovedColumns(
  mapping: Mapping,
  { columns, header, columnsOfSome = [] }: Pick<SourceReader, 'columns' | 'header' | 'columnsOfSome'>,
  atFirst: readonly string[],
): PlanWarning[] {
  const [least, most] = [countOwnColumns(atFirst), countOwnColumns(columns)]
  const wider = header === null ? columnsOfSome[0]?.file : undefined
  return Object.entries(mapping).flatMap(([field, source]): PlanWarning[] => {
    const { of: was } = source
    const isOther = was !== undefined && (was < least || was > most)
    if (!isOther && wider === undefined) return []
    const column = findNamelessColumn(source, columns, header)
    if (column === null) return []
    const args = isOther ? { column, was, now: most } : { column, wider: wider ?? '' }
    return [{ severity: 'warning', code: 'moved_columns', field, args }]
  })
}

/** The number of the first column without a name that fills a field, from 1; null if there is none. */
export function findNamelessColumn(
  source: FieldSource | undefined,
  columns: readonly string[],
  header: readonly string[] | null,
): number | null {
  const isMeant = (index: number) =>
    isNameless(columns, index) && (header === null || (header[index] ?? '').trim() === '')
  const found = listColumnsOf(source, columns).find(isMeant)
  return found === undefined ? null : found + 1
}

/**
 * The name of a table's only column, unless a field has that name or somebody said that it is one: a list of
 * terms or texts often has no header, and its first entry would be lost.
 */
export function findLoneHeader(
  { source, operation }: Plan,
  { format, header, likelyHeaderRow = null }: Pick<SourceReader, 'format' | 'header' | 'likelyHeaderRow'>,
): PlanWarning[] {
  if (header === null || !hasLoneHeader(header, format, operation)) return []
  if (!mayDoubtHeader(source, likelyHeaderRow)) return []
  const found = toFound(header[0] ?? '')
  return [{ severity: 'warning', code: 'header_like_data', args: { by: 'only_name' }, found }]
}

/**
 * Unused arrays of objects that may be the rows: those of a source that is one object, and those with texts.
 * Nothing if a person stated what fills the content, or a column is named like a text, which is as good as
 * stated; a `url` may be the address of a page of rows.
 */
export function findRowsInKeys(
  plan: Plan,
  mapping: Mapping,
  { columns, rowsInKeys = [] }: Pick<SourceReader, 'columns' | 'rowsInKeys'>,
  rows: number,
): (PlanWarning & { rows: number })[] {
  const { operation } = plan
  const content = fieldsOf(operation).filter(({ required }) =>
    operation.kind === 'task' ? required === 'content' : required !== 'never',
  )
  if (!isEmpty(mapping[REQUEST_FIELD.name])) return []
  const isSure = (name: string) => {
    const how = findFilledBy(plan, name)
    return !isEmpty(mapping[name]) && (how === null || (how === 'name' && name !== 'url'))
  }
  if (content.some(({ name }) => isSure(name))) return []
  const [kept] = content.flatMap(({ name }) => {
    const source = mapping[name]
    return source?.kind === 'column' ? [`${name}=${source.column}`] : []
  })
  const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
  return rowsInKeys.flatMap((found): (PlanWarning & { rows: number })[] => {
    const isUsed =
      used.has(columns.indexOf(nameRowsInKey(found))) || used.has(columns.indexOf(found.path[0] ?? ''))
    const isOwn = isJsonLinesExport(columns) && found.path[0] !== 'cells'
    if (isUsed || isOwn || !mayBeRows(found, rows)) return []
    const { objects } = found
    const args = { key: nameRowsInKey(found), objects, filter: toJqFilter(found), kept: kept ?? null }
    return [{ severity: 'warning', code: 'rows_in_key', args, rows: found.rows ?? 1 }]
  })
}

/**
 * A name shared by several columns means the first, which may not be the intended one. Names that differ only
 * invisibly are the same to a person.
 */
function findDoubledColumns(
  mapping: Mapping,
  columns: readonly string[],
  header: readonly string[],
): PlanWarning[] {
  return Object.entries(mapping).flatMap(([field, source]) => {
    return listNamed(source, columns).flatMap(({ used, name }): PlanWarning[] => {
      const numbers = listSameNamed(used, name, header)
      if (numbers.length === 1) return []
      return [{ severity: 'warning', code: 'ambiguous_column', args: { columns: numbers }, field }]
    })
  })
}

/** The numbers of the columns with one name, the used one first. */
export function listSameNamed(used: number, name: string, header: readonly string[]): number[] {
  const looks = trimName(name)
  const others = header.flatMap((own, index) =>
    index !== used && trimName(own) === looks ? [index + 1] : [],
  )
  return [used + 1, ...others]
}

/** The columns that a source names, each once: its own, or those of the placeholders of its template. */
function listNamed(source: FieldSource, columns: readonly string[]): { used: number; name: string }[] {
  if (source.kind === 'template') {
    const indexes = new Set(listColumnsOf(source, columns))
    return [...indexes].map((used) => ({ used, name: columns[used] ?? '' }))
  }
  // A number is unambiguous, unless it was kept for a source with one column of that name.
  const name = typeof source.column === 'string' ? source.column : source.name
  const used = findColumn(columns, source.column)
  return name === undefined || source.isOneOfSeveral || used === null ? [] : [{ used, name }]
}

/** A column `row` or `run` is not what `{{row}}` or `{{run}}` means; the default post_id means no column. */
function findShadowed(stated: Mapping, columns: readonly string[]): PlanWarning[] {
  return Object.entries(stated).flatMap(([field, source]) => {
    if (source.kind !== 'template' || source.template === DEFAULT_POST_ID.template) return []
    return findShadowing(source.template, columns).map((name): PlanWarning => {
      return { severity: 'warning', field, code: 'shadowed_column', args: { name } }
    })
  })
}

function findUpdateWarnings(operation: Operation, mapping: Mapping): PlanWarning[] {
  if (emptyNotesOf(operation) !== 'keep') return []
  if (!isEmpty(mapping['notes']) || !isEmpty(mapping['request'])) return []
  return [{ severity: 'warning', code: 'recommended', args: { lack: 'all_that_changes' }, field: 'notes' }]
}

function findTaskWarnings(operation: TaskOperation, mapping: Mapping): PlanWarning[] {
  const warnings: PlanWarning[] = []
  if (!fillsUserMetadata(mapping)) {
    const cause = { code: 'recommended', args: { lack: 'source' } } as const
    warnings.push({ severity: 'warning', field: 'user_metadata', ...cause })
  }
  if (isEmpty(mapping['user_id']) && !isEmpty(mapping['request'])) {
    const cause = { code: 'recommended', args: { lack: 'only_requests' } } as const
    warnings.push({ severity: 'warning', field: 'user_id', ...cause })
  }
  for (const model of new Set(findConstantModels(operation, mapping))) {
    const warning = findModelWarning(model, operation)
    if (warning !== null) warnings.push(warning)
  }
  return warnings
}
