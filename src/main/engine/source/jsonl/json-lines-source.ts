import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import { createPieceDecoder } from '../decoding/text-decoder.ts'
import { createTextReader, READ_BYTES, readLines, type TextLine } from '../decoding/text-reader.ts'
import { toColumnNames } from '../header.ts'
import { openSourceFile, type SourceFile } from '../source-file.ts'
import { PlaceNotes, type SourceBatch, type SourceReader } from '../source-reader.ts'
import { createColumnSet, toJsonRow } from './json-row.ts'

/** Longest line that is read, in UTF-16 code units; a longer one is a row that cannot be sent. */
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024

const BLANK = /^[ \t\r]*$/

/** How far a preview looks for keys, bytes. */
const PREVIEW_KEYS_BYTES = 16 * 1024 * 1024

/**
 * Opens a JSON Lines file: one JSON object a line, its keys columns in the order in which they first appear. The
 * whole file is gone through for its keys, or only its beginning where `isPreview`.
 *
 * Rows: text as it is, null as an empty cell, and everything else as its JSON in the file, so that no digit of a number
 * changes. A line that is not an object is a row with an error that says where. Blank lines are not rows.
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text or without a row, one that holds a single JSON
 * document instead of lines, and one with too many different keys.
 */
export function openJsonLinesSource(
  source: PlanSource,
  { isPreview = false, readBytes = READ_BYTES }: { isPreview?: boolean; readBytes?: number } = {},
): SourceReader {
  const file = openSourceFile(source.path)
  try {
    return createReader(source, file, isPreview, readBytes)
  } catch (error) {
    file.close()
    throw error
  }
}

function createReader(
  source: PlanSource,
  file: SourceFile,
  isPreview: boolean,
  readBytes: number,
): SourceReader {
  const { encoding, encodingBy, bomBytes } = chooseEncoding(file, source.encoding)
  const openText = () => createTextReader(file, bomBytes, createPieceDecoder(encoding))
  const keys = createColumnSet(file.path)

  /** Lines that are not blank, up to the first behind `maxBytes`, where the text is then cut off. */
  function* readRows(maxBytes: number): Generator<{ lines: TextLine[]; bytesRead: number }, void, undefined> {
    const text = openText()
    const readText = (size: number) => (text.bytesRead() > maxBytes ? null : text.readText(size))
    for (const lines of readLines(readText, MAX_LINE_CHARACTERS, readBytes)) {
      yield { lines: lines.filter((line) => !BLANK.test(line.text)), bytesRead: text.bytesRead() }
    }
  }

  function* batches(): Generator<SourceBatch, void, undefined> {
    let row = 0
    const places = new PlaceNotes()
    for (const { lines, bytesRead } of readRows(Infinity)) {
      const rows = lines.map((line) => {
        row += 1
        places.note(row, line.number, line.number)
        return toJsonRow(row, line, encoding, keys)
      })
      if (rows.length > 0) yield { rows, places: places.take(), bytesRead }
    }
  }

  findKeys()
  return {
    format: 'jsonl',
    get columns() {
      return toColumnNames(keys.names())
    },
    workbook: null,
    get header() {
      return keys.names()
    },
    sizeBytes: file.sizeBytes,
    encoding,
    encodingBy,
    delimiter: '',
    delimiterBy: 'ending',
    batches,
    close: file.close,
  }

  /** Later rows may bring keys that a mapping made of the first ones would leave out. */
  function findKeys(): void {
    let isFirst = true
    for (const { lines } of readRows(isPreview ? PREVIEW_KEYS_BYTES : Infinity)) {
      for (const line of lines) {
        if (isFirst) refuseDocument(file.path, line)
        isFirst = false
        toJsonRow(1, line, encoding, keys)
      }
    }
    if (isFirst) {
      throw new SluiceError({ id: 'json_is_blank', source: file.path })
    }
  }
}

/** A file that is one JSON document would be a row with an error for each of its lines. */
function refuseDocument(path: string, { text }: TextLine): void {
  const trimmed = text.trim()
  if (trimmed.startsWith('[')) {
    throw new SluiceError({ id: 'json_is_array', source: path })
  }
  if (trimmed === '{') {
    throw new SluiceError({ id: 'json_over_lines', source: path })
  }
}
