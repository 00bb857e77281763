import { toColumnIndex, toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'

/** What a row is about, in the order in which the table shows it. */
const SUBJECT_FIELDS = [
  ...['text_data', 'url', 'media', 'term', REQUEST_FIELD.name],
  ...['custom_index_item_id', 'appeal_id'],
]

/** Indexes of the source's columns that hold what is judged, by the run's mapping. */
export function findContent(plan: Plan | null, names: readonly string[]): number[] {
  if (plan === null) return []
  const mapping = toWholeMapping(plan, names)
  return SUBJECT_FIELDS.map((field) => toColumnIndex(names, mapping[field])).filter((index) => index >= 0)
}
