import type { Mapping, Plan } from '../../../shared/plan.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import { findConstantModels, findModelWarning, type PlanWarning } from './model-checks.ts'

/**
 * What is odd about every row alike, said once instead of once a row: nothing fills user_metadata, models that are
 * not listed, fields that v2 does not list. `mapping` is the resolved one.
 */
export function findPlanWarnings(plan: Plan, mapping: Mapping): PlanWarning[] {
  const { operation } = plan
  if (operation.kind !== 'task') return []
  const warnings: PlanWarning[] = []
  if (!fillsUserMetadata(mapping)) {
    warnings.push({
      severity: 'warning',
      code: 'recommended',
      field: 'user_metadata',
      message: 'is recommended on every request, and nothing fills it',
    })
  }
  const models = new Set([...operation.models, ...(findConstantModels(operation, mapping) ?? [])])
  for (const model of models) {
    const warning = findModelWarning(model, operation)
    if (warning !== null) warnings.push(warning)
  }
  if (operation.api === 'v2') {
    for (const { name, v2 } of TASK_FIELDS) {
      const source = mapping[name]
      if (v2 || source === undefined || (source.kind === 'template' && source.template === '')) continue
      warnings.push({
        severity: 'warning',
        code: 'not_for_api',
        field: name,
        message: 'is not among the fields that v2 lists; it is sent as it is',
      })
    }
  }
  return warnings
}

/** Whether any column or template fills user_metadata or a key of it. */
export function fillsUserMetadata(mapping: Mapping): boolean {
  return Object.entries(mapping).some(
    ([field, source]) =>
      (field === 'user_metadata' || field.startsWith('user_metadata.')) &&
      !(source.kind === 'template' && source.template === ''),
  )
}
