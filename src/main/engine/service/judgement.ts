import type { AnyOperation } from '../../../shared/operations/operations.ts'
import type { Outcome, RowAnswer } from '../../../shared/run/item-state.ts'
import { type AnswerNames, NO_NAMES, readAnswerNames } from '../../../shared/service/answer-findings.ts'
import { isServiceErrorBody, readServiceError } from '../../../shared/service/errors.ts'
import { hasTooMuchJson, isJsonTooDeep, parseJson } from '../../../shared/service/parse-json.ts'
import { toBreakdownMessage } from './breakdown-message.ts'
import { type EchoFinding, UNVERIFIABLE } from './echoes.ts'
import type { Answer, Exchange } from './exchange.ts'
import { toRedirectMessage } from './redirect-message.ts'

/**
 * Whether another try could add the content a second time. `never`: the answer is final. `safe`: certainly
 * not accepted. `ambiguous`: may have been accepted; repeat only if the operation allows that
 * (docs/architecture.md §2.2).
 */
type Repeat = 'never' | 'safe' | 'ambiguous'

/** The judgement of one row in an item of several (watchlist terms). */
export interface RowJudgement {
  /** `rejected` for terms that failed or do not exist, `unknown` for those that the answer leaves out. */
  outcome: 'succeeded' | 'rejected' | 'unknown'
  answer: RowAnswer | null
  message: string | null
  /** Whether the answer repeats it in another form, see {@link EchoFinding}. */
  isAlike?: boolean
}

/** What an exchange means for its item. */
export interface Judgement {
  outcome: Outcome
  repeat: Repeat
  /** Whether the service was reached at all; false for DNS, connect and TLS failures. */
  reached: boolean
  status: number | null
  errorCode: string | null
  /** Null on success. */
  message: string | null
  taskId: string | null
  /** Id of an item of a custom index, if the answer names one (docs/interface.md §2.4). */
  customIndexItemId: string | null
  /** Null for operations without such answers, and if `rows` has one for each row. */
  answer: RowAnswer | null
  /** One per row of the item, in order, if the answer tells them apart; else null. */
  rows: readonly RowJudgement[] | null
  /** Whether `succeeded` was an acknowledgement: a callback completes the item (docs/interface.md §6). */
  isAcknowledgement: boolean
  /** Whether the whole request was refused for its size: its rows are resent in two smaller ones. */
  isTooLarge: boolean
  /** Whether it was refused because an earlier try or run delivered it. */
  isDelivered: boolean
  /** Each rule once. */
  rules: { ruleId: string; ruleName: string }[]
  classes: { className: string; score: number }[]
  /** Other names in a task's sync answer or callback. */
  names: AnswerNames
  fromCache: boolean
  /** Whether the answer proves whose it is. */
  echo: EchoFinding
  /** How long the service asked us to wait, milliseconds; null if it did not. */
  retryAfterMs: number | null
}

/**
 * Creates a final judgement of a service that was reached, with the given changes. Sets each member
 * separately: a spread takes three times as long.
 */
export function createJudgement(parts: Pick<Judgement, 'outcome'> & Partial<Judgement>): Judgement {
  return {
    outcome: parts.outcome,
    repeat: parts.repeat ?? 'never',
    reached: parts.reached ?? true,
    status: parts.status ?? null,
    errorCode: parts.errorCode ?? null,
    message: parts.message ?? null,
    taskId: parts.taskId ?? null,
    customIndexItemId: parts.customIndexItemId ?? null,
    answer: parts.answer ?? null,
    rows: parts.rows ?? null,
    isAcknowledgement: parts.isAcknowledgement ?? false,
    isTooLarge: parts.isTooLarge ?? false,
    isDelivered: parts.isDelivered ?? false,
    rules: parts.rules ?? [],
    classes: parts.classes ?? [],
    names: parts.names ?? NO_NAMES,
    fromCache: parts.fromCache ?? false,
    echo: parts.echo ?? UNVERIFIABLE,
    retryAfterMs: parts.retryAfterMs ?? null,
  }
}

export interface OperationReader {
  /** Reads a 2xx that is not an error body; null if the interface does not have such an answer. */
  readSuccess: (
    answer: Answer,
    body: unknown,
    rowKeys: readonly string[],
    earlierTries: readonly number[],
  ) => Judgement | null
  /** Reads an error that is final; null for a plain rejection. */
  readRefusal: (
    refusal: Refusal,
    rowKeys: readonly string[],
    earlierTries: readonly number[],
  ) => Judgement | null
  /** Reads a callback that reports no error; null if it cannot. Absent from operations without callbacks. */
  judgeCallback?: (body: unknown, rowKeys: readonly string[]) => Judgement | null
}

export type JudgeExchange = (
  exchange: Exchange,
  rowKeys: readonly string[],
  earlierTries?: readonly number[],
) => Judgement

/** Builds an operation's judge: the common rules around its own reader (docs/architecture.md §2.2). */
export function createJudge(
  reader: OperationReader &
    Pick<AnyOperation, 'isRepeatable'> & {
      /** Whether its answers have names by which rows are found, as those to sync tasks. */
      hasNames: boolean
    },
  baseUrl: string,
  nowMs: () => number,
): JudgeExchange {
  const judge = createAnswerJudge(reader, baseUrl, nowMs)
  return (exchange, rowKeys, earlierTries = []) => {
    if (exchange.kind === 'breakdown') return judge(exchange, undefined, rowKeys, earlierTries)
    const body = parseJson(exchange.body)
    const judgement = judge(exchange, body, rowKeys, earlierTries)
    // Another row's answer says nothing about this one.
    if (reader.hasNames && judgement.echo.kind !== 'mismatched') {
      judgement.names = readAnswerNames(exchange.body, () => body)
    }
    return judgement
  }
}

/** See {@link createJudge}; is given the JSON of the answer. */
function createAnswerJudge(
  reader: OperationReader & Pick<AnyOperation, 'isRepeatable'>,
  baseUrl: string,
  nowMs: () => number,
): (
  exchange: Exchange,
  body: unknown,
  rowKeys: readonly string[],
  earlierTries: readonly number[],
) => Judgement {
  const { origin } = new URL(baseUrl)
  const ambiguous = reader.isRepeatable ? 'ambiguous' : 'never'
  return (exchange, body, rowKeys, earlierTries) => {
    if (exchange.kind === 'breakdown') {
      return createJudgement({
        outcome: exchange.sent ? 'unknown' : 'failed',
        repeat: exchange.sent ? ambiguous : 'safe',
        reached: exchange.sent,
        status: exchange.status,
        errorCode: exchange.code,
        message: toBreakdownMessage(exchange, origin),
      })
    }
    const { status } = exchange
    if (status >= 200 && status < 300 && !isServiceErrorBody(body)) {
      const judgement = reader.readSuccess(exchange, body, rowKeys, earlierTries)
      return (
        judgement ??
        createJudgement({ outcome: 'unknown', repeat: ambiguous, status, message: toUnreadable(exchange) })
      )
    }
    if (status >= 300 && status < 400) {
      return createJudgement({
        outcome: 'rejected',
        status,
        message: cutMessage(toRedirectMessage(exchange, baseUrl)),
      })
    }
    const refusal = readRefusal(exchange, body)
    // The service gave up waiting for the whole request (RFC 9110 §15.5.9), as when it closes an idle
    // connection.
    if (status === 408) return createJudgement({ outcome: 'rejected', repeat: 'safe', ...refusal })
    if (status === 429 || status >= 500) {
      const retryAfterMs = parseRetryAfter(exchange, nowMs())
      return status === 429
        ? createJudgement({ outcome: 'rejected', repeat: 'safe', ...refusal, retryAfterMs })
        : createJudgement({ outcome: 'unknown', repeat: ambiguous, ...refusal, retryAfterMs })
    }
    return (
      reader.readRefusal(refusal, rowKeys, earlierTries) ??
      createJudgement({ outcome: 'rejected', ...refusal })
    )
  }
}

/** Approximately the forms of RFC 9110 §5.6.7. Only asctime's has no zone, and is in GMT anyway. */
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+\d\d:\d\d:\d\d( GMT| \d{4})$/

/**
 * Reads a Retry-After header (RFC 9110 §10.2.3): seconds, or an HTTP date, taken by the clock of the answer's
 * own Date header, else by `nowMs`. Returns milliseconds; null for a past date and anything else, negative
 * numbers included.
 */
export function parseRetryAfter(
  { retryAfter, date = null }: Pick<Answer, 'retryAfter' | 'date'>,
  nowMs: number,
): number | null {
  if (retryAfter === null) return null
  const text = retryAfter.trim()
  if (/^\d+(\.\d+)?$/.test(text)) {
    const ms = Number(text) * 1000
    return Number.isFinite(ms) ? ms : Number.MAX_SAFE_INTEGER
  }
  const waitMs = (parseHttpDate(text) ?? Number.NaN) - (parseHttpDate(date?.trim() ?? '') ?? nowMs)
  // The usual back-off is longer than no wait.
  return waitMs > 0 ? waitMs : null
}

/** Unix milliseconds; null for any other text. */
function parseHttpDate(text: string): number | null {
  // Date.parse accepts far more than HTTP dates: it reads "try 2099" as a year.
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : at
}

/** Longest message kept of an answer, UTF-16 code units. */
const MESSAGE_MAX_CHARACTERS = 500

export function cutMessage(text: string): string {
  return text.length <= MESSAGE_MAX_CHARACTERS ? text : `${text.slice(0, MESSAGE_MAX_CHARACTERS - 1)}…`
}

/** The contents of an error answer, in its own words or, without any, in ours. */
export interface Refusal {
  status: number
  errorCode: string | null
  message: string
}

/** Reads an error answer; `body` is its JSON. */
function readRefusal(answer: Answer, body: unknown): Refusal {
  const { status } = answer
  const error = readServiceError(body)
  if (error === null || (error.errorCode === null && error.message === null)) {
    return { status, errorCode: null, message: toUnreadable(answer) }
  }
  const message = cutMessage(error.message ?? `the service answered ${status}`)
  return { status, errorCode: error.errorCode, message }
}

/** Describes an answer that is not the interface's. */
function toUnreadable({ status, contentType, body, bodyProblem }: Answer): string {
  if (bodyProblem !== undefined) return `answered ${status}, but ${bodyProblem}`
  if (body.trim() === '') return `answered ${status} with an empty body`
  if (/^\s*</.test(body)) {
    return `answered ${status} with a web page instead of JSON, as a proxy or a wrong base URL does`
  }
  if (hasTooMuchJson(body)) return `answered ${status} with JSON of more than 1,000,000 objects and lists`
  if (isJsonTooDeep(body)) return `answered ${status} with JSON of more than 1,000 levels`
  if (parseJson(body) !== undefined) return `answered ${status} with JSON that is not of the interface`
  return `answered ${status} with a body that is not valid JSON (${contentType || 'no content type'})`
}
