import { toColumnIndex, toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { CONTENT_FIELDS } from './user-content.tsx'

/** What a row is about, in the order in which the table shows it. */
const SUBJECT_FIELDS = [...CONTENT_FIELDS, 'custom_index_item_id', 'appeal_id']

/** Indexes of the source's columns that hold what is judged, by the run's mapping. */
export function findContent(plan: Plan | null, names: readonly string[]): number[] {
  if (plan === null) return []
  const mapping = toWholeMapping(plan, names)
  return SUBJECT_FIELDS.map((field) => toColumnIndex(names, mapping[field])).filter((index) => index >= 0)
}
