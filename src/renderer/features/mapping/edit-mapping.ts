import { toColumnIndex, toColumnSource } from '../../../shared/mapping/match-columns.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'

/** The field that a column fills, or null if it is only kept in the export. */
export function fieldOfColumn(mapping: Mapping, columns: readonly string[], index: number): string | null {
  for (const [field, source] of Object.entries(mapping)) {
    if (toColumnIndex(columns, source) === index) return field
  }
  return null
}

/** The mapping in which a column fills `field` and nothing else; null only carries it to the output. */
export function assignColumn(
  mapping: Mapping,
  columns: readonly string[],
  index: number,
  field: string | null,
): Mapping {
  const next: Mapping = {}
  for (const [name, source] of Object.entries(mapping)) {
    if (toColumnIndex(columns, source) !== index) next[name] = source
  }
  if (field === null) return next
  next[field] = toColumnSource(columns, index)
  return next
}

/** The mapping in which a template fills `field`; an empty one takes the field out. */
export function assignTemplate(mapping: Mapping, field: string, template: string): Mapping {
  const next = { ...mapping }
  if (template === '') delete next[field]
  else next[field] = { kind: 'template', template }
  return next
}
