import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import { type CellRange, nameCell, RangesByRow } from './cell-ranges.ts'
import { countFilled } from './sheet-head.ts'
import type { RowLinks } from './sheet-links.ts'
import type { TextRow } from './sheet-rows.ts'

export interface MergeReading {
  /** Whether empty cells get the text of the first cell that they are merged with. */
  fills: boolean
  /** The first row below the header: ranges that begin above it belong to no row. */
  firstRow: number
  /** Columns of the table; merged cells beyond them do not belong to it. */
  width: number
  /** Whether empty cells are reported. */
  isTold: boolean
}

interface FirstCell {
  text: string
  isError: boolean
  /** Its target; null if that cannot be determined, absent without a link. */
  address?: string | null
}

export interface ReadRow {
  row: TextRow
  links: RowLinks
  problems: MergeProblem[]
}

/**
 * Reads the merged cells of rows, which must come in order, including hidden ones and those above the header.
 * Only rows with a text of their own are filled: the others stay empty and are not rows.
 */
export class MergedCells {
  readonly #reading: MergeReading
  readonly #ranges: RangesByRow<CellRange>
  /** First cells of the ranges that include present rows. */
  #firstCells = new Map<CellRange, FirstCell>()

  constructor(path: string, merged: readonly CellRange[], reading: MergeReading) {
    this.#ranges = new RangesByRow(path, merged)
    this.#reading = reading
  }

  /** The row with its merged cells as requested, and their problems. */
  read(row: TextRow, given: RowLinks): ReadRow {
    const open = this.#ranges.at(row.number)
    if (open.length === 0) return { row, links: given, problems: [] }
    this.#noteFirstCells(row, given, open)
    if (countFilled(row.cells) === 0) return { row, links: given, problems: [] }
    const links = new Map(given)
    const { fills, firstRow, width, isTold } = this.#reading
    const cells = [...row.cells]
    const errors = [...(row.errors ?? [])]
    const named = new NamedCells()
    for (const range of open) {
      const first = this.#firstCells.get(range)
      const begins = range.firstRow < firstRow ? 'header' : 'rows'
      for (let column = range.firstColumn; column <= Math.min(range.lastColumn, width - 1); column += 1) {
        if (row.number === range.firstRow && column === range.firstColumn) continue
        if ((row.cells[column] ?? '') !== '') named.note('covered_cells', begins, row.number, column, range)
        // Merged cells have the link of the first one.
        else links.delete(column)
        if ((row.cells[column] ?? '') !== '' || first === undefined) continue
        if (fills && begins === 'rows') fill({ cells, errors, links }, column, first)
        else if (isTold && first.text !== '') named.note('merged_cells', begins, row.number, column, range)
      }
    }
    const problems = named.toProblems()
    return { row: { ...row, cells, errors: errors.length === 0 ? null : errors }, links, problems }
  }

  /** Stores the texts of merged cells that begin in this row, and drops those that have ended. */
  #noteFirstCells({ number, cells, errors }: TextRow, links: RowLinks, open: readonly CellRange[]): void {
    if (this.#firstCells.size > 2 * open.length + KEPT) {
      const now = new Set(open)
      this.#firstCells = new Map([...this.#firstCells].filter(([range]) => now.has(range)))
    }
    for (const range of open) {
      if (range.firstRow !== number) continue
      const text = cells[range.firstColumn] ?? ''
      const isError = errors?.includes(range.firstColumn) ?? false
      const address = links.get(range.firstColumn)
      if (text !== '' || address !== undefined)
        this.#firstCells.set(range, { text, isError, ...(address !== undefined && { address }) })
    }
  }
}

/** First cells kept at least, so that dropping happens rarely. */
const KEPT = 64

type Code = 'merged_cells' | 'covered_cells'
type Begins = 'rows' | 'header'

/** Most cells of a row named in a warning. */
const NAMED_MAX = 5

/** The affected cells of a row, and those that they are merged with, by name. */
class NamedCells {
  readonly #groups = new Map<
    string,
    { code: Code; begins: Begins; cells: string[]; first: string[]; count: number }
  >()

  note(code: Code, begins: Begins, row: number, column: number, range: CellRange): void {
    const key = `${code} ${begins}`
    const group = this.#groups.get(key) ?? { code, begins, cells: [], first: [], count: 0 }
    this.#groups.set(key, group)
    group.count += 1
    if (group.count > NAMED_MAX) return
    group.cells.push(nameCell(row, column))
    const name = nameCell(range.firstRow, range.firstColumn)
    if (!group.first.includes(name)) group.first.push(name)
  }

  toProblems(): MergeProblem[] {
    return [...this.#groups.values()].map(({ code, begins, cells, first, count }) => {
      const more = count > NAMED_MAX ? ` and ${count - NAMED_MAX} more` : ''
      const details = { cells: `${cells.join(', ')}${more}`, first: first.join(', '), count }
      return { severity: 'warning', code, args: { begins }, details }
    })
  }
}

/** A problem with a row's merged cells, without its row number in the source, which is unknown here. */
type MergeProblem = Extract<SourceWarning, { code: Code }>

function fill(
  { cells, errors, links }: { cells: string[]; errors: number[]; links: Map<number, string | null> },
  column: number,
  { text, isError, address }: FirstCell,
): void {
  while (cells.length <= column) cells.push('')
  cells[column] = text
  if (isError) errors.push(column)
  if (address !== undefined) links.set(column, address)
}
