import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import { createPieceDecoder } from '../decoding/text-decoder.ts'
import { createTextReader, READ_BYTES } from '../decoding/text-reader.ts'
import { toColumnNames } from '../header.ts'
import { openSourceFile, type SourceFile } from '../source-file.ts'
import { PlaceNotes, type SourceBatch, type SourceReader, type SourceRow } from '../source-reader.ts'
import { chooseDelimiter, chooseNewline, findSeparatorLine, isBlank } from './delimiter.ts'
import { createLongRecordError, parseRecords, RecordTooLong } from './record-parser.ts'
import { toSourceRow } from './row-builder.ts'
import { countRecordsBeforeHeader, readSourceHead } from './source-head.ts'

const SAMPLE_BYTES = 256 * 1024

/** A text of records being read; its rows come without waiting. */
export interface DelimitedReader extends SourceReader {
  batches(): Iterable<SourceBatch>
}

/**
 * Opens a CSV or TSV file: tells its encoding, delimiter and columns, and reads no further than that takes.
 * `readBytes` are the bytes of one read; rows do not depend on it.
 *
 * Rows: blank lines at the end of the file are no rows; one in the middle is a row of one empty cell, ragged where
 * there are more columns; blank lines before the header are passed over, and so is what stands above the line that
 * `headerRow` names, and a first line such as `sep=;`. Ragged rows keep the cells they have. Where the file is a CSV
 * export of ours, the formula guard is taken off its cells again (`source-head.ts`).
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text, or without a row, and while it is read, for
 * a row longer than 8 MiB.
 */
export function openDelimitedSource(source: PlanSource, readBytes = READ_BYTES): DelimitedReader {
  const file = openSourceFile(source.path)
  try {
    return createReader(source, file, readBytes)
  } catch (error) {
    file.close()
    throw error
  }
}

function createReader(source: PlanSource, file: SourceFile, readBytes: number): DelimitedReader {
  const { encoding, encodingBy, bomBytes } = chooseEncoding(file, source.encoding)
  const firstText = createPieceDecoder(encoding).decode(file.readBytes(bomBytes, SAMPLE_BYTES))
  const separatorLine = findSeparatorLine(firstText)
  const skipCharacters = separatorLine?.characters ?? 0
  const sampleText = firstText.slice(skipCharacters)
  const newline = chooseNewline(sampleText)
  const { delimiter, delimiterBy } = chooseDelimiter(source, sampleText, newline, separatorLine?.delimiter)
  const syntax = { delimiter, newline }
  const openText = () => createTextReader(file, bomBytes, createPieceDecoder(encoding), skipCharacters)
  const head = readSourceHead(source, openText().readText, syntax, sampleText)
  const expectation = { ...head, encoding }
  const recordsBefore = countRecordsBeforeHeader(source)
  let columns = toColumnNames(head.header, head.widest)

  function* batches(): Generator<SourceBatch, void, undefined> {
    const text = openText()
    let row = 0
    let isHeaderNext = source.header
    const places = new PlaceNotes()
    let sheetRow = 0
    let line = separatorLine === null ? 1 : 2
    try {
      const parsed = parseRecords(text.readText, syntax, readBytes)
      for (const batch of parsed) {
        const rows: SourceRow[] = []
        for (const [index, cells] of batch.records.entries()) {
          sheetRow += 1
          const beginsAt = line
          line += countLines(cells)
          if (sheetRow <= recordsBefore) continue
          if (isHeaderNext) {
            isHeaderNext = isBlank(cells)
            continue
          }
          row += 1
          places.note(row, sheetRow, beginsAt)
          if (cells.length > columns.length) columns = toColumnNames(head.header, cells.length)
          rows.push(toSourceRow(row, cells, batch, index, expectation))
        }
        if (rows.length > 0) yield { rows, places: places.take(), bytesRead: text.bytesRead() }
      }
    } catch (error) {
      if (!(error instanceof RecordTooLong)) throw error
      throw createLongRecordError(file.path, `row ${row + error.blankLines + 1}`, error)
    }
  }

  return {
    format: source.format ?? 'csv',
    get columns() {
      return columns
    },
    header: source.header ? head.header : null,
    workbook: null,
    sizeBytes: file.sizeBytes,
    encoding,
    encodingBy,
    delimiter,
    delimiterBy,
    batches,
    close: file.close,
  }
}

/** Lines of the file that a record takes: one, and one more for each line break in its cells. */
function countLines(cells: readonly string[]): number {
  let lines = 1
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) lines += cell.match(/\r\n|[\r\n]/g)?.length ?? 0
  }
  return lines
}
