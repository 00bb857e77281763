import type { TaskOperation } from '../../../shared/plan/plan.ts'
import { isJsonObject, type JsonObject } from '../../../shared/service/json-object.ts'
import {
  isV2Body,
  readTaskResponse,
  readV2TaskResponse,
  type TaskResult,
  toTaskId,
  type V2TaskResult,
} from '../../../shared/service/read-task-response.ts'
import { cutMessage } from './answer-text.ts'
import { judgeAcknowledgement, OWN_CALLBACK } from './index-reader.ts'
import type { AnswerReader } from './judge-exchange.ts'
import { createJudgement, type Judgement } from './judgement.ts'

/** Reads the answers to tasks (docs/interface.md §2.2, §2.3, §4.1, §4.2); `deliveredCodes` say "delivered before". */
export function createTaskReader(operation: TaskOperation, deliveredCodes: readonly string[]): AnswerReader {
  const isAsync = operation.mode === 'async'
  const judgeResult = operation.api === 'v2' ? judgeV2TaskResult : judgeTaskResult
  return {
    isRepeatable: true,
    readSuccess: ({ status }, body, rowKeys) => {
      if (!isAsync) return judgeResult(body, status)
      const result = judgeResult(body, status)
      return result?.outcome === 'rejected' ? result : judgeAcknowledgement(body, status, rowKeys)
    },
    readRefusal: ({ status, errorCode }, rowKeys) => {
      if (errorCode === null || !deliveredCodes.includes(errorCode)) return null
      return toDelivered(status, errorCode, isAsync && !rowKeys.includes(OWN_CALLBACK))
    },
  }
}

/** A delivery whose answer was lost still completes with a callback; a sync one has no second answer. */
function toDelivered(status: number, errorCode: string, isAcknowledgement: boolean): Judgement {
  const what = isAcknowledgement
    ? 'the callback of that delivery is awaited'
    : 'the result of that delivery is lost'
  const message = `was delivered before, by an earlier try or run; ${what}`
  const isResultLost = !isAcknowledgement
  return createJudgement({
    outcome: 'succeeded',
    status,
    errorCode,
    message,
    isAcknowledgement,
    isResultLost,
  })
}

/** Judges a task's result, of a sync answer or a callback; null where it is none (docs/interface.md §2.2, §2.3). */
function judgeTaskResult(body: unknown, status: number | null): Judgement | null {
  const result = readTaskResponse(body)
  return result === null ? null : judgeRead(result, status)
}

/**
 * Judges a v2 result, whose shape is not shown: any JSON object or list is one; null for anything else
 * (docs/interface.md §4.2).
 */
function judgeV2TaskResult(body: unknown, status: number | null): Judgement | null {
  return isV2Body(body) ? judgeRead(readV2TaskResponse(body), status) : null
}

/**
 * Judges the callback of a task, whose shape is not shown (docs/interface.md §6): the default or the legacy body,
 * anything with a task_id, anything with a field of a result; in v2 anything that is not empty. Null for the rest.
 */
export function judgeTaskCallback(body: unknown, api: 'v1' | 'v2'): Judgement | null {
  if (api === 'v2' && isV2Body(body)) {
    return Object.keys(body).length > 0 ? judgeCallbackRead(readV2TaskResponse(body), body) : null
  }
  if (!isJsonObject(body)) return null
  const result = readTaskResponse(body)
  if (result !== null) return judgeCallbackRead(result, body)
  return hasResultField(body) ? judgeCallbackRead(readV2TaskResponse(body), body) : null
}

/** The `id` of a callback may be that of anything, such as the content, so only a `task_id` names the task. */
function judgeCallbackRead(result: TaskResult | V2TaskResult, body: JsonObject | unknown[]): Judgement {
  const judgement = judgeRead(result, null)
  return isJsonObject(body) ? { ...judgement, taskId: toTaskId(body['task_id']) } : judgement
}

/** A callback is posted to an address that only its own task was told, so any part of a result will do. */
function hasResultField(body: JsonObject): boolean {
  return ['task_id', 'post_id', 'triggered_rules', 'status', 'models'].some((name) =>
    Object.hasOwn(body, name),
  )
}

function judgeRead(result: TaskResult | V2TaskResult, status: number | null): Judgement {
  const judgement = createJudgement({
    outcome: 'succeeded',
    status,
    taskId: result.taskId,
    rules: result.triggeredRules.length > 1 ? once(result.triggeredRules) : result.triggeredRules,
    classes: result.classScores,
    fromCache: result.fromCache,
  })
  const [failure] = result.failures
  if (failure === undefined) return judgement
  return {
    ...judgement,
    outcome: 'rejected',
    errorCode: failure.code,
    message: cutMessage(failure.message || `the service answered code ${failure.code} inside a 200`),
  }
}

function once(rules: TaskResult['triggeredRules']): TaskResult['triggeredRules'] {
  return [...new Map(rules.map((rule) => [rule.ruleId, rule])).values()]
}
