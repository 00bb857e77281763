import type { TaskOperation } from '../../../shared/plan/plan.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { FORBIDDEN_ID_CHARACTERS, V1_MAX_MODELS } from '../../../shared/service/request-field.ts'
import { addProblem, type Found, type RowRule } from './found-problems.ts'
import { findModelWarning } from './model-checks.ts'
import { checkUrl } from './url-rule.ts'

/** The body of one row, as the mapper made it. */
type TaskBody = Readonly<Record<string, unknown>>

/** Exactly one of text_data and url; v2 does not say so, and takes both. */
export function createContentRule(operation: TaskOperation): RowRule {
  const isV1 = operation.api === 'v1'
  const message = isV1 ? 'must have exactly one of text_data and url' : 'must have text_data or url'
  return (found, row, { text_data: text, url }) => {
    let all = found
    if (text === undefined && url === undefined) {
      all = addProblem(all, row, 'error', 'one_of', null, message, 'neither')
    } else if (isV1 && text !== undefined && url !== undefined) {
      all = addProblem(all, row, 'error', 'one_of', null, message, 'both')
    }
    return checkUrl(all, row, 'url', url)
  }
}

/** user_id and post_id: there, and without `_` and `;`. */
export function checkIds(found: Found, row: number, body: TaskBody): Found {
  return checkId(checkId(found, row, 'user_id', body['user_id']), row, 'post_id', body['post_id'])
}

function checkId(found: Found, row: number, field: string, id: unknown): Found {
  if (id === undefined || id === '') {
    return addProblem(found, row, 'error', 'required', field, 'is required, and is empty')
  }
  // A value of another type, which only a whole request can bring, has a rule of its own.
  if (typeof id !== 'string' || !FORBIDDEN_ID_CHARACTERS.test(id)) return found
  return addProblem(found, row, 'error', 'forbidden_character', field, 'must not contain `_` or `;`', id)
}

/** group_id is neither the post_id nor the parent_id. */
export function checkGroup(found: Found, row: number, body: TaskBody): Found {
  const group = body['group_id']
  if (group === undefined) return found
  let all = found
  for (const field of ['post_id', 'parent_id']) {
    if (group !== body[field]) continue
    all = addProblem(all, row, 'error', 'not_distinct', 'group_id', `must differ from ${field}`, group)
  }
  return all
}

/** Metadata are JSON objects (docs/interface.md §2.1, §4.3). */
export function createMetadataRule(fields: readonly string[]): RowRule {
  return (found, row, body) => {
    let all = found
    for (const field of fields) {
      const metadata = body[field]
      if (metadata === undefined || isJsonObject(metadata)) continue
      all = addProblem(all, row, 'error', 'not_json_object', field, 'must be a JSON object', metadata)
    }
    return all
  }
}

/** Warns of a row without the user_metadata that other rows have. */
export function checkUserMetadata(found: Found, row: number, body: TaskBody): Found {
  if (body['user_metadata'] !== undefined) return found
  const message = 'is recommended on every request, and is empty'
  return addProblem(found, row, 'warning', 'recommended', 'user_metadata', message)
}

/** At most one model in v1; warns of models that are not listed, except the plan's own, which are warned of once. */
export function createModelsRule(operation: TaskOperation, areConstant: boolean): RowRule {
  const isV1 = operation.api === 'v1'
  return (found, row, { models }) => {
    if (!Array.isArray(models)) return found
    let all = found
    if (isV1 && models.length > V1_MAX_MODELS) {
      const message = 'must name at most one model in v1'
      all = addProblem(all, row, 'error', 'too_many_models', 'models', message, models.join(', '))
    }
    if (areConstant || models === operation.models) return all
    for (const model of models) {
      const warning = findModelWarning(String(model), operation)
      if (warning !== null)
        all = addProblem(all, row, 'warning', warning.code, 'models', warning.message, model)
    }
    return all
  }
}
