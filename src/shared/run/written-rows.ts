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
})

export type WrittenRows = z.infer<typeof writtenRowsSchema>

export function toWrittenRows({ file, rows, sizeBytes, guardedCells, leftOut }: ExportResult): WrittenRows {
  return {
    ...{ file, rows, bytes: sizeBytes },
    ...(guardedCells !== undefined && { escaped_cells: guardedCells }),
    ...(leftOut !== undefined && { rows_left_out: leftOut }),
  }
}

/** The reverse of {@link toWrittenRows}. */
export function toExportResult(written: WrittenRows): ExportResult {
  const { file, rows, bytes, escaped_cells: cells, rows_left_out: leftOut } = written
  return {
    ...{ file, rows, sizeBytes: bytes },
    ...(cells !== undefined && { guardedCells: cells }),
    ...(leftOut !== undefined && { leftOut }),
  }
}

/** What was written, a line each: where, and whether cells are not as they were. */
export function sayWrittenRows({ file, rows, escaped_cells: cells = 0 }: WrittenRows): string[] {
  const written = `${formatCounted(rows, 'row')} in ${file}`
  return cells === 0 ? [written] : [written, sayGuarded(cells, UNGUARDED_FORMATS)]
}

/** That rows are not in a file, and why; null if all are. */
export function sayLeftOut({ leftOut = 0 }: Pick<ExportResult, 'leftOut'>): string | null {
  if (leftOut === 0) return null
  return `${formatCounted(leftOut, 'row was', 'rows were')} left out: without content, or with the id of an earlier request`
}
