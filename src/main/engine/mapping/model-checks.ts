import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import type { Mapping, TaskOperation } from '../../../shared/plan/plan.ts'
import { type Problem, toFound } from '../../../shared/run/problem.ts'
import { findModel } from '../../../shared/service/models.ts'
import { parseModels } from './models-cell.ts'

/** A problem of a whole plan instead of one row. */
export type PlanWarning = Omit<Problem, 'row'>

/**
 * What is odd about a model (docs/interface.md §4.1): warnings, because a deployment may know more than the interface
 * lists. In v2 an unlisted name may be a custom index, so nothing is said.
 */
export function findModelWarning(model: string, operation: TaskOperation): PlanWarning | null {
  const known = findModel(model)
  if (known === null) {
    if (operation.api === 'v2') return null
    return {
      severity: 'warning',
      code: 'unknown_model',
      field: 'models',
      message: 'must be a listed model; a custom index takes v2',
      found: toFound(model),
    }
  }
  if (known[operation.mode]) return null
  return {
    severity: 'warning',
    code: 'model_not_listed',
    field: 'models',
    message: `must be a model that is listed for ${operation.mode}`,
    found: toFound(model),
  }
}

/** The models that every row names alike, or null where a column decides. */
export function findConstantModels(operation: TaskOperation, mapping: Mapping): readonly string[] | null {
  const source = mapping['models']
  if (source === undefined) return operation.models
  if (source.kind === 'column' || !isConstantTemplate(source.template)) return null
  const models = parseModels(source.template) ?? []
  return models.length > 0 ? models : operation.models
}
