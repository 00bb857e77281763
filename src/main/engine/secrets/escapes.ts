/** A range of a text; `end` is exclusive. */
export interface Span {
  start: number
  end: number
}

/** HTML entities for the characters of keys, without `&` and `;`. */
const ENTITIES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '!': 'excl',
    '"': 'quot QUOT',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp AMP',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast midast',
    '+': 'plus',
    ',': 'comma',
    '-': 'hyphen dash',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '<': 'lt LT',
    '=': 'equals',
    '>': 'gt GT',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb lbrack',
    '\\': 'bsol',
    ']': 'rsqb rbrack',
    '^': 'Hat',
    _: 'lowbar UnderBar',
    '`': 'grave DiacriticalGrave',
    '{': 'lcub lbrace',
    '|': 'verbar vert VerticalLine',
    '}': 'rcub rbrace',
  }).flatMap(([character, names]) =>
    names.split(' ').map((name) => [name, character.charCodeAt(0)] as const),
  ),
)

/** Longest name of an entity, characters. */
const NAME_MAX = Math.max(...[...ENTITIES.keys()].map(({ length }) => length))

/** Most digits read of a numeric entity. */
const ENTITY_DIGITS_MAX = 8

/**
 * The text with every escape of JSON, URLs, HTML and scripts (`\\x41`) replaced by its character, one level
 * of them; null if there is none. Takes time in proportion to the text, whatever it contains.
 */
export function unescapeText(text: string): string | null {
  let out: Uint16Array<ArrayBuffer> | null = null
  let length = 0
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const escaped = isEscapeStart(code) ? readEscape(text, at) : 0
    if (escaped !== 0 && out === null) {
      out = new Uint16Array(text.length)
      for (let i = 0; i < at; i += 1) out[i] = text.charCodeAt(i)
    }
    if (out !== null) out[length] = escaped === 0 ? code : escaped & 0xffff
    length += 1
    at += escaped === 0 ? 1 : toLength(escaped)
  }
  return out === null ? null : Buffer.from(out.buffer, 0, length * 2).toString('utf16le')
}

/** The places, in the escaped text, of spans of the unescaped text, in order. */
export function toEscapedSpans(text: string, spans: readonly Span[]): Span[] {
  const found: Span[] = []
  let start = 0
  let index = 0
  for (let at = 0; at <= text.length && found.length < spans.length; index += 1) {
    const span = spans[found.length]
    if (span !== undefined && index === span.start) start = at
    if (span !== undefined && index === span.end) found.push({ start, end: at })
    const next = spans[found.length]
    if (next !== undefined && index === next.start) start = at
    const escaped = isEscapeStart(text.charCodeAt(at)) ? readEscape(text, at) : 0
    at += escaped === 0 ? 1 : toLength(escaped)
  }
  return found
}

function isEscapeStart(code: number): boolean {
  return code === 0x5c || code === 0x25 || code === 0x26
}

/** The escape that begins at `at`, its length and character in one number; 0 if there is none. */
function readEscape(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case 0x5c: {
      const next = text.charCodeAt(at + 1)
      if (next === 0x75) return pack(6, readHex(text, at + 2, 4))
      if (next === 0x78) return pack(4, readHex(text, at + 2, 2))
      return next === 0x2f || next === 0x5c || next === 0x22 || next === 0x27 ? pack(2, next) : 0
    }
    case 0x25:
      return pack(3, readHex(text, at + 1, 2))
    default:
      return readEntity(text, at)
  }
}

/** Whether a text has an HTML entity that is decoded here. */
export function hasEntity(text: string): boolean {
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (readEntity(text, at) !== 0) return true
  }
  return false
}

function readEntity(text: string, at: number): number {
  if (text.charCodeAt(at + 1) !== 0x23) return readNamedEntity(text, at)
  const isHex = (text.charCodeAt(at + 2) | 0x20) === 0x78
  const from = at + (isHex ? 3 : 2)
  let value = 0
  for (let i = from; i < from + ENTITY_DIGITS_MAX; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 0x3b) return i > from && value <= 0xffff ? pack(i + 1 - at, value) : 0
    const digit = toDigit(code)
    if (digit < 0 || (!isHex && digit > 9)) return 0
    value = value * (isHex ? 16 : 10) + digit
  }
  return 0
}

function readNamedEntity(text: string, at: number): number {
  for (let end = at + 1; end <= at + 1 + NAME_MAX; end += 1) {
    const code = text.charCodeAt(end)
    if (code === 0x3b) return pack(end + 1 - at, ENTITIES.get(text.slice(at + 1, end)) ?? -1)
    const letter = code | 0x20
    if (!(letter >= 0x61 && letter <= 0x7a)) return 0
  }
  return 0
}

/** A number of that many hexadecimal digits; -1 if there is none. */
function readHex(text: string, at: number, digits: number): number {
  let value = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = toDigit(text.charCodeAt(i))
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

function toDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function pack(length: number, code: number): number {
  return code < 0 ? 0 : length * 0x10000 + code
}

function toLength(escaped: number): number {
  return escaped >>> 16
}
