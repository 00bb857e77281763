import { readServiceError } from '../../../shared/service/errors.ts'
import type { Answer } from './exchange.ts'

/** Longest message kept of an answer, UTF-16 code units. */
const MESSAGE_MAX_CHARACTERS = 500

/** Digits enough that an integer may not survive as a double. */
const LONG_INTEGER = /\d{16}/

/** Most objects and lists of a JSON text: parsed, each may take 80 bytes, whatever its text takes. */
const JSON_CONTAINERS_MAX = 1_000_000

/** Longest JSON text that is parsed a second way for its long integers, which takes several times the memory. */
const LONG_INTEGERS_MAX_LENGTH = 1024 * 1024

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

// What ES2026 adds to JSON, and Node has, the type library does not know yet.
const { parse: parseWithSource } = JSON as unknown as { parse: (text: string, reviver: Reviver) => unknown }

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLost = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
  return isLost ? source : value
}

/** The JSON of a text, or undefined where it is none or too much. Integers that a double cannot hold, such as long ids, are texts. */
export function parseJson(text: string): unknown {
  if (hasTooMuchJson(text)) return undefined
  try {
    // A parser may ignore a byte-order mark (RFC 8259 §8.1).
    const json = text.startsWith('\uFEFF') ? text.slice(1) : text
    const hasLong = json.length <= LONG_INTEGERS_MAX_LENGTH && LONG_INTEGER.test(json)
    return hasLong ? parseWithSource(json, keepDigits) : (JSON.parse(json) as unknown)
  } catch {
    return undefined
  }
}

/** Counts what may begin an object or a list, within strings too. */
function hasTooMuchJson(text: string): boolean {
  if (text.length <= JSON_CONTAINERS_MAX) return false
  let containers = 0
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i)
    // [ and {
    if (character === 0x5b || character === 0x7b) containers += 1
  }
  return containers > JSON_CONTAINERS_MAX
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
  if (hasTooMuchJson(body)) return `answered ${status} with JSON of more than 1,000,000 objects and lists`
  if (parseJson(body) !== undefined) return `answered ${status} with JSON that is not of the interface`
  return `answered ${status} with a body that is not valid JSON (${contentType || 'no content type'})`
}

/** Says where a redirect that was not followed leads. */
export function toRedirectMessage({ status, location }: Answer, origin: string): string {
  const target = location !== null && URL.canParse(location, origin) ? new URL(location, origin).origin : null
  const where = target === null ? 'elsewhere' : `to ${target}`
  return `answered ${status}, a redirect ${where}, which is not followed, so that the key stays here; correct the base URL`
}
