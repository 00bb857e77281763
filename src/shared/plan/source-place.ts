/** Where a row of a run stands in its source. */
export interface SourcePlace {
  /** The row's number as a spreadsheet program shows it: the header is a row, too. Of JSON Lines the line. */
  row: number
  /** The line of a text file that the record begins in; null where it is the row's number, or there are no lines. */
  line: number | null
}

/** Where records stand from `row` on, until the next place says otherwise. */
export interface RowPlace {
  /** Number of the record. */
  row: number
  sheetRow: number
  /** Null where a source has no lines. */
  line: number | null
}

/** The place of a record, given the last noted place at or before it; the record's own number where none was noted. */
export function toSourcePlace(row: number, noted: RowPlace | undefined): SourcePlace {
  if (noted === undefined) return { row, line: null }
  const sheetRow = noted.sheetRow + row - noted.row
  const line = noted.line === null ? null : noted.line + row - noted.row
  return { row: sheetRow, line: line === sheetRow ? null : line }
}

/** What follows a record's number where a person sees another one in the file: ` (line 19)`. */
export function formatLine(row: number, place: SourcePlace | undefined): string {
  const line = place?.line ?? place?.row ?? row
  return line === row ? '' : ` (line ${line})`
}
