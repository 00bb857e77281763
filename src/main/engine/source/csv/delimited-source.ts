import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { findLastColumn, isExportHeader, toOwnExport } from '../../../../shared/run/export-columns.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import {
  createPieceDecoder,
  createTextReader,
  READ_BYTES,
  type ReadText,
  replaceUndecodable,
} from '../decoding/text-reader.ts'
import { openSourceFile, type SourceFile } from '../source-file.ts'
import {
  PlaceNotes,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toColumnNames,
} from '../source-reader.ts'
import { chooseDelimiter, chooseNewline, findSeparatorLine, findUsualLength, isBlank } from './delimiter.ts'
import {
  createLongRecordError,
  parseRecords,
  type QuoteFault,
  type RecordBatch,
  type RecordSyntax,
  RecordTooLong,
} from './record-parser.ts'

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
 * export of ours, the formula guard is taken off its cells again.
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text, or without a row, and while it is read, for
 * a row longer than 8 MiB.
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
    ownExport: toOwnExport(head.header, head.isGuarded),
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

/** What the first records of a source say about all of them. */
interface SourceHead extends Omit<RowExpectation, 'encoding'> {
  /** Names as the header has them, the guard taken off; empty without a header. */
  header: string[]
  /** Cells of the widest record met in the head. */
  widest: number
}

const HEAD_BYTES = 256 * 1024

/**
 * Reads the header, or without one the usual number of cells, from a source's first records.
 *
 * A guarded export of ours is known by the names of its last columns. A lossless one has no guard to take off: it
 * has the same names, the last of them in quotes, which no CSV reader shows and no spreadsheet keeps.
 *
 * Throws `BAD_SOURCE` where there is no row, or where the header does not end.
 */
function readSourceHead(
  source: PlanSource,
  readText: ReadText,
  syntax: RecordSyntax,
  sampleText: string,
): SourceHead {
  const { path } = source
  try {
    const before = countRecordsBeforeHeader(source)
    const batches = dropRecords(parseRecords(readText, syntax, HEAD_BYTES), before)
    const first = findFirstRecords(batches)
    if (first === null && before > 0) {
      throw new SluiceError({ id: 'header_past_end', source: path, line: before + 1 })
    }
    if (first === null) {
      throw new SluiceError({ id: 'source_is_blank', source: path })
    }
    const { records, quoteFaults } = first
    const widest = records.reduce((most, record) => Math.max(most, record.length), 0)
    if (!source.header) {
      const cells = findUsualLength(records).cells
      return { header: [], widest, cells, cellsBy: 'usual', isGuarded: false }
    }
    const headerIndex = records.findIndex((record) => !isBlank(record))
    const header = (records[headerIndex] ?? []).map((name) => name.toWellFormed())
    if (quoteFaults.get(headerIndex) === 'unclosed') {
      throw new SluiceError({ id: 'header_quote_open', source: path })
    }
    if (headerIndex === records.length - 1 && isAtEnd(batches)) {
      throw new SluiceError({ id: 'source_is_header', source: path })
    }
    const isGuarded = isExportHeader(header) && !hasLosslessMark(sampleText, header)
    return {
      header: isGuarded ? header.map(removeFormulaGuard) : header,
      widest,
      cells: header.length,
      cellsBy: 'header',
      isGuarded,
    }
  } catch (error) {
    if (!(error instanceof RecordTooLong)) throw error
    throw createLongRecordError(path, source.header ? 'the header' : `row ${error.blankLines + 1}`, error)
  }
}

/** How many records stand above the header and are passed over; none in a source without a header. */
function countRecordsBeforeHeader({ header, headerRow }: PlanSource): number {
  return header && headerRow !== undefined ? headerRow - 1 : 0
}

/** Leaves out the first records of a text, such as the lines above a header. */
function* dropRecords(
  batches: Iterable<RecordBatch>,
  count: number,
): Generator<RecordBatch, void, undefined> {
  let left = count
  for (const batch of batches) {
    if (left >= batch.records.length) {
      left -= batch.records.length
      continue
    }
    yield left === 0 ? batch : dropFirst(batch, left)
    left = 0
  }
}

function dropFirst({ records, quoteFaults, isWellFormed }: RecordBatch, count: number): RecordBatch {
  const faults = [...quoteFaults].filter(([index]) => index >= count)
  return {
    records: records.slice(count),
    quoteFaults: new Map(faults.map(([index, fault]) => [index - count, fault])),
    isWellFormed,
  }
}

/** The first batch with more in it than blank lines, or null. */
function findFirstRecords(batches: Generator<RecordBatch>): RecordBatch | null {
  for (let next = batches.next(); next.done !== true; next = batches.next()) {
    if (!next.value.records.every(isBlank)) return next.value
  }
  return null
}

/** Whether no record follows; one that is too long does, and reading the rows names it. */
function isAtEnd(batches: Generator<RecordBatch>): boolean {
  try {
    return batches.next().done === true
  } catch (error) {
    if (error instanceof RecordTooLong) return false
    throw error
  }
}

/** Whether the name of the last column that an export appended stands in quotes; papaparse does not say. */
function hasLosslessMark(sampleText: string, header: readonly string[]): boolean {
  const last = findLastColumn(header) ?? header.at(-1) ?? ''
  const name = last.replaceAll('"', '""').replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
  const found = [
    ...sampleText.matchAll(new RegExp(`(?<=[\\r\\n,;|\\t\\uFEFF]|^)("?)${name}\\1(?=[\\r\\n,;|\\t]|$)`, 'g')),
  ]
  // A lossless export of an export has the names of both.
  return found[header.filter((one) => one === last).length - 1]?.[1] === '"'
}

/** What rows of a source are held against. */
interface RowExpectation {
  /** Cells that a row should have. */
  cells: number
  /** Whether that is the header's number, or what most of the first rows have. */
  cellsBy: 'header' | 'usual'
  encoding: string
  /** Whether cells carry the formula guard of our own export, which is then taken off. */
  isGuarded: boolean
}

/** Turns one record into a row, with what is wrong with it; the cells keep their text. */
function toSourceRow(
  row: number,
  cells: string[],
  batch: RecordBatch,
  index: number,
  expectation: RowExpectation,
): SourceRow {
  const problems: FoundProblem[] = []
  if (cells.length !== expectation.cells) problems.push(toRaggedProblem(row, cells, expectation))
  if (!batch.isWellFormed) {
    const problem = replaceUndecodable(row, cells, expectation.encoding)
    if (problem !== null) problems.push(problem)
  }
  const fault = batch.quoteFaults.size === 0 ? undefined : batch.quoteFaults.get(index)
  if (fault !== undefined) problems.push(toQuoteProblem(row, cells, fault))
  if (expectation.isGuarded) {
    for (let cell = 0; cell < cells.length; cell += 1) cells[cell] = removeFormulaGuard(cells[cell] ?? '')
  }
  return { row, cells, problems }
}

function toRaggedProblem(
  row: number,
  cells: readonly string[],
  { cells: count, cellsBy }: RowExpectation,
): FoundProblem {
  const isBlank = cells.length === 1 && cells[0] === ''
  return {
    row,
    severity: 'warning',
    code: 'ragged_row',
    args: { cells: count, than: cellsBy },
    found: isBlank ? 'a blank line' : `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`,
  }
}

/** A quote that takes in line breaks may have swallowed rows, so such a row is not sent. */
function toQuoteProblem(row: number, cells: readonly string[], fault: QuoteFault): FoundProblem {
  const lines = cells.reduce((sum, cell) => sum + (cell.match(/\r\n|[\r\n]/g)?.length ?? 0), 0)
  const suspect =
    cells.find((cell) => /[\r\n]/.test(cell)) ??
    cells.find((cell) => cell.includes('"')) ??
    cells.at(-1) ??
    ''
  const effect = fault === 'unclosed' ? 'never_closed' : lines > 0 ? 'may_take_in_rows' : 'read_as_is'
  return {
    row,
    severity: effect === 'read_as_is' ? 'warning' : 'error',
    code: 'broken_quotes',
    args: { effect },
    found: lines === 0 ? toFound(suspect) : `${toFound(suspect)} (${lines + 1} lines in one row)`,
  }
}
