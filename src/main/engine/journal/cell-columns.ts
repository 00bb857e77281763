import { type DatabaseSync, readTuples } from '../workspace/sqlite.ts'
import { parseTexts } from './stored-cells.ts'

/**
 * Reads the cells of some columns, each as an array in row order, '' if none. The texts of a range come as
 * one JSON array, which is faster than one by one and preserves what only JavaScript strings can hold.
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
    // Long cells may exceed one string.
    if (range[1] - range[0] <= 1) throw error
    const middle = Math.floor((range[0] + range[1]) / 2)
    const rest = readCells(db, [middle, range[1]], columns)
    return readCells(db, [range[0], middle], columns).map((own, at) => own.concat(rest[at] ?? []))
  }
  return texts.map((text) => (text === null ? [] : parseTexts(text)))
}
