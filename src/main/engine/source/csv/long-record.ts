import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { MAX_RECORD_CHARACTERS, type RecordTooLong } from './record-parser.ts'

const READ_BYTES = 1024 * 1024

/**
 * The `BAD_SOURCE` error of a record that is too long to be read. `record` is what a person calls it, such as "row 3".
 * Goes through the rest of the file once, without keeping it, to tell a long record from a quote that was never closed.
 */
export function createLongRecordError(path: string, record: string, error: RecordTooLong): SluiceError {
  return new SluiceError({
    id: 'record_too_long',
    source: path,
    record,
    ...measureRecord(error),
    maxCharacters: MAX_RECORD_CHARACTERS,
    begins: toFound(/^[^\r\n]*/.exec(error.start.slice(0, 200))?.[0] ?? ''),
  })
}

function measureRecord({ start, readText }: RecordTooLong): { characters: number; isClosed: boolean } {
  let characters = 0
  let inQuotes = false
  for (let piece: string | null = start; piece !== null; piece = readText(READ_BYTES)) {
    for (let index = 0; index < piece.length; index += 1) {
      const unit = piece.charCodeAt(index)
      if (unit === 0x22) inQuotes = !inQuotes
      else if (!inQuotes && (unit === 0x0a || unit === 0x0d)) {
        return { characters: characters + index, isClosed: true }
      }
    }
    characters += piece.length
  }
  return { characters, isClosed: !inQuotes }
}
