import { z } from 'zod'
import { formatCounted } from '../messages/figure-text.ts'
import { sayGuarded, UNGUARDED_FORMATS } from './formula-guard.ts'

export const cutNamesSchema = z.enum(['classes', 'rules'])

export type CutNames = z.infer<typeof cutNamesSchema>

export interface ExportResult {
  file: string
  rows: number
  sizeBytes: number
  /** Cells of a CSV file that got an apostrophe, since a spreadsheet would run them; absent if none. */
  guardedCells?: number
  /** Rows left out because the format cannot hold them; absent if none. */
  leftOut?: number
  /** Rows of the run without a result when the file was written; absent if none. */
  withoutResult?: number
  /** What the run has more of than the file has columns for; absent if the file has all. */
  cutColumns?: CutNames[]
  /** Rows of which a stored answer is damaged, and the numbers of the first; absent if there are none. */
  damaged?: { rows: number; first: string[] }
}

/** A file of rows, for documents. */
export const writtenRowsSchema = z.object({
  file: z.string(),
  rows: z.int(),
  bytes: z.int(),
  /** Cells of a CSV file with an added apostrophe, since a spreadsheet would run them; absent if none. */
  escaped_cells: z.int().exactOptional(),
  /**
   * Rows left out of a file of OpenAI's batch requests, which cannot hold them, or of a sample of a source,
   * because they have errors; absent if none.
   */
  rows_left_out: z.int().exactOptional(),
  /** Rows of the run, in the file or not, without a result when the file was written; absent if none. */
  rows_without_result: z.int().exactOptional(),
  /** What the run has more of than the 1,000 that the file has columns for; absent if it has all. */
  columns_left_out: z.array(cutNamesSchema).exactOptional(),
  /** Rows in the file without what their answers say, since a stored answer is damaged; absent if none. */
  rows_damaged: z.int().exactOptional(),
})

export type WrittenRows = z.infer<typeof writtenRowsSchema>

export function toWrittenRows(result: ExportResult): WrittenRows {
  const { file, rows, sizeBytes, guardedCells, leftOut, withoutResult, cutColumns, damaged } = result
  return {
    file,
    rows,
    bytes: sizeBytes,
    ...(guardedCells !== undefined && { escaped_cells: guardedCells }),
    ...(leftOut !== undefined && { rows_left_out: leftOut }),
    ...(withoutResult !== undefined && { rows_without_result: withoutResult }),
    ...(cutColumns !== undefined && { columns_left_out: cutColumns }),
    ...(damaged !== undefined && { rows_damaged: damaged.rows }),
  }
}

/** Reverses {@link toWrittenRows}. */
export function toExportResult(written: WrittenRows): ExportResult {
  const {
    file,
    rows,
    bytes,
    escaped_cells: cells,
    rows_left_out: leftOut,
    rows_without_result: open,
    columns_left_out: cutColumns,
  } = written
  return {
    file,
    rows,
    sizeBytes: bytes,
    ...(cells !== undefined && { guardedCells: cells }),
    ...(leftOut !== undefined && { leftOut }),
    ...(open !== undefined && { withoutResult: open }),
    ...(cutColumns !== undefined && { cutColumns }),
  }
}

/** What was written, a line each: the file, what it lacks, and whether cells were changed. */
export function sayWrittenRows({
  file,
  rows,
  escaped_cells: cells = 0,
  columns_left_out: cutColumns = [],
}: WrittenRows): string[] {
  return [
    `${formatCounted(rows, 'row')} in ${file}`,
    ...listMissing({ cutColumns }),
    ...(cells === 0 ? [] : [sayGuarded(cells, UNGUARDED_FORMATS)]),
  ]
}

/** Says what a file lacks since stored answers are damaged, without a full stop; null if nothing. */
export function sayDamaged({ damaged }: Pick<ExportResult, 'damaged'>): string | null {
  if (damaged === undefined) return null
  const { rows, first } = damaged
  if (rows === 1)
    return `The stored answer to 1 row is damaged: what it says is missing in row ${first.join()}`
  const others = rows > first.length ? ` and ${formatCounted(rows - first.length, 'other')}` : ''
  return `The stored answers to ${formatCounted(rows, 'row')} are damaged: what they say is missing in rows ${first.join(', ')}${others}`
}

/** Says which rows are not in a file and why, and what else it lacks: a sentence each, no full stop. */
export function listMissing({
  leftOut = 0,
  withoutResult = 0,
  cutColumns = [],
  ...written
}: Pick<ExportResult, 'leftOut' | 'withoutResult' | 'cutColumns' | 'damaged'>): string[] {
  const damaged = sayDamaged(written)
  return [
    ...(leftOut === 0
      ? []
      : [
          `${formatCounted(leftOut, 'row was', 'rows were')} left out: without content, or with the id of an earlier request`,
        ]),
    ...(withoutResult === 0
      ? []
      : [`${formatCounted(withoutResult, 'row')} of the run had no result yet when this was written`]),
    ...cutColumns.map(
      (names) => `The run has more than 1,000 ${names}, and the file has 1,000 of them. JSON lines have all`,
    ),
    ...(damaged === null ? [] : [damaged]),
  ]
}
