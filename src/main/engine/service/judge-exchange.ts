import { isServiceErrorBody } from '../../../shared/service/errors.ts'
import { parseJson, type Refusal, readRefusal, toRedirectMessage, toUnreadable } from './answer-text.ts'
import { toBreakdownMessage } from './breakdown-message.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createJudgement, type Judgement } from './judgement.ts'

/** What an operation makes of its answers. */
export interface AnswerReader {
  /** Whether a try that may have been taken may be repeated; only an index add may not (docs/architecture.md §2.2). */
  isRepeatable: boolean
  /** Reads a 2xx that is not an error body; null where it is not of the interface. */
  readSuccess: (
    answer: Answer,
    body: unknown,
    rowKeys: readonly string[],
    earlierTries: number,
  ) => Judgement | null
  /** Reads an error that is final; null where it is a plain rejection. */
  readRefusal: (refusal: Refusal, rowKeys: readonly string[], earlierTries: number) => Judgement | null
}

/** Judges how a try ended. */
export type JudgeExchange = (
  exchange: Exchange,
  rowKeys: readonly string[],
  earlierTries?: number,
) => Judgement

/**
 * Builds the judge of an operation: what is the same for all of them, around what it reads itself (docs/architecture.md
 * §2.2).
 */
export function createJudge(reader: AnswerReader, origin: string, nowMs: () => number): JudgeExchange {
  const ambiguous = reader.isRepeatable ? 'ambiguous' : 'never'
  return (exchange, rowKeys, earlierTries = 0) => {
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
    const body = parseJson(exchange.body)
    if (status >= 200 && status < 300 && !isServiceErrorBody(body)) {
      const judgement = reader.readSuccess(exchange, body, rowKeys, earlierTries)
      return (
        judgement ??
        createJudgement({ outcome: 'unknown', repeat: ambiguous, status, message: toUnreadable(exchange) })
      )
    }
    if (status >= 300 && status < 400) {
      return createJudgement({ outcome: 'rejected', status, message: toRedirectMessage(exchange, origin) })
    }
    const refusal = readRefusal(exchange, body)
    // The service gave up waiting for the whole request (RFC 9110 §15.5.9), as one does that closes an idle connection.
    if (status === 408) return createJudgement({ outcome: 'rejected', repeat: 'safe', ...refusal })
    if (status === 429 || status >= 500) {
      const retryAfterMs = parseRetryAfter(exchange.retryAfter, nowMs())
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

/** The forms of RFC 9110 §5.6.7, roughly. Only asctime's names no zone, and is in GMT anyway. */
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+\d\d:\d\d:\d\d( GMT| \d{4})$/

/**
 * Reads a Retry-After header (RFC 9110 §10.2.3): seconds, or an HTTP date. Returns milliseconds from `nowMs`, 0 for a
 * date that has passed, null for anything else, negative numbers included.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) {
    const ms = Number(text) * 1000
    return Number.isFinite(ms) ? ms : Number.MAX_SAFE_INTEGER
  }
  // Date.parse takes far more than HTTP dates: "try 2099" is a year to it.
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
