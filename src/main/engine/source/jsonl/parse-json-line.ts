import type { JsonExpectation } from '../../../../shared/messages/json-expectations.ts'
import type { CellKind } from '../source-reader.ts'

export interface JsonMember {
  key: string
  /** The text of a string, '' for null, and for anything else its JSON as in the file. */
  cell: string
  kind: Exclude<CellKind, '-' | 'e' | 'r' | 't'>
  /** Places of key and value in the text, UTF-16 code units from 0; `to` is exclusive. */
  from: number
  valueFrom: number
  to: number
}

/** The contents of a line: an object, or the place where it stops being one. */
export type JsonLine =
  | { kind: 'object'; members: JsonMember[] }
  /** `at` counts UTF-16 code units from 0. */
  | { kind: 'fault'; at: number; expected: JsonExpectation }

/** Thrown inside this file only. */
class JsonFault extends Error {
  readonly at: number
  readonly expected: JsonExpectation

  constructor(at: number, expected: JsonExpectation) {
    super(expected)
    this.at = at
    this.expected = expected
  }
}

/**
 * Reads one JSON object by RFC 8259, keeping the text of every value: numbers and nested values are not
 * parsed into anything that could change digits, key order or doubled keys.
 */
export function parseJsonLine(text: string): JsonLine {
  try {
    return { kind: 'object', members: readObject(text) }
  } catch (error) {
    if (error instanceof JsonFault) return { kind: 'fault', at: error.at, expected: error.expected }
    throw error
  }
}

function readObject(text: string): JsonMember[] {
  const members: JsonMember[] = []
  let at = skipSpace(text, 0)
  if (text[at] !== '{') throw new JsonFault(at, 'object')
  at = skipSpace(text, at + 1)
  if (text[at] === '}') return endObject(text, at, members)
  for (;;) {
    if (text[at] !== '"') throw new JsonFault(at, 'key')
    const from = at
    const keyEnd = findStringEnd(text, at)
    const key = readString(text, at, keyEnd)
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') throw new JsonFault(at, 'colon')
    at = skipSpace(text, at + 1)
    const end = findValueEnd(text, at)
    members.push({
      key,
      cell: readCell(text, at, end),
      kind: toKind(text[at]),
      from,
      valueFrom: at,
      to: end,
    })
    at = skipSpace(text, end)
    if (text[at] === '}') return endObject(text, at, members)
    if (text[at] !== ',') throw new JsonFault(at, 'comma')
    at = skipSpace(text, at + 1)
  }
}

const STRING_OR_BRACE = /["{}]/g

/** The keys that occur more than once in one object of a valid JSON text, at any depth, each once. */
export function findDoubledKeys(text: string): string[] {
  const open: Set<string>[] = []
  const doubled = new Set<string>()
  STRING_OR_BRACE.lastIndex = 0
  for (let found = STRING_OR_BRACE.exec(text); found !== null; found = STRING_OR_BRACE.exec(text)) {
    if (found[0] === '{') open.push(new Set())
    else if (found[0] === '}') open.pop()
    else {
      const end = findStringEnd(text, found.index)
      STRING_OR_BRACE.lastIndex = end
      if (text[skipSpace(text, end)] !== ':') continue
      const key = readString(text, found.index, end)
      const keys = open.at(-1)
      if (keys?.has(key)) doubled.add(key)
      keys?.add(key)
    }
  }
  return [...doubled]
}

function endObject(text: string, at: number, members: JsonMember[]): JsonMember[] {
  const end = skipSpace(text, at + 1)
  if (end < text.length) throw new JsonFault(end, 'end')
  return members
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) return at
    at += 1
  }
}

/** The index after the closing quote of the string that begins at `at`. */
function findStringEnd(text: string, at: number): number {
  let from = at + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) throw new JsonFault(text.length, 'closing_quote')
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\' && quote - 1 - slashes > at) slashes += 1
    if (slashes % 2 === 0) return quote + 1
    from = quote + 1
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside a string
const CONTROL = /[\0-\x1f]/

function readString(text: string, at: number, end: number): string {
  const inner = text.slice(at + 1, end - 1)
  if (!inner.includes('\\') && !CONTROL.test(inner)) return inner
  return parseWhole(text, at, end) as string
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = ['null', 'true', 'false']

function findValueEnd(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return findStringEnd(text, at)
  if (first === '{' || first === '[') return findNestedEnd(text, at)
  const word = WORDS.find((one) => text.startsWith(one, at))
  if (word !== undefined) return at + word.length
  NUMBER.lastIndex = at
  const number = NUMBER.exec(text)
  if (number === null) {
    throw new JsonFault(at, 'value')
  }
  return at + number[0].length
}

const BRACKET_OR_QUOTE = /["[\]{}]/g

/** The index after the bracket that closes the one at `at`; does not check that the inside is JSON. */
function findNestedEnd(text: string, at: number): number {
  let depth = 0
  BRACKET_OR_QUOTE.lastIndex = at
  for (let found = BRACKET_OR_QUOTE.exec(text); found !== null; found = BRACKET_OR_QUOTE.exec(text)) {
    const [character] = found
    if (character === '"') BRACKET_OR_QUOTE.lastIndex = findStringEnd(text, found.index)
    else depth += character === '{' || character === '[' ? 1 : -1
    if (depth === 0) return BRACKET_OR_QUOTE.lastIndex
  }
  throw new JsonFault(text.length, text[at] === '{' ? 'closing_brace' : 'closing_bracket')
}

function toKind(first: string | undefined): JsonMember['kind'] {
  if (first === '"') return 's'
  return first === 'n' ? 'n' : 'j'
}

function readCell(text: string, at: number, end: number): string {
  const first = text[at]
  if (first === '"') return readString(text, at, end)
  if (first === 'n') return ''
  // Everything else keeps its text, once it is confirmed to be JSON.
  if (first === '{' || first === '[') parseWhole(text, at, end)
  return text.slice(at, end)
}

const POSITION = /at position (\d+)/

function parseWhole(text: string, at: number, end: number): unknown {
  try {
    return JSON.parse(text.slice(at, end))
  } catch (error) {
    const position = POSITION.exec(error instanceof Error ? error.message : '')
    throw new JsonFault(at + Number(position?.[1] ?? 0), 'valid_value')
  }
}
