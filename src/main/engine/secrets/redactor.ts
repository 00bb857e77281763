/** What stands in place of a secret that was taken out. */
export const REDACTED = '[redacted]'

/**
 * Secrets shorter than this are not looked for, in characters: so short a text occurs in ordinary answers, and taking
 * it out would destroy evidence.
 */
export const REDACTED_MIN_CHARACTERS = 8

/** How many levels of escapes are undone, as in JSON within JSON. */
const LEVELS = 4

/** What a text must contain for characters of a secret to be escaped in it; the last ones for these characters alone. */
const SIGNS = ['%', '\\u00', '&#'] as const
const SIGNS_OF: Readonly<Record<string, readonly string[]>> = {
  '/': ['\\/'],
  '\\': ['\\\\'],
  '"': ['\\"', '&quot;'],
  "'": ["\\'", '&apos;'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
}

/** A form in which a secret may stand in a text. */
interface Form {
  text: string
  /** The characters at its ends hold some bits of the secret, too. */
  isBase64: boolean
}

/**
 * Takes secrets out of what comes from outside: as they are, in base64 at any offset (as in `Basic` credentials), and
 * with characters escaped as JSON, URLs and HTML do. Takes time in proportion to a text, whatever it holds.
 */
export class Redactor {
  readonly #secrets = new Set<string>()
  #forms: Form[] = []
  /** The shortest texts one of which is in every form. */
  #needles: string[] = []
  #signs: string[] = []
  #shortest = Number.POSITIVE_INFINITY
  readonly #minCharacters: number

  /** `minCharacters` is the length from which secrets are looked for. */
  constructor(minCharacters = REDACTED_MIN_CHARACTERS) {
    this.#minCharacters = minCharacters
  }

  /** Takes this secret out from now on, together with those added before. */
  add(secret: string): void {
    if (secret.length < this.#minCharacters || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    this.#forms = [...this.#secrets].flatMap((one) => toForms(one, this.#minCharacters))
    const texts = [...new Set(this.#forms.map(({ text }) => text))]
    this.#needles = texts.filter((text) => !texts.some((other) => other !== text && text.includes(other)))
    const characters = [...new Set(texts.join(''))]
    const isAscii = characters.every((character) => character <= '\x7f')
    this.#signs = [...SIGNS, ...(isAscii ? [] : ['\\u']), ...characters.flatMap((one) => SIGNS_OF[one] ?? [])]
    this.#shortest = Math.min(...texts.map(({ length }) => length))
  }

  /** The text without secrets; the same text where it holds none. */
  redact(text: string): string {
    if (text.length < this.#shortest) return text
    const spans = this.#findSpans(text, LEVELS)
    if (spans.length === 0) return text
    let redacted = ''
    let at = 0
    for (const { start, end } of spans) {
      redacted += text.slice(at, start) + REDACTED
      at = end
    }
    return redacted + text.slice(at)
  }

  /** The same for bytes; the same bytes where they hold none. Nothing else in them changes. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    if (bytes.length < this.#shortest) return bytes
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const redacted = this.redact(text)
    return redacted === text ? bytes : Buffer.from(redacted, 'latin1')
  }

  /** Where secrets are, in the order of the text, apart from each other. */
  #findSpans(text: string, levels: number): Span[] {
    const isPlain = this.#needles.some((needle) => text.includes(needle))
    const plain = isPlain ? this.#findForms(text) : []
    if (levels === 0 || !this.#signs.some((sign) => text.includes(sign))) return plain
    const unescaped = unescapeText(text)
    const hidden = unescaped === null ? [] : this.#findSpans(unescaped, levels - 1)
    return hidden.length === 0 ? plain : joinSpans([...plain, ...toEscapedSpans(text, hidden)])
  }

  #findForms(text: string): Span[] {
    const spans: Span[] = []
    for (const form of this.#forms) {
      for (let at = text.indexOf(form.text); at >= 0; at = text.indexOf(form.text, at + form.text.length)) {
        const end = at + form.text.length
        if (!form.isBase64) spans.push({ start: at, end })
        else {
          const isBefore = at > 0 && /[\w+/-]/.test(text.charAt(at - 1))
          const isBehind = /[\w+/=-]/.test(text.charAt(end))
          spans.push({ start: isBefore ? at - 1 : at, end: isBehind ? end + 1 : end })
        }
      }
    }
    return joinSpans(spans)
  }
}

/** Sorts spans, and makes one of those that overlap or touch. */
function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || span.start > last.end) joined.push({ ...span })
    else last.end = Math.max(last.end, span.end)
  }
  return joined
}

/** A secret as text, as its UTF-8 bytes, one character each, and in base64. */
function toForms(secret: string, minCharacters: number): Form[] {
  const bytes = Buffer.from(secret, 'utf8').toString('latin1')
  const plain = bytes === secret ? [secret] : [secret, bytes]
  return [
    ...plain.map((text) => ({ text, isBase64: false })),
    ...toBase64(secret, minCharacters).map((text) => ({ text, isBase64: true })),
  ]
}

/** The characters of base64 that depend on a secret alone, for each offset at which it may begin, in both alphabets. */
function toBase64(secret: string, minCharacters: number): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret, 'utf8')])
    return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6))
  })
  const all = [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
  return [...new Set(all)].filter((form) => form.length >= minCharacters)
}

/** Named entities of HTML that stand for characters of keys. */
const ENTITIES: readonly [string, number][] = [
  ['&amp;', 0x26],
  ['&lt;', 0x3c],
  ['&gt;', 0x3e],
  ['&quot;', 0x22],
  ['&apos;', 0x27],
]

/** Longest numeric entity that is read, in digits. */
const ENTITY_DIGITS_MAX = 8

/** A part of a text, from its first character to the one after its last. */
export interface Span {
  start: number
  end: number
}

/**
 * The text with every escape of JSON, of an URL and of HTML replaced by the character it stands for, one level of them;
 * null where there is none. Takes time in proportion to the text, whatever it holds.
 */
function unescapeText(text: string): string | null {
  let out: Uint16Array<ArrayBuffer> | null = null
  let length = 0
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const escaped = isEscapeStart(code) ? readEscape(text, at) : 0
    if (escaped !== 0 && out === null) {
      out = new Uint16Array(text.length)
      for (let i = 0; i < at; i += 1) out[i] = text.charCodeAt(i)
    }
    if (out !== null) out[length] = escaped === 0 ? code : toCode(escaped)
    length += 1
    at += escaped === 0 ? 1 : toLength(escaped)
  }
  return out === null ? null : Buffer.from(out.buffer, 0, length * 2).toString('utf16le')
}

/** Where spans of an unescaped text, in their order, are in the text that it was made of. */
function toEscapedSpans(text: string, spans: readonly Span[]): Span[] {
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

/** The escape that begins there, its length and its character in one number; 0 where none does. */
function readEscape(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case 0x5c: {
      const next = text.charCodeAt(at + 1)
      if (next === 0x75) return pack(6, readHex(text, at + 2, 4))
      return next === 0x2f || next === 0x5c || next === 0x22 || next === 0x27 ? pack(2, next) : 0
    }
    case 0x25:
      return pack(3, readHex(text, at + 1, 2))
    default:
      return readEntity(text, at)
  }
}

function readEntity(text: string, at: number): number {
  if (text.charCodeAt(at + 1) !== 0x23) {
    const named = ENTITIES.find(([name]) => text.startsWith(name, at))
    return named === undefined ? 0 : pack(named[0].length, named[1])
  }
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

/** A number of that many hexadecimal digits; -1 where there is none. */
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

function toCode(escaped: number): number {
  return escaped & 0xffff
}
