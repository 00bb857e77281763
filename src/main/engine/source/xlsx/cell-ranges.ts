import { createLimitError } from './archive.ts'

export const MAX_COLUMNS = 16_384

/** Most rows of a sheet. */
export const MAX_ROWS = 1_048_576

/** A rectangle of cells; rows from 1 as in a spreadsheet, columns from 0. */
export interface CellRange {
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

const REFERENCE = /^\$?([A-Z]{1,3})\$?(\d+)(?::\$?([A-Z]{1,3})\$?(\d+))?$/

/** The cells of a reference such as `B2` or `B2:C4`; null if it is not one. */
export function parseRange(reference: string): CellRange | null {
  const [, letters, row, lastLetters = letters, lastRow = row] = REFERENCE.exec(reference) ?? []
  if (letters === undefined || lastLetters === undefined) return null
  const columns = [readColumn(letters), readColumn(lastLetters)]
  const rows = [Number(row), Number(lastRow)]
  const range = {
    firstRow: Math.min(...rows),
    lastRow: Math.min(Math.max(...rows), MAX_ROWS),
    firstColumn: Math.min(...columns),
    lastColumn: Math.min(Math.max(...columns), MAX_COLUMNS - 1),
  }
  return range.firstRow < 1 || range.firstColumn < 0 ? null : range
}

/** The column of a reference such as `AB12`, from 0; -1 if it is not one. */
export function readColumn(reference: string): number {
  let column = 0
  let at = 0
  for (; at < reference.length; at += 1) {
    const letter = (reference.charCodeAt(at) | 0x20) - 0x61
    if (letter < 0 || letter > 25) break
    column = column * 26 + letter + 1
  }
  return at === 0 || at > 3 ? -1 : column - 1
}

/** The letters of a column, from 0: 27 is `AB`. */
export function toLetters(column: number): string {
  const letter = String.fromCharCode(0x41 + (column % 26))
  return column < 26 ? letter : toLetters(Math.floor(column / 26) - 1) + letter
}

/** The name of a cell, such as `B2`. */
export function nameCell(row: number, column: number): string {
  return `${toLetters(column)}${row}`
}

/** Most ranges examined over all rows; only ranges that overlap repeatedly reach more. */
const MAX_STEPS = 500_000_000

/** Finds the ranges of rows, which must be requested in order. */
export class RangesByRow<Range extends CellRange> {
  readonly #path: string
  /** By first row; those before `#next` have begun. */
  readonly #ranges: readonly Range[]
  #next = 0
  #open: Range[] = []
  #firstEnd = Number.POSITIVE_INFINITY
  #steps = 0

  constructor(path: string, ranges: readonly Range[]) {
    this.#path = path
    this.#ranges = ranges.toSorted((a, b) => a.firstRow - b.firstRow)
  }

  /** The ranges that include a row, in the order they begin. Throws `BAD_SOURCE` beyond {@link MAX_STEPS}. */
  at(row: number): readonly Range[] {
    if (this.#firstEnd < row) {
      this.#steps += this.#open.length
      this.#open = this.#open.filter(({ lastRow }) => lastRow >= row)
      this.#firstEnd = this.#open.reduce(
        (end, { lastRow }) => Math.min(end, lastRow),
        Number.POSITIVE_INFINITY,
      )
    }
    for (let range = this.#ranges[this.#next]; range !== undefined; range = this.#ranges[this.#next]) {
      if (range.firstRow > row) break
      this.#next += 1
      if (range.lastRow < row) continue
      this.#open.push(range)
      this.#firstEnd = Math.min(this.#firstEnd, range.lastRow)
    }
    this.#steps += this.#open.length
    if (this.#steps > MAX_STEPS)
      throw createLimitError(this.#path, 'merged or linked cells of the sheet overlap too often')
    return this.#open
  }
}
