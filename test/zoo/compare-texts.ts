import type { CellDifference, Compared } from './compare-tables.ts'
import type { ReadTable } from './tables.ts'

/** Rows to search for the place from which two readers agree again. */
const LOOK_AHEAD = 500

/**
 * Compares the rows of delimited text with a second reader's, character by character, without blank rows.
 * After a differing row with a reported problem, the readers may disagree for some rows: comparison continues
 * where they agree again.
 */
export function compareTexts(ours: ReadTable, theirs: readonly (readonly string[])[]): Compared {
  const differences: CellDifference[] = []
  const rows = ours.rows.filter(({ cells }) => cells.some((cell) => cell !== ''))
  let cells = 0
  let told = 0
  let at = 0
  let other = 0
  while (at < rows.length && other < theirs.length) {
    const row = rows[at] ?? { number: 0, cells: [], told: [] }
    const found = compareRow(ours, at + 1, row.cells, theirs[other] ?? [])
    cells += found.cells
    const isTold = found.differences.length > 0 && row.told.length > 0
    if (isTold) told += found.differences.length
    else differences.push(...found.differences)
    const next = isTold ? findAgreement(rows, theirs, at, other) : null
    at = next?.at ?? at + 1
    other = next?.other ?? other + 1
  }
  const rest: { row: number; ours: readonly string[]; theirs: readonly string[] }[] = [
    ...rows.slice(at).map((row, index) => ({ row: at + index + 1, ours: row.cells, theirs: [] })),
    ...(ours.isWhole ? theirs.slice(other) : []).map((row, index) => ({
      row: at + index + 1,
      ours: [],
      theirs: row,
    })),
  ]
  for (const one of rest) {
    const found = compareRow(ours, one.row, one.ours, one.theirs)
    cells += found.cells
    differences.push(...found.differences)
  }
  return { cells, told, differences }
}

function compareRow(
  { sheet, reading }: ReadTable,
  row: number,
  ours: readonly string[],
  theirs: readonly string[],
): Omit<Compared, 'told'> {
  const differences: CellDifference[] = []
  let cells = 0
  for (let index = 0; index < Math.max(ours.length, theirs.length); index += 1) {
    const [one = '', two = ''] = [ours[index], theirs[index]]
    if (one === '' && two === '') continue
    cells += 1
    if (one === two) continue
    const kind = index < theirs.length ? 'text' : 'extra'
    differences.push({ sheet, reading, row, column: index + 1, kind, ours: one, theirs: two })
  }
  return { cells, differences }
}

/** Rows that must be equal again, since a line of stars may occur anywhere. */
const AGREEING_ROWS = 3

/**
 * The nearest following positions from which the rows are equal again; null if there are none near. The end
 * counts only if the rows before it have reported problems.
 */
function findAgreement(
  rows: ReadTable['rows'],
  theirs: readonly (readonly string[])[],
  at: number,
  other: number,
): { at: number; other: number } | null {
  const toKey = (cells: readonly string[] = []) =>
    JSON.stringify(cells.slice(0, cells.findLastIndex(Boolean) + 1))
  const ourKeys = rows.slice(at, at + LOOK_AHEAD).map(({ cells }) => toKey(cells))
  const theirKeys = theirs.slice(other, other + LOOK_AHEAD).map((cells) => toKey(cells))
  // The ends count as equal.
  for (let index = 0; index < AGREEING_ROWS; index += 1) {
    ourKeys.push('')
    theirKeys.push('')
  }
  let nearest: { at: number; other: number } | null = null
  let areTold = true
  for (let ahead = 1; ahead < ourKeys.length - AGREEING_ROWS + 1; ahead += 1) {
    const next = ourKeys.slice(ahead, ahead + AGREEING_ROWS)
    areTold &&= (rows[at + ahead - 1]?.told.length ?? 0) > 0
    if (!areTold && next.includes('')) break
    for (let place = 0; place < theirKeys.length - AGREEING_ROWS + 1; place += 1) {
      if (nearest !== null && at + ahead + other + place >= nearest.at + nearest.other) break
      if (next.every((key, index) => key === theirKeys[place + index])) {
        nearest = { at: at + ahead, other: other + place }
        break
      }
    }
  }
  return nearest
}
