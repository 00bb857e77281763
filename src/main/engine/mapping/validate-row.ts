import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import type { Mapping, Operation, Plan } from '../../../shared/plan/plan.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import { fillsUserMetadata } from './plan-warnings.ts'
import {
  checkAppealId,
  checkBlank,
  checkCallbackUrl,
  checkIndexMedia,
  checkLengths,
  createModeRule,
  createRequestRule,
  createRequiredRule,
  type Found,
  type RowRule,
} from './row-rules.ts'
import {
  checkGroup,
  checkIds,
  checkUserMetadata,
  createContentRule,
  createMetadataRule,
  createModelsRule,
  findConstantModels,
} from './task-rules.ts'

/** Finds everything that is wrong with the body of one row; the same empty list where nothing is. */
export type ValidateRow = (row: number, body: Readonly<Record<string, unknown>>) => readonly Problem[]

const NO_PROBLEMS: readonly Problem[] = Object.freeze([])

/**
 * Compiles the rules of docs/interface.md §2, §4 and §8 for a plan whose mapping is resolved. Whether a post_id or a
 * term is unique within the source is for the journal to say; what holds for every row alike is in `findPlanWarnings`.
 */
export function createRowValidator({ operation, mapping }: Plan): ValidateRow {
  const rules = createRules(operation, mapping)
  if (!isEmpty(mapping['request'])) {
    const checkMode = createModeRule(operation, mapping)
    rules.push(createRequestRule(operation), ...(checkMode === null ? [] : [checkMode]))
  }
  return (row, body) => {
    let found: Found = null
    for (const check of rules) found = check(found, row, body)
    return found ?? NO_PROBLEMS
  }
}

function createRules(operation: Operation, mapping: Mapping): RowRule[] {
  switch (operation.kind) {
    case 'task':
      return [
        createContentRule(operation),
        checkIds,
        checkGroup,
        checkCallbackUrl,
        createMetadataRule(['content_metadata', 'user_metadata']),
        createModelsRule(operation, findConstantModels(operation, mapping) !== null),
        ...(fillsUserMetadata(mapping) ? [checkUserMetadata] : []),
      ]
    case 'index-add':
      return [checkIndexMedia, createMetadataRule(['metadata']), checkCallbackUrl]
    case 'index-remove':
      return [createRequiredRule('custom_index_item_id'), checkCallbackUrl]
    case 'watchlist-add':
    case 'watchlist-update':
      return [createRequiredRule('term'), checkBlank, checkLengths]
    case 'appeal-status':
      return [createRequiredRule('appeal_id'), checkAppealId]
  }
}
