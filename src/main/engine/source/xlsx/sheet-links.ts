import { type CellRange, nameCell, RangesByRow } from './cell-ranges.ts'
import { toLinkAddress } from './link-formula.ts'
import type { TextRow } from './sheet-rows.ts'

export interface LinkRange extends CellRange {
  address: string
}

/** A column of cells with links that differ from their texts. */
export interface LinkedColumn {
  /** From 0. */
  column: number
  /** The first cell with such a link, such as `B2`, and its address; null if that cannot be determined. */
  cell: string
  address: string | null
  /** Rows whose cells have one. */
  rows: number
}

/** The addresses of a row's cells, by column; null if a link cannot be determined. */
export type RowLinks = ReadonlyMap<number, string | null>

const NO_LINKS: RowLinks = new Map()

/** Whether a text is an address that can be sent, unlike mail addresses and places in the workbook. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S/i.test(text)
}

/** Finds the links of rows, which must come in order. */
export class SheetLinks {
  readonly #ranges: RangesByRow<LinkRange>

  constructor(path: string, links: readonly LinkRange[]) {
    this.#ranges = new RangesByRow(path, links)
  }

  /** The web links of a row's first `width` cells; that of a cell with two different ones is unknown. */
  read(row: TextRow, width: number): RowLinks {
    const open = this.#ranges.at(row.number)
    const { links: formulas } = row
    if (open.length === 0 && formulas === null) return NO_LINKS
    const links = new Map<number, string | null>()
    const add = (column: number, address: string | null): void => {
      if (column < width)
        links.set(column, links.has(column) && links.get(column) !== address ? null : address)
    }
    for (const { firstColumn, lastColumn, address } of open) {
      for (let column = firstColumn; column <= Math.min(lastColumn, width - 1); column += 1)
        add(column, address)
    }
    for (const { column, formula } of formulas ?? []) {
      add(
        column,
        toLinkAddress(formula, (number, other) => readPlainCell(row, number, other)),
      )
    }
    for (const [column, address] of links) {
      if (address !== null && !isWebAddress(address)) links.delete(column)
    }
    return links
  }
}

/** The text of a cell in the same row if it equals its value: not a date, an error, or a formatted number. */
function readPlainCell(
  { number, cells, errors, formatted }: TextRow,
  row: number,
  column: number,
): string | null {
  if (row !== number || errors?.includes(column) || formatted?.includes(column)) return null
  return cells[column] ?? ''
}

/** Collects the columns with links that differ from their texts. */
export class LinkSurvey {
  readonly #columns = new Map<number, LinkedColumn>()

  note({ number, cells }: TextRow, links: RowLinks): void {
    for (const [column, address] of links) {
      const text = cells[column] ?? ''
      // Programs add the root's slash when they turn a text into a link.
      if (address !== null && (text === address || `${text}/` === address)) continue
      const known = this.#columns.get(column)
      if (known === undefined)
        this.#columns.set(column, { column, cell: nameCell(number, column), address, rows: 1 })
      else known.rows += 1
    }
  }

  /** In the order of the columns. */
  list(): LinkedColumn[] {
    return [...this.#columns.values()].sort((a, b) => a.column - b.column)
  }
}
