import { isJsonObject, type JsonObject } from './json-object.ts'
import { toTaskId } from './task-id.ts'

/** What Sluice keeps of a task's answer, whichever of its shapes it came in (docs/interface.md §2.2, §2.3, §4.2). */
export interface TaskResult {
  taskId: string
  postId: string | null
  triggeredRules: { ruleId: string; ruleName: string }[]
  /** The highest score of each class over all models and spans. */
  classScores: { className: string; score: number }[]
  fromCache: boolean
  /** Failures inside a 200: a status code that does not say success, or a `code` outside 200 to 299. */
  failures: { code: string; message: string }[]
}

type Rules = TaskResult['triggeredRules']
type Scores = TaskResult['classScores']

/**
 * Reads a default, legacy or v2 task response, an acknowledgement or a task callback. Tolerant: what is missing or of
 * another type is left out. Returns null where there is no task_id and no id. Hand-written, for it runs on every
 * answer.
 */
export function readTaskResponse(body: unknown): TaskResult | null {
  if (!isJsonObject(body)) return null
  const taskId = toTaskId(body['task_id']) ?? toTaskId(body['id'])
  if (taskId === null) return null
  const result: TaskResult = {
    taskId,
    postId: typeof body['post_id'] === 'string' ? body['post_id'] : null,
    triggeredRules: addRules([], body['triggered_rules']),
    classScores: [],
    fromCache: body['from_cache'] === true,
    failures: [],
  }
  // The legacy body lists its models' results under `status`, the v2 body under `models`.
  readModelResults(body['status'], result)
  readModelResults(body['models'], result)
  const code = body['code']
  if (typeof code === 'number' && (code < 200 || code > 299) && result.failures.length === 0) {
    result.failures.push({ code: String(code), message: toText(body['message']) })
  }
  return result
}

/** Adds the rules of a `triggered_rules` list (docs/interface.md §2.2, §2.3), and returns what it added to. */
export function addRules(rules: Rules, list: unknown): Rules {
  if (!Array.isArray(list)) return rules
  for (const rule of list) {
    if (!isJsonObject(rule)) continue
    const ruleId = toTaskId(rule['rule_id']) ?? toTaskId(rule['id'])
    if (ruleId === null) continue
    rules.push({ ruleId, ruleName: toId(rule['rule_name']) ?? toId(rule['display_name']) ?? ruleId })
  }
  return rules
}

function readModelResults(list: unknown, result: TaskResult): void {
  if (!Array.isArray(list)) return
  for (const entry of list) {
    if (!isJsonObject(entry)) continue
    const status = entry['status']
    if (isJsonObject(status)) readFailure(status, result)
    const response = entry['response']
    if (isJsonObject(response)) addScores(result.classScores, response['output'])
  }
}

function readFailure(status: JsonObject, result: TaskResult): void {
  const code = status['code']
  if ((typeof code !== 'string' && typeof code !== 'number') || isSuccessCode(code)) return
  result.failures.push({ code: String(code), message: toText(status['message']) })
}

/**
 * Whether a status code says success: "0" in the legacy body (docs/interface.md §2.3), 2xx where a code repeats the
 * HTTP status, or a word of success, since v2 shows none.
 */
export function isSuccessCode(code: string | number): boolean {
  return /^(0|2\d\d|ok|success|succeeded|successful|complete|completed|done)$/i.test(String(code))
}

/** Adds the scores of an `output` list (docs/interface.md §2.3), the highest of each class. */
export function addScores(scores: Scores, outputs: unknown): void {
  if (!Array.isArray(outputs)) return
  for (const output of outputs) {
    const classes = isJsonObject(output) ? output['classes'] : null
    if (!Array.isArray(classes)) continue
    for (const item of classes) {
      if (!isJsonObject(item)) continue
      const className = item['class']
      const score = item['score']
      if (typeof className === 'string' && typeof score === 'number') {
        keepHighest(scores, className, score)
      }
    }
  }
}

/** A linear search: an answer has a handful of classes, where a Map costs more than it saves. */
function keepHighest(scores: Scores, className: string, score: number): void {
  for (const kept of scores) {
    if (kept.className !== className) continue
    if (score > kept.score) kept.score = score
    return
  }
  scores.push({ className, score })
}

function toId(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
