import { z } from 'zod'
import type { SheetChoice } from '../messages/mapping-messages.ts'

/** Where a row of a run stands in its source. */
export const sourcePlaceSchema = z.object({
  /** The row's number as a spreadsheet program shows it, counting the header; in JSON Lines the line. */
  row: z.int(),
  /** The line of a text file where the record begins; null if it equals the row's number or lines do not exist. */
  line: z.int().nullable(),
  /** The file, of a source that has several. */
  file: z.string().exactOptional(),
  /** Which content of a record that was split in two the row sends. */
  half: z.enum(['text_data', 'url']).exactOptional(),
})

export type SourcePlace = z.infer<typeof sourcePlaceSchema>

/** Where records stand from `row` on, until the next place says otherwise. */
export interface RowPlace {
  row: number
  sheetRow: number
  /** Null if a source has no lines. */
  line: number | null
  /** The file, of a source that has several. */
  file?: string
  /** Rows of a sheet right above it that are hidden and not read (default: none). */
  leftOut?: number
}

/** The place of a record, given the last noted place at or before it; the record's own number if none was noted. */
export function toSourcePlace(row: number, noted: RowPlace | undefined): SourcePlace {
  if (noted === undefined) return { row, line: null }
  const sheetRow = noted.sheetRow + row - noted.row
  const line = noted.line === null ? null : noted.line + row - noted.row
  const { file } = noted
  return { row: sheetRow, line: line === sheetRow ? null : line, ...(file !== undefined && { file }) }
}

/** The letters that tell the rows of a split record apart. */
const HALF_LETTERS = { text_data: 'a', url: 'b' } as const

/** A row's number in documents: that of its spreadsheet, with a letter in one of the rows of a split record. */
export const rowNumberSchema = z.union([z.int(), z.string().regex(/^\d+[ab]$/)])

export type RowNumber = z.infer<typeof rowNumberSchema>

/** The numbers of a row and its record, as documents have them side by side. */
export const rowAndRecordShape = {
  /** As the spreadsheet shows it, the header counted; in JSON Lines the line. */
  row: rowNumberSchema,
  /** Number of the record in the source, 1-based; headers are not records. */
  record: z.int(),
  /** The file, of a source that has several. */
  file: z.string().exactOptional(),
}

export interface RowAndRecord {
  row: RowNumber
  record: number
  file?: string
}

/** The number of a row: that of its spreadsheet, in JSON Lines the line; `4a` and `4b` if a fix split the record. */
export function toRowNumber(place: SourcePlace): RowNumber {
  return place.half === undefined ? place.row : `${place.row}${HALF_LETTERS[place.half]}`
}

/** Both numbers of a row, as documents have them. */
export function toRowAndRecord(record: number, place: SourcePlace): RowAndRecord {
  const { file } = place
  return { row: toRowNumber(place), record, ...(file !== undefined && { file }) }
}

/** A row with its own number, and that of its record beside it, as documents have both. */
export function toNumbered<Row extends { row: number; place: SourcePlace }>(
  row: Row,
): Omit<Row, 'row'> & RowAndRecord {
  return { ...row, ...toRowAndRecord(row.row, row.place) }
}

/** A row's number, the line if that is another, and the file of a source with several: `17 (line 19) of b.csv`. */
export function formatRow(place: SourcePlace): string {
  const { line, file } = place
  return `${toRowNumber(place)}${line === null ? '' : ` (line ${line})`}${file === undefined ? '' : ` of ${file}`}`
}

/** A row in words, whose line a tooltip tells: its number, and the file of a source with several: `17 of b.csv`. */
export function sayRow(place: SourcePlace): string {
  return formatRow({ ...place, line: null })
}

/** A row as a person names it, alone or with the file of a source with several: `17`, `b.csv:17`. */
export function nameRow({ row, file }: { row: RowNumber; file?: string | undefined }): string {
  return file === undefined ? String(row) : `${file}:${row}`
}

/** What a person types to name a row. */
export interface TypedRow {
  row: number
  half: SourcePlace['half'] | null
  /** Null if it can be any file. */
  file: string | null
}

/** Reads a row as a person names it: `17`, `1,204`, `4a`, `b.csv:17`; null for anything else. */
export function parseRowNumber(text: string): TypedRow | null {
  const [, file = '', digits = '', letter = ''] =
    /^(?:(.+):)?(\d{1,3}(?:,\d{3})+|\d{1,15})([ab]?)$/i.exec(text.trim()) ?? []
  const row = Number(digits.replaceAll(',', ''))
  if (row < 1) return null
  const half = { a: 'text_data', b: 'url' }[letter.toLowerCase()] as SourcePlace['half']
  return { row, half: half ?? null, file: file === '' ? null : file }
}

/**
 * Which sheet of a workbook the rows are from, if it has others and the plan names none; null if there was no
 * choice to make.
 */
export function findSheetChoice(
  {
    sheets,
    sheet,
    rows = [],
  }: { sheets: readonly string[]; sheet: string; rows?: readonly (number | null)[] },
  source: { sheet?: string | number | undefined },
): SheetChoice | null {
  if (source.sheet !== undefined || sheets.length < 2) return null
  const all = sheets.map((name, index) => ({ name, rows: rows[index] ?? null }))
  return {
    sheet: all.find(({ name }) => name === sheet) ?? { name: sheet, rows: null },
    others: all.filter(({ name }) => name !== sheet),
  }
}
