import { type Archive, createLimitError, formatCount } from './archive.ts'
import { type CellRange, parseRange } from './cell-ranges.ts'
import { parseXmlPart } from './parse-xml.ts'
import type { TextRow } from './sheet-rows.ts'
import { readRelations } from './workbook.ts'

const TABLE = { name: 'a table', maxElements: 1_000_000, shape: { table: {} } }
const MAX_TABLE_BYTES = 16 * 1024 * 1024
const MAX_TABLES = 10_000

/** Whether a row of a sheet holds the totals of a table. */
export type IsTotalsRow = (row: Pick<TextRow, 'number' | 'cells'>) => boolean

/**
 * Finds where the tables of a sheet have their totals, which a spreadsheet computes from the rows above
 * (ECMA-376 part 1, 18.5.1.2). A row holds totals if it has nothing else. Throws `BAD_SOURCE`.
 */
export async function readTotalsRows(archive: Archive, part: string): Promise<IsTotalsRow> {
  const relations = (await readRelations(archive, part)).filter(({ type }) => type === 'table')
  if (relations.length > MAX_TABLES) {
    throw createLimitError(archive.path, `the sheet has more than ${formatCount(MAX_TABLES)} tables`)
  }
  const totals: CellRange[] = []
  for (const { target } of relations) {
    if (!archive.names.has(target.toLowerCase())) continue
    await parseXmlPart(archive.path, TABLE, archive.readPart(target, MAX_TABLE_BYTES), {
      open(_, { ref = '', totalsRowCount = '0' }) {
        const table = parseRange(ref)
        const rows = Number(totalsRowCount)
        if (table !== null && rows > 0) totals.push({ ...table, firstRow: table.lastRow - rows + 1 })
      },
    })
  }
  return ({ number, cells }) => {
    const own = totals.filter(({ firstRow, lastRow }) => firstRow <= number && number <= lastRow)
    if (own.length === 0) return false
    return cells.every(
      (cell, column) =>
        cell === '' || own.some((one) => one.firstColumn <= column && column <= one.lastColumn),
    )
  }
}
