import { isServiceErrorBody, readServiceError } from './errors.ts'
import { isJsonObject, type JsonObject } from './json-object.ts'
import { addRules, addScores, isSuccessCode, type TaskResult } from './read-task-response.ts'
import { toTaskId } from './task-id.ts'

/** What Sluice keeps of a v2 answer: as of v1, but that nothing has to be there (docs/interface.md §4.2). */
export interface V2TaskResult extends Omit<TaskResult, 'taskId' | 'postId'> {
  taskId: string | null
}

/** How deep the known fields are looked for. */
const DEPTH_MAX = 8

/**
 * Reads a v2 answer or callback, whose shape is not shown: an object, or a list of them. Every `triggered_rules`,
 * `output` and `status.code` counts, wherever it stands, such as in a list of models.
 */
export function readV2TaskResponse(body: JsonObject | readonly unknown[]): V2TaskResult {
  const result: V2TaskResult = {
    taskId: null,
    triggeredRules: [],
    classScores: [],
    fromCache: false,
    failures: [],
  }
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body]
  for (const part of parts) if (isJsonObject(part)) readPart(part, result)
  return result
}

/** Whether a body may be a v2 result. */
export function isV2Body(body: unknown): body is JsonObject | unknown[] {
  return isJsonObject(body) || Array.isArray(body)
}

function readPart(part: JsonObject, result: V2TaskResult): void {
  result.taskId ??= toTaskId(part['task_id']) ?? toTaskId(part['id'])
  result.fromCache ||= part['from_cache'] === true
  if (isServiceErrorBody(part)) {
    const error = readServiceError(part)
    result.failures.push({ code: error?.errorCode ?? 'error', message: error?.message ?? '' })
    return
  }
  const before = result.failures.length
  readObject(part, result, 0)
  const code = part['code']
  if (typeof code === 'number' && !isSuccessCode(code) && result.failures.length === before) {
    result.failures.push({ code: String(code), message: toText(part['message']) })
  }
}

function readObject(object: JsonObject, result: V2TaskResult, depth: number): void {
  addRules(result.triggeredRules, object['triggered_rules'])
  addScores(result.classScores, object['output'])
  const status = object['status']
  if (isJsonObject(status)) readStatus(status, object, result)
  if (depth === DEPTH_MAX) return
  for (const [name, value] of Object.entries(object)) {
    if (name === 'triggered_rules' || name === 'output') continue
    for (const inner of Array.isArray(value) ? value : [value]) {
      if (isJsonObject(inner)) readObject(inner, result, depth + 1)
    }
  }
}

function readStatus(status: JsonObject, { model }: JsonObject, result: V2TaskResult): void {
  const code = status['code']
  if ((typeof code !== 'string' && typeof code !== 'number') || isSuccessCode(code)) return
  const message = toText(status['message'])
  const named = typeof model === 'string' && model !== ''
  result.failures.push({
    code: String(code),
    message: named ? `model ${model}: ${message || code}` : message,
  })
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
