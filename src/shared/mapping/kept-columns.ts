import type { FieldSource, Mapping } from '../plan/plan.ts'
import { trimName } from './id-text.ts'
import { countOwnColumns, findColumn, findColumnOfName, isNameless, isRenamed } from './match-columns.ts'
import { listColumnsOf } from './templates.ts'

/**
 * The mapping with the names of its numbered columns, for storing it in a plan or under a name: a number
 * alone would mean another column once the source's columns change. Existing names stay.
 */
export function withColumnNames(mapping: Mapping, columns: readonly string[]): Mapping {
  return Object.fromEntries(
    Object.entries(mapping).map(([field, source]) => [field, withColumnName(source, columns)]),
  )
}

function withColumnName(source: FieldSource, columns: readonly string[]): FieldSource {
  if (source.of !== undefined) return source
  const counted = usesNameless(source, columns) ? { of: countOwnColumns(columns) } : {}
  if (source.kind !== 'column' || source.name !== undefined) return { ...source, ...counted }
  if (typeof source.column === 'string' && findColumnOfName(columns, source.column) !== -1) {
    return { ...source, ...counted }
  }
  const index = findColumn(columns, source.column)
  if (index === null) return source
  const name = columns[index] ?? ''
  const others = columns.filter((_, other) => other !== index)
  const isOneOfSeveral = others.some((other) => {
    const base = isRenamed(other, columns) ? other.replace(/ \(\d+\)$/, '') : other
    return trimName(base) === trimName(name)
  })
  return { kind: 'column', column: index + 1, name, ...(isOneOfSeveral && { isOneOfSeveral }), ...counted }
}

/** Whether a source uses a column that has only a number. */
function usesNameless(source: FieldSource, columns: readonly string[]): boolean {
  return listColumnsOf(source, columns).some((index) => isNameless(columns, index))
}
