import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { createSourceError } from '../source-error.ts'
import type { TextRows } from './sheet-batches.ts'

/** What the first rows of a sheet say about all of them. */
export interface SheetHead {
  /** Names as the header has them; empty without one. */
  header: string[]
  /** Cells of a row: those of the header, or of a wider row among the first. */
  width: number
  /** Number of the sheet's row that is the first row of the source. */
  firstRow: number
}

/** Rows that tell the width; the same however the file comes in pieces. */
const HEAD_ROWS = 500

/** Cells up to the last one that is not empty. */
export function countFilled(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell !== '') + 1
}

/**
 * Reads the header and the width of a sheet from its first rows. Throws `BAD_SOURCE` where there is no row, unless
 * `mayBeEmpty`, or no header in the row that was named.
 */
export async function readSheetHead(
  source: PlanSource,
  sheet: string,
  batches: AsyncIterable<TextRows>,
  mayBeEmpty = false,
): Promise<SheetHead> {
  const { path } = source
  const name = JSON.stringify(sheet)
  const wanted = source.header ? source.headerRow : undefined
  let header: string[] | null = source.header ? null : []
  let firstRow = 1
  let width = 0
  let lastNumber = 0
  let seen = 0
  for await (const { rows } of batches) {
    for (const { number, cells } of rows) {
      const filled = countFilled(cells)
      if (filled === 0) continue
      lastNumber = number
      if (wanted !== undefined && number < wanted) continue
      if (wanted !== undefined && header === null && number > wanted)
        throw createHeaderError(wanted, 'is empty')
      if (header !== null) {
        if (seen === HEAD_ROWS) return { header, width, firstRow }
        seen += 1
        width = Math.max(width, filled)
        continue
      }
      header = cells.slice(0, filled)
      firstRow = number + 1
      width = filled
    }
  }
  if (wanted !== undefined && lastNumber < wanted) {
    throw createHeaderError(
      wanted,
      lastNumber === 0 ? 'is empty, and so is the sheet' : `is below its last row, ${lastNumber}`,
    )
  }
  if (header !== null && lastNumber >= firstRow) return { header, width, firstRow }
  if (mayBeEmpty) return { header: header ?? [], width, firstRow: lastNumber + 1 }
  throw createSourceError(
    path,
    header === null || header.length === 0
      ? `expected rows, found an empty sheet ${name}`
      : `expected rows, found only the row that names the columns in the sheet ${name}`,
    header === null || header.length === 0
      ? 'Name another sheet (--sheet), or fill this one.'
      : 'Name another sheet (--sheet); if that one row is data, say that there is no header (--no-header).',
  )

  function createHeaderError(row: number, found: string): Error {
    return createSourceError(
      path,
      `expected the names of the columns in row ${row} of the sheet ${name}, found that it ${found}`,
      'Give the number of the row that names the columns, as the spreadsheet shows it.',
    )
  }
}
