import { z } from 'zod'
import { formatCounted } from '../messages/figure-text.ts'
import { sayGuarded, UNGUARDED_FORMATS } from './formula-guard.ts'

export interface ExportResult {
  file: string
  rows: number
  sizeBytes: number
  /** Cells of a CSV file in front of which an apostrophe was put, since a spreadsheet would run them; absent if none. */
  guardedCells?: number
  /** Rows that were left out, since the format has no place for them; absent if none. */
  leftOut?: number
  /** Rows of the run that had no result yet when it was written; absent if none. */
  withoutResult?: number
}

/** A file of rows as documents have it. */
export const writtenRowsSchema = z.object({
  file: z.string(),
  rows: z.int(),
  bytes: z.int(),
  /** Cells of a CSV file that have an apostrophe in front, since a spreadsheet would run them; absent if none. */
  escaped_cells: z.int().exactOptional(),
  /**
   * Rows that were left out of a file of OpenAI's batch requests, which has no place for them, or of a sample of a source,
   * since they have errors; absent if none.
   */
  rows_left_out: z.int().exactOptional(),
  /** Rows of the run, in the file or not, that had no result yet when it was written; absent if none. */
  rows_without_result: z.int().exactOptional(),
})

export type WrittenRows = z.infer<typeof writtenRowsSchema>

export function toWrittenRows(result: ExportResult): WrittenRows {
  const { file, rows, sizeBytes, guardedCells, leftOut, withoutResult } = result
  return {
    file,
    rows,
    bytes: sizeBytes,
    ...(guardedCells !== undefined && { escaped_cells: guardedCells }),
    ...(leftOut !== undefined && { rows_left_out: leftOut }),
    ...(withoutResult !== undefined && { rows_without_result: withoutResult }),
  }
}

/** The reverse of {@link toWrittenRows}. */
export function toExportResult(written: WrittenRows): ExportResult {
  const {
    file,
    rows,
    bytes,
    escaped_cells: cells,
    rows_left_out: leftOut,
    rows_without_result: open,
  } = written
  return {
    file,
    rows,
    sizeBytes: bytes,
    ...(cells !== undefined && { guardedCells: cells }),
    ...(leftOut !== undefined && { leftOut }),
    ...(open !== undefined && { withoutResult: open }),
  }
}

/** What was written, a line each: where, and whether cells are not as they were. */
export function sayWrittenRows({ file, rows, escaped_cells: cells = 0 }: WrittenRows): string[] {
  const written = `${formatCounted(rows, 'row')} in ${file}`
  return cells === 0 ? [written] : [written, sayGuarded(cells, UNGUARDED_FORMATS)]
}

/** That rows are not in a file and why, and that some have no result yet: a sentence each, without a full stop. */
export function listMissing({
  leftOut = 0,
  withoutResult = 0,
}: Pick<ExportResult, 'leftOut' | 'withoutResult'>): string[] {
  return [
    ...(leftOut === 0
      ? []
      : [
          `${formatCounted(leftOut, 'row was', 'rows were')} left out: without content, or with the id of an earlier request`,
        ]),
    ...(withoutResult === 0
      ? []
      : [`${formatCounted(withoutResult, 'row')} of the run had no result yet when this was written`]),
  ]
}
