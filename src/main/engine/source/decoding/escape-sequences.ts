import { createPieceDecoder } from './text-reader.ts'

/** An encoding of seven bits that text seems to be in; `isReadable` if there is a decoder for it. */
export interface EscapedEncoding {
  encoding: string
  isReadable: boolean
}

/** What follows the escape character where another character set begins. */
const DESIGNATIONS: readonly { pattern: RegExp; encoding: string; isReadable: boolean }[] = [
  { pattern: /^(?:\$[@B]|\$\([DOPQ]|\([JI])/, encoding: 'iso-2022-jp', isReadable: true },
  { pattern: /^\$\)C/, encoding: 'iso-2022-kr', isReadable: true },
  { pattern: /^\$(?:\)[AEG]|\*H)/, encoding: 'iso-2022-cn', isReadable: false },
]

/** Characters that are looked at behind the first escape sequence. */
const SAMPLE_CHARACTERS = 64 * 1024

/**
 * Looks for the escape sequences of encodings that write everything as ASCII bytes: ISO-2022, HZ and UTF-7. Pieces of
 * a file that is ASCII so far go in one after the other.
 */
export class EscapeScan {
  #found: EscapedEncoding | null = null
  #utf7: 'possible' | 'seen' | 'not' = 'possible'

  /** Looks at one piece; `isLast` is the end of the file. */
  look(piece: Buffer, isLast: boolean): void {
    if (this.#found !== null) return
    this.#found = findDesignation(piece) ?? findHz(piece)
    if (this.#utf7 !== 'not' && piece.includes(PLUS)) this.#lookForUtf7(piece.toString('latin1'), isLast)
  }

  /** What all of the pieces show, or null. */
  result(): EscapedEncoding | null {
    return this.#found ?? (this.#utf7 === 'seen' ? { encoding: 'utf-7', isReadable: true } : null)
  }

  /** One plus sign that UTF-7 would not write so says that the text is something else. */
  #lookForUtf7(text: string, isLast: boolean): void {
    for (const match of text.matchAll(/\+([A-Za-z0-9+/]*)-?/g)) {
      // It may go on in the next piece.
      if (!isLast && match.index + match[0].length === text.length) return
      const [whole, run = ''] = match
      if (whole === '+-') continue
      if (!isUtf7Run(run)) {
        this.#utf7 = 'not'
        return
      }
      this.#utf7 = 'seen'
    }
  }
}

const PLUS = 0x2b

function findDesignation(piece: Buffer): EscapedEncoding | null {
  for (let at = piece.indexOf(0x1b); at !== -1; at = piece.indexOf(0x1b, at + 1)) {
    const sequence = piece.toString('latin1', at + 1, at + 4)
    const known = DESIGNATIONS.find(({ pattern }) => pattern.test(sequence))
    if (known === undefined) continue
    const { encoding, isReadable } = known
    if (!isReadable || holdsText(piece.subarray(at), encoding)) return { encoding, isReadable }
  }
  return null
}

/** Whether the bytes decode to characters beyond ASCII, most of them without a fault. */
function holdsText(bytes: Buffer, encoding: string): boolean {
  const text = createPieceDecoder(encoding).decode(bytes.subarray(0, SAMPLE_CHARACTERS))
  const characters = text.match(/[^\0-\x7f]/gu) ?? []
  const broken = characters.filter((character) => /\p{Cs}/u.test(character)).length
  return characters.length > 2 * broken
}

/** Regions of HZ are pairs of GB 2312 in a line, which hold its usual characters. */
function findHz(piece: Buffer): EscapedEncoding | null {
  if (!piece.includes('~{')) return null
  const text = piece.toString('latin1')
  const regions = [...text.matchAll(/~\{([^\n]*?)~\}/g)].map(([, region = '']) => region)
  const isHz = regions.length > 0 && regions.every((region) => /^(?:[!-w][!-~])+$/.test(region))
  if (!isHz) return null
  const pairs = regions.join('').match(/../g) ?? []
  // The first 55 rows hold punctuation, other alphabets and the 3,755 usual characters.
  const usual = pairs.filter((pair) => /^[!-)0-W]/.test(pair)).length
  return usual >= 0.8 * pairs.length ? { encoding: 'hz-gb-2312', isReadable: true } : null
}

/** Whether a run of base64 is what UTF-7 writes: whole characters beyond ASCII, no two of its scripts in a word. */
function isUtf7Run(run: string): boolean {
  // Words and numbers of ordinary text behind a plus sign.
  if (/^(?:[A-Z]?[a-z]+|\d+)$/.test(run)) return false
  const bytes = Buffer.from(run, 'base64')
  const whole = bytes.length - (bytes.length % 2)
  if (whole === 0 || (run.length * 6) % 16 >= 6 || bytes.subarray(whole).some((byte) => byte !== 0))
    return false
  const units = Buffer.from(bytes.subarray(0, whole)).swap16().toString('utf16le')
  return units.isWellFormed() && /[^\0-\x7f]/.test(units) && !/(?![\t\n\r])[\p{Cc}\p{Co}\p{Cn}]/u.test(units)
}
