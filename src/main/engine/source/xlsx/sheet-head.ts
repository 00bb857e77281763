import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import type { Archive } from './archive.ts'
import { parseXmlPart } from './parse-xml.ts'
import type { TextRows } from './sheet-batches.ts'

/** What the first rows of a sheet say about all of them. */
export interface SheetHead {
  /** Names as the header has them; empty without one. */
  header: string[]
  /** Cells of a row: those of the header, or of a wider row among the first. */
  width: number
  /** Number of the sheet's row that is the first row of the source. */
  firstRow: number
}

/** Rows that tell the width; the same however the file comes in pieces. */
const HEAD_ROWS = 500

/** Cells up to the last one that is not empty. */
export function countFilled(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell !== '') + 1
}

/**
 * Reads the header and the width of a sheet from its first rows. Throws `BAD_SOURCE` where there is no row, unless
 * `mayBeEmpty`, or no header in the row that was named.
 */
export async function readSheetHead(
  source: PlanSource,
  sheet: string,
  batches: AsyncIterable<TextRows>,
  mayBeEmpty = false,
): Promise<SheetHead> {
  const { path } = source
  const wanted = source.header ? source.headerRow : undefined
  let header: string[] | null = source.header ? null : []
  let firstRow = 1
  let width = 0
  let lastNumber = 0
  let seen = 0
  for await (const { rows } of batches) {
    for (const { number, cells } of rows) {
      const filled = countFilled(cells)
      if (filled === 0) continue
      lastNumber = number
      if (wanted !== undefined && number < wanted) continue
      if (wanted !== undefined && header === null && number > wanted)
        throw new SluiceError({ id: 'sheet_header_missing', source: path, sheet, row: wanted, lastRow: null })
      if (header !== null) {
        if (seen === HEAD_ROWS) return { header, width, firstRow }
        seen += 1
        width = Math.max(width, filled)
        continue
      }
      header = cells.slice(0, filled)
      firstRow = number + 1
      width = filled
    }
  }
  if (wanted !== undefined && lastNumber < wanted) {
    throw new SluiceError({
      id: 'sheet_header_missing',
      source: path,
      sheet,
      row: wanted,
      lastRow: lastNumber,
    })
  }
  if (header !== null && lastNumber >= firstRow) return { header, width, firstRow }
  if (mayBeEmpty) return { header: header ?? [], width, firstRow: lastNumber + 1 }
  throw new SluiceError({
    id: header === null || header.length === 0 ? 'sheet_is_empty' : 'sheet_is_header',
    source: path,
    sheet,
  })
}

const PART = 'docProps/app.xml'
const MAX_PART_BYTES = 1024 * 1024
const PROPERTIES = { name: 'the part of properties', maxElements: 1_000_000 }

/** Whether a workbook was written by us, and by no spreadsheet program since: its cells then carry no guard. */
export async function isOwnExport(archive: Archive): Promise<boolean> {
  if (!archive.names.has(PART.toLowerCase())) return false
  let isApplication = false
  let application = ''
  await parseXmlPart(archive.path, PROPERTIES, archive.readPart(PART, MAX_PART_BYTES), {
    open(name) {
      isApplication = name === 'Application'
    },
    text(text) {
      if (isApplication) application += text
    },
    close() {
      isApplication = false
    },
  })
  return application === 'Sluice'
}
