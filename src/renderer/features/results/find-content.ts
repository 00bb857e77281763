import { matchColumns, toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'

const CONTENT_FIELDS = ['text_data', 'url', 'media', 'term', 'custom_index_item_id', 'appeal_id']

/** Indexes of the source's columns that hold what is judged, by the run's mapping. */
export function findContent(plan: Plan | null, names: readonly string[]): number[] {
  const mapping = toWholeMapping(plan, names)
  return CONTENT_FIELDS.map((field) => toColumnIndex(names, mapping[field])).filter((index) => index >= 0)
}

/** A run's mapping with the columns that are matched by name. */
export function toWholeMapping(plan: Plan | null, names: readonly string[]): Mapping {
  return plan === null ? {} : { ...matchColumns(names, plan.operation), ...plan.mapping }
}
