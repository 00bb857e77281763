import { readServiceError } from '../../../shared/service/errors.ts'
import type { Answer } from './exchange.ts'

/** Longest message kept of an answer, UTF-16 code units. */
const MESSAGE_MAX_CHARACTERS = 500

/** Digits enough that an integer may not survive as a double. */
const LONG_INTEGER = /\d{16}/

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

// What ES2026 adds to JSON, and Node has, the type library does not know yet.
const { parse: parseWithSource } = JSON as unknown as { parse: (text: string, reviver: Reviver) => unknown }

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLost = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
  return isLost ? source : value
}

/** The JSON of a text, or undefined where it is none. Integers that a double cannot hold, such as long ids, are texts. */
export function parseJson(text: string): unknown {
  try {
    // A parser may ignore a byte-order mark (RFC 8259 §8.1).
    const json = text.startsWith('\uFEFF') ? text.slice(1) : text
    return LONG_INTEGER.test(json) ? parseWithSource(json, keepDigits) : (JSON.parse(json) as unknown)
  } catch {
    return undefined
  }
}

/** Cuts a message to what is kept of it. */
export function cutMessage(text: string): string {
  return text.length <= MESSAGE_MAX_CHARACTERS ? text : `${text.slice(0, MESSAGE_MAX_CHARACTERS - 1)}…`
}

/** What an error answer says, in its own words or, where it has none, in ours. */
export interface Refusal {
  status: number
  errorCode: string | null
  message: string
}

/** Reads an answer that says error; `body` is its JSON. */
export function readRefusal(answer: Answer, body: unknown): Refusal {
  const { status } = answer
  const error = readServiceError(body)
  if (error === null || (error.errorCode === null && error.message === null)) {
    return { status, errorCode: null, message: toUnreadable(answer) }
  }
  const message = cutMessage(error.message ?? `the service answered ${status}`)
  return { status, errorCode: error.errorCode, message }
}

/** Says what came instead of an answer of the interface. */
export function toUnreadable({ status, contentType, body, bodyProblem }: Answer): string {
  if (bodyProblem !== undefined) return `answered ${status}, but ${bodyProblem}`
  if (body.trim() === '') return `answered ${status} with an empty body`
  if (/^\s*</.test(body)) {
    return `answered ${status} with a web page instead of JSON, as a proxy or a wrong base URL does`
  }
  if (parseJson(body) !== undefined) return `answered ${status} with JSON that is not of the interface`
  return `answered ${status} with a body that is not valid JSON (${contentType || 'no content type'})`
}

/** Says where a redirect that was not followed leads. */
export function toRedirectMessage({ status, location }: Answer, origin: string): string {
  const target = location !== null && URL.canParse(location, origin) ? new URL(location, origin).origin : null
  const where = target === null ? 'elsewhere' : `to ${target}`
  return `answered ${status}, a redirect ${where}, which is not followed, so that the key stays here; correct the base URL`
}
