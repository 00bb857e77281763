import { isFolderColumns } from './folder-columns.ts'
import { fieldsOf, parseFieldName, REQUEST_FIELD } from './operation-fields.ts'
import type { Mapping, Operation } from './plan.ts'
import type { RequestField } from './service/request-field.ts'

/** What an export calls the item that a run added, so that a later run can remove it (interface §4.4). */
const EXPORTED_ITEM_ID = 'sluice_custom_index_item_id'

/** How alike-looking names are compared: without case, spaces, underscores, hyphens and dots. */
export function toComparable(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]+/g, '')
}

/**
 * Maps columns to fields by name: exact wire names first, then names that differ only in case, spaces, underscores or
 * hyphens. `user_metadata.KEY` and the like fill that key. No column fills two fields.
 *
 * A folder's `request` is matched, and its `media`, which is no address, is not; elsewhere it is the other way round,
 * for a column of that name may hold anything. A column named like a field that is not listed for the operation's mode
 * is left alone, see {@link findLeftOutFields}: a source made for the other mode, or the export of an async add, serves as
 * it is.
 */
export function matchColumns(columns: readonly string[], operation: Operation): Mapping {
  const isFolder = isFolderColumns(columns)
  const passedOver = new Set([isFolder ? 'media' : REQUEST_FIELD.name])
  for (const { name } of findUnlistedFields(operation)) passedOver.add(name)
  const mapping: Mapping = {}
  const taken = new Set<string>()
  const take = (field: string, column: string) => {
    mapping[field] = { kind: 'column', column }
    taken.add(column)
  }
  for (const column of columns) {
    if (parseFieldName(column, operation) !== null && !passedOver.has(column)) take(column, column)
  }
  for (const { name } of fieldsOf(operation)) {
    if (Object.hasOwn(mapping, name) || passedOver.has(name)) continue
    const wanted = [
      toComparable(name),
      ...(name === 'custom_index_item_id' ? [toComparable(EXPORTED_ITEM_ID)] : []),
    ]
    const column = columns.find(
      (candidate) => !taken.has(candidate) && wanted.includes(toComparable(candidate)),
    )
    if (column !== undefined) take(name, column)
  }
  return mapping
}

/** The fields of an operation that are listed for its other mode only (interface §2.1, §4.3, §4.4). */
export function findUnlistedFields(operation: Operation): readonly RequestField[] {
  if (!('mode' in operation)) return []
  return fieldsOf(operation).filter(({ mode }) => mode !== 'both' && mode !== operation.mode)
}

/** The fields of the other mode that a column is named like; {@link matchColumns} leaves such a column alone. */
export function findLeftOutFields(columns: readonly string[], operation: Operation): RequestField[] {
  const names = new Set(columns.map(toComparable))
  return findUnlistedFields(operation).filter(({ name }) => names.has(toComparable(name)))
}
