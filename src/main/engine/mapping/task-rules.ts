import type { TaskOperation } from '../../../shared/plan.ts'
import { type Problem, type ProblemCode, type Severity, toFound } from '../../../shared/problem.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { FORBIDDEN_ID_CHARACTERS, V1_MAX_MODELS } from '../../../shared/service/limits.ts'
import { findModelWarning } from './model-checks.ts'

/** The body of one row, as the mapper made it. */
export type TaskBody = Readonly<Record<string, unknown>>

/** Problems of one row found so far; null for none, so that rows without any cost no list. */
export type Found = Problem[] | null

/** One rule: adds what it finds to what was found before. */
export type TaskRule = (found: Found, row: number, body: TaskBody) => Found

function add(
  found: Found,
  row: number,
  severity: Severity,
  code: ProblemCode,
  field: string | null,
  message: string,
  value?: unknown,
): Problem[] {
  const problem: Problem = { row, severity, code, message }
  if (field !== null) problem.field = field
  if (value !== undefined) problem.found = toFound(toText(value))
  if (found === null) return [problem]
  found.push(problem)
  return found
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

/** Exactly one of text_data and url; v2 does not say so, and takes both. */
export function createContentRule(operation: TaskOperation): TaskRule {
  const isV1 = operation.api === 'v1'
  const message = isV1 ? 'must have exactly one of text_data and url' : 'must have text_data or url'
  return (found, row, { text_data: text, url }) => {
    let all = found
    if (text === undefined && url === undefined) {
      all = add(all, row, 'error', 'one_of', null, message, 'neither')
    } else if (isV1 && text !== undefined && url !== undefined) {
      all = add(all, row, 'error', 'one_of', null, message, 'both')
    }
    return url === undefined || isHttpUrl(url)
      ? all
      : add(all, row, 'error', 'not_a_url', 'url', URL_MESSAGE, url)
  }
}

/** user_id and post_id: there, and without `_` and `;`. */
export function checkIds(found: Found, row: number, body: TaskBody): Found {
  return checkId(checkId(found, row, 'user_id', body['user_id']), row, 'post_id', body['post_id'])
}

function checkId(found: Found, row: number, field: string, id: unknown): Found {
  if (typeof id !== 'string' || id === '') {
    return add(found, row, 'error', 'required', field, 'is required, and is empty')
  }
  if (!FORBIDDEN_ID_CHARACTERS.test(id)) return found
  return add(found, row, 'error', 'forbidden_character', field, 'must not contain `_` or `;`', id)
}

/** group_id is neither the post_id nor the parent_id. */
export function checkGroup(found: Found, row: number, body: TaskBody): Found {
  const group = body['group_id']
  if (group === undefined) return found
  let all = found
  for (const field of ['post_id', 'parent_id']) {
    if (group !== body[field]) continue
    all = add(all, row, 'error', 'not_distinct', 'group_id', `must differ from ${field}`, group)
  }
  return all
}

/** conversation_id is listed for sync only, callback_url for async only. */
export function createModeRule(operation: TaskOperation): TaskRule {
  if (operation.mode === 'async') {
    const message = 'must be empty in async; it is listed for sync only'
    return (found, row, { conversation_id: conversation, callback_url: url }) => {
      const all =
        conversation === undefined
          ? found
          : add(found, row, 'error', 'not_for_mode', 'conversation_id', message, conversation)
      return url === undefined || isHttpUrl(url)
        ? all
        : add(all, row, 'error', 'not_a_url', 'callback_url', URL_MESSAGE, url)
    }
  }
  const message = 'must be empty in sync; it is listed for async only'
  return (found, row, { callback_url: url }) =>
    url === undefined ? found : add(found, row, 'error', 'not_for_mode', 'callback_url', message, url)
}

/** Metadata are JSON objects. */
export function checkMetadata(found: Found, row: number, body: TaskBody): Found {
  let all = found
  for (const field of ['content_metadata', 'user_metadata']) {
    const metadata = body[field]
    if (metadata === undefined || isJsonObject(metadata)) continue
    all = add(all, row, 'error', 'not_json_object', field, 'must be a JSON object', metadata)
  }
  return all
}

/** Warns of a row without the user_metadata that other rows have. */
export function checkUserMetadata(found: Found, row: number, body: TaskBody): Found {
  if (body['user_metadata'] !== undefined) return found
  const message = 'is recommended on every request, and is empty'
  return add(found, row, 'warning', 'recommended', 'user_metadata', message)
}

/** At most one model in v1; warns of models that are not listed, but for the plan's own, which are warned of once. */
export function createModelsRule(operation: TaskOperation, areConstant: boolean): TaskRule {
  const isV1 = operation.api === 'v1'
  return (found, row, { models }) => {
    if (!Array.isArray(models)) return found
    let all = found
    if (isV1 && models.length > V1_MAX_MODELS) {
      const message = 'must name at most one model in v1'
      all = add(all, row, 'error', 'too_many_models', 'models', message, models.join(', '))
    }
    if (areConstant || models === operation.models) return all
    for (const model of models) {
      const warning = findModelWarning(String(model), operation)
      if (warning !== null) all = add(all, row, 'warning', warning.code, 'models', warning.message, model)
    }
    return all
  }
}

const URL_MESSAGE = 'must be an http or https URL'
const HTTP_URL = /^https?:\/\/[^\s]+(?: +[^\s]+)*$/i

/** Stricter than URL parsers, which drop white space around and line breaks inside: what is sent must be the URL. */
function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && HTTP_URL.test(value) && URL.canParse(value)
}
