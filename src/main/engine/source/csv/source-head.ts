import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { findGuard, findLastColumn, isExportHeader } from '../../../../shared/run/export-columns.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import type { ReadText } from '../decoding/text-reader.ts'
import { type Dialect, findUsualLength, isEmptyRecord } from './dialect.ts'
import {
  MAX_COLUMNS,
  MAX_RECORD_CHARACTERS,
  parseRecords,
  type RecordBatch,
  RecordTooLong,
} from './record-parser.ts'
import { countInnerCells, type RowExpectation } from './row-check.ts'

/** What the first records of a source show about all of them. */
export interface SourceHead extends Omit<RowExpectation, 'encoding' | 'dialect' | 'findRepeatedHeader'> {
  /** Names as in the header, without the guard; empty without a header. */
  header: string[]
  /** Cells of the widest record in the head. */
  widest: number
}

const HEAD_BYTES = 256 * 1024

/**
 * Reads the header, or without one the usual number of cells, from a source's first records.
 *
 * A guarded export of ours is recognized by the names of its last columns. A lossless one has no guard to
 * remove: it has the same names, the last one quoted, which no CSV reader shows and no spreadsheet keeps. A
 * guarded file that could be one of version 0.2 has another name quoted.
 *
 * Throws `BAD_SOURCE` if there is no row, or if the header does not end.
 */
export function readSourceHead(
  source: PlanSource,
  readText: ReadText,
  dialect: Dialect,
  sampleText: string,
): SourceHead {
  const { path } = source
  try {
    const before = countRecordsBeforeHeader(source)
    const batches = dropRecords(parseRecords(readText, dialect, { readBytes: HEAD_BYTES }), before)
    const first = findFirstRecords(batches)
    if (first === null && before > 0) {
      throw new SluiceError({ id: 'header_past_end', source: path, line: before + 1 })
    }
    if (first === null) {
      throw new SluiceError({ id: 'source_is_blank', source: path })
    }
    const { records, faults } = first
    const widest = records.reduce((most, record) => Math.max(most, record.length), 0)
    if (!source.header) {
      const cells = findUsualLength(records).cells
      return {
        header: [],
        widest,
        cells,
        named: cells,
        cellsBy: 'usual',
        guard: null,
        isInQuotes: false,
      }
    }
    const headerIndex = records.findIndex((record) => !isEmptyRecord(record))
    const header = (records[headerIndex] ?? []).map((name) => name.toWellFormed())
    if (faults.get(headerIndex) === 'unclosed') {
      throw new SluiceError({ id: 'header_quote_open', source: path })
    }
    if (header.some((name) => name.includes('\0'))) {
      throw new SluiceError({ id: 'header_has_nul', source: path })
    }
    if (faults.has(headerIndex) && /[\r\n](?![\r\n]*$)/.test(header.join())) {
      throw new SluiceError({ id: 'header_takes_in_rows', source: path })
    }
    const rows = records.slice(headerIndex + 1)
    if (rows.every(isEmptyRecord) && !hasMore(batches)) {
      throw new SluiceError({ id: 'source_is_header', source: path })
    }
    const guard =
      isExportHeader(header) && !hasLosslessMark(sampleText, header)
        ? findGuard(header, (name) => standsInQuotes(sampleText, name, header))
        : null
    return {
      header: guard === null ? header : header.map((name) => removeFormulaGuard(name, guard)),
      widest,
      cells: header.length,
      named: header.findLastIndex((name) => name.trim() !== '') + 1,
      cellsBy: 'header',
      guard,
      isInQuotes: dialect.delimiterBy === 'guess' && areInQuotes(header, rows),
    }
  } catch (error) {
    if (!(error instanceof RecordTooLong)) throw error
    throw createLongRecordError(path, source.header ? 'the header' : 'row 1', error)
  }
}

/** Number of records above the header, which are skipped; 0 in a source without a header. */
export function countRecordsBeforeHeader({ header, headerRow }: PlanSource): number {
  return header && headerRow !== undefined ? headerRow - 1 : 0
}

/** Drops the first records of a text, such as the lines above a header. */
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

function dropFirst(batch: RecordBatch, count: number): RecordBatch {
  const faults = [...batch.faults].filter(([index]) => index >= count)
  return {
    ...batch,
    records: batch.records.slice(count),
    faults: new Map(faults.map(([index, fault]) => [index - count, fault])),
  }
}

/** The first batch with any record that is not empty, or null. */
function findFirstRecords(batches: Generator<RecordBatch>): RecordBatch | null {
  for (let next = batches.next(); next.done !== true; next = batches.next()) {
    if (!next.value.records.every(isEmptyRecord)) return next.value
  }
  return null
}

/** Whether rows follow; one that is too long counts, and reading the rows names it. */
function hasMore(batches: Generator<RecordBatch>): boolean {
  try {
    return findFirstRecords(batches) !== null
  } catch (error) {
    if (error instanceof RecordTooLong) return true
    throw error
  }
}

/** Whether one column holds whole quoted records: a spreadsheet saved a file that it did not split. */
function areInQuotes(header: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const [name = ''] = header
  if (header.length !== 1) return false
  const filled = rows.filter((cells) => !isEmptyRecord(cells))
  return [',', ';', '\t', '|'].some((delimiter) => {
    const cells = countInnerCells(name, delimiter)
    if (cells < 2 || name.includes(`${delimiter} `)) return false
    return filled.every(
      (record) => record.length === 1 && countInnerCells(record[0] ?? '', delimiter) === cells,
    )
  })
}

/** Whether the name of the last column that an export appended is quoted. */
function hasLosslessMark(sampleText: string, header: readonly string[]): boolean {
  return standsInQuotes(sampleText, findLastColumn(header) ?? header.at(-1) ?? '', header)
}

/** Whether the last named column has its name quoted, which papaparse does not report. */
function standsInQuotes(sampleText: string, column: string, header: readonly string[]): boolean {
  const name = column.replaceAll('"', '""').replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
  const found = [
    ...sampleText.matchAll(new RegExp(`(?<=[\\r\\n,;|\\t\\uFEFF]|^)("?)${name}\\1(?=[\\r\\n,;|\\t]|$)`, 'g')),
  ]
  // A lossless export of an export has the names of both.
  return found[header.filter((one) => one === column).length - 1]?.[1] === '"'
}

/** The `BAD_SOURCE` error of a record too long to be read; `record` is its name, such as "row 3". */
export function createLongRecordError(source: string, record: string, error: RecordTooLong): SluiceError {
  const begins = toFound(/^[^\r\n]*/.exec(error.start.slice(0, 200))?.[0] ?? '')
  if (error.over === 'columns') {
    return new SluiceError({ id: 'too_many_columns', source, record, max: MAX_COLUMNS, begins })
  }
  return new SluiceError({
    id: 'record_too_long',
    source,
    record,
    maxCharacters: MAX_RECORD_CHARACTERS,
    // Only in quotes does a record continue on the next line.
    isClosed: !/[\r\n]/.test(error.start),
    begins,
  })
}
