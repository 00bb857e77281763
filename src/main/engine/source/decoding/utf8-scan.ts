import { isAscii, isUtf8 } from 'node:buffer'
import type { SourceFile } from '../source-file.ts'
import { lengthOfWholeCharacters } from './text-decoder.ts'

/** What a file's bytes are when read as strict UTF-8. */
export type Utf8Verdict =
  | { kind: 'valid' }
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
export function scanUtf8(file: SourceFile, startOffset: number): Utf8Verdict {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, file.sizeBytes))
  let offset = startOffset
  let firstBroken: number | null = null
  let brokenPieces = 0
  let sequences = 0
  let errors = 0
  while (offset < file.sizeBytes && brokenPieces < MAX_BROKEN_PIECES) {
    const piece = file.readInto(buffer, offset)
    if (piece.length === 0) break
    const isLast = offset + piece.length >= file.sizeBytes
    const whole = isLast ? piece.length : lengthOfWholeCharacters(piece)
    const bytes = piece.subarray(0, whole)
    if (!isAscii(bytes)) {
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
    ? { kind: 'valid' }
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
