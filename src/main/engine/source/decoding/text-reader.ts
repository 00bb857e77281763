import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import type { SourceFile } from '../source-file.ts'
import { createShiftedDecoder, isShifted, type PieceDecoder } from './shifted-decoders.ts'

/** Source of text: some of it, '' if a piece of the file decodes to nothing yet, null at the end. */
export type ReadText = (sizeBytes: number) => string | null

/** Bytes of one read while records are shorter than that. */
export const READ_BYTES = 64 * 1024

/** A file's text, read front to back. */
export interface TextReader {
  readText: ReadText
  /** Bytes of the file read so far, including a byte-order mark. */
  bytesRead(): number
  /** Whether all bytes read since the last call are ASCII. */
  takeIsAscii(): boolean
  /** Byte-order marks at the beginning of later lines so far, left by files that were appended. */
  innerMarks(): number
}

/** The character around cells with line breaks, and the one that makes the next content; '' for none. */
interface Quoting {
  quote: string
  escape: string
}

const NO_QUOTES: Quoting = { quote: '', escape: '' }

const MARK = '\uFEFF'
const INNER_MARK = /(?<=[\r\n])\uFEFF/g
/** In a file without a mark of its own, a mark that is not part of a value, judged by what follows it. */
const MARK_OF_FILE = /(?<=[\r\n])\uFEFF(?=["{[\r\n])/g

/**
 * Reads a file's text from an offset: decodes as many bytes as requested, null at the end. Leaves out the
 * first `skipCharacters`, and byte-order marks at the beginning of later lines, which appended files bring;
 * one after a line break within a quoted cell is content and stays.
 */
export function createTextReader(
  file: SourceFile,
  startOffset: number,
  encoding: string,
  { skipCharacters = 0, quoting = NO_QUOTES }: { skipCharacters?: number; quoting?: Quoting } = {},
): TextReader {
  const decoder = createPieceDecoder(encoding)
  let offset = startOffset
  let toSkip = skipCharacters
  let isAtEnd = false
  let isAllAscii = true
  let innerMarks = 0
  /** Whether the text so far ends with a line break. */
  let isLineEnd = false
  let held = ''
  const pattern = startOffset > 0 ? INNER_MARK : MARK_OF_FILE
  /** Characters before the text at hand. */
  let passed = 0
  const isWithinQuotes = createQuoteCount(file, startOffset, encoding, quoting)
  const dropMarks = (piece: string, isEnd: boolean): string => {
    if (held === '' && !piece.includes(MARK)) {
      if (piece !== '') isLineEnd = piece.endsWith('\n') || piece.endsWith('\r')
      passed += piece.length
      return piece
    }
    let text = held + piece
    held = ''
    // What follows the mark is in the next piece.
    if (!isEnd && text.endsWith(MARK)) {
      held = MARK
      text = text.slice(0, -1)
    }
    const before = isLineEnd ? '\n' : ''
    const rest = (before + text)
      .replaceAll(pattern, (mark, at: number) => (isWithinQuotes(passed + at - before.length) ? mark : ''))
      .slice(before.length)
    innerMarks += text.length - rest.length
    passed += text.length
    if (text !== '') isLineEnd = text.endsWith('\n') || text.endsWith('\r')
    return rest
  }
  // Decoders keep no reference to a piece, so every read can use the same memory.
  let buffer: Buffer = Buffer.alloc(0)
  const readPiece = (sizeBytes: number): string | null => {
    if (isAtEnd) return null
    if (buffer.length < sizeBytes) buffer = Buffer.allocUnsafeSlow(sizeBytes)
    const piece = file.readInto(buffer.subarray(0, sizeBytes), offset)
    if (piece.length > 0) {
      offset += piece.length
      isAllAscii &&= isAscii(piece)
      return dropMarks(decoder.decode(piece), false)
    }
    isAtEnd = true
    return dropMarks(decoder.end(), true)
  }
  return {
    readText(sizeBytes) {
      const text = readPiece(sizeBytes)
      if (toSkip === 0 || text === null) return text
      const skipped = Math.min(toSkip, text.length)
      toSkip -= skipped
      return text.slice(skipped)
    },
    bytesRead: () => offset,
    innerMarks: () => innerMarks,
    takeIsAscii() {
      const taken = isAllAscii
      isAllAscii = true
      return taken
    },
  }
}

/**
 * Whether a character, counted from 0, is within quotes; called for characters in order. Appended files are
 * rare, so quotes are counted only once there is a mark to judge, from the beginning of the file.
 */
function createQuoteCount(
  file: SourceFile,
  startOffset: number,
  encoding: string,
  { quote, escape: escaping }: Quoting,
): (character: number) => boolean {
  const decoder = createPieceDecoder(encoding)
  let offset = startOffset
  let text = ''
  let passed = 0
  let isEscaped = false
  let isOpen = false
  const pass = (characters: number): void => {
    for (const character of text.slice(0, characters)) {
      if (isEscaped) isEscaped = false
      else if (character === escaping) isEscaped = true
      else if (character === quote) isOpen = !isOpen
    }
    passed += Math.min(characters, text.length)
    text = text.slice(characters)
  }
  return (character) => {
    if (quote === '') return false
    while (passed + text.length < character) {
      pass(text.length)
      const piece = file.readBytes(offset, READ_BYTES)
      if (piece.length === 0) break
      offset += piece.length
      text = decoder.decode(piece)
    }
    pass(character - passed)
    return isOpen
  }
}

/** One line of a text, without its line end. */
export interface TextLine {
  /** 1-based. */
  number: number
  /** The whole line, or the beginning of one that is too long. */
  text: string
  /** UTF-16 code units of the whole line. */
  characters: number
  isTooLong: boolean
}

/** UTF-16 code units kept of a line or element that is too long, for a person to recognize it. */
export const BEGINNING_CHARACTERS = 200

/**
 * Yields the lines of a text once and in order, as many at a time as a read holds; LF and CRLF end a line.
 * Holds one read and one line of at most `maxCharacters`, and only the beginning of a longer one.
 */
export function* readLines(
  readText: ReadText,
  maxCharacters: number,
  readBytes = READ_BYTES,
): Generator<TextLine[], void, undefined> {
  let number = 0
  let held: string[] = []
  let heldCharacters = 0

  const hold = (part: string): void => {
    heldCharacters += part.length
    if (heldCharacters <= maxCharacters) held.push(part)
    else held = [held.join('').slice(0, BEGINNING_CHARACTERS) || part.slice(0, BEGINNING_CHARACTERS)]
  }
  const finish = (): TextLine => {
    const joined = held.length === 1 ? (held[0] ?? '') : held.join('')
    const isTooLong = heldCharacters > maxCharacters
    const text = !isTooLong && joined.endsWith('\r') ? joined.slice(0, -1) : joined
    number += 1
    const line = { number, text, characters: isTooLong ? heldCharacters : text.length, isTooLong }
    held = []
    heldCharacters = 0
    return line
  }

  for (let piece = readText(readBytes); piece !== null; piece = readText(readBytes)) {
    const lines: TextLine[] = []
    let from = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      hold(piece.slice(from, end))
      lines.push(finish())
      from = end + 1
    }
    if (from < piece.length) hold(piece.slice(from))
    if (lines.length > 0) yield lines
  }
  if (heldCharacters > 0) yield [finish()]
}

/**
 * Replaces undecodable bytes in decoded text. No decoder here produces a lone surrogate, so one in a cell
 * always means broken bytes, while a U+FFFD is really in the file. The reader turns it into U+FFFD.
 */
const UNDECODABLE = '\uDC00'

/**
 * The name used here for an encoding (the WHATWG name if there is one, in lower case); null if neither
 * TextDecoder nor iconv-lite knows the label.
 */
export function resolveEncoding(label: string): string | null {
  const trimmed = label.trim().toLowerCase()
  // TextDecoder reads both latin1 and ascii as windows-1252, like every browser.
  if (URL_SAFE_LABEL.test(trimmed)) {
    try {
      return new TextDecoder(trimmed).encoding
    } catch {
      if (isShifted(trimmed)) return trimmed
      return iconv.encodingExists(trimmed) && !NOT_TEXT.has(trimmed) ? trimmed : null
    }
  }
  return null
}

const URL_SAFE_LABEL = /^[\w.:+-]+$/

/** Names that iconv-lite reads as Node's ways of writing bytes as text. */
const NOT_TEXT = new Set(['base64', 'hex', 'binary', 'internal', 'base64url'])

/** A decoder for a name returned by {@link resolveEncoding}. */
export function createPieceDecoder(encoding: string): PieceDecoder {
  if (encoding === 'utf-8') return createUtf8Decoder()
  if (encoding === 'cesu-8') return createUtf8Decoder(joinPairs)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return createUtf16Decoder(encoding === 'utf-16be')
  if (isShifted(encoding)) return createShiftedDecoder(encoding, UNDECODABLE)
  return createOtherDecoder(encoding)
}

/** `join` turns bytes into UTF-8; it gets only whole pairs. */
function createUtf8Decoder(join: ((bytes: Buffer) => Buffer) | null = null): PieceDecoder {
  let carried: Buffer = Buffer.alloc(0)
  return {
    decode(piece) {
      const bytes = carried.length === 0 ? piece : Buffer.concat([carried, piece])
      let length = lengthOfWholeCharacters(bytes)
      if (join !== null && isFirstHalf(bytes, length - HALF_BYTES)) length -= HALF_BYTES
      carried = Buffer.from(bytes.subarray(length))
      const whole = bytes.subarray(0, length)
      return decodeUtf8(join === null ? whole : join(whole))
    },
    end() {
      const rest = carried
      carried = Buffer.alloc(0)
      return decodeUtf8(join === null ? rest : join(rest))
    },
  }
}

/** Bytes of half a character, and of a character in two halves (CESU-8, Unicode Technical Report 26). */
export const HALF_BYTES = 3
export const PAIR_BYTES = 2 * HALF_BYTES

/** Whether a character in two halves begins there. */
export function isPair(bytes: Buffer, at: number): boolean {
  const second = bytes[at + 4] ?? 0
  return (
    isFirstHalf(bytes, at) &&
    bytes[at + HALF_BYTES] === 0xed &&
    second >= 0xb0 &&
    second <= 0xbf &&
    ((bytes[at + 5] ?? 0) & 0xc0) === 0x80
  )
}

function isFirstHalf(bytes: Buffer, at: number): boolean {
  const second = bytes[at + 1] ?? 0
  return bytes[at] === 0xed && second >= 0xa0 && second <= 0xaf && ((bytes[at + 2] ?? 0) & 0xc0) === 0x80
}

function joinPairs(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(0xed); at !== -1; at = bytes.indexOf(0xed, at + 1)) {
    if (!isPair(bytes, at)) continue
    const [, a = 0, b = 0, , c = 0, d = 0] = bytes.subarray(at, at + PAIR_BYTES)
    const units = [0xd000 | ((a & 0x3f) << 6) | (b & 0x3f), 0xd000 | ((c & 0x3f) << 6) | (d & 0x3f)]
    parts.push(bytes.subarray(from, at), Buffer.from(String.fromCharCode(...units)))
    from = at + PAIR_BYTES
    at = from - 1
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)])
}

/** Bytes up to a UTF-8 sequence that the end cuts off, which leaves out at most three. */
export function lengthOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc2 && byte <= 0xf4) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return needed > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

const GENUINE_REPLACEMENT = Buffer.from('\uFFFD')
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function decodeUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  // EF never continues a sequence, so the bytes EF BF BD are always a real U+FFFD: text decoded between them
  // contains a U+FFFD only for broken bytes.
  let text = ''
  let from = 0
  for (;;) {
    const genuine = bytes.indexOf(GENUINE_REPLACEMENT, from)
    const to = genuine === -1 ? bytes.length : genuine
    text += lenientUtf8.decode(bytes.subarray(from, to)).replaceAll('\uFFFD', UNDECODABLE)
    if (genuine === -1) return text
    text += '\uFFFD'
    from = genuine + GENUINE_REPLACEMENT.length
  }
}

function createUtf16Decoder(bigEndian: boolean): PieceDecoder {
  let carried: Buffer = Buffer.alloc(0)
  return {
    decode(piece) {
      const bytes = Buffer.concat([carried, piece])
      const length = bytes.length - (bytes.length % 2)
      carried = Buffer.from(bytes.subarray(length))
      const units = bytes.subarray(0, length)
      // Unpaired surrogates stay: they are the form of UNDECODABLE.
      return (bigEndian ? units.swap16() : units).toString('utf16le')
    },
    end: () => (carried.length === 0 ? '' : UNDECODABLE),
  }
}

/** Legacy encodings cannot write U+FFFD, so each one from their decoder means broken bytes. */
function createOtherDecoder(encoding: string): PieceDecoder {
  const mark = (text: string) => (text.includes('\uFFFD') ? text.replaceAll('\uFFFD', UNDECODABLE) : text)
  if (isKnownToTextDecoder(encoding)) {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true })
    return {
      decode: (piece) => mark(decoder.decode(piece, { stream: true })),
      end: () => mark(decoder.decode()),
    }
  }
  const decoder = iconv.getDecoder(encoding, { stripBOM: false })
  return { decode: (piece) => mark(decoder.write(piece)), end: () => mark(decoder.end() ?? '') }
}

function isKnownToTextDecoder(encoding: string): boolean {
  try {
    return new TextDecoder(encoding).encoding === encoding
  } catch {
    return false
  }
}

/**
 * Replaces the decoder's marks for undecodable bytes with U+FFFD, and returns a problem with the first place,
 * or null. Without `encoding` they are escapes in JSON.
 */
export function replaceUndecodable(
  row: number,
  cells: string[],
  encoding: string | null,
): FoundProblem | null {
  let places = 0
  let first: string | null = null
  for (let index = 0; index < cells.length; index += 1) {
    const cell = cells[index] ?? ''
    if (cell.isWellFormed()) continue
    const whole = cell.toWellFormed()
    cells[index] = whole
    places += cell.match(/\p{Surrogate}/gu)?.length ?? 0
    first ??= whole.slice(Math.max(0, cell.search(/\p{Surrogate}/u) - EXCERPT_CHARACTERS))
  }
  if (first === null) return null
  const excerpt = toFound(first.slice(0, 2 * EXCERPT_CHARACTERS).toWellFormed())
  return {
    row,
    severity: 'warning',
    code: 'undecodable_bytes',
    args: { encoding },
    found: places === 1 ? excerpt : `${excerpt} and ${places - 1} more`,
  }
}

/** Characters shown of a cell before its first broken place, and after it. */
const EXCERPT_CHARACTERS = 20
