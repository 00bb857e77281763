import type { Plan } from '../../../shared/plan.ts'
import type { Problem } from '../../../shared/problem.ts'
import { findConstantModels } from './model-checks.ts'
import { fillsUserMetadata } from './plan-warnings.ts'
import {
  checkGroup,
  checkIds,
  checkMetadata,
  checkUserMetadata,
  createContentRule,
  createModelsRule,
  createModeRule,
  type Found,
  type TaskBody,
} from './task-rules.ts'

/** Finds everything that is wrong with the body of one row; the same empty list where nothing is. */
export type ValidateTask = (row: number, body: TaskBody) => readonly Problem[]

const NO_PROBLEMS: readonly Problem[] = Object.freeze([])

/**
 * Compiles the rules of interface §2.1, §4.1 and §8 for a plan whose mapping is resolved. Whether post_id is unique
 * within the source is for the journal to say; what holds for every row alike is in `findPlanWarnings`.
 */
export function createTaskValidator(plan: Plan): ValidateTask {
  const { operation, mapping } = plan
  if (operation.kind !== 'task') return () => NO_PROBLEMS
  const rules = [
    createContentRule(operation),
    checkIds,
    checkGroup,
    createModeRule(operation),
    checkMetadata,
    createModelsRule(operation, findConstantModels(operation, mapping) !== null),
    ...(fillsUserMetadata(mapping) ? [checkUserMetadata] : []),
  ]
  return (row, body) => {
    let found: Found = null
    for (const check of rules) found = check(found, row, body)
    return found ?? NO_PROBLEMS
  }
}
