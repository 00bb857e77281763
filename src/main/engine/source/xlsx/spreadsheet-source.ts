import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { isExportHeader, toOwnExport } from '../../../../shared/run/export-columns.ts'
import { removeFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import { openSourceFile } from '../source-file.ts'
import {
  PlaceNotes,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toColumnNames,
} from '../source-reader.ts'
import { type Archive, openArchive, refuseForeignArchive, refuseForeignFile } from './archive.ts'
import { parseXmlPart } from './parse-xml.ts'
import { openSharedStrings, type SharedStrings } from './shared-strings.ts'
import { readSheetRows, type TextRows, toSourceRow } from './sheet-rows.ts'
import { chooseSheet, readStyles, readWorkbook } from './workbook.ts'

/** Most cells that rows may come to, empty ones among them; a few far corners would otherwise fill a disk. */
const MAX_CELLS = 200_000_000

/**
 * Opens a sheet of an Excel workbook (.xlsx, .xlsm): every cell is the text that a person sees, formulas their last
 * value. The header is the first row that is not empty, or the one that `headerRow` numbers as the spreadsheet does.
 *
 * Rows: an empty row between others is a row of empty cells, empty ones at the end are none; hidden rows and columns
 * are read as others; of merged cells the first has the text. A formula that was never calculated is a warning, and so
 * is a whole number of more digits than a spreadsheet keeps.
 *
 * Throws `BAD_SOURCE` for what is not such a workbook, or damaged, encrypted or made to do harm, for a sheet that is not
 * there, and without a row, unless it is only looked at: then another sheet can still be chosen; while it is read, for
 * damage further on.
 */
export async function openSpreadsheetSource(
  source: PlanSource,
  { isPreview = false, contentPath = source.path }: { isPreview?: boolean; contentPath?: string } = {},
): Promise<SourceReader> {
  const file = openSourceFile(source.path, contentPath)
  try {
    refuseForeignFile(file)
    const archive = await openArchive(file)
    refuseForeignArchive(archive)
    return await createReader(source, archive, file.sizeBytes, isPreview)
  } catch (error) {
    file.close()
    throw error
  }
}

async function createReader(
  source: PlanSource,
  archive: Archive,
  sizeBytes: number,
  mayBeEmpty: boolean,
): Promise<SourceReader> {
  const { path } = source
  const workbook = await readWorkbook(archive)
  const { name, part } = chooseSheet(path, workbook.sheets, source.sheet)
  const styles = await readStyles(archive, workbook.styles, workbook.is1904)
  const strings: SharedStrings = openSharedStrings(archive, workbook.sharedStrings)
  const openRows = () => readSheetRows(archive, part, styles, strings)
  let head: SheetHead
  try {
    head = await readSheetHead(source, name, openRows(), mayBeEmpty)
  } catch (error) {
    strings.close()
    throw error
  }
  const isGuarded = isExportHeader(head.header) && !(await isOwnExport(archive))
  const { width, firstRow } = head
  const header = isGuarded ? head.header.map(removeFormulaGuard) : head.header
  let columns = toColumnNames(header, width)

  async function* batches(): AsyncGenerator<SourceBatch, void, undefined> {
    let row = 0
    let cells = 0
    // Rows keep their distance from the first, so that one note says it for all.
    const places = new PlaceNotes()
    places.note(1, firstRow, null)
    for await (const { rows, share } of openRows()) {
      const bytesRead = Math.min(sizeBytes, Math.round(share * sizeBytes))
      let batch: SourceRow[] = []
      for (const sheetRow of rows) {
        const { number } = sheetRow
        const filled = countFilled(sheetRow.cells)
        if (number < firstRow || filled === 0) continue
        // The file leaves empty rows out, or has them without a cell; rows keep their distance from the header.
        while (row < number - firstRow) {
          row += 1
          batch.push({ row, cells: Array<string>(width).fill(''), problems: [] })
          cells += width
          if (cells > MAX_CELLS) throw createCellsError(path)
          if (batch.length * width >= EMPTY_CELLS_AT_ONCE) {
            yield { rows: batch, places: places.take(), bytesRead }
            batch = []
          }
        }
        row += 1
        if (filled > columns.length) columns = toColumnNames(header, filled)
        batch.push(toSourceRow(row, sheetRow, filled, { width, isGuarded }))
        cells += Math.max(filled, width)
        if (cells > MAX_CELLS) throw createCellsError(path)
      }
      if (batch.length > 0) yield { rows: batch, places: places.take(), bytesRead }
    }
  }

  return {
    format: 'xlsx',
    get columns() {
      return columns
    },
    header: source.header ? header : null,
    ownExport: toOwnExport(head.header, isGuarded),
    workbook: { sheets: workbook.sheets.map((sheet) => sheet.name), sheet: name },
    sizeBytes,
    encoding: '',
    encodingBy: 'strict',
    delimiter: '',
    delimiterBy: 'ending',
    batches,
    close() {
      strings.close()
      archive.close()
    },
  }
}

const EMPTY_CELLS_AT_ONCE = 50_000

function createCellsError(path: string): Error {
  return new SluiceError({ id: 'workbook_too_empty', source: path })
}

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
const PROPERTIES = {
  name: 'the part of properties',
  maxElements: 1_000_000,
  shape: { Properties: { Application: {} } },
  namespaces: [
    'http://schemas.openxmlformats.org/officeDocument/2006/extended-properties',
    'http://purl.oclc.org/ooxml/officeDocument/extendedProperties',
  ],
}

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
