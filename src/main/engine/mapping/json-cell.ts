import { isJsonObject, type JsonObject } from '../../../shared/service/json-object.ts'

/** Deepest nesting of a JSON object that is sent; writing it again needs stack for every level. */
const MAX_JSON_DEPTH = 500

/**
 * Reads a cell that should hold a JSON object, or returns null where it does not or nests deeper than
 * {@link MAX_JSON_DEPTH}. Numbers that a double cannot hold, such as long ids, are written again digit by digit.
 */
export function parseJsonObject(cell: string): JsonObject | null {
  if (isTooDeep(cell)) return null
  try {
    const value: unknown = LONG_NUMBER.test(cell) ? parseWithSource(cell, keepLongNumber) : JSON.parse(cell)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

/** Digits enough that a number may not survive as a double. */
const LONG_NUMBER = /\d[\d.]{15}/

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

// What ES2026 adds to JSON, and Node has, the type library does not know yet.
const { parse: parseWithSource, rawJSON } = JSON as unknown as {
  parse: (text: string, reviver: Reviver) => unknown
  rawJSON: (text: string) => unknown
}

function keepLongNumber(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? rawJSON(source)
    : value
}

/** Counts brackets, those in strings too: a wrong "too deep" needs five hundred opened and not closed in text. */
function isTooDeep(cell: string): boolean {
  if (cell.length < 2 * MAX_JSON_DEPTH) return false
  let depth = 0
  for (let index = 0; index < cell.length; index += 1) {
    const unit = cell.charCodeAt(index)
    if (unit === 0x7b || unit === 0x5b) {
      depth += 1
      if (depth > MAX_JSON_DEPTH) return true
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1
  }
  return false
}
