import { z } from 'zod'
import { formatCounted } from '../messages/figure-text.ts'
import { sayGuarded, UNGUARDED_FORMATS } from './formula-guard.ts'

export interface ExportResult {
  file: string
  rows: number
  sizeBytes: number
  /** Cells of a CSV file in front of which an apostrophe was put, since a spreadsheet would run them; absent if none. */
  guardedCells?: number
}

/** A file of rows as documents have it. */
export const writtenRowsSchema = z.object({
  file: z.string(),
  rows: z.int(),
  bytes: z.int(),
  /** Cells of a CSV file that have an apostrophe in front, since a spreadsheet would run them; absent if none. */
  escaped_cells: z.int().exactOptional(),
})

export type WrittenRows = z.infer<typeof writtenRowsSchema>

export function toWrittenRows({ file, rows, sizeBytes: bytes, guardedCells }: ExportResult): WrittenRows {
  return { file, rows, bytes, ...(guardedCells !== undefined && { escaped_cells: guardedCells }) }
}

/** The reverse of {@link toWrittenRows}. */
export function toExportResult({ file, rows, bytes, escaped_cells: cells }: WrittenRows): ExportResult {
  return { file, rows, sizeBytes: bytes, ...(cells !== undefined && { guardedCells: cells }) }
}

/** What was written, a line each: where, and whether cells are not as they were. */
export function sayWrittenRows({ file, rows, escaped_cells: cells = 0 }: WrittenRows): string[] {
  const written = `${formatCounted(rows, 'row')} in ${file}`
  return cells === 0 ? [written] : [written, sayGuarded(cells, UNGUARDED_FORMATS)]
}
