import type { Archive } from './archive.ts'
import { createLimitError, formatCount } from './archive.ts'
import { type CellRange, parseRange } from './cell-ranges.ts'
import { createXmlParser } from './parse-xml.ts'
import { MAX_SHEET_ELEMENTS, MAX_SHEET_PART_BYTES } from './sheet-collector.ts'
import { CannotSkim, skipCells } from './skip-cells.ts'

/** What a sheet says of its cells behind them. */
export interface SheetEdges {
  /** Merged cells of more than one cell. */
  merged: readonly CellRange[]
  /** Why not everything could be read; null if it was. What is missing of the rows is told by whoever reads them. */
  failure: unknown
}

const PART = {
  name: 'the sheet',
  maxElements: MAX_SHEET_ELEMENTS,
  shape: { worksheet: { mergeCells: { mergeCell: {} } } },
}

/** Most merged cells of a sheet. */
const MAX_RANGES = 1_000_000

/** Reads what stands behind the cells of a sheet, without the cells if that can be. */
export async function readSheetEdges(archive: Archive, part: string): Promise<SheetEdges> {
  try {
    return await parseEdges(archive, part, true)
  } catch (error) {
    if (!(error instanceof CannotSkim)) throw error
    return parseEdges(archive, part, false)
  }
}

async function parseEdges(archive: Archive, part: string, isSkimmed: boolean): Promise<SheetEdges> {
  const merged: CellRange[] = []
  const add = (range: CellRange | null): void => {
    if (range === null || (range.firstRow === range.lastRow && range.firstColumn === range.lastColumn)) return
    if (merged.length === MAX_RANGES)
      throw createLimitError(archive.path, `the sheet has more than ${formatCount(MAX_RANGES)} merged cells`)
    merged.push(range)
  }
  try {
    const parser = createXmlParser(archive.path, PART, {
      open(name, { ref = '' }) {
        if (name === 'mergeCell') add(parseRange(ref))
      },
    })
    const pieces = archive.readPart(part, MAX_SHEET_PART_BYTES)
    for await (const piece of isSkimmed ? skipCells(pieces, () => {}) : pieces) parser.write(piece)
    parser.end()
    return { merged, failure: null }
  } catch (failure) {
    if (failure instanceof CannotSkim) throw failure
    return { merged, failure }
  }
}
