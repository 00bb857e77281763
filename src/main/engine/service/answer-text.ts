import { readServiceError } from '../../../shared/service/errors.ts'
import type { Answer } from './exchange.ts'

/** Longest message kept of an answer, UTF-16 code units. */
const MESSAGE_MAX_CHARACTERS = 500

/** The JSON of a text, or undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    // A parser may ignore a byte-order mark (RFC 8259 §8.1).
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown
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
