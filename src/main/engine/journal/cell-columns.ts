import { type DatabaseSync, readTuples } from '../workspace/sqlite.ts'
import { parseTexts } from './stored-cells.ts'

/**
 * The cells of some columns, each an array in the order of the rows, '' if a row has none. The texts of a stretch come
 * as one JSON array, which takes less than one by one, and has what only JavaScript can hold.
 */
export function readCells(
  db: DatabaseSync,
  range: readonly [above: number, upTo: number],
  columns: readonly number[],
): string[][] {
  if (columns.length === 0) return []
  const each = columns.map(
    (column) => `'[' || group_concat(coalesce(cells -> '$[${column}]', '""'), ',') || ']'`,
  )
  const sql = `SELECT ${each.join(', ')} FROM (SELECT cells FROM row WHERE id > ? AND id <= ? ORDER BY id)`
  let texts: (string | null)[]
  try {
    texts = readTuples<(string | null)[]>(db, sql, range)[0] ?? []
  } catch (error) {
    // Long cells may be more than one string can hold.
    if (range[1] - range[0] <= 1) throw error
    const middle = Math.floor((range[0] + range[1]) / 2)
    const rest = readCells(db, [middle, range[1]], columns)
    return readCells(db, [range[0], middle], columns).map((own, at) => own.concat(rest[at] ?? []))
  }
  return texts.map((text) => (text === null ? [] : parseTexts(text)))
}
