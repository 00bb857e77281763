import type { PlanSource } from '../../../shared/plan.ts'
import { toColumnNames } from './column-names.ts'
import { chooseDelimiter, isBlank } from './delimiter.ts'
import { chooseEncoding } from './encoding.ts'
import { createLongRecordError } from './long-record.ts'
import { chooseNewline } from './newline.ts'
import { parseRecords, READ_BYTES, RecordTooLong } from './record-parser.ts'
import { toSourceRow } from './row-builder.ts'
import { openSourceFile, type SourceFile } from './source-file.ts'
import { readSourceHead } from './source-head.ts'
import type { SourceBatch, SourceReader, SourceRow } from './source-reader.ts'
import { createPieceDecoder } from './text-decoder.ts'
import { createTextReader } from './text-reader.ts'

const SAMPLE_BYTES = 256 * 1024

/** How a source is read, where that is not left to {@link openSource}. */
export interface OpenSourceOptions {
  /** Bytes of one read, 65,536 by default; rows do not depend on it. */
  readBytes?: number
}

/**
 * Opens a CSV or TSV file: tells its encoding, delimiter and columns, and reads no further than that takes.
 *
 * Rows: blank lines at the end of the file are no rows; one in the middle is a row of one empty cell, ragged where
 * there are more columns; blank lines before the header are passed over. Ragged rows keep the cells they have.
 * Where the file is a CSV export of ours, the formula guard is taken off its cells again (`source-head.ts`).
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text, or without a row, and while it is read, for
 * a row longer than 8 MiB.
 */
export function openSource(source: PlanSource, options: OpenSourceOptions = {}): SourceReader {
  const file = openSourceFile(source.path)
  try {
    return createReader(source, file, options.readBytes ?? READ_BYTES)
  } catch (error) {
    file.close()
    throw error
  }
}

function createReader(source: PlanSource, file: SourceFile, readBytes: number): SourceReader {
  const { encoding, encodingBy, bomBytes } = chooseEncoding(file, source.encoding)
  const sampleText = createPieceDecoder(encoding).decode(file.readBytes(bomBytes, SAMPLE_BYTES))
  const newline = chooseNewline(sampleText)
  const { delimiter, delimiterBy } = chooseDelimiter(source, sampleText, newline)
  const syntax = { delimiter, newline }
  const openText = () => createTextReader(file, bomBytes, createPieceDecoder(encoding))
  const head = readSourceHead(source, openText().readText, syntax, sampleText)
  const expectation = { ...head, encoding }
  let columns = toColumnNames(head.header, head.widest)

  function* batches(): Generator<SourceBatch, void, undefined> {
    const text = openText()
    let row = 0
    let isHeaderNext = source.header
    try {
      for (const batch of parseRecords(text.readText, syntax, readBytes)) {
        const rows: SourceRow[] = []
        for (const [index, cells] of batch.records.entries()) {
          if (isHeaderNext) {
            isHeaderNext = isBlank(cells)
            continue
          }
          row += 1
          if (cells.length > columns.length) columns = toColumnNames(head.header, cells.length)
          rows.push(toSourceRow(row, cells, batch, index, expectation))
        }
        if (rows.length > 0) yield { rows, bytesRead: text.bytesRead() }
      }
    } catch (error) {
      if (!(error instanceof RecordTooLong)) throw error
      throw createLongRecordError(file.path, `row ${row + error.blankLines + 1}`, error)
    }
  }

  return {
    get columns() {
      return columns
    },
    sizeBytes: file.sizeBytes,
    encoding,
    encodingBy,
    delimiter,
    delimiterBy,
    batches,
    close: file.close,
  }
}
