import type { TaskOperation } from '../../../shared/operations/operations.ts'
import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { isJsonObject, type JsonObject, toTaskId, toTextOrNull } from '../../../shared/service/json-object.ts'
import { hasOwnCallback, judgeAcknowledgement, judgeFailure } from './index-reader.ts'
import { createJudgement, cutMessage, type Judgement, type OperationReader } from './judgement.ts'
import {
  type FailureInside,
  findFailureInside,
  findFailureOfPart,
  findUnfinished,
  isSuccessCode,
  NOT_FINISHED_CODE,
  OUTCOME_WORDS,
} from './outcome-words.ts'

/** Reads task answers (docs/interface.md §2.2, §2.3, §4.1, §4.2); `deliveredCodes`: "delivered before". */
export function createTaskReader(
  operation: TaskOperation,
  deliveredCodes: readonly string[],
): OperationReader {
  const isAsync = operation.mode === 'async'
  const judgeResult = operation.api === 'v2' ? judgeV2TaskResult : judgeTaskResult
  return {
    readSuccess: ({ status }, body, rowKeys) => {
      const result = judgeResult(body, status) ?? judgeFailure(body, status)
      if (!isAsync || result?.outcome === 'rejected') return result
      const isToOwnCallback = hasOwnCallback(rowKeys)
      const isRead = isJsonObject(body) || (operation.api === 'v2' && Array.isArray(body))
      const [task_id, ...others] = new Set(isRead ? listNamedTasks(body) : [])
      if (task_id === undefined) return judgeAcknowledgement(body, status, isToOwnCallback)
      const named = judgeAcknowledgement({ task_id }, status, isToOwnCallback)
      return named === null || others.length === 0 ? named : { ...named, taskId: null }
    },
    readRefusal: ({ status, errorCode }, rowKeys) => {
      if (errorCode === null || !deliveredCodes.includes(errorCode)) return null
      return toDelivered(status, errorCode, isAsync && !hasOwnCallback(rowKeys))
    },
    judgeCallback: (body) => judgeTaskCallback(body, operation.api),
  }
}

/** An async delivery with a lost answer still completes by a callback; a sync one has no second answer. */
function toDelivered(status: number, errorCode: string, isAcknowledgement: boolean): Judgement {
  const what = isAcknowledgement
    ? 'the callback of that delivery is awaited'
    : 'the result of that delivery is lost'
  const message = `was delivered before, by an earlier try or run; ${what}`
  return createJudgement({
    outcome: 'succeeded',
    status,
    errorCode,
    message,
    isAcknowledgement,
    isDelivered: true,
  })
}

/** Judges a result, in a sync answer or callback; null if it is none (docs/interface.md §2.2, §2.3). */
function judgeTaskResult(body: unknown, status: number | null): Judgement | null {
  const result = readV1Result(body)
  return result === null ? null : judgeRead(result, body, status)
}

/**
 * Reads a v1 result; one that is wrapped in another object as v2 does, since nothing else tells its shape.
 */
function readV1Result(body: unknown): TaskResult | V2TaskResult | null {
  return isJsonObject(body) && isWrapped(body) ? readV2TaskResponse(body) : readTaskResponse(body)
}

/** Whether a v1 body has its rules, if any, in an object inside, and a task's id there or at its top. */
function isWrapped(body: JsonObject): boolean {
  return !('triggered_rules' in body) && (findTaskId(body) !== null || listTasksInside(body).length > 0)
}

/** Judges a v2 result, of undocumented shape: any JSON object or list; else null (docs/interface.md §4.2). */
function judgeV2TaskResult(body: unknown, status: number | null): Judgement | null {
  return isV2Body(body) ? judgeRead(readV2TaskResponse(body), body, status) : null
}

/**
 * Judges the callback of a task, whose shape is not documented (docs/interface.md §6): the default or the
 * legacy body, anything with a task_id or a field of a result; in v2 anything not empty. Null for the rest.
 */
function judgeTaskCallback(body: unknown, api: 'v1' | 'v2'): Judgement | null {
  if (api === 'v2' && isV2Body(body)) {
    const parts = Array.isArray(body) ? body : [body]
    const isEmpty = !parts.some((part) => isJsonObject(part) && Object.keys(part).length > 0)
    return isEmpty ? null : judgeCallbackRead(readV2TaskResponse(body), body)
  }
  if (!isJsonObject(body)) return null
  const result = readV1Result(body)
  if (result !== null) return judgeCallbackRead(result, body)
  return hasResultField(body) ? judgeCallbackRead(readV2TaskResponse(body), body) : judgeFailure(body, null)
}

/**
 * A callback's `id` may belong to anything, such as the content, so only a `task_id` names the task, and only
 * one: models may have tasks of their own. Null if the rules cannot be read: then it is not a result.
 */
function judgeCallbackRead(
  result: TaskResult | V2TaskResult,
  body: JsonObject | unknown[],
): Judgement | null {
  const judgement = judgeRead(result, body, null)
  if (judgement.outcome === 'unknown') return null
  const [taskId = null, ...others] = new Set(listNamedTasks(body))
  return { ...judgement, taskId: others.length === 0 ? taskId : null }
}

/** A callback comes to an address known only to its own task, so any part of a result is enough. */
function hasResultField(body: JsonObject): boolean {
  return ['task_id', 'post_id', 'triggered_rules', 'status', 'models'].some((name) =>
    Object.hasOwn(body, name),
  )
}

/** Code of a row whose rules are unknown because the answer has another shape than the interface's. */
const UNREADABLE_RULES_CODE = 'UNREADABLE_RULES'

function judgeRead(result: TaskResult | V2TaskResult, body: unknown, status: number | null): Judgement {
  const unreadable = result.failures.length === 0 ? findUnreadable(result, body, status) : null
  if (unreadable !== null) {
    // It was accepted, so it is not resent; that it triggered no rule would be a guess.
    return createJudgement({
      outcome: 'unknown',
      status,
      taskId: result.taskId,
      fromCache: result.fromCache,
      errorCode: unreadable.code,
      message: cutMessage(unreadable.message),
    })
  }
  const judgement = createJudgement({
    outcome: 'succeeded',
    status,
    taskId: result.taskId,
    rules: result.triggeredRules.length > 1 ? once(result.triggeredRules) : result.triggeredRules,
    classes: result.classScores,
    fromCache: result.fromCache,
    answer: hasResult(result, body) ? null : 'no_result',
  })
  const [failure] = result.failures
  if (failure === undefined) return judgement
  return {
    ...judgement,
    outcome: 'rejected',
    answer: null,
    errorCode: failure.code,
    message: cutMessage(failure.message || `the service answered code ${failure.code} inside a 200`),
  }
}

/** Whether anything in a body may be a result: rules, even none, scores or the status of a model. */
function hasResult({ triggeredRules, classScores }: TaskResult | V2TaskResult, body: unknown): boolean {
  if (triggeredRules.length > 0 || classScores.length > 0 || hasRules(body)) return true
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body]
  return parts.some((part) => isJsonObject(part) && listAroundResults(part, 0) !== null)
}

function findUnreadable(
  { unreadableRules, triggeredRules, classScores }: TaskResult | V2TaskResult,
  body: unknown,
  status: number | null,
): FailureInside | null {
  if (unreadableRules !== undefined) {
    const message = `triggered_rules is not a list of rules, found ${unreadableRules}`
    return { code: UNREADABLE_RULES_CODE, message }
  }
  if (triggeredRules.length > 0) return null
  const isAnswered = classScores.length > 0 || hasRules(body)
  const parts = isJsonObject(body) ? [body, ...listInside(body)] : []
  // A content that is repeated may quote them.
  if (!isAnswered && !parts.some(hasRules) && parts.some(hasRulesInText)) {
    const message = 'triggered_rules stands in a text, not in the JSON of the answer'
    return { code: UNREADABLE_RULES_CODE, message }
  }
  // An empty list of rules may be that of a task or a model before it is finished.
  const { unfinished: words, unfinishedBesideScores } = OUTCOME_WORDS
  const ofWhole = classScores.length > 0 ? unfinishedBesideScores : words
  const unfinished = findUnfinished(body, isAnswered ? null : status, ofWhole) ?? findUnfinishedInside(body)
  return unfinished === null
    ? null
    : { code: NOT_FINISHED_CODE, message: `the task is not finished: ${unfinished}` }
}

function hasRules(part: unknown): boolean {
  return isJsonObject(part) && Array.isArray(part['triggered_rules'])
}

/** Whether a member is JSON written as text, as some relays of callbacks do. */
function hasRulesInText(part: JsonObject): boolean {
  return Object.values(part).some((value) => typeof value === 'string' && value.includes('"triggered_rules"'))
}

/** What shows that a model, or every task or part inside a body, is unfinished; null if nothing does. */
function findUnfinishedInside(body: unknown): string | null {
  if (Array.isArray(body)) {
    const found = body.map((part) => findUnfinished(part, null) ?? findUnfinishedInside(part))
    return found.find((said) => said !== null) ?? null
  }
  if (!isJsonObject(body)) return null
  const tasks = listWrappedTasks(body)
  const models = [body, ...tasks].flatMap(listInside).filter(({ model }) => toTextOrNull(model) !== null)
  const ofModel = models.map((model) => findUnfinished(model, null)).find((said) => said !== null)
  // Null rules are an empty list.
  if (ofModel !== undefined || 'triggered_rules' in body) return ofModel ?? null
  const found = (tasks.length > 0 ? tasks : listInside(body)).map((part) => findUnfinished(part, null))
  return found.includes(null) ? null : (found[0] ?? null)
}

function once(rules: TaskResult['triggeredRules']): TaskResult['triggeredRules'] {
  return [...new Map(rules.map((rule) => [rule.ruleId, rule])).values()]
}

/** What Sluice keeps of a task's answer of any shape (docs/interface.md §2.2, §2.3, §4.2). */
export interface TaskResult {
  taskId: string
  postId: string | null
  triggeredRules: { ruleId: string; ruleName: string }[]
  /** The highest score of each class over all models and spans. */
  classScores: { className: string; score: number }[]
  fromCache: boolean
  /** Failures inside a 200: of a model, or of the whole. */
  failures: { code: string; message: string }[]
  /** JSON of a `triggered_rules` that is not a list of rules with ids; absent if it is one, or missing. */
  unreadableRules?: string
}

type Scores = TaskResult['classScores']

/**
 * Reads a default, legacy or v2 task response, an acknowledgement or a task callback. Tolerant: skips what is
 * missing or of another type. Null if there is neither a task_id nor an id. Hand-written, since it runs on
 * every answer.
 */
export function readTaskResponse(body: unknown): TaskResult | null {
  if (!isJsonObject(body)) return null
  const taskId = findTaskId(body)
  if (taskId === null) return null
  const result: TaskResult = {
    taskId,
    postId: typeof body['post_id'] === 'string' ? body['post_id'] : null,
    triggeredRules: [],
    classScores: [],
    fromCache: body['from_cache'] === true,
    failures: [],
  }
  addRules(result, body['triggered_rules'])
  // The legacy body lists its models' results under `status`, the v2 body under `models`.
  readModelResults(body['status'], result)
  readModelResults(body['models'], result)
  const failure = result.failures.length === 0 ? findFailureInside(body) : null
  if (failure !== null) result.failures.push(failure)
  return result
}

function findTaskId(body: unknown): string | null {
  return isJsonObject(body) ? (toTaskId(body['task_id']) ?? toTaskId(body['id'])) : null
}

/** Adds the rules of a `triggered_rules` list (docs/interface.md §2.2, §2.3); notes any other shape. */
function addRules(result: Pick<TaskResult, 'triggeredRules' | 'unreadableRules'>, list: unknown): void {
  // Services in some languages write an empty list as null.
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) {
    result.unreadableRules ??= JSON.stringify(list)
    return
  }
  for (const rule of list) {
    const ruleId = isJsonObject(rule) ? (toTaskId(rule['rule_id']) ?? toTaskId(rule['id'])) : null
    if (ruleId === null || !isJsonObject(rule)) {
      result.unreadableRules ??= JSON.stringify(list)
      continue
    }
    const ruleName = toTextOrNull(rule['rule_name']) ?? toTextOrNull(rule['display_name']) ?? ruleId
    result.triggeredRules.push({ ruleId, ruleName })
  }
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

/** Adds the scores of an `output` list (docs/interface.md §2.3), the highest of each class. */
function addScores(scores: Scores, outputs: unknown): void {
  if (!Array.isArray(outputs)) return
  for (const output of outputs) {
    const classes = isJsonObject(output) ? output['classes'] : null
    if (!Array.isArray(classes)) continue
    for (const item of classes) {
      if (!isJsonObject(item)) continue
      const className = item['class']
      const score = item['score']
      // JSON such as 1e999 is read as Infinity, which no table can hold.
      if (typeof className === 'string' && typeof score === 'number' && Number.isFinite(score)) {
        keepHighest(scores, className, score)
      }
    }
  }
}

/** A linear search: an answer has few classes, for which a Map costs more than it saves. */
function keepHighest(scores: Scores, className: string, score: number): void {
  for (const kept of scores) {
    if (kept.className !== className) continue
    if (score > kept.score) kept.score = score
    return
  }
  scores.push({ className, score })
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** What Sluice keeps of a v2 answer: as for v1, but every part is optional (docs/interface.md §4.2). */
export interface V2TaskResult extends Omit<TaskResult, 'taskId' | 'postId'> {
  taskId: string | null
}

/** Depth to which the known fields are searched for. */
const DEPTH_MAX = 8

/**
 * Reads a v2 answer or callback, whose shape is not documented: an object, or a list of them. Every
 * `triggered_rules`, `output` and `status.code` counts at any place, such as in a list of models.
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
  result.taskId = listNamedTasks(body)[0] ?? parts.map(findTaskId).find((id) => id !== null) ?? null
  return result
}

/** Whether a body may be a v2 result. */
function isV2Body(body: unknown): body is JsonObject | unknown[] {
  return isJsonObject(body) || Array.isArray(body)
}

function readPart(part: JsonObject, result: V2TaskResult): void {
  result.fromCache ||= part['from_cache'] === true
  if (isServiceErrorBody(part)) {
    const error = readServiceError(part)
    result.failures.push({ code: error?.errorCode ?? 'error', message: error?.message ?? '' })
    return
  }
  const before = result.failures.length
  readObject(part, result, 0)
  for (const task of [part, ...listTasksInside(part)]) {
    if (result.failures.length > before) return
    const found = findFailureInside(task)
    if (found !== null) result.failures.push(found)
  }
}

/** Members that repeat what was sent. */
const REPEATED = new Set(['content_metadata', 'user_metadata'])

function readObject(object: JsonObject, result: V2TaskResult, depth: number): void {
  addRules(result, object['triggered_rules'])
  addScores(result.classScores, object['output'])
  const status = object['status']
  if (isJsonObject(status)) readStatus(status, object, result)
  const failure = depth === 0 ? null : findFailureOfPart(object)
  if (failure !== null) result.failures.push(failure)
  if (depth === DEPTH_MAX) return
  for (const inner of listInside(object)) readObject(inner, result, depth + 1)
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

/**
 * The parts of a task's answer or callback whose ids tell whose it is: its top, or that of each part of a
 * list, and, if results count wherever they stand, every object around one. An inner object that is marked as
 * cached may name an earlier request.
 */
export function listTaskParts(body: unknown, api: TaskOperation['api']): readonly unknown[] {
  const tops: readonly unknown[] = Array.isArray(body) ? body : [body]
  return tops.flatMap((top) => {
    if (!isJsonObject(top) || (api === 'v1' && findTaskId(top) !== null && !isWrapped(top))) return [top]
    return [top, ...(listAroundResults(top, 0) ?? listTasksInside(top))]
  })
}

/** The objects inside of this one that are around a result, the outermost first; null if none and not it. */
function listAroundResults(object: JsonObject, depth: number): JsonObject[] | null {
  const found: JsonObject[] = []
  let isAround = 'triggered_rules' in object || 'output' in object || isJsonObject(object['status'])
  for (const inner of depth === DEPTH_MAX ? [] : listInside(object)) {
    const deeper = listAroundResults(inner, depth + 1)
    if (deeper === null) continue
    isAround = true
    found.push(...(inner['from_cache'] === true ? [] : [inner]), ...deeper)
  }
  return isAround ? found : null
}

/**
 * The tasks that a wrapper is around, such as those of an acknowledgement: the nearest objects inside with a
 * `task_id`. An object with rules is a result itself.
 */
function listWrappedTasks(wrapper: JsonObject, depth = 0): JsonObject[] {
  if ('triggered_rules' in wrapper || depth === DEPTH_MAX) return []
  return listInside(wrapper).flatMap((inner) =>
    toTaskId(inner['task_id']) === null ? listWrappedTasks(inner, depth + 1) : [inner],
  )
}

/**
 * The tasks inside an object that names none itself; an `id` alone may be that of an event. Inside of an
 * object that names its own task and post, another task may be that of its parent.
 */
function listTasksInside(object: JsonObject): JsonObject[] {
  const isTask = 'post_id' in object ? findTaskId(object) !== null : toTaskId(object['task_id']) !== null
  return isTask ? [] : listWrappedTasks(object)
}

/**
 * The ids of the tasks that an answer or callback is about: `task_id` at its top, or of the objects around a
 * result, or inside a wrapper without a result. An object with a `task_id` is not searched for others.
 */
function listNamedTasks(body: JsonObject | readonly unknown[]): string[] {
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body]
  return parts.flatMap((part) => (isJsonObject(part) ? listTasksOf(part, 0) : []))
}

function listTasksOf(object: JsonObject, depth: number): string[] {
  const taskId = depth > 0 && object['from_cache'] === true ? null : toTaskId(object['task_id'])
  if (taskId !== null) return [taskId]
  if (depth === DEPTH_MAX) return []
  const isWithoutResult = depth === 0 && listAroundResults(object, 0) === null
  const inside = isWithoutResult
    ? listTasksInside(object)
    : listInside(object).filter((inner) => listAroundResults(inner, depth + 1) !== null)
  return inside.flatMap((inner) => listTasksOf(inner, depth + 1))
}

/** The objects in which results may stand, too. */
function listInside(object: JsonObject): JsonObject[] {
  const found: JsonObject[] = []
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'object' || name === 'triggered_rules' || name === 'output' || REPEATED.has(name))
      continue
    if (isJsonObject(value)) found.push(value)
    else if (Array.isArray(value)) for (const item of value) if (isJsonObject(item)) found.push(item)
  }
  return found
}
