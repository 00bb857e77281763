import { isAscii, isUtf8 } from 'node:buffer'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { EncodingReading } from '../../../../shared/run/results.ts'
import { findBinarySignature, type SourceFile } from '../source-file.ts'
import type { SourceReader } from '../source-reader.ts'
import { type EscapedEncoding, EscapeScan } from './escape-sequences.ts'
import { type Detector, type EncodingGuess, guessLegacyEncoding, readLinesAs } from './legacy-encodings.ts'
import { HALF_BYTES, isPair, lengthOfWholeCharacters, PAIR_BYTES, resolveEncoding } from './text-reader.ts'
import { judgeZeroBytes } from './zero-bytes.ts'

/** The encoding of a source and how it was determined. */
export interface ChosenEncoding {
  /** The name in TextDecoder or iconv-lite, in lower case. */
  encoding: string
  encodingBy: SourceReader['encodingBy']
  /** Bytes of the byte-order mark, 0 without one. */
  bomBytes: number
  /** How the text reads in it and in other possible encodings; empty without a doubt. */
  readings: readonly EncodingReading[]
  /** The given name for ASCII, if the file has bytes beyond it. */
  beyond?: string
}

function toChosen(
  { encoding, readings }: EncodingGuess,
  encodingBy: ChosenEncoding['encodingBy'] = 'guess',
  bomBytes = 0,
): ChosenEncoding {
  return { encoding, encodingBy, bomBytes, readings }
}

// UTF-32's mark begins with UTF-16's, so it comes first.
const BYTE_ORDER_MARKS = [
  { encoding: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { encoding: 'utf-32be', bytes: [0, 0, 0xfe, 0xff] },
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const

const SAMPLE_BYTES = 64 * 1024

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
 * The encoding given by the person, else that of the byte-order mark, else UTF-16 or UTF-32 if zero bytes
 * make sense as such, else a seven-bit one if its escape sequences are there, else UTF-8 if the whole file
 * decodes strictly, else the guess of {@link guessLegacyEncoding}. Throws `BAD_SOURCE` for an unknown label
 * and for files that are not text, {@link DetectorMissing} if only the detector can tell and was not loaded.
 */
export function chooseEncoding(file: SourceFile, given: string | undefined): ChosenEncoding {
  const sample = file.readBytes(0, Math.min(SAMPLE_BYTES, file.sizeBytes))
  const binary = findBinarySignature(sample)
  if (binary !== null) throw new SluiceError({ id: 'source_is_binary', source: file.path, content: binary })

  const mark = BYTE_ORDER_MARKS.find(({ bytes }) => bytes.every((byte, index) => sample[index] === byte))
  if (given !== undefined) {
    const encoding = resolveGiven(file.path, given, mark?.encoding)
    const bomBytes = mark?.encoding === encoding ? mark.bytes.length : 0
    const readings = isOtherwise(file, sample, encoding, mark?.encoding) ? readAsUtf8(file, encoding) : []
    if (!ASCII_LABELS.has(given.trim().toLowerCase()) || isAsciiFile(file))
      return toChosen({ encoding, readings }, 'given', bomBytes)
    const own = [readLinesAs(readBrokenLines(file, 0), encoding)]
    const all = readings.length > 0 ? readings : own
    return { ...toChosen({ encoding, readings: all }, 'given', bomBytes), beyond: given.trim() }
  }
  if (mark !== undefined) {
    return toChosen({ encoding: mark.encoding, readings: [] }, 'bom', mark.bytes.length)
  }
  const zero = sample.indexOf(0)
  if (zero !== -1) {
    const zeros = judgeZeroBytes(sample)
    if (zeros.kind === 'wide') return toChosen({ encoding: zeros.encoding, readings: [] })
    if (zeros.kind === 'binary') {
      throw new SluiceError({ id: 'source_has_nul', source: file.path, offset: zero })
    }
  }
  const verdict = scanUtf8(file)
  if (verdict.kind === 'valid') {
    const { escaped } = verdict
    if (escaped === null) return toChosen({ encoding: 'utf-8', readings: [] }, 'strict')
    if (escaped.isReadable) return toChosen(escaped)
    throw new SluiceError({ id: 'source_encoding_unreadable', source: file.path, encoding: escaped.encoding })
  }
  if (verdict.sequences > verdict.errors) {
    return toChosen({ encoding: verdict.pairs > 0 ? 'cesu-8' : 'utf-8', readings: [] })
  }
  if (detector === null) throw new DetectorMissing(file.path)
  const lines = readBrokenLines(file, verdict.offset)
  return toChosen(offerUtf8(guessLegacyEncoding(detector, lines), lines, verdict))
}

/** Names for ASCII, which are read as windows-1252, as in browsers. */
const ASCII_LABELS: ReadonlySet<string> = new Set(['ascii', 'us-ascii', 'ansi_x3.4-1968'])

/**
 * Whether a whole file is UTF-8 with characters beyond ASCII although another encoding was given. Hardly any
 * text in another encoding is that by chance, even a single word.
 */
function isOtherwise(file: SourceFile, sample: Buffer, given: string, marked: string | undefined): boolean {
  if (given === 'utf-8') return false
  if (marked !== undefined) return marked === 'utf-8'
  if (/^utf-(?:16|32)/.test(given)) {
    const bytes = sample.length < SAMPLE_BYTES ? sample : sample.subarray(0, lengthOfWholeCharacters(sample))
    return isUtf8(bytes) && !bytes.includes(0)
  }
  const verdict = scanUtf8(file)
  return verdict.kind === 'valid' && verdict.sequences > 0
}

function isAsciiFile(file: SourceFile): boolean {
  const verdict = scanUtf8(file)
  return verdict.kind === 'valid' && verdict.sequences === 0
}

/** The readings of a file in an encoding and in UTF-8. */
function readAsUtf8(file: SourceFile, encoding: string): EncodingReading[] {
  const lines = readBrokenLines(file, 0)
  return [readLinesAs(lines, encoding), readLinesAs(lines, 'utf-8')]
}

function resolveGiven(path: string, label: string, marked: string | undefined): string {
  const encoding = resolveEncoding(label)
  if (encoding === null) {
    throw new SluiceError({ id: 'source_encoding_unknown', source: path, encoding: label })
  }
  // Plain "utf-16" leaves the byte order to the mark.
  return label.trim().toLowerCase() === 'utf-16' && marked === 'utf-16be' ? marked : encoding
}

/** The result of reading a file's bytes as strict UTF-8. */
type Utf8Verdict =
  /** `escaped` is the seven-bit encoding that it seems to use, mostly null; `sequences` as below. */
  { kind: 'valid'; escaped: EscapedEncoding | null; sequences: number } | BrokenUtf8

/** Text that is partly not UTF-8; `offset` is the first broken piece. */
interface BrokenUtf8 {
  kind: 'broken'
  offset: number
  /** Characters beyond ASCII that are valid UTF-8, and places that are not. */
  sequences: number
  errors: number
  /** Characters among them written in two halves. */
  pairs: number
}

const PIECE_BYTES = 256 * 1024
/** Broken pieces examined byte by byte before the verdict. */
const MAX_BROKEN_PIECES = 16

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Checks a whole file, not a sample: one legacy byte after any sample would otherwise make every later cell
 * wrong. Stops early once enough is broken to rule UTF-8 out.
 */
function scanUtf8(file: SourceFile): Utf8Verdict {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, file.sizeBytes))
  let offset = 0
  let firstBroken: number | null = null
  let brokenPieces = 0
  let sequences = 0
  let errors = 0
  let pairs = 0
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
        pairs += counted.pairs
        firstBroken ??= offset
        brokenPieces += 1
      }
    }
    offset += whole
  }
  return firstBroken === null
    ? { kind: 'valid', escaped: escapes?.result() ?? null, sequences }
    : { kind: 'broken', offset: firstBroken, sequences, errors, pairs }
}

/**
 * Counts multi-byte characters and broken places. A real U+FFFD counts as broken, which decides nothing here.
 * An emoji cut after its third byte, as by a byte limit, counts as both: nothing else begins like it.
 */
function countSequences(bytes: Buffer): Pick<BrokenUtf8, 'sequences' | 'errors' | 'pairs'> {
  let sequences = 0
  let errors = 0
  const text = lenient.decode(bytes)
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === 0xfffd) errors += 1
    else if (unit >= 0x80 && (unit < 0xdc00 || unit > 0xdfff)) sequences += 1
  }
  if (errors === 0) return { sequences, errors, pairs: 0 }
  const pairs = countPairs(bytes)
  const halves = countHalves(bytes)
  return {
    sequences: sequences + pairs + halves + countCutEmoji(bytes),
    errors: errors - pairs * PAIR_BYTES - halves * HALF_BYTES,
    pairs,
  }
}

/** Characters that Oracle and Java write as two halves of three bytes each. */
function countPairs(bytes: Buffer): number {
  let pairs = 0
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1))
    if (isPair(bytes, at)) pairs += 1
  return pairs
}

/** Half characters between ASCII, as when a program cuts an emoji in two: hardly any other text has these. */
function countHalves(bytes: Buffer): number {
  const isAsciiAt = (at: number) => (bytes[at] ?? 0) < 0x80
  const isIn = (at: number, from: number) => (bytes[at] ?? 0) >= from && (bytes[at] ?? 0) <= 0xbf
  let halves = 0
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    const isHalf = isIn(at + 1, 0xa0) && isIn(at + 2, 0x80)
    if (isHalf && isAsciiAt(at - 1) && isAsciiAt(at + HALF_BYTES)) halves += 1
  }
  return halves
}

function countCutEmoji(bytes: Buffer): number {
  const isInside = (byte: number | undefined) => byte !== undefined && byte >= 0x80 && byte <= 0xbf
  let cut = 0
  for (let at = bytes.indexOf(EMOJI); at !== -1; at = bytes.indexOf(EMOJI, at + 1)) {
    if (isInside(bytes[at + 2]) && !isInside(bytes[at + 3])) cut += 1
  }
  return cut
}

/** The first bytes of most emoji. */
const EMOJI = Buffer.from([0xf0, 0x9f])

/**
 * Adds UTF-8 to the possible readings of a guess, since a few damaged bytes make a short text invalid: if the
 * guess is uncertain anyway, or at least as much is UTF-8 as is not.
 */
function offerUtf8(guess: EncodingGuess, lines: Buffer, { sequences, errors }: BrokenUtf8): EncodingGuess {
  const { encoding, readings } = guess
  const isOffered = sequences > 0 && (readings.length > 0 ? 2 * sequences >= errors : sequences >= errors)
  if (!isOffered) return guess
  const [chosen = readLinesAs(lines, encoding), ...others] = readings
  return { encoding, readings: [chosen, readLinesAs(lines, 'utf-8'), ...others] }
}

/** The lines from the first piece on that is not UTF-8. */
function readBrokenLines(file: SourceFile, offset: number): Buffer {
  const bytes = file.readBytes(offset, 4 * SAMPLE_BYTES)
  const firstLine = bytes.findIndex((byte) => byte >= 0x80)
  const from = bytes.lastIndexOf(0x0a, Math.max(0, firstLine)) + 1
  const cut = bytes.subarray(from, from + SAMPLE_BYTES)
  // Whole lines only: a cut double-byte character would count against its own encoding.
  const lastLine = cut.lastIndexOf(0x0a)
  return cut.length === SAMPLE_BYTES && lastLine > 0 ? cut.subarray(0, lastLine + 1) : cut
}
