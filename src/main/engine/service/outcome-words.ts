import { readServiceError } from '../../../shared/service/errors.ts'
import { isJsonObject, type JsonObject } from '../../../shared/service/json-object.ts'

// What a 2xx or a callback says of its outcome in words that the interface does not have.

/** Words of the outcome, which the script of a k6 project reads in the same way. */
export const OUTCOME_WORDS = {
  /** A status code that means success. */
  success: /^(0|2\d\d|ok|success|succeeded|successful|complete|completed|done)$/i,
  failed: /^(?:error|failed|failure)$/i,
  /** A `code` or `status` that is the HTTP status of an error. */
  failedStatus: /^[345]\d\d$/,
  /** An `error` that reports none. */
  noError: /^(?:|0+|2\d\d|none|null|no|false|ok|success|no[ _-]?error|n\/a)$/i,
  /** A `success` or an `ok` that denies it. */
  denied: /^(?:false|no|0)$/i,
  /** A task that is not finished. Without words such as "accepted", which may be about the content. */
  unfinished: /^(?:pending|processing|queued|running|started|in[ _-]?progress)$/i,
  /** The same beside scores, where a review by a person is rather what is pending. */
  unfinishedBesideScores: /^(?:processing|queued|running|started|in[ _-]?progress)$/i,
} as const

/** Code of a row whose answer says that its task or removal is not finished. */
export const NOT_FINISHED_CODE = 'NOT_FINISHED'

/** A failure that a 2xx reports, in the service's words. */
export interface FailureInside {
  code: string
  message: string
}

/**
 * The failure that an object of a 2xx reports in other ways than the interface's: `success` or `ok` is false,
 * `error` or `errors` says something, `status` or `state` is a word for failure, `code` or `status` a number
 * for it, or there is an `error_code` and no `error` that denies it. Null if there is none.
 */
export function findFailureInside(body: JsonObject): FailureInside | null {
  const { error, errors, status, state, success, ok } = body
  const code = findFailureCode(body)
  const isFailed =
    [success, ok].some((said) => typeof said !== 'object' && OUTCOME_WORDS.denied.test(String(said))) ||
    code !== null ||
    [error, errors].some(saysSomething) ||
    (error !== false && typeof body['error_code'] === 'string' && saysSomething(body['error_code'])) ||
    [status, state].some((said) => typeof said === 'string' && OUTCOME_WORDS.failed.test(said))
  return isFailed ? toFailure(body, code) : null
}

/**
 * The `code` that does not mean success, or the `status` that is that of an HTTP error; null if neither is.
 */
function findFailureCode({ code, status }: JsonObject): string | null {
  if (typeof code === 'number' && !isSuccessCode(code)) return String(code)
  for (const said of [code, status]) {
    const text = typeof said === 'number' || typeof said === 'string' ? String(said) : ''
    if (OUTCOME_WORDS.failedStatus.test(text)) return text
  }
  return null
}

/**
 * The same for an object inside a result, whose other members may be about the content: a number in `error`,
 * an `ok`, a `code` or a `status` counts only if the object names its model.
 */
export function findFailureOfPart(part: JsonObject): FailureInside | null {
  const { error, model } = part
  if (typeof model !== 'string' || model === '') {
    const isError = error !== undefined && typeof error !== 'number' && saysSomething(error)
    return error === true || isError || part['success'] === false ? toFailure(part, null) : null
  }
  const found = error === true ? toFailure(part, null) : findFailureInside(part)
  return found === null ? null : { ...found, message: `model ${model}: ${found.message || found.code}` }
}

/**
 * Whether a status code means success: "0" in the legacy body (docs/interface.md §2.3), 2xx if the code
 * repeats the HTTP status, or a word for success, since v2 documents none.
 */
export function isSuccessCode(code: string | number): boolean {
  return OUTCOME_WORDS.success.test(String(code))
}

/** Whether the value of `error` reports one; many services write an empty one. */
function saysSomething(error: unknown): boolean {
  if (typeof error === 'string') return !OUTCOME_WORDS.noError.test(error.trim())
  if (typeof error === 'number') return error !== 0
  return typeof error === 'object' && error !== null && Object.values(error).some(saysSomething)
}

function toFailure(body: JsonObject, code: string | null): FailureInside {
  const said = readServiceError(body)
  const told = [body['error'], body['errors']].find(saysSomething)
  const message = said?.message ?? (told === undefined ? '' : JSON.stringify(told))
  return { code: said?.errorCode ?? code ?? 'error', message }
}

/**
 * What shows that a body without a result is about an unfinished task, such as `status "processing"`; null if
 * nothing does. `httpStatus` is null for a callback.
 */
export function findUnfinished(
  body: unknown,
  httpStatus: number | null,
  words = OUTCOME_WORDS.unfinished,
): string | null {
  if (isJsonObject(body)) {
    for (const name of ['status', 'state']) {
      const said = body[name]
      if (typeof said === 'string' && words.test(said)) return `${name} "${said}"`
    }
  }
  return httpStatus === 202 ? 'status 202 (Accepted)' : null
}
