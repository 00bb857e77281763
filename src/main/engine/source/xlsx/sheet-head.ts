import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { findLikelyHeader, HEAD_RECORDS, type HeadRecord } from '../likely-header.ts'
import type { ColumnRange } from './sheet-collector.ts'
import type { TextRows } from './sheet-rows.ts'

/** What the first rows of a sheet show about all of them. */
export interface SheetHead {
  /** Names as in the header; empty without one. */
  header: string[]
  /** Cells of a row: those of the header, or of a wider row among the first. */
  width: number
  /** Number of the sheet's row that is the source's first row; without a header the first with a cell. */
  firstRow: number
  hiddenColumns: readonly ColumnRange[]
  /** The row that looks like the header below titles; null without one, or if the header's row was given. */
  likelyHeaderRow: number | null
}

/** Rows that determine the width, the same however the file is split into pieces. */
const HEAD_ROWS = 500

/** Cells up to the last one that is not empty. */
export function countFilled(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell !== '') + 1
}

/**
 * Reads the header and the width of a sheet from its first rows. Throws `BAD_SOURCE` if there is no row,
 * unless `mayBeEmpty`, or no header in the given row.
 */
export async function readSheetHead(
  source: PlanSource,
  sheet: string,
  batches: AsyncIterable<TextRows>,
  mayBeEmpty = false,
): Promise<SheetHead> {
  const { path } = source
  const wanted = source.header ? source.headerRow : undefined
  let header: string[] | null = source.header ? null : []
  let firstRow = 0
  let width = 0
  let lastNumber = 0
  let seen = 0
  let hasHidden = false
  let hiddenColumns: readonly ColumnRange[] = []
  const head: HeadRecord[] = []
  const toHead = (found: string[], from = firstRow): SheetHead => ({
    header: found,
    width,
    firstRow: from,
    hiddenColumns,
    likelyHeaderRow: source.header && wanted === undefined ? findLikelyHeader(head) : null,
  })
  for await (const { rows, hiddenColumns: hidden } of batches) {
    hiddenColumns = hidden
    for (const { number, cells, isHidden } of rows) {
      const filled = countFilled(cells)
      if (filled === 0) continue
      if (isHidden && header !== null && source.rows === 'visible') {
        hasHidden = true
        continue
      }
      lastNumber = number
      if (head.length < HEAD_RECORDS) head.push({ number, cells })
      if (!source.header && firstRow === 0) firstRow = number
      if (wanted !== undefined && number < wanted) continue
      if (wanted !== undefined && header === null && number > wanted)
        throw new SluiceError({ id: 'sheet_header_missing', source: path, sheet, row: wanted, lastRow: null })
      if (header !== null) {
        if (seen === HEAD_ROWS) return toHead(header)
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
    throw new SluiceError({
      id: 'sheet_header_missing',
      source: path,
      sheet,
      row: wanted,
      lastRow: lastNumber,
    })
  }
  if (header !== null && lastNumber >= firstRow) return toHead(header)
  if (mayBeEmpty) return toHead(header ?? [], lastNumber + 1)
  throw new SluiceError({
    id: hasHidden
      ? 'sheet_is_hidden'
      : header === null || header.length === 0
        ? 'sheet_is_empty'
        : 'sheet_is_header',
    source: path,
    sheet,
  })
}
