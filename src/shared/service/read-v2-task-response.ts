import { isJsonObject, type JsonObject } from './json-object.ts'
import { addRules, addScores, type TaskResult } from './read-task-response.ts'
import { toTaskId } from './task-id.ts'

/** What Sluice keeps of a v2 answer: as of v1, but that nothing has to be there (interface §4.2). */
export interface V2TaskResult extends Omit<TaskResult, 'taskId' | 'postId'> {
  taskId: string | null
}

/** How deep the known fields are looked for. */
const DEPTH_MAX = 8

/**
 * Reads a v2 answer or callback, whose shape is not shown: every `triggered_rules`, `output` and `status.code` counts,
 * wherever it stands, such as in a list of models.
 */
export function readV2TaskResponse(body: JsonObject): V2TaskResult {
  const result: V2TaskResult = {
    taskId: toTaskId(body['task_id']) ?? toTaskId(body['id']),
    triggeredRules: [],
    classScores: [],
    fromCache: body['from_cache'] === true,
    failures: [],
  }
  readObject(body, result, 0)
  const code = body['code']
  if (typeof code === 'number' && !isSuccessCode(code) && result.failures.length === 0) {
    result.failures.push({ code: String(code), message: toText(body['message']) })
  }
  return result
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

/** "0" is success in the legacy body, 2xx where a code repeats the HTTP status. */
function isSuccessCode(code: string | number): boolean {
  return /^(0|2\d\d)$/.test(String(code))
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
