import { isJsonObject } from '../../../shared/service/json-object.ts'
import { type JsonMember, parseJsonLine } from '../source/jsonl/parse-json-line.ts'

/** A JSON value sent as its original text: no digit, key or order changes. */
export class JsonText {
  readonly text: string

  /** `text` is valid JSON. */
  constructor(text: string) {
    this.text = text
  }

  /** The parsed value, for reading only. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** Reads a cell that should hold a JSON object; null if it does not. */
export function readJsonObject(cell: string): JsonText | null {
  return parseJsonLine(cell).kind === 'object' ? new JsonText(cell) : null
}

export function isObjectValue(value: unknown): boolean {
  return value instanceof JsonText ? value.text.trimStart().startsWith('{') : isJsonObject(value)
}

/** A value of a body as text: a string unchanged, anything else as its JSON. */
export function toValueText(value: unknown): string {
  if (typeof value === 'string') return value
  return value instanceof JsonText ? value.text : (JSON.stringify(value) ?? String(value))
}

/**
 * Adds text members to an object. An existing key keeps its value; if the added one differs and `repeats` is
 * set, the text has both, so that none is lost and a warning about doubled keys follows.
 */
export function addMembers(
  { text }: JsonText,
  added: readonly { key: string; value: string }[],
  repeats: boolean,
): JsonText {
  const members = listMembers(text)
  const isAdded = ({ key, value }: { key: string; value: string }) => {
    const own = members.filter((member) => member.key === key)
    if (own.length === 0) return true
    return repeats && !own.some(({ valueFrom, to }) => isSameValue(text.slice(valueFrom, to), value))
  }
  const behind = added
    .filter(isAdded)
    .map(({ key, value }) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  return new JsonText(appendTo(text, members, behind))
}

/** Whether a JSON value is this text, or is written exactly like it. */
function isSameValue(json: string, text: string): boolean {
  const written = json.trim()
  return written === text || (written.startsWith('"') && JSON.parse(written) === text)
}

function listMembers(text: string): readonly JsonMember[] {
  const parsed = parseJsonLine(text)
  return parsed.kind === 'object' ? parsed.members : []
}

/** The text of an object with further members behind its last. */
function appendTo(text: string, members: readonly JsonMember[], behind: readonly string[]): string {
  if (behind.length === 0) return text
  const end = members.at(-1)?.to
  if (end === undefined) return `{${behind.join(',')}}`
  return `${text.slice(0, end)},${behind.join(',')}${text.slice(end)}`
}

/** What a row is mapped to: fields by name, and the text of the whole request that it began with, if any. */
export type Body = Record<string, unknown> & { [WHOLE]?: WholeRequest }

/** A cell with a whole request, and the values that its members gave the body. */
interface WholeRequest {
  text: string
  members: readonly JsonMember[]
  values: ReadonlyMap<string, unknown>
}

const WHOLE = Symbol('whole request')

/** Begins a body with a whole request; false if `text` is none. `toValue` gives null for members to omit. */
export function beginWithRequest(
  body: Body,
  text: string,
  toValue: (member: JsonMember) => { value: unknown } | null,
): boolean {
  const parsed = parseJsonLine(text)
  if (parsed.kind !== 'object') return false
  const values = new Map<string, unknown>()
  for (const member of parsed.members) {
    const given = toValue(member)
    if (given === null) values.delete(member.key)
    else values.set(member.key, given.value)
  }
  for (const [key, value] of values) {
    // Plain assignment would set the prototype if the key is `__proto__`.
    Object.defineProperty(body, key, { value, enumerable: true, configurable: true, writable: true })
  }
  body[WHOLE] = { text, members: parsed.members, values }
  return true
}

/** The text of the whole request that a body began with; null if it began with none. */
export function findRequestText(body: Readonly<Body>): string | null {
  return body[WHOLE]?.text ?? null
}

/** The JSON of a body. What came as JSON keeps its original text. */
export function writeBody(body: Readonly<Body>): string {
  const whole = body[WHOLE]
  if (whole !== undefined) return writeWhole(body, whole)
  for (const name in body) if (body[name] instanceof JsonText) return `{${listWritten(body).join(',')}}`
  return JSON.stringify(body)
}

function listWritten(body: Readonly<Body>, names = Object.keys(body)): string[] {
  return names.flatMap((name) => {
    const value = body[name]
    if (value === undefined) return []
    return [`${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`]
  })
}

/** The unchanged members of the request, then what was changed or added. */
function writeWhole(body: Readonly<Body>, { text, members, values }: WholeRequest): string {
  const isKept = (name: string) =>
    values.has(name) && Object.hasOwn(body, name) && body[name] === values.get(name)
  const behind = listWritten(
    body,
    Object.keys(body).filter((name) => !isKept(name)),
  )
  if (members.every(({ key }) => isKept(key))) return appendTo(text, members, behind)
  const kept = members.flatMap(({ key, from, to }) => (isKept(key) ? [text.slice(from, to)] : []))
  return `{${[...kept, ...behind].join(',')}}`
}
