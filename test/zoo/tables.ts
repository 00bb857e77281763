/** A table as our reader has it; all cells are text. */
export interface ReadTable {
  /** '' where a file is one table. */
  sheet: string
  encoding: string
  delimiter: string
  rows: { number: number; cells: readonly string[] }[]
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

/** A cell of a second reader: its kind, and its value as text; `shown` where it can tell what a person sees. */
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
}

/** What a second reader came to with a file. */
export interface SecondFile {
  tables: SecondTable[]
  refused: string | null
}
