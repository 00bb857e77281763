import { decodeSample } from './decode-sample.ts'
import type { EncodingGuess } from './legacy-encodings.ts'
import { readUtf7Run } from './shifted-decoders.ts'

/** The seven-bit encoding that text seems to use; `isReadable` if there is a decoder for it. */
export interface EscapedEncoding extends EncodingGuess {
  isReadable: boolean
}

/** What follows the escape character at the start of another character set. */
const DESIGNATIONS: readonly { pattern: RegExp; encoding: string; isReadable: boolean }[] = [
  { pattern: /^(?:\$[@B]|\$\([DOPQ]|\([JI])/, encoding: 'iso-2022-jp', isReadable: true },
  { pattern: /^\$\)C/, encoding: 'iso-2022-kr', isReadable: true },
  { pattern: /^\$(?:\)[AEG]|\*H)/, encoding: 'iso-2022-cn', isReadable: false },
]

/** Bytes examined after the first escape sequence. */
const SAMPLE_BYTES = 64 * 1024

/**
 * Searches for the escape sequences of encodings that write everything as ASCII bytes: ISO-2022, HZ and
 * UTF-7. Takes the pieces of a file that is ASCII so far, one after another.
 */
export class EscapeScan {
  #found: EscapedEncoding | null = null
  readonly #utf7Runs = new Set<string>()
  #utf7: 'possible' | 'seen' | 'not' = 'possible'

  /** Examines one piece; `isLast` at the end of the file. */
  look(piece: Buffer, isLast: boolean): void {
    if (this.#found !== null) return
    this.#found = findDesignation(piece) ?? findHz(piece)
    if (this.#utf7 !== 'not' && piece.includes(PLUS)) this.#lookForUtf7(piece.toString('latin1'), isLast)
  }

  /** What all of the pieces show, or null. */
  result(): EscapedEncoding | null {
    if (this.#found !== null) return this.#found
    return this.#utf7 === 'seen' ? toGuess('utf-7', this.#utf7Runs) : null
  }

  /** One plus sign that UTF-7 would write differently proves that the text is something else. */
  #lookForUtf7(text: string, isLast: boolean): void {
    for (const match of text.matchAll(/\+([A-Za-z0-9+/]*)-?/g)) {
      // It may continue in the next piece.
      if (!isLast && match.index + match[0].length === text.length) return
      const [whole, run = ''] = match
      if (whole === '+-') continue
      const decoded = decodeUtf7Run(run)
      if (decoded === null) {
        this.#utf7 = 'not'
        return
      }
      // Some programs write quotes and other ASCII this way, which alone is no evidence.
      if (!/[^\0-\x7f]/.test(decoded) || isCapitals(whole)) continue
      this.#utf7 = 'seen'
      if (this.#utf7Runs.size < CERTAIN_PLACES) this.#utf7Runs.add(whole)
    }
  }
}

const PLUS = 0x2b

/** Number of different escapes of printable characters from which on they are no coincidence. */
const CERTAIN_PLACES = 3

function toGuess(encoding: string, found: Iterable<string>): EscapedEncoding {
  const places = [...new Set(found)]
  const bytes = Buffer.from(places.slice(0, CERTAIN_PLACES).join(' '), 'latin1')
  const readings =
    places.length >= CERTAIN_PLACES
      ? []
      : [encoding, 'utf-8'].map((one) => ({ encoding: one, sample: decodeSample(bytes, one) }))
  return { encoding, readings, isReadable: true }
}

function findDesignation(piece: Buffer): EscapedEncoding | null {
  for (let at = piece.indexOf(0x1b); at !== -1; at = piece.indexOf(0x1b, at + 1)) {
    const sequence = piece.toString('latin1', at + 1, at + 4)
    const known = DESIGNATIONS.find(({ pattern }) => pattern.test(sequence))
    if (known === undefined) continue
    const { encoding, isReadable } = known
    if (!isReadable || holdsText(piece.subarray(at), encoding)) return { encoding, readings: [], isReadable }
  }
  return null
}

/** Whether the bytes decode to characters beyond ASCII, most of them without errors. */
function holdsText(bytes: Buffer, encoding: string): boolean {
  const text = decodeSample(bytes.subarray(0, SAMPLE_BYTES), encoding)
  const characters = text.match(/[^\0-\x7f]/gu) ?? []
  const broken = characters.filter((character) => character === '\uFFFD').length
  return characters.length > 2 * broken
}

/** Regions of HZ are pairs of GB 2312 within a line, mostly of its common characters. */
function findHz(piece: Buffer): EscapedEncoding | null {
  if (!piece.includes('~{')) return null
  const text = piece.toString('latin1')
  const regions = [...text.matchAll(/~\{([^\n]*?)~\}/g)].map(([, region = '']) => region)
  const isHz = regions.length > 0 && regions.every((region) => /^(?:[!-w][!-~])+$/.test(region))
  if (!isHz) return null
  const pairs = regions.join('').match(/../g) ?? []
  // The first 55 rows hold punctuation, other alphabets and the 3,755 common characters.
  const usual = pairs.filter((pair) => /^[!-)0-W]/.test(pair)).length
  if (usual < 0.8 * pairs.length) return null
  return toGuess(
    'hz-gb-2312',
    regions.map((region) => `~{${region}~}`),
  )
}

/**
 * Whether a run is a word in capitals (`UK+USA`, `=A1+SUM(B1)`), which happens to be base64. Escapes of Latin
 * letters, which are most runs of capitals, begin with A. Escapes of dashes (`+IBM-`) end with the sign that
 * closes runs of UTF-7.
 */
function isCapitals(whole: string): boolean {
  return /^\+[B-Z][A-Z]*$/.test(whole)
}

/** The characters for which a run of base64 stands in UTF-7; null if UTF-7 would not write it. */
function decodeUtf7Run(run: string): string | null {
  // Ordinary words and numbers after a plus sign.
  if (/^(?:[A-Z]?[a-z]+|\d+)$/.test(run)) return null
  const { units, isWhole } = readUtf7Run(run)
  if (units === '' || !isWhole) return null
  return units.isWellFormed() && !/(?![\t\n\r])[\p{Cc}\p{Co}\p{Cn}]/u.test(units) ? units : null
}
