import type { ReadTable, SecondCell, SecondTable } from './tables.ts'

/** A cell that two readers have otherwise. */
export interface CellDifference {
  sheet: string
  reading: ReadTable['reading']
  row: number
  column: number
  /** What the cell is to the second reader; `extra` if it has none, and `rows` where tables are of unequal length. */
  kind: SecondCell['kind'] | 'extra'
  ours: string
  theirs: string
  format?: string
}

/** What a comparison of two tables came to. */
export interface Compared {
  cells: number
  /** Cells that differ in rows of which problems are told. */
  told: number
  differences: CellDifference[]
}

/**
 * Compares a sheet of ours, in which all is text, cell by cell with that of a second reader.
 */
export function compareTables(ours: ReadTable, theirs: SecondTable): Compared {
  const differences: CellDifference[] = []
  const rest = new Map(Object.entries(theirs.cells))
  let cells = 0
  let lastRow = 0
  const note = (row: number, column: number, text: string, other: SecondCell | undefined): void => {
    if (other?.kind === 'unknown' || (text === '' && (other === undefined || other.value === ''))) return
    cells += 1
    const kind = judge(text, other)
    if (kind === null) return
    const { format } = other ?? {}
    const theirText = other?.shown ?? other?.value ?? ''
    const known = typeof format === 'string' ? { format } : {}
    const { sheet, reading } = ours
    differences.push({ sheet, reading, row, column, kind, ours: text, theirs: theirText, ...known })
  }
  for (const row of ours.rows) {
    lastRow = row.number
    for (const [at, text] of row.cells.entries()) {
      const place = `${lastRow},${at + 1}`
      note(lastRow, at + 1, text, rest.get(place))
      rest.delete(place)
    }
  }
  for (const [place, other] of rest) {
    const [row = 0, column = 0] = place.split(',').map(Number)
    if (ours.isWhole || row <= lastRow) note(row, column, '', other)
  }
  return { cells, told: 0, differences }
}

/** How a cell differs; null if it does not, as far as the second reader can tell. */
function judge(text: string, other: SecondCell | undefined): CellDifference['kind'] | null {
  if (other === undefined) return 'extra'
  const { kind, value, shown, format } = other
  switch (kind) {
    case 'text':
      return normalise(text) === normalise(value) ? null : kind
    case 'boolean':
    case 'error':
      return text === value ? null : kind
    case 'number':
      return isNumberShown(text, Number(value), format) ? null : kind
    case 'date':
      if (shown !== undefined) return text === shown ? null : kind
      return /\d/.test(text) ? null : kind
    case 'unknown':
      return null
  }
}

/** Readers differ in what they make of the line breaks of a cell, which they agree upon otherwise. */
function normalise(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}

/** Whether a text may be how a number is shown; exactly where its format is a plain one, else by its digits. */
function isNumberShown(text: string, number: number, format: string | null | undefined): boolean {
  // A reader without formats cannot tell.
  if (typeof format !== 'string') return text !== ''
  const code = chooseSection(format.replaceAll(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, ''), number)
  // A condition, words alone, a date, a fraction or an exponent.
  if (
    Number(text) === number ||
    /\[[<>=]/.test(format) ||
    !/[0#]/.test(code) ||
    /[a-df-z/]|e[+-]/i.test(code.replace(/general/i, ''))
  )
    return text !== ''
  const decimals = /\.([0#?]+)/.exec(code)?.[1]?.length ?? 0
  const isShort = /,(?:[^0#?]|$)/.test(code)
  if (isShort) return text !== ''
  const read = Math.abs(Number.parseFloat(text.replaceAll(/[^\d.]/g, '')))
  const shown = Math.abs(code.includes('%') ? number * 100 : number)
  if (Math.abs(read - shown) <= 0.5001 * 10 ** -decimals + shown * 1e-14) return true
  // Points that the format has between digits are none of a fraction.
  return decimals === 0 && text.replaceAll(/\D/g, '').replace(/^0+/, '') === String(Math.round(shown))
}

/** The section of a format that is for a number: positive, negative, zero. */
function chooseSection(format: string, number: number): string {
  const [first = '', second = first, third = first] = format.split(';')
  return number < 0 ? second : number === 0 ? third : first
}
