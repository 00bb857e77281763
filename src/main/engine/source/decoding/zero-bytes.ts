import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

/** Kind of a file with zero bytes: text of 2 or 4 bytes a character, text with stray zeros, or not text. */
export type ZeroBytesVerdict = { kind: 'wide'; encoding: string } | { kind: 'text' } | { kind: 'binary' }

const WIDE = [
  { encoding: 'utf-32le', unitBytes: 4 },
  { encoding: 'utf-32be', unitBytes: 4 },
  { encoding: 'utf-16le', unitBytes: 2 },
  { encoding: 'utf-16be', unitBytes: 2 },
] as const

/** Least share of ASCII in two-byte text that would also make sense with one byte, or has no line end. */
const ASCII_SHARE = 0.7

/** Least share of ASCII characters, such as line ends and delimiters, in any table of 2-byte characters. */
const LEAST_ASCII_SHARE = 0.005

/** Least characters of a single line without an end. */
const LINE_LEAST = 2

/** Least share of apparent line-end bytes that are line ends in text of two bytes a character, too. */
const LINE_END_SHARE = 0.2

/** Largest shares of zero bytes, and of other control characters, in text of one byte a character. */
const TEXT_ZERO_SHARE = 0.3
const TEXT_CONTROL_SHARE = 0.02

/** Judges the beginning of a file with zero bytes and no byte-order mark. */
export function judgeZeroBytes(sample: Buffer): ZeroBytesVerdict {
  const bytes = sample.subarray(0, sample.findLastIndex((byte) => byte !== 0) + 1)
  const narrow = bytes.filter((byte) => byte !== 0)
  const makesSenseNarrow = isUtf8(narrow) && !narrow.some(isControl)
  for (const { encoding, unitBytes } of WIDE) {
    // Zero bytes of the last character are part of it; those after it only pad the file.
    const units = sample.subarray(0, Math.ceil(bytes.length / unitBytes) * unitBytes)
    if (makesSense(iconv.decode(units, encoding, { stripBOM: false }), bytes, makesSenseNarrow)) {
      return { kind: 'wide', encoding }
    }
  }
  const zeros = bytes.length - narrow.length
  const controls = narrow.filter(isControl).length
  const isText =
    narrow.length > 0 &&
    zeros <= TEXT_ZERO_SHARE * bytes.length &&
    controls <= TEXT_CONTROL_SHARE * narrow.length
  return { kind: isText ? 'text' : 'binary' }
}

function makesSense(text: string, bytes: Buffer, makesSenseNarrow: boolean): boolean {
  // A sample may end within a character.
  const whole = text.slice(0, -1)
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const ascii = count(/[\t\n\r -~]/g)
  if (NOT_IN_TEXT.test(whole)) return false
  // Today's text may use characters of a later Unicode; bytes that are not text have little ASCII.
  if (ascii < ASCII_SHARE * text.length && SELDOM_IN_TEXT.test(whole)) return false
  const lineEnds = count(/[\n\r]/g)
  const lineEndBytes = bytes.filter((byte) => byte === 0x0a || byte === 0x0d).length
  const isLine = text.length >= LINE_LEAST && ascii >= ASCII_SHARE * text.length
  return (
    (lineEnds > 0 || isLine || JSON_START.test(text)) &&
    lineEnds >= LINE_END_SHARE * lineEndBytes &&
    ascii >= (makesSenseNarrow ? ASCII_SHARE : LEAST_ASCII_SHARE) * text.length
  )
}

/** How JSON begins, which may be a single line without an end. */
const JSON_START = /^\s*(?:\{\s*"|\[\s*[[{"])/

/** Control characters, unpaired surrogates, and the mark for broken bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its job
const NOT_IN_TEXT = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd\p{Cs}]/u

/** Private-use and unassigned characters. */
const SELDOM_IN_TEXT = /[\p{Cn}\p{Co}]/u

/** Whether a byte is a control character, other than zero, that one-byte text does not contain. */
function isControl(byte: number): boolean {
  return (byte > 0 && byte < 0x09) || (byte > 0x0f && byte < 0x20 && byte !== 0x1b && byte !== 0x1a)
}
