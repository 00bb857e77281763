import { MergedCells, type MergeReading, type ReadRow } from './merged-cells.ts'
import type { SheetEdges } from './sheet-edges.ts'
import { countFilled, type SheetHead } from './sheet-head.ts'
import { SheetLinks } from './sheet-links.ts'
import type { TextRow, TextRows } from './sheet-rows.ts'

/** Parts of a sheet after its cells that affect rows. */
export type Marks = Pick<SheetEdges, 'merged' | 'links'>

/** Rows with their links, and with merged cells as requested. */
export async function* markRows(
  path: string,
  batches: AsyncIterable<TextRows>,
  marks: Marks,
  reading: MergeReading,
): AsyncGenerator<{ rows: ReadRow[]; share: number }, void, undefined> {
  const merged = new MergedCells(path, marks.merged, reading)
  const links = new SheetLinks(path, marks.links)
  for await (const { rows, share } of batches) {
    const toMarked = (row: TextRow) =>
      merged.read(row, links.read(row, Math.max(row.cells.length, reading.width)))
    yield { rows: rows.map(toMarked), share }
  }
}

/** The header with the texts of merged cells, which may begin above it. */
export async function fillHeader(
  path: string,
  { header, firstRow, width }: SheetHead,
  batches: AsyncIterable<TextRows>,
  marks: Marks,
): Promise<string[]> {
  if (header.length === 0) return header
  const reading = { fills: true, firstRow: 1, width, isTold: false }
  for await (const { rows } of markRows(path, batches, marks, reading)) {
    for (const { row } of rows) {
      if (row.number === firstRow - 1) return row.cells.slice(0, countFilled(row.cells))
    }
  }
  return header
}
