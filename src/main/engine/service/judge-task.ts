import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { readTaskResponse, type TaskResult } from '../../../shared/service/read-task-response.ts'
import { toBreakdownMessage } from './breakdown-message.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { Judgement } from './judgement.ts'
import { parseRetryAfter } from './retry-after.ts'

/** What a judgement depends on besides the exchange. */
export interface JudgeOptions {
  origin: string
  /** Error codes that mean "this post_id was delivered before". */
  deliveredCodes: readonly string[]
  nowMs: () => number
}

/** Longest message kept of an answer, UTF-16 code units. */
const MESSAGE_MAX_CHARACTERS = 500

/** Judges how the submission of a task ended (design §2; interface §2.2, §2.3, §7). */
export function judgeTask(exchange: Exchange, options: JudgeOptions): Judgement {
  if (exchange.kind === 'breakdown') {
    return judgement({
      outcome: exchange.sent ? 'unknown' : 'failed',
      repeat: exchange.sent ? 'ambiguous' : 'safe',
      reached: exchange.sent,
      status: exchange.status,
      errorCode: exchange.code,
      message: toBreakdownMessage(exchange, options.origin),
    })
  }
  const { status } = exchange
  const retryAfterMs = parseRetryAfter(exchange.retryAfter, options.nowMs())
  if (status >= 200 && status < 300) return judgeSuccess(exchange)
  if (status >= 300 && status < 400) {
    return judgement({ outcome: 'rejected', status, message: toRedirectMessage(exchange, options.origin) })
  }
  const error = readError(exchange)
  if (status === 429) {
    return judgement({ outcome: 'rejected', repeat: 'safe', status, ...error, retryAfterMs })
  }
  if (status >= 500) {
    return judgement({ outcome: 'unknown', repeat: 'ambiguous', status, ...error, retryAfterMs })
  }
  if (error.errorCode !== null && options.deliveredCodes.includes(error.errorCode)) {
    const message = 'was delivered before, by an earlier try or run; the result of that delivery is lost'
    return judgement({ outcome: 'succeeded', status, errorCode: error.errorCode, message })
  }
  return judgement({ outcome: 'rejected', status, ...error })
}

function judgeSuccess(answer: Answer): Judgement {
  const { status } = answer
  const body = parseJson(answer.body)
  const result = readTaskResponse(body)
  if (isServiceErrorBody(body)) {
    return judgement({ outcome: 'rejected', status, ...readError(answer) })
  }
  if (result === null) {
    return judgement({ outcome: 'unknown', repeat: 'ambiguous', status, message: toUnreadable(answer) })
  }
  const [failure] = result.failures
  if (failure !== undefined) {
    return judgement({
      ...toResultParts(result),
      outcome: 'rejected',
      status,
      errorCode: failure.code,
      message: cut(failure.message || `the service answered code ${failure.code} inside a 200`),
    })
  }
  return judgement({ ...toResultParts(result), outcome: 'succeeded', status })
}

function toResultParts(result: TaskResult): Pick<Judgement, 'taskId' | 'rules' | 'classes' | 'fromCache'> {
  return {
    taskId: result.taskId,
    rules: result.triggeredRules.length > 1 ? once(result.triggeredRules) : result.triggeredRules,
    classes: result.classScores,
    fromCache: result.fromCache,
  }
}

function once(rules: TaskResult['triggeredRules']): TaskResult['triggeredRules'] {
  return [...new Map(rules.map((rule) => [rule.ruleId, rule])).values()]
}

function readError(answer: Answer): { errorCode: string | null; message: string } {
  const error = readServiceError(parseJson(answer.body))
  if (error === null || (error.errorCode === null && error.message === null)) {
    return { errorCode: null, message: toUnreadable(answer) }
  }
  return {
    errorCode: error.errorCode,
    message: cut(error.message ?? `the service answered ${answer.status}`),
  }
}

function toUnreadable({ status, contentType, body }: Answer): string {
  if (body.trim() === '') return `answered ${status} with an empty body`
  if (/^\s*</.test(body)) {
    return `answered ${status} with a web page instead of JSON, as a proxy or a wrong base URL does`
  }
  if (parseJson(body) !== undefined) return `answered ${status} with JSON that is not of the interface`
  return `answered ${status} with a body that is not valid JSON (${contentType || 'no content type'})`
}

function toRedirectMessage({ status, location }: Answer, origin: string): string {
  const target = location !== null && URL.canParse(location, origin) ? new URL(location, origin).origin : null
  const where = target === null ? 'elsewhere' : `to ${target}`
  return `answered ${status}, a redirect ${where}, which is not followed, so that the key stays here; correct the base URL`
}

function parseJson(text: string): unknown {
  try {
    // A parser may ignore a byte-order mark (RFC 8259 §8.1).
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown
  } catch {
    return undefined
  }
}

function cut(text: string): string {
  return text.length <= MESSAGE_MAX_CHARACTERS ? text : `${text.slice(0, MESSAGE_MAX_CHARACTERS - 1)}…`
}

function judgement(parts: Pick<Judgement, 'outcome'> & Partial<Judgement>): Judgement {
  return {
    repeat: 'never',
    reached: true,
    status: null,
    errorCode: null,
    message: null,
    taskId: null,
    customIndexItemId: null,
    answer: null,
    rows: null,
    isAcknowledgement: false,
    isTooLarge: false,
    rules: [],
    classes: [],
    fromCache: false,
    retryAfterMs: null,
    ...parts,
  }
}
