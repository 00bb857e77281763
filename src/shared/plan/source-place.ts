import { z } from 'zod'
import { formatCount } from '../messages/figure-text.ts'
import type { SheetChoice } from '../messages/mapping-messages.ts'
import type { PlanSource } from './plan.ts'

/** Where a row of a run stands in its source. */
export const sourcePlaceSchema = z.object({
  /** The row's number as a spreadsheet program shows it, counting the header; in JSON Lines the line. */
  row: z.int(),
  /** The line of a text file where the record begins; null where it equals the row's number or lines do not exist. */
  line: z.int().nullable(),
  /** The file, of a source that has several. */
  file: z.string().exactOptional(),
  /** Which content of a record that was split in two the row sends. */
  half: z.enum(['text_data', 'url']).exactOptional(),
})

/** See {@link sourcePlaceSchema}. */
export type SourcePlace = z.infer<typeof sourcePlaceSchema>

/** Where records stand from `row` on, until the next place says otherwise. */
export interface RowPlace {
  /** Number of the record. */
  row: number
  sheetRow: number
  /** Null where a source has no lines. */
  line: number | null
  /** The file, of a source that has several. */
  file?: string
}

/** The place of a record, given the last noted place at or before it; the record's own number where none was noted. */
export function toSourcePlace(row: number, noted: RowPlace | undefined): SourcePlace {
  if (noted === undefined) return { row, line: null }
  const sheetRow = noted.sheetRow + row - noted.row
  const line = noted.line === null ? null : noted.line + row - noted.row
  const { file } = noted
  return { row: sheetRow, line: line === sheetRow ? null : line, ...(file !== undefined && { file }) }
}

/** The letters that tell the rows of a split record apart. */
const HALF_LETTERS = { text_data: 'a', url: 'b' } as const

/** A row's number as a person knows it: that of the spreadsheet; `4a` and `4b` where a correction split the record. */
export function formatRowNumber(row: number, place: SourcePlace | undefined): string {
  const letter = place?.half === undefined ? '' : HALF_LETTERS[place.half]
  return formatCount(place?.row ?? row) + letter
}

/** What follows a record's number where a person sees another one in the file: ` (line 19)`, ` (line 7 of b.csv)`. */
export function formatLine(row: number, place: SourcePlace | undefined): string {
  const line = place?.line ?? place?.row ?? row
  if (place?.file !== undefined) return ` (line ${line} of ${place.file})`
  return line === row ? '' : ` (line ${line})`
}

/**
 * Which sheet of a workbook the rows are from, where it has others and the plan names none; null where there was no
 * choice to make.
 */
export function findSheetChoice(
  {
    sheets,
    sheet,
    rows = [],
  }: { sheets: readonly string[]; sheet: string; rows?: readonly (number | null)[] },
  source: Pick<PlanSource, 'sheet'>,
): SheetChoice | null {
  if (source.sheet !== undefined || sheets.length < 2) return null
  const all = sheets.map((name, index) => ({ name, rows: rows[index] ?? null }))
  return {
    sheet: all.find(({ name }) => name === sheet) ?? { name: sheet, rows: null },
    others: all.filter(({ name }) => name !== sheet),
  }
}
