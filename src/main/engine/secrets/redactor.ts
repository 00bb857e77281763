import { hasEntity, type Span, toEscapedSpans, unescapeText } from './escapes.ts'

export const REDACTED = '[redacted]'

/**
 * Shortest secret that is searched for, characters: shorter texts occur in ordinary answers, and removing
 * them would destroy evidence.
 */
export const REDACTED_MIN_CHARACTERS = 8

/** Shortest run of base64 or hexadecimal that is decoded, and how much of a long one, characters. */
const RUN_MIN_CHARACTERS = 16
const RUN_MAX_CHARACTERS = 64 * 1024

/** Matches nothing. */
const NOTHING = /(?!)/

/** Most levels of escapes undone, as in JSON within JSON. */
const LEVELS = 4

/** How often nested base64 and hexadecimal are decoded, and how many characters of a text in all. */
const DECODED_LEVELS = 3
const DECODED_MAX_CHARACTERS = 512 * 1024

/** Characters that may follow a backslash unchanged. */
const ESCAPED = '/\\"\''

/**
 * Removes secrets from outside text: in any case, as UTF-16, in hexadecimal, in base64 at any offset (as in
 * `Basic` credentials), and with characters escaped as in JSON, URLs and HTML; each also inside the others,
 * to a limited depth and number of characters. Takes time in proportion to a text, whatever it contains.
 */
export class Redactor {
  readonly #secrets = new Set<string>()
  /** Lower-case forms, searched for in any case, and those in base64. */
  #anyCase: string[] = []
  #anyCasePattern = NOTHING
  #base64: string[] = []
  /** Whether the secrets are ASCII, and which of their characters may follow a backslash unchanged. */
  #isAscii = true
  #escaped = ''
  #shortest = Number.POSITIVE_INFINITY
  /** Shortest run of base64 or hexadecimal that may hold a secret. */
  #leastRun = Number.POSITIVE_INFINITY
  /** Characters that may still be decoded. */
  #decodable = 0
  readonly #minCharacters: number

  /** `minCharacters` is the length of the shortest secret searched for. */
  constructor(minCharacters = REDACTED_MIN_CHARACTERS) {
    this.#minCharacters = minCharacters
  }

  /** Also removes this secret from now on. */
  add(secret: string): void {
    if (secret.length < this.#minCharacters || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    const secrets = [...this.#secrets]
    this.#anyCase = [...new Set(secrets.flatMap(toPlain))]
    this.#anyCasePattern = new RegExp(this.#anyCase.map((form) => toPattern(form)).join('|'), 'i')
    this.#base64 = [...new Set(secrets.flatMap((one) => toBase64(one, this.#minCharacters)))]
    const characters = [...new Set(secrets.join(''))]
    this.#isAscii = characters.every((character) => character <= '\x7f')
    this.#escaped = characters.filter((character) => ESCAPED.includes(character)).join('')
    this.#shortest = Math.min(...[...this.#anyCase, ...this.#base64].map(({ length }) => length))
    this.#leastRun = Math.min(...this.#base64.map(({ length }) => length))
  }

  /** The text without secrets; the same text if it holds none. */
  redact(text: string): string {
    if (text.length < this.#shortest) return text
    this.#decodable = DECODED_MAX_CHARACTERS
    const spans = this.#findSpans(text, LEVELS, DECODED_LEVELS)
    if (spans.length === 0) return text
    let redacted = ''
    let at = 0
    for (const { start, end } of spans) {
      redacted += text.slice(at, start) + REDACTED
      at = end
    }
    return redacted + text.slice(at)
  }

  /** The same for bytes; returns the same bytes if they contain no secret. Other bytes never change. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    if (bytes.length < this.#shortest) return bytes
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const redacted = this.redact(text)
    return redacted === text ? bytes : Buffer.from(redacted, 'latin1')
  }

  /** Places of secrets, in text order, without overlaps. */
  #findSpans(text: string, levels: number, decodedLevels: number): Span[] {
    const spans = this.#findForms(text)
    if (levels > 0 && this.#mayHaveEscapes(text)) {
      const unescaped = unescapeText(text)
      const hidden = unescaped === null ? [] : this.#findSpans(unescaped, levels - 1, decodedLevels)
      if (hidden.length > 0) spans.push(...toEscapedSpans(text, hidden))
    }
    const runs = findEncodedRuns(text, this.#leastRun)
    if (runs.length > 0) {
      for (const form of this.#base64) addBase64Spans(spans, text, form)
      if (decodedLevels > 0)
        spans.push(...this.#findEncoded(text, levels, decodedLevels, runs, joinSpans(spans)))
    }
    return joinSpans(spans)
  }

  /** Whether characters of a secret may be escaped in a text; few texts with backslashes and `&` have any. */
  #mayHaveEscapes(text: string): boolean {
    if (text.includes('%') || hasEntity(text)) return true
    for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 1)) {
      const next = text.charAt(at + 1)
      if (next === 'x' || (next !== '' && this.#escaped.includes(next))) return true
      if (next === 'u' && (!this.#isAscii || text.startsWith('00', at + 2))) return true
    }
    return false
  }

  #findForms(text: string): Span[] {
    const spans: Span[] = []
    // Lower-casing a copy takes longer than checking whether one is needed.
    if (!this.#anyCasePattern.test(text)) return spans
    const small = toSmall(text)
    for (const form of this.#anyCase) addSpans(spans, small, form)
    return spans
  }

  /** The runs in which a secret is encoded more than once, without those where one was already found. */
  #findEncoded(
    text: string,
    levels: number,
    decodedLevels: number,
    runs: readonly Span[],
    known: readonly Span[],
  ): Span[] {
    const found: Span[] = []
    let next = 0
    for (const run of runs) {
      while (next < known.length && (known[next]?.end ?? 0) <= run.start) next += 1
      const isKnown = (known[next]?.start ?? Number.POSITIVE_INFINITY) < run.end
      if (isKnown || run.end - run.start < RUN_MIN_CHARACTERS) continue
      for (const decoded of decodeRun(
        text.slice(run.start, Math.min(run.end, run.start + RUN_MAX_CHARACTERS)),
      )) {
        this.#decodable -= decoded.length
        if (this.#decodable < 0) return found
        if (this.#findSpans(decoded, Math.min(levels, 1), decodedLevels - 1).length === 0) continue
        found.push(run)
        break
      }
    }
    return found
  }
}

function addSpans(spans: Span[], text: string, form: string): void {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    spans.push({ start: at, end: at + form.length })
  }
}

/** The same for base64, whose first and last characters hold some bits of the secret, too. */
function addBase64Spans(spans: Span[], text: string, form: string): void {
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    const end = at + form.length
    const isBefore = at > 0 && /[\w+/-]/.test(text.charAt(at - 1))
    const isBehind = /[\w+/=-]/.test(text.charAt(end))
    spans.push({ start: isBefore ? at - 1 : at, end: isBehind ? end + 1 : end })
  }
}

/** Sorts spans and merges those that overlap or touch. */
function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans
  const joined: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last === undefined || span.start > last.end) joined.push({ ...span })
    else last.end = Math.max(last.end, span.end)
  }
  return joined
}

/** Escapes a text for a regular expression. */
function toPattern(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text in lower case, with each character in its place. */
function toSmall(text: string): string {
  const small = text.toLowerCase()
  // A few letters outside ASCII become two characters.
  return small.length === text.length ? small : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/**
 * A secret as text, as its UTF-8 bytes with one character each, in hexadecimal, and as its UTF-16 bytes
 * without the zero at one end; all in lower case.
 */
function toPlain(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  const small = toSmall(secret)
  const wide = [...small].join('\0')
  return [small, toSmall(bytes.toString('latin1')), bytes.toString('hex'), wide]
}

/** Base64 characters determined by a secret alone, for each offset at which it begins, in both alphabets. */
function toBase64(secret: string, minCharacters: number): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret, 'utf8')])
    return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6))
  })
  const all = [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
  return [...new Set(all)].filter((form) => form.length >= minCharacters)
}

/** By character code: 1 for base64 characters of either alphabet, which include hexadecimal digits. */
const IS_ENCODED = new Uint8Array(0x10000)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  IS_ENCODED[character.charCodeAt(0)] = 1
}

/**
 * Runs of at least `least` characters that may be base64 or hexadecimal. Checks only every `least`-th
 * character first, since such a run contains one: ordinary text costs next to nothing.
 */
function findEncodedRuns(text: string, least: number): Span[] {
  const runs: Span[] = []
  for (let at = least - 1; at < text.length; at += least) {
    if (!isEncoded(text, at)) continue
    const from = runs.at(-1)?.end ?? 0
    let start = at
    while (start > from && isEncoded(text, start - 1)) start -= 1
    let end = at + 1
    while (end < text.length && isEncoded(text, end)) end += 1
    if (end - start >= least) runs.push({ start, end })
    // The character that ended the run belongs to no other.
    at = end
  }
  return runs
}

function isEncoded(text: string, at: number): boolean {
  return IS_ENCODED[text.charCodeAt(at)] === 1
}

/** Decodings of a run, one character per byte: as hexadecimal, and as base64 from any of its characters. */
function* decodeRun(run: string): Generator<string> {
  if (/^[\da-f]+$/i.test(run)) {
    yield Buffer.from(run, 'hex').toString('latin1')
    yield Buffer.from(run.slice(1), 'hex').toString('latin1')
  }
  for (let skipped = 0; skipped < 4; skipped += 1) {
    yield Buffer.from(run.slice(skipped), 'base64').toString('latin1')
  }
}
