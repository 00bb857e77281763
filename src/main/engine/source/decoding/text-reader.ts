import type { SourceFile } from '../source-file.ts'
import type { PieceDecoder } from './text-decoder.ts'

/** Where text comes from: some of it, '' where a piece of the file decodes to nothing yet, null at the end. */
export type ReadText = (sizeBytes: number) => string | null

/** Bytes of one read while records are shorter than that. */
export const READ_BYTES = 64 * 1024

/** A file's text, read front to back. */
export interface TextReader {
  readText: ReadText
  /** Bytes of the file read so far, a byte-order mark included. */
  bytesRead(): number
}

/**
 * Reads a file's text from an offset on: bytes as asked for, decoded, null once all is out. The first
 * `skipCharacters` are left out.
 */
export function createTextReader(
  file: SourceFile,
  startOffset: number,
  decoder: PieceDecoder,
  skipCharacters = 0,
): TextReader {
  let offset = startOffset
  let toSkip = skipCharacters
  let isAtEnd = false
  // Decoders keep nothing of a piece, so every read can use the same memory.
  let buffer: Buffer = Buffer.alloc(0)
  const readPiece = (sizeBytes: number): string | null => {
    if (isAtEnd) return null
    if (buffer.length < sizeBytes) buffer = Buffer.allocUnsafeSlow(sizeBytes)
    const piece = file.readInto(buffer.subarray(0, sizeBytes), offset)
    if (piece.length > 0) {
      offset += piece.length
      return decoder.decode(piece)
    }
    isAtEnd = true
    return decoder.end()
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
  }
}

/** One line of a text, without its line end. */
export interface TextLine {
  /** 1-based. */
  number: number
  /** The whole line, or of one that is too long its beginning. */
  text: string
  /** UTF-16 code units of the whole line. */
  characters: number
  isTooLong: boolean
}

/** Kept of a line that is too long, for a person to know it by. */
const BEGINNING_CHARACTERS = 200

/**
 * Yields the lines of a text once and in order, as many at a time as a read holds; LF and CRLF end a line. Holds one
 * read and one line of at most `maxCharacters`: of a longer one only the beginning is kept.
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
