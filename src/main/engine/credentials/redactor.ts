/** What stands in place of a secret that was taken out. */
export const REDACTED = '[redacted]'

/**
 * Secrets shorter than this are not looked for, in characters: so short a text occurs in ordinary answers, and taking
 * it out would destroy evidence.
 */
export const REDACTED_MIN_CHARACTERS = 8

/** What a text must contain for an ASCII secret to be hidden in it by an escape of JSON, of an URL or of HTML. */
const ESCAPES = ['\\u00', '%', '&#'] as const

/**
 * Spellings that only some characters have, and what a text must contain for one to be there. Counts are bounded, so
 * that no text makes the search slow.
 */
const SHORT_ESCAPES: Readonly<Record<string, { pattern: string; signs: readonly string[] }>> = {
  '/': { pattern: '\\\\{1,8}\\/', signs: ['\\/'] },
  '\\': { pattern: '\\\\{2,8}', signs: ['\\\\'] },
  '"': { pattern: '\\\\{1,8}"|&quot;', signs: ['\\"', '&quot;'] },
  "'": { pattern: "\\\\{1,8}'|&apos;", signs: ["\\'", '&apos;'] },
  '&': { pattern: '&amp;', signs: ['&amp;'] },
  '<': { pattern: '&lt;', signs: ['&lt;'] },
  '>': { pattern: '&gt;', signs: ['&gt;'] },
}

/**
 * Takes secrets out of what comes from outside: as they are, in base64 at any offset (as in `Basic` credentials), and
 * with characters escaped as JSON, URLs and HTML do.
 */
export class Redactor {
  readonly #secrets = new Set<string>()
  /** Each secret as it is and in base64 at each of the three offsets. */
  #needles: string[] = []
  /** What a text must contain for a secret to be hidden in it by an escape. */
  #signs: string[] = []
  #shortest = Number.POSITIVE_INFINITY
  /** Finds every form of every secret; built when it is first needed. */
  #forms: RegExp | null = null

  /** Takes this secret out from now on, together with those added before. */
  add(secret: string): void {
    if (secret.length < REDACTED_MIN_CHARACTERS || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    this.#needles = [...this.#secrets].flatMap((one) => [...toPlainForms(one), ...toBase64Forms(one)])
    const characters = new Set(this.#needles.join(''))
    this.#signs = [
      ...ESCAPES,
      ...[...characters].flatMap((character) => SHORT_ESCAPES[character]?.signs ?? []),
      ...([...characters].some((character) => character > '\x7f') ? ['\\u'] : []),
    ]
    this.#shortest = Math.min(...this.#needles.map(({ length }) => length))
    this.#forms = null
  }

  /** The text without secrets; the same text where it holds none. */
  redact(text: string): string {
    if (text.length < this.#shortest) return text
    const isPlain = this.#needles.some((needle) => text.includes(needle))
    if (!isPlain && !this.#signs.some((sign) => text.includes(sign))) return text
    this.#forms ??= toPattern(this.#secrets)
    return text.replace(this.#forms, REDACTED)
  }

  /** The same for bytes; the same bytes where they hold none. Nothing else in them changes. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    if (bytes.length < this.#shortest) return bytes
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const redacted = this.redact(text)
    return redacted === text ? bytes : Buffer.from(redacted, 'latin1')
  }
}

/** A secret as text and, where it is not ASCII, as its UTF-8 bytes, one character each. */
function toPlainForms(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8').toString('latin1')
  return bytes === secret ? [secret] : [secret, bytes]
}

/** The characters of base64 that depend on a secret alone, for each offset at which it may begin, in both alphabets. */
function toBase64Forms(secret: string): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret, 'utf8')])
    return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6))
  })
  const all = [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
  return [...new Set(all)].filter((form) => form.length >= REDACTED_MIN_CHARACTERS)
}

function toPattern(secrets: ReadonlySet<string>): RegExp {
  const toSpellings = (text: string): string => [...text].map(toCharacterPattern).join('')
  const plain = [...secrets].flatMap(toPlainForms).map(toSpellings)
  // The characters at both ends of base64 hold some bits of the secret, too.
  const encoded = [...secrets].flatMap(toBase64Forms).map((form) => `[\\w+/-]?${toSpellings(form)}[\\w+/=-]?`)
  // The longest first, so that of two that begin alike nothing is left behind.
  return new RegExp([...plain, ...encoded].sort((a, b) => b.length - a.length).join('|'), 'g')
}

/** One character in any spelling; hexadecimal digits in any case. */
function toCharacterPattern(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  const json = units.map((unit) => `\\\\{1,8}u${toHexPattern(unit, 4)}`).join('')
  const url = [...Buffer.from(character, 'utf8')]
    .map((byte) => `%(?:25){0,4}${toHexPattern(byte, 2)}`)
    .join('')
  const point = character.codePointAt(0) ?? 0
  const html = `&#(?:0{0,5}${point}|[xX]0{0,5}${toHexPattern(point, 1)});`
  const short = SHORT_ESCAPES[character]?.pattern
  const spellings = [toLiteral(character), ...(short === undefined ? [] : [short]), json, url, html]
  return `(?:${spellings.join('|')})`
}

function toHexPattern(value: number, digits: number): string {
  const hex = value.toString(16).padStart(digits, '0')
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

function toLiteral(character: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(character) ? `\\${character}` : character
}
