import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { trimName } from '../../../shared/mapping/id-text.ts'
import { findColumn, findLeftOutFields, findUnlistedFields } from '../../../shared/mapping/match-columns.ts'
import type { PlanWarning } from '../../../shared/messages/problem-messages.ts'
import { emptyNotesOf, type Operation, type TaskOperation } from '../../../shared/operations/operations.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import { fillsUserMetadata, findConstantModels, findModelWarning } from './validate-row.ts'

/**
 * What would be odd about every row, said once for all of them. `mapping` is the resolved one, `header` has the names
 * of the columns as they are in the source.
 */
export function findPlanWarnings(
  { operation }: Plan,
  mapping: Mapping,
  columns: readonly string[],
  header: readonly string[] | null = null,
): PlanWarning[] {
  const ofAll = [
    ...findModeWarnings(operation, mapping, columns),
    ...findDoubledColumns(mapping, columns, header ?? []),
  ]
  if (operation.kind === 'task') return [...findTaskWarnings(operation, mapping), ...ofAll]
  return [...findUpdateWarnings(operation, mapping), ...ofAll]
}

/**
 * A name that several columns have means the first of them, which may not be the one that was meant. Names that differ
 * only in what nobody sees are one to a person.
 */
function findDoubledColumns(
  mapping: Mapping,
  columns: readonly string[],
  header: readonly string[],
): PlanWarning[] {
  return Object.entries(mapping).flatMap(([field, source]) => {
    if (source.kind !== 'column' || typeof source.column !== 'string') return []
    const used = findColumn(columns, source.column)
    const looks = trimName(source.column)
    const others = header.flatMap((name, index) =>
      index !== used && trimName(name) === looks ? [index + 1] : [],
    )
    if (used === null || others.length === 0) return []
    const args = { columns: [used + 1, ...others] }
    return [{ severity: 'warning', code: 'ambiguous_column', args, field }]
  })
}

/** Fields of the other mode: a column that is only named like one is left out, one that is mapped goes out. */
function findModeWarnings(operation: Operation, mapping: Mapping, columns: readonly string[]): PlanWarning[] {
  const mapped = findUnlistedFields(operation).filter(({ name }) => !isEmpty(mapping[name]))
  const leftOut = findLeftOutFields(columns, operation).filter(({ name }) => mapping[name] === undefined)
  return [
    ...mapped.map((field) => toModeWarning(field, true)),
    ...leftOut.map((field) => toModeWarning(field, false)),
  ]
}

function toModeWarning({ name, mode }: RequestField, isSent: boolean): PlanWarning {
  return { severity: 'warning', code: 'not_for_mode', args: { mode, isSent }, field: name }
}

function findUpdateWarnings(operation: Operation, mapping: Mapping): PlanWarning[] {
  if (emptyNotesOf(operation) !== 'keep') return []
  if (!isEmpty(mapping['notes']) || !isEmpty(mapping['request'])) return []
  return [{ severity: 'warning', code: 'recommended', args: { lack: 'all_that_changes' }, field: 'notes' }]
}

function findTaskWarnings(operation: TaskOperation, mapping: Mapping): PlanWarning[] {
  const warnings: PlanWarning[] = []
  if (!fillsUserMetadata(mapping)) {
    const cause = { code: 'recommended', args: { lack: 'source' } } as const
    warnings.push({ severity: 'warning', field: 'user_metadata', ...cause })
  }
  if (isEmpty(mapping['user_id']) && !isEmpty(mapping['request'])) {
    const cause = { code: 'recommended', args: { lack: 'only_requests' } } as const
    warnings.push({ severity: 'warning', field: 'user_id', ...cause })
  }
  const models = new Set([...operation.models, ...(findConstantModels(operation, mapping) ?? [])])
  for (const model of models) {
    const warning = findModelWarning(model, operation)
    if (warning !== null) warnings.push(warning)
  }
  if (operation.api === 'v2') {
    for (const { name, v2 } of TASK_FIELDS) {
      if (v2 || isEmpty(mapping[name])) continue
      warnings.push({ severity: 'warning', code: 'not_for_api', args: { api: 'v2' }, field: name })
    }
  }
  return warnings
}
