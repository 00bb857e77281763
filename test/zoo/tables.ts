/** A table as our reader has it; all cells are text. */
export interface ReadTable {
  /** '' if a file is one table. */
  sheet: string
  /** How it was read: a workbook without a header, text with and without one. */
  reading: 'header' | 'no header'
  encoding: string
  delimiter: string
  /** '' if nothing quotes or escapes, and in a workbook. */
  quote: string
  escape: string
  /** What of that was guessed, and is no default. */
  guessed: string[]
  /** The header among them; `told` are the problems of a row that say of its text that it may be another. */
  rows: { number: number; cells: readonly string[]; told: readonly string[] }[]
  /** Whether all rows are here; of very large files only the first are kept. */
  isWhole: boolean
}

/** What our reader came to with a file. */
export interface ReadFile {
  tables: ReadTable[]
  refused: { id: string; message: string } | null
  /** The stack of an error that is none of ours. */
  crashed: string | null
}

/** A cell of a second reader: its kind, and its value as text; `shown` if it can tell what a person sees. */
export interface SecondCell {
  kind: 'text' | 'number' | 'boolean' | 'date' | 'error' | 'unknown'
  value: string
  /** Code of the number's format. */
  format?: string
  shown?: string
}

/** A table of a second reader; cells by row and column, both from 1: `3,2`. */
export interface SecondTable {
  sheet: string
  cells: Record<string, SecondCell>
  /** The cells of text, row by row, blank rows left out. */
  rows?: string[][]
}

/** What a second reader came to with a file. */
export interface SecondFile {
  tables: SecondTable[]
  refused: string | null
}
