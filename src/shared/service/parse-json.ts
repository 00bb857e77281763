/** Enough digits that a double may not hold the integer; a fraction's digits, as in a score, do not count. */
const LONG_INTEGER = /(?:^|[^\d.])\d{16}/

/** Most objects and lists in a JSON text: each may take 80 bytes when parsed, however short its text. */
const JSON_CONTAINERS_MAX = 1_000_000

/** Most objects and lists within each other: what reads a body calls itself for each. */
const JSON_DEPTH_MAX = 1_000

/** Longest JSON text that is parsed again for its long integers, which takes several times the memory. */
const LONG_INTEGERS_MAX_LENGTH = 1024 * 1024

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

// Part of ES2026 and of Node, but not of the type library yet.
const { parse: parseWithSource } = JSON as unknown as { parse: (text: string, reviver: Reviver) => unknown }

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLost = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
  return isLost ? source : value
}

/**
 * The JSON of a text, or undefined if it is not JSON or too much of it. Integers that a double cannot hold,
 * such as long ids, become texts.
 */
export function parseJson(text: string): unknown {
  if (hasTooMuchJson(text) || isJsonTooDeep(text)) return undefined
  try {
    // A parser may ignore a byte-order mark (RFC 8259 §8.1).
    const json = text.startsWith('\uFEFF') ? text.slice(1) : text
    const hasLong = json.length <= LONG_INTEGERS_MAX_LENGTH && LONG_INTEGER.test(json)
    return hasLong ? parseWithSource(json, keepDigits) : (JSON.parse(json) as unknown)
  } catch {
    return undefined
  }
}

/** Counts everything that may begin an object or a list, including inside strings. */
export function hasTooMuchJson(text: string): boolean {
  if (text.length <= JSON_CONTAINERS_MAX) return false
  let containers = 0
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i)
    // [ and {
    if (character === 0x5b || character === 0x7b) containers += 1
  }
  return containers > JSON_CONTAINERS_MAX
}

/** Whether objects and lists are nested too deeply to be read. */
export function isJsonTooDeep(text: string): boolean {
  if (text.length <= 2 * JSON_DEPTH_MAX) return false
  let [depth, inString] = [0, false]
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i)
    // "
    if (character === 0x22) inString = !inString
    else if (inString) {
      // What follows a \ is not the end of the string.
      if (character === 0x5c) i += 1
    } else if (character === 0x5b || character === 0x7b) {
      depth += 1
      if (depth > JSON_DEPTH_MAX) return true
    } else if (character === 0x5d || character === 0x7d) depth -= 1
  }
  return false
}
