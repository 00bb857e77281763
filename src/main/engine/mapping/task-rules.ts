import { findUnknownPlaceholders } from '../../../shared/mapping/check-mapping.ts'
import { isConstantTemplate, parseTemplate } from '../../../shared/mapping/templates.ts'
import type { MappingMistake } from '../../../shared/messages/mapping-messages.ts'
import type { Mapping, Plan, TaskOperation } from '../../../shared/plan/plan.ts'
import { type Problem, toFound } from '../../../shared/run/problem.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { findModel } from '../../../shared/service/models.ts'
import { FORBIDDEN_ID_CHARACTERS, V1_MAX_MODELS } from '../../../shared/service/request-field.ts'
import { parseModels } from './field-writers.ts'
import { hasMediaFiles, PATH_PLACEHOLDER } from './media-urls.ts'
import { addProblem, checkUrl, type Found, type RowRule } from './row-rules.ts'

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

/** Models that every row would name; those of a column are a matter of each row. */
export function findSurplusModels({ operation }: Plan, mapping: Mapping): MappingMistake[] {
  if (operation.kind !== 'task' || operation.api !== 'v1') return []
  const source = mapping['models']
  const lists = [operation.models]
  if (source?.kind === 'template' && isConstantTemplate(source.template)) {
    lists.push(parseModels(source.template) ?? [])
  }
  const surplus = lists.find((models) => models.length > V1_MAX_MODELS)
  if (surplus === undefined) return []
  return [{ id: 'too_many_models', field: 'models', models: surplus }]
}

/** What is wrong with the template that makes addresses of media files. */
export function findMediaMistakes(plan: Plan, columns: readonly string[]): MappingMistake[] {
  const { media } = plan.source
  if (media?.kind !== 'template' || !hasMediaFiles(plan, columns)) return []
  const { template } = media
  const unknown = findUnknownPlaceholders('media', template, columns, [PATH_PLACEHOLDER])
  const hasPath = parseTemplate(template).some(
    (part) => part.kind === 'placeholder' && part.name.trim() === PATH_PLACEHOLDER,
  )
  if (hasPath) return unknown
  return [...unknown, { id: 'media_path_missing', field: 'media', template }]
}
