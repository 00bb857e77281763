import type { ReadText } from './record-parser.ts'
import type { SourceFile } from './source-file.ts'
import type { PieceDecoder } from './text-decoder.ts'

/** A file's text, read front to back. */
export interface TextReader {
  readText: ReadText
  /** Bytes of the file read so far, a byte-order mark included. */
  bytesRead(): number
}

/** Reads a file's text from an offset on: bytes as asked for, decoded, null once all is out. */
export function createTextReader(file: SourceFile, startOffset: number, decoder: PieceDecoder): TextReader {
  let offset = startOffset
  let isAtEnd = false
  // Decoders keep nothing of a piece, so every read can use the same memory.
  let buffer: Buffer = Buffer.alloc(0)
  return {
    readText(sizeBytes) {
      if (isAtEnd) return null
      if (buffer.length < sizeBytes) buffer = Buffer.allocUnsafeSlow(sizeBytes)
      const piece = file.readInto(buffer.subarray(0, sizeBytes), offset)
      if (piece.length > 0) {
        offset += piece.length
        return decoder.decode(piece)
      }
      isAtEnd = true
      return decoder.end()
    },
    bytesRead: () => offset,
  }
}
