import { isAscii, isUtf8 } from 'node:buffer'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { findBinarySignature, type SourceFile } from '../source-file.ts'
import type { SourceReader } from '../source-reader.ts'
import { type EscapedEncoding, EscapeScan } from './escape-sequences.ts'
import { lengthOfWholeCharacters, resolveEncoding } from './text-reader.ts'
import { judgeZeroBytes } from './zero-bytes.ts'

/** The encoding of a source and how it was told. */
export interface ChosenEncoding {
  /** As TextDecoder or iconv-lite knows it, in lower case. */
  encoding: string
  encodingBy: SourceReader['encodingBy']
  /** Bytes of the byte-order mark, 0 without one. */
  bomBytes: number
}

// UTF-32's mark begins with UTF-16's, so it stands first.
const BYTE_ORDER_MARKS = [
  { encoding: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { encoding: 'utf-32be', bytes: [0, 0, 0xfe, 0xff] },
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const

const SAMPLE_BYTES = 64 * 1024

type Detector = Pick<typeof import('jschardet'), 'detectAll'>

let detector: Detector | null = null

/** Loads the detector of legacy encodings: large tables that most files do not need. */
export async function loadDetector(): Promise<void> {
  detector ??= await import('jschardet')
}

/** Thrown for a file that needs {@link loadDetector} first. */
export class DetectorMissing extends Error {
  override readonly name = 'DetectorMissing'
}

/**
 * The encoding that the person gave, else that of the byte-order mark, else UTF-16 or UTF-32 if zero bytes make sense
 * as such, else one of seven bits if its escape sequences are there, else UTF-8 if the whole file decodes strictly,
 * else what a detector makes of it, else Windows-1254 if the letters are Turkish, else Windows-1252.
 * Throws `BAD_SOURCE` for an unknown label and for files that are not text, {@link DetectorMissing} where only the
 * detector can tell and was not loaded.
 */
export function chooseEncoding(file: SourceFile, given: string | undefined): ChosenEncoding {
  const sample = file.readBytes(0, Math.min(SAMPLE_BYTES, file.sizeBytes))
  const binary = findBinarySignature(sample)
  if (binary !== null) throw new SluiceError({ id: 'source_is_binary', source: file.path, content: binary })

  const mark = BYTE_ORDER_MARKS.find(({ bytes }) => bytes.every((byte, index) => sample[index] === byte))
  if (given !== undefined) {
    const encoding = resolveGiven(file.path, given, mark?.encoding)
    return { encoding, encodingBy: 'given', bomBytes: mark?.encoding === encoding ? mark.bytes.length : 0 }
  }
  if (mark !== undefined) {
    return { encoding: mark.encoding, encodingBy: 'bom', bomBytes: mark.bytes.length }
  }
  const zero = sample.indexOf(0)
  if (zero !== -1) {
    const zeros = judgeZeroBytes(sample)
    if (zeros.kind === 'wide') return { encoding: zeros.encoding, encodingBy: 'guess', bomBytes: 0 }
    if (zeros.kind === 'binary') {
      throw new SluiceError({ id: 'source_has_nul', source: file.path, offset: zero })
    }
  }
  const verdict = scanUtf8(file, 0)
  if (verdict.kind === 'valid') {
    const { escaped } = verdict
    if (escaped === null) return { encoding: 'utf-8', encodingBy: 'strict', bomBytes: 0 }
    const { encoding, isReadable } = escaped
    if (isReadable) return { encoding, encodingBy: 'guess', bomBytes: 0 }
    throw new SluiceError({ id: 'source_encoding_unreadable', source: file.path, encoding })
  }
  if (verdict.mostlyUtf8) return { encoding: 'utf-8', encodingBy: 'guess', bomBytes: 0 }
  if (detector === null) throw new DetectorMissing(file.path)
  return {
    encoding: guessLegacyEncoding(detector, file.readBytes(verdict.offset, 4 * SAMPLE_BYTES)),
    encodingBy: 'guess',
    bomBytes: 0,
  }
}

function resolveGiven(path: string, label: string, marked: string | undefined): string {
  const encoding = resolveEncoding(label)
  if (encoding === null) {
    throw new SluiceError({ id: 'source_encoding_unknown', source: path, encoding: label })
  }
  // Plain "utf-16" leaves the byte order to the mark.
  return label.trim().toLowerCase() === 'utf-16' && marked === 'utf-16be' ? marked : encoding
}

/** What a file's bytes are when read as strict UTF-8. */
type Utf8Verdict =
  /** `escaped` is the encoding of seven bits that it seems to be in, null in most. */
  | { kind: 'valid'; escaped: EscapedEncoding | null }
  /** `offset` is the first piece that breaks; `mostlyUtf8` where most of what is not ASCII is UTF-8 anyway. */
  | { kind: 'broken'; offset: number; mostlyUtf8: boolean }

const PIECE_BYTES = 256 * 1024
/** Broken pieces looked at byte by byte before the verdict is given. */
const MAX_BROKEN_PIECES = 16

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Checks a whole file, not a sample: one legacy byte behind any sample would otherwise make every later cell wrong.
 * Stops early where enough is broken to tell what the file is not.
 */
function scanUtf8(file: SourceFile, startOffset: number): Utf8Verdict {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, file.sizeBytes))
  let offset = startOffset
  let firstBroken: number | null = null
  let brokenPieces = 0
  let sequences = 0
  let errors = 0
  let escapes: EscapeScan | null = new EscapeScan()
  while (offset < file.sizeBytes && brokenPieces < MAX_BROKEN_PIECES) {
    const piece = file.readInto(buffer, offset)
    if (piece.length === 0) break
    const isLast = offset + piece.length >= file.sizeBytes
    const whole = isLast ? piece.length : lengthOfWholeCharacters(piece)
    const bytes = piece.subarray(0, whole)
    if (isAscii(bytes)) escapes?.look(bytes, isLast)
    else {
      escapes = null
      if (isUtf8(bytes)) {
        if (sequences < bytes.length) sequences += countSequences(bytes).sequences
      } else {
        const counted = countSequences(bytes)
        sequences += counted.sequences
        errors += counted.errors
        firstBroken ??= offset
        brokenPieces += 1
      }
    }
    offset += whole
  }
  return firstBroken === null
    ? { kind: 'valid', escaped: escapes?.result() ?? null }
    : { kind: 'broken', offset: firstBroken, mostlyUtf8: sequences > errors }
}

/** Counts characters of several bytes and broken places. A real U+FFFD counts as broken, which decides nothing here. */
function countSequences(bytes: Buffer): { sequences: number; errors: number } {
  let sequences = 0
  let errors = 0
  const text = lenient.decode(bytes)
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === 0xfffd) errors += 1
    else if (unit >= 0x80 && (unit < 0xdc00 || unit > 0xdfff)) sequences += 1
  }
  return { sequences, errors }
}

/** What a file that fits nothing else is read as: every byte has a character in it. */
const FALLBACK = 'windows-1252'

/** Encodings that the detector chooses among, by its names; the rest only take text away from Windows-1252. */
const CANDIDATES: Record<string, string> = {
  'Windows-1250': 'windows-1250',
  'Windows-1251': 'windows-1251',
  'Windows-1252': 'windows-1252',
  'Windows-1253': 'windows-1253',
  'Windows-1254': 'windows-1254',
  'Windows-1255': 'windows-1255',
  'Windows-1256': 'windows-1256',
  'Windows-1257': 'windows-1257',
  'KOI8-R': 'koi8-r',
  SHIFT_JIS: 'shift_jis',
  CP932: 'shift_jis',
  'EUC-JP': 'euc-jp',
  GB18030: 'gb18030',
  Big5: 'big5',
  CP949: 'euc-kr',
  'EUC-KR': 'euc-kr',
  'TIS-620': 'windows-874',
}

/** Below this the detector has seen too little to be believed against {@link FALLBACK}. */
const LEAST_CONFIDENCE = 0.03

const toBytes = (letters: string) => new Set(Buffer.from(letters, 'latin1'))
/** Where Windows-1254 differs from Windows-1252: Ğ İ Ş ğ ı ş instead of these. */
const TURKISH_ONLY = toBytes('ÐÝÞðýþ')
const TURKISH_LETTERS = toBytes('ÐÝÞðýþÇÖÜçöüÂÎÛâîû')
/** Frequent in Turkish next to ğ and ş; of these, Icelandic only has ý, which is rare next to ð and þ. */
const USUAL_IN_TURKISH = toBytes('ÝýÇçÜü')
const G_OR_S = toBytes('ÐÞðþ')

/**
 * Whether bytes that could be Windows-1252 are Turkish in Windows-1254. Only their letters beyond ASCII are counted,
 * because the detector cannot tell the two apart in text that is mostly English.
 */
function isTurkish(bytes: Buffer): boolean {
  const letters = bytes.filter((byte) => byte >= 0xc0)
  const count = (known: ReadonlySet<number>) => letters.filter((byte) => known.has(byte)).length
  return (
    letters.length >= 4 &&
    count(TURKISH_LETTERS) >= 0.9 * letters.length &&
    count(TURKISH_ONLY) >= letters.length / 4 &&
    count(USUAL_IN_TURKISH) >= count(G_OR_S) / 3
  )
}

/** The encoding of bytes that are no UTF-8: what the detector makes of them, else Windows-1254 or Windows-1252. */
function guessLegacyEncoding({ detectAll }: Detector, bytes: Buffer): string {
  const firstLine = bytes.findIndex((byte) => byte >= 0x80)
  const from = bytes.lastIndexOf(0x0a, Math.max(0, firstLine)) + 1
  const cut = bytes.subarray(from, from + SAMPLE_BYTES)
  // Whole lines only: a double-byte character cut in two would speak against its own encoding.
  const lastLine = cut.lastIndexOf(0x0a)
  const lines = cut.length === SAMPLE_BYTES && lastLine > 0 ? cut.subarray(0, lastLine + 1) : cut
  const found = detectAll(lines, { detectEncodings: Object.keys(CANDIDATES) }).map(
    ({ encoding, confidence }) => ({ encoding: CANDIDATES[encoding ?? ''], confidence }),
  )
  const western = found.find(({ encoding }) => encoding === FALLBACK)?.confidence ?? 0
  const best = found[0]
  const isBelievable =
    best !== undefined && best.confidence >= LEAST_CONFIDENCE && best.confidence >= 2 * western
  if (isBelievable && best.encoding !== undefined && best.encoding !== FALLBACK) {
    if (decodesStrictly(lines, best.encoding)) return best.encoding
  }
  return isTurkish(lines) ? 'windows-1254' : FALLBACK
}

function decodesStrictly(bytes: Buffer, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
