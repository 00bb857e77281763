import type { ReadTable, SecondCell, SecondTable } from './tables.ts'

/** A cell in which two readers differ. */
export interface CellDifference {
  sheet: string
  reading: ReadTable['reading']
  row: number
  column: number
  /** The second reader's kind of cell; `extra` if it has none, and `rows` if tables differ in length. */
  kind: SecondCell['kind'] | 'extra'
  ours: string
  theirs: string
  format?: string
}

/** The result of a comparison of two tables. */
export interface Compared {
  cells: number
  /** Differing cells in rows with reported problems. */
  told: number
  differences: CellDifference[]
}

/** Compares one of our sheets, in which everything is text, with a second reader's, cell by cell. */
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

/** The kind of difference; null if there is none as far as the second reader can tell. */
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

/** Unifies line breaks, in which readers differ. */
function normalise(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}

/** Whether a text may be a number as displayed: exact for plain formats, otherwise by its digits. */
function isNumberShown(text: string, number: number, format: string | null | undefined): boolean {
  // Without formats, the reader cannot tell.
  if (typeof format !== 'string') return text !== ''
  const code = chooseSection(format.replaceAll(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, ''), number)
  // A condition, only words, a date, a fraction or an exponent.
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
  // Separators that the format puts between digits are not decimal points.
  return decimals === 0 && text.replaceAll(/\D/g, '').replace(/^0+/, '') === String(Math.round(shown))
}

/** The section of a format that applies to a number: positive, negative, zero. */
function chooseSection(format: string, number: number): string {
  const [first = '', second = first, third = first] = format.split(';')
  return number < 0 ? second : number === 0 ? third : first
}
