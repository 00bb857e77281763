import { fieldsOf, type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import { listLeaveOut, listReadyFixes, type ReadyFix } from '../../../shared/plan/ready-fixes.ts'
import type { ProblemCode, ProblemGroup } from '../../../shared/run/problem.ts'

/** What can be done in place about the problems of one cause. */
export interface GroupFixes {
  /** Applied with one press. */
  offered: ReadyFix[]
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
  const canSplit = operation.kind === 'task' && operation.api === 'v1' && !isLoad
  const ready = listReadyFixes(group).filter(({ fix }) => canSplit || fix.kind !== 'split')
  return {
    offered: [...ready, ...listLeaveOut(group)],
    valueField: isKnown && OF_A_VALUE.has(code) ? field : null,
    editFields: isKnown ? [field] : code === 'one_of' ? listContentFields(operation) : [],
  }
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
