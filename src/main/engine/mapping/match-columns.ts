import type { Mapping } from '../../../shared/plan.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import { toComparable } from './column-lookup.ts'
import { parseFieldName } from './field-names.ts'

/**
 * Maps columns to fields by name: exact wire names first, then names that differ only in case, spaces, underscores or
 * hyphens. `user_metadata.KEY` and `content_metadata.KEY` fill that key. No column fills two fields.
 */
export function matchColumns(columns: readonly string[]): Mapping {
  const mapping: Mapping = {}
  const taken = new Set<string>()
  const take = (field: string, column: string) => {
    mapping[field] = { kind: 'column', column }
    taken.add(column)
  }
  for (const column of columns) {
    if (parseFieldName(column) !== null) take(column, column)
  }
  for (const { name } of TASK_FIELDS) {
    if (Object.hasOwn(mapping, name)) continue
    const wanted = toComparable(name)
    const column = columns.find((candidate) => !taken.has(candidate) && toComparable(candidate) === wanted)
    if (column !== undefined) take(name, column)
  }
  return mapping
}
