import type { Plan } from '../../../shared/plan.ts'

const CONTENT_FIELDS = ['text_data', 'url', 'media', 'term', 'custom_index_item_id', 'appeal_id']

/** Indexes of the source's columns that hold what is judged, by the run's mapping. */
export function findContent(plan: Plan | null, names: readonly string[]): number[] {
  const indexes = CONTENT_FIELDS.map((field) => {
    const source = plan?.mapping[field]
    if (source?.kind !== 'column') return -1
    return typeof source.column === 'string' ? names.indexOf(source.column) : source.column - 1
  })
  return indexes.filter((index) => index >= 0)
}
