import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { toOwnExport } from '../../../../shared/run/export-columns.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import { findEncodingWarnings } from '../decoding/encoding-doubt.ts'
import { createPieceDecoder, createTextReader, READ_BYTES } from '../decoding/text-reader.ts'
import { HeaderWatch, mayDoubtHeader } from '../header-doubt.ts'
import { findTitleWarnings } from '../likely-header.ts'
import { createRepeatedHeaderCheck } from '../repeated-header.ts'
import { openSourceFile, type SourceFile } from '../source-file.ts'
import {
  findEmptyWarnings,
  findInnerMarkWarnings,
  PlaceNotes,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toColumnNames,
} from '../source-reader.ts'
import {
  chooseDialect,
  type Dialect,
  findLikelyHeaderRow,
  findSeparatorLine,
  isEmptyRecord,
} from './dialect.ts'
import { parseRecords, RecordTooLong } from './record-parser.ts'
import { mayContinue, toCutProblem, toSourceRow } from './row-check.ts'
import { countRecordsBeforeHeader, createLongRecordError, readSourceHead } from './source-head.ts'
import { dropZeroPadding } from './zero-padding.ts'

/** A text of records being read; its rows are available without waiting. */
export interface DelimitedReader extends SourceReader {
  batches(): Iterable<SourceBatch>
}

/**
 * Opens a CSV or TSV file: determines its encoding, delimiter and columns, and reads no further than that
 * takes. `readBytes` is the size of one read; rows do not depend on it.
 *
 * Rows: blank lines and records of empty cells are not rows, but are counted; lines above `headerRow`, and a
 * first line such as `sep=;`, are not rows either. Rows with fewer cells keep those they have, rows with more
 * are errors. If the file is a CSV export of ours, the formula guard is removed from its cells.
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text, or without a row, and while it is
 * read, for a row longer than 8 MiB.
 */
export function openDelimitedSource(
  source: PlanSource,
  readBytes = READ_BYTES,
  contentPath?: string,
): DelimitedReader {
  const file = openSourceFile(source.path, contentPath)
  try {
    return createReader(source, file, readBytes)
  } catch (error) {
    file.close()
    throw error
  }
}

const SAMPLE_BYTES = 256 * 1024

function createReader(source: PlanSource, file: SourceFile, readBytes: number): DelimitedReader {
  const chosen = chooseEncoding(file, source.encoding)
  const { encoding, encodingBy, bomBytes, readings } = chosen
  const firstText = createPieceDecoder(encoding).decode(file.readBytes(bomBytes, SAMPLE_BYTES))
  const separatorLine = findSeparatorLine(firstText)
  const skipCharacters = separatorLine?.characters ?? 0
  const sampleText = firstText.slice(skipCharacters)
  const isCut = bomBytes + SAMPLE_BYTES < file.sizeBytes
  const dialect = chooseDialect(source, { text: sampleText, isCut }, separatorLine?.delimiter)
  const openText = () => createTextReader(file, bomBytes, encoding, { skipCharacters, quoting: dialect })
  const head = readSourceHead(source, dropZeroPadding(openText().readText).readText, dialect, sampleText)
  const findRepeatedHeader = source.header ? createRepeatedHeaderCheck(head.header) : null
  const expectation = { ...head, dialect, encoding, findRepeatedHeader }
  const recordsBefore = countRecordsBeforeHeader(source)
  const likelyHeaderRow =
    source.header && source.headerRow === undefined ? findLikelyHeaderRow(sampleText, dialect) : null
  let columns = toColumnNames(head.header, head.widest)
  const watchHeader = () => new HeaderWatch(head.header, mayDoubtHeader(source, likelyHeaderRow))
  let headerWatch = watchHeader()
  let emptyRecords = 0
  let innerMarks = 0
  let padding = 0

  function* batches(): Generator<SourceBatch, void, undefined> {
    const text = openText()
    const unpadded = dropZeroPadding(text.readText)
    let row = 0
    let isHeaderNext = source.header
    const places = new PlaceNotes()
    // May be a row of the batch before, which is held back until this one is read.
    let last: SourceRow | null = null
    let lastCells: readonly string[] = []
    let sheetRow = 0
    let line = separatorLine === null ? 1 : 2
    emptyRecords = 0
    headerWatch = watchHeader()
    try {
      const isEscapeGuessed = dialect.escapeBy !== 'given'
      const takeIsAscii = () => encoding === 'utf-8' && text.takeIsAscii() && !unpadded.wasHeld()
      const options = { readBytes, width: head.cells, isEscapeGuessed, takeIsAscii }
      for (const batch of parseRecords(unpadded.readText, dialect, options)) {
        const rows: SourceRow[] = []
        for (const [index, cells] of batch.records.entries()) {
          sheetRow += 1
          const beginsAt = line
          line += batch.hasBreaks ? countLines(cells) : 1
          if (sheetRow <= recordsBefore) continue
          // A quote that opens nothing is not an empty cell.
          if (isEmptyRecord(cells) && !batch.faults.has(index)) {
            if (!isHeaderNext) emptyRecords += 1
            continue
          }
          if (isHeaderNext) {
            isHeaderNext = false
            continue
          }
          row += 1
          places.note(row, sheetRow, beginsAt)
          if (cells.length > columns.length) columns = toColumnNames(head.header, cells.length)
          headerWatch.note(cells)
          const hasBreaks = line - beginsAt > 1
          const read = toSourceRow({ row, line: beginsAt, hasBreaks, cells, batch, index }, expectation)
          if (last !== null && !batch.faults.has(index) && mayContinue(cells, lastCells, head.cells)) {
            const isCut = last.problems.some(({ code }) => code === 'cut_by_line_break')
            if (!isCut) last.problems.push(toCutProblem(last.row, cells))
            read.problems.push(toCutProblem(row, cells))
            lastCells = [...lastCells, ...cells.slice(1)]
          } else lastCells = cells
          last = read
          rows.push(read)
        }
        if (rows.length > 0)
          yield { rows, places: places.take(), bytesRead: text.bytesRead(), isAscii: batch.isAscii }
      }
      padding = unpadded.padding()
      innerMarks = text.innerMarks()
    } catch (error) {
      if (!(error instanceof RecordTooLong)) throw error
      throw createLongRecordError(file.path, `row ${sheetRow + 1}`, error)
    }
  }

  return {
    format: source.format ?? 'csv',
    get columns() {
      return columns
    },
    header: source.header ? head.header : null,
    ownExport: toOwnExport(head.header, head.guard !== null),
    workbook: null,
    sizeBytes: file.sizeBytes,
    encoding,
    encodingBy,
    encodingReadings: readings,
    delimiter: dialect.delimiter,
    delimiterBy: dialect.delimiterBy,
    quoting: {
      quote: dialect.quote,
      quoteBy: dialect.quoteBy,
      escape: dialect.escape,
      escapeBy: dialect.escapeBy,
    },
    batches,
    likelyHeaderRow,
    get emptyRecords() {
      return emptyRecords
    },
    findWarnings: () => [
      ...findEncodingWarnings(chosen),
      ...findDialectWarnings(dialect),
      ...findTitleWarnings(likelyHeaderRow),
      ...headerWatch.findWarnings(),
      ...findEmptyWarnings(emptyRecords),
      ...findInnerMarkWarnings(innerMarks),
      ...findPaddingWarnings(padding),
    ],
    close: file.close,
  }
}

/** Lines of the file in a record: one, plus one for each line break in its cells. */
function countLines(cells: readonly string[]): number {
  let lines = 1
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) lines += cell.match(/\r\n|[\r\n]/g)?.length ?? 0
  }
  return lines
}

/** NUL characters after the end are not text, but were in the file. */
function findPaddingWarnings(characters: number): SourceWarning[] {
  if (characters === 0) return []
  return [{ severity: 'warning', code: 'zero_padding', args: { characters }, rows: 1 }]
}

/** A guessed quote or escape changes the text of cells. */
function findDialectWarnings(dialect: Dialect): SourceWarning[] {
  if (dialect.quoteBy !== 'guess' && dialect.escapeBy !== 'guess') return []
  return [
    { severity: 'warning', code: 'quotes_guessed', args: { quote: dialect.quote, escape: dialect.escape } },
  ]
}
