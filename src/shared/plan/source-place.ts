import { z } from 'zod'
import type { SheetChoice } from '../messages/mapping-messages.ts'

export const sourcePlaceSchema = z.object({
  /** The row's number as a spreadsheet program shows it, counting the header; in JSON Lines the line. */
  row: z.int(),
  /** The line of a text file on which the record begins; null if it is the row's number, or without lines. */
  line: z.int().nullable(),
  /** The file, if the source has several. */
  file: z.string().exactOptional(),
  /** Which content the row sends, if a fix split its record. */
  half: z.enum(['text_data', 'url']).exactOptional(),
})

export type SourcePlace = z.infer<typeof sourcePlaceSchema>

/** The place of `row`, from which later rows are counted until the next noted place. */
export interface RowPlace {
  row: number
  sheetRow: number
  /** Null if a source has no lines. */
  line: number | null
  /** The file, if the source has several. */
  file?: string
  /** Hidden rows of a sheet right above it that are not read (default: none). */
  leftOut?: number
}

/** The place of a record, given the last noted place at or before it; its number if none was noted. */
export function toSourcePlace(row: number, noted: RowPlace | undefined): SourcePlace {
  if (noted === undefined) return { row, line: null }
  const sheetRow = noted.sheetRow + row - noted.row
  const line = noted.line === null ? null : noted.line + row - noted.row
  const { file } = noted
  return { row: sheetRow, line: line === sheetRow ? null : line, ...(file !== undefined && { file }) }
}

/** The letters for the two rows of a split record. */
const HALF_LETTERS = { text_data: 'a', url: 'b' } as const

/** A row's number in documents: as in its spreadsheet, with a letter for the rows of a split record. */
export const rowNumberSchema = z.union([z.int(), z.string().regex(/^\d+[ab]$/)])

export type RowNumber = z.infer<typeof rowNumberSchema>

/** The numbers of a row and its record, side by side in documents. */
export const rowAndRecordShape = {
  /** As in the spreadsheet, counting the header; the line in JSON Lines. */
  row: rowNumberSchema,
  /** Number of the record in the source, 1-based; headers are not records. */
  record: z.int(),
  /** The file, if the source has several. */
  file: z.string().exactOptional(),
}

export interface RowAndRecord {
  row: RowNumber
  record: number
  file?: string
}

/** A row's number: as in its spreadsheet, or the line in JSON Lines; `4a` and `4b` for a split record. */
export function toRowNumber(place: SourcePlace): RowNumber {
  return place.half === undefined ? place.row : `${place.row}${HALF_LETTERS[place.half]}`
}

/** Both numbers of a row, as documents have them. */
export function toRowAndRecord(record: number, place: SourcePlace): RowAndRecord {
  const { file } = place
  return { row: toRowNumber(place), record, ...(file !== undefined && { file }) }
}

/** A row with its own number and that of its record, as in documents. */
export function toNumbered<Row extends { row: number; place: SourcePlace }>(
  row: Row,
): Omit<Row, 'row'> & RowAndRecord {
  return { ...row, ...toRowAndRecord(row.row, row.place) }
}

/** A row's number, its line if that differs, and its file if there are several: `17 (line 19) of b.csv`. */
export function formatRow(place: SourcePlace): string {
  const { line, file } = place
  return `${toRowNumber(place)}${line === null ? '' : ` (line ${line})`}${file === undefined ? '' : ` of ${file}`}`
}

/**
 * A row in words, for places with the line in a tooltip: its number, and its file if the source has several:
 * `17 of b.csv`.
 */
export function sayRow(place: SourcePlace): string {
  return formatRow({ ...place, line: null })
}

/** A row in the notation of a person, with its file if the source has several: `17`, `b.csv:17`. */
export function nameRow({ row, file }: { row: RowNumber; file?: string | undefined }): string {
  return file === undefined ? String(row) : `${file}:${row}`
}

export interface TypedRow {
  row: number
  half: SourcePlace['half'] | null
  /** Null for any file. */
  file: string | null
}

/** Reads a typed row: `17`, `1,204`, `4a`, `b.csv:17`; null for anything else. */
export function parseRowNumber(text: string): TypedRow | null {
  const [, file = '', digits = '', letter = ''] =
    /^(?:(.+):)?(\d{1,3}(?:,\d{3})+|\d{1,15})([ab]?)$/i.exec(text.trim()) ?? []
  const row = Number(digits.replaceAll(',', ''))
  if (row < 1) return null
  const half = { a: 'text_data', b: 'url' }[letter.toLowerCase()] as SourcePlace['half']
  return { row, half: half ?? null, file: file === '' ? null : file }
}

/** The sheet that the rows are from, if the workbook has others and the plan names none; otherwise null. */
export function findSheetChoice(
  {
    sheets,
    sheet,
    rows = [],
    hidden = [],
  }: {
    sheets: readonly string[]
    sheet: string
    rows?: readonly (number | null)[]
    hidden?: readonly string[]
  },
  source: { sheet?: string | number | undefined },
): SheetChoice | null {
  if (source.sheet !== undefined || sheets.length < 2) return null
  const all = sheets.map((name, index) => ({
    name,
    rows: rows[index] ?? null,
    ...(hidden.includes(name) && { isHidden: true }),
  }))
  return {
    sheet: all.find(({ name }) => name === sheet) ?? { name: sheet, rows: null },
    others: all.filter(({ name }) => name !== sheet),
  }
}
