import { hash } from 'node:crypto'
import { toCellKinds } from './row-marks.ts'

/** Hexadecimal digits of a hash: 128 bits, so that nobody can make another row with it. */
const DIGITS = 32

/** Says what a row is, wherever it stands in its source. */
export type ToRowHash = (cells: readonly string[], kinds?: string | null) => string

/**
 * Makes the function that hashes the cells of a row with the names of their columns, so that rows with the same content
 * have the same hash. Neither the order of columns nor empty cells count, and of JSON the fields of an object count as
 * the cell of the object, since a mapping decides which of them are columns.
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
