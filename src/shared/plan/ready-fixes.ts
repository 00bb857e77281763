import { findLostId } from '../mapping/changed-ids.ts'
import { COMPARED_FIELDS, ID_TEXT_FIELDS } from '../mapping/id-text.ts'
import type { ProblemGroup } from '../run/problem.ts'
import type { Fix } from './fixes.ts'

/** A complete fix, with its effect in a few words. */
export interface ReadyFix {
  label: string
  fix: Fix
}

/** Fixes for the rows of a group of problems, except those that leave rows out. */
export function listReadyFixes({ code, field, args, examples }: ProblemGroup): ReadyFix[] {
  // If all rows have the same cause, the mapping must be corrected instead.
  if (examples.length === 0) return []
  if (
    code === 'forbidden_character' &&
    args?.['of'] === 'id' &&
    (field === 'user_id' || field === 'post_id')
  ) {
    return [{ label: 'Replace _ and ; reversibly', fix: { kind: 'substitute', field } }]
  }
  if (code === 'invisible_characters' && isOneOf(COMPARED_FIELDS, field)) {
    return [{ label: 'Trim and remove invisible characters', fix: { kind: 'trim', field } }]
  }
  if (code === 'fraction_in_id' && isOneOf(ID_TEXT_FIELDS, field)) {
    return [{ label: 'Remove .0', fix: { kind: 'drop_fraction', field } }]
  }
  if (code === 'surplus_cells' && typeof args?.['cells'] === 'number' && args['into'] !== undefined) {
    const fix: Fix = { kind: 'join_cells', from: args['cells'], with: String(args['delimiter']) }
    return [{ label: 'Join into the last column', fix }]
  }
  // Rows with neither content have the same problem code, but each needs an edit of its own.
  if (code !== 'one_of' || !examples.some(({ found }) => found === 'both')) return []
  const keep = (kept: string, dropped: string): ReadyFix => ({
    label: `Send ${kept} only`,
    fix: { kind: 'value', problem: 'one_of', field: dropped, value: '' },
  })
  return [
    { label: 'Split into two rows', fix: { kind: 'split' } },
    keep('text_data', 'url'),
    keep('url', 'text_data'),
  ]
}

/** The fix that leaves out the rows of a group of problems; none if only all rows together show it. */
export function listLeaveOut({ code, field, args, examples }: ProblemGroup): ReadyFix[] {
  const isFoundByRow =
    code !== 'unfit_fix' &&
    (code !== 'lost_id' ||
      args?.['as'] === 'missing' ||
      examples.some(({ found = '' }) => findLostId(found) === args?.['as']))
  if (examples.length === 0 || !isFoundByRow) return []
  const fix: Fix = { kind: 'leave_out', problem: code, ...(field !== null && { field }) }
  return [{ label: 'Leave these rows out', fix }]
}

function isOneOf<Name extends string>(names: readonly Name[], name: string | null): name is Name {
  return names.some((one) => one === name)
}
