import { hash } from 'node:crypto'
import { toCellKinds } from './row-marks.ts'

/** Hexadecimal digits of a hash: 128 bits, so that nobody can construct another row with it. */
const DIGITS = 32

/** Identifies a row wherever it is in its source. */
export type ToRowHash = (cells: readonly string[], kinds?: string | null) => string

/**
 * Creates the function that hashes a row's cells with their column names, so that rows with the same content
 * have the same hash. Column order and empty cells do not count. In JSON, fields of an object count as the
 * object's cell, since a mapping decides which of them are columns.
 */
export function createRowHash(columns: readonly string[]): ToRowHash {
  const objectsOf = columns.map((name) =>
    name.includes('.')
      ? columns.flatMap((other, index) => (name.startsWith(`${other}.`) ? [index] : []))
      : [],
  )
  return (cells, kinds = null) => {
    const letters = toCellKinds(kinds ?? '')
    const filled = cells.flatMap((cell, index): [string, string][] => {
      const isOfObject =
        objectsOf[index]?.some((object) => letters[object] === 'j' && cells[object]?.startsWith('{')) ?? false
      return cell === '' || isOfObject ? [] : [[columns[index] ?? String(index + 1), cell]]
    })
    filled.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    return hash('sha256', JSON.stringify(filled)).slice(0, DIGITS)
  }
}
