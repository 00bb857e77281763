/** A table as our reader reads it; all cells are text. */
export interface ReadTable {
  /** '' if a file is one table. */
  sheet: string
  /** How it was read: a workbook without a header, text with and without one. */
  reading: 'header' | 'no header'
  encoding: string
  delimiter: string
  /** '' without quotes or escapes, and in a workbook. */
  quote: string
  escape: string
  /** Guesses that differ from the defaults. */
  guessed: string[]
  /** Rows including the header; `told` are a row's problems that may affect its text. */
  rows: { number: number; cells: readonly string[]; told: readonly string[] }[]
  /** Whether all rows are here; for very large files only the first are kept. */
  isWhole: boolean
}

/** Our reader's result for a file. */
export interface ReadFile {
  tables: ReadTable[]
  refused: { id: string; message: string } | null
  /** The stack of an unexpected error. */
  crashed: string | null
}

/** A second reader's cell: its kind and its value as text; `shown` if the reader knows the displayed text. */
export interface SecondCell {
  kind: 'text' | 'number' | 'boolean' | 'date' | 'error' | 'unknown'
  value: string
  /** Code of the number format. */
  format?: string
  shown?: string
}

/** A second reader's table; cells by row and column, both from 1: `3,2`. */
export interface SecondTable {
  sheet: string
  cells: Record<string, SecondCell>
  /** The text cells by row, without blank rows. */
  rows?: string[][]
}

/** A second reader's result for a file. */
export interface SecondFile {
  tables: SecondTable[]
  refused: string | null
}
