import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import {
  isExportHeader,
  LAST_COLUMN_NAMES,
  removeFormulaGuard,
} from '../../../../shared/run/export-format.ts'
import type { ReadText } from '../decoding/text-reader.ts'
import { findUsualLength, isBlank } from './delimiter.ts'
import {
  createLongRecordError,
  parseRecords,
  type RecordBatch,
  type RecordSyntax,
  RecordTooLong,
} from './record-parser.ts'
import { dropRecords, type RowExpectation } from './row-builder.ts'

/** What the first records of a source say about all of them. */
export interface SourceHead extends Omit<RowExpectation, 'encoding'> {
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
export function readSourceHead(
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
    const isGuarded = isExportHeader(header) && !hasLosslessMark(sampleText)
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
export function countRecordsBeforeHeader({ header, headerRow }: PlanSource): number {
  return header && headerRow !== undefined ? headerRow - 1 : 0
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

const LAST_COLUMN = new RegExp(`("?)(?:${LAST_COLUMN_NAMES.join('|')})\\1(?=[\\r\\n]|$)`)

/** Whether the name of the header's last column stands in quotes; papaparse does not tell. */
function hasLosslessMark(sampleText: string): boolean {
  return LAST_COLUMN.exec(sampleText)?.[1] === '"'
}
