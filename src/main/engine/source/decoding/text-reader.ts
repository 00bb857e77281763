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
