import { COMPARED_FIELDS, ID_TEXT_FIELDS } from '../../../shared/mapping/id-text.ts'
import { fieldsOf, type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Fix } from '../../../shared/plan/fixes.ts'
import type { ProblemCode, ProblemGroup } from '../../../shared/run/problem.ts'

/** A fix that a person applies with one press. */
interface OfferedFix {
  label: string
  fix: Fix
}

/** What can be done in place about the problems of one cause. */
export interface GroupFixes {
  offered: OfferedFix[]
  /** The field that one value can be set for in all these rows; null where that would not help. */
  valueField: string | null
  /** The fields that can be edited in one of the rows; none where what is wrong is not in a field. */
  editFields: string[]
}

/** Problems of a value, which another value for all rows may mend. */
const OF_A_VALUE: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'required',
  'forbidden_character',
  'invisible_characters',
  'quotes_in_id',
  'lost_id',
  'not_distinct',
  'not_json_object',
  'not_a_url',
  'wrong_type',
  'error_cell',
  'too_long',
  'too_many_models',
  'unknown_model',
  'model_not_listed',
  'not_for_mode',
  'recommended',
  'empty',
])

/** The fixes for a group of problems. A cause that all rows have alike, without examples, is mended in the mapping. */
export function listGroupFixes(group: ProblemGroup, operation: Operation, isLoad: boolean): GroupFixes {
  if (group.examples.length === 0) return { offered: [], valueField: null, editFields: [] }
  const { code, field } = group
  const names = listEditable(operation)
  const isKnown = field !== null && names.includes(field)
  const leaveOut: OfferedFix = {
    label: 'Leave these rows out',
    fix: { kind: 'leave_out', problem: code, ...(field !== null && { field }) },
  }
  return {
    offered: [...listReady(group, operation, isLoad), leaveOut],
    valueField: isKnown && OF_A_VALUE.has(code) ? field : null,
    editFields: isKnown ? [field] : code === 'one_of' ? listContentFields(operation) : [],
  }
}

function listReady(group: ProblemGroup, operation: Operation, isLoad: boolean): OfferedFix[] {
  const { code, field, args } = group
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
  if (code === 'surplus_cells' && typeof args?.['cells'] === 'number') {
    const fix: Fix = { kind: 'join_cells', from: args['cells'], with: String(args['delimiter']) }
    return [{ label: 'Join into the last column', fix }]
  }
  // The same cause is that of rows with neither content, which need an edit each.
  if (code !== 'one_of' || !group.examples.some(({ found }) => found === 'both')) return []
  const canSplit = operation.kind === 'task' && operation.api === 'v1' && !isLoad
  const keep = (kept: string, dropped: string): OfferedFix => ({
    label: `Send ${kept} only`,
    fix: { kind: 'value', problem: 'one_of', field: dropped, value: '' },
  })
  return [
    ...(canSplit ? [{ label: 'Split into two rows', fix: { kind: 'split' } } satisfies OfferedFix] : []),
    keep('text_data', 'url'),
    keep('url', 'text_data'),
  ]
}

function isOneOf<Name extends string>(names: readonly Name[], name: string | null): name is Name {
  return names.some((one) => one === name)
}

/** The fields whose value in one row can be edited; a whole request is mended in the file. */
export function listEditable(operation: Operation): string[] {
  return fieldsOf(operation)
    .filter((field) => field !== REQUEST_FIELD)
    .map(({ name }) => name)
}

function listContentFields(operation: Operation): string[] {
  return fieldsOf(operation)
    .filter(({ required }) => required === 'content')
    .map(({ name }) => name)
}
