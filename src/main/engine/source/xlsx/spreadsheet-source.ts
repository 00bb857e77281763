import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { isExportHeader, removeFormulaGuard } from '../../../../shared/run/export-format.ts'
import { toColumnNames } from '../header.ts'
import { openSourceFile } from '../source-file.ts'
import { PlaceNotes, type SourceBatch, type SourceReader, type SourceRow } from '../source-reader.ts'
import { type Archive, openArchive, refuseForeignArchive, refuseForeignFile } from './archive.ts'
import { openSharedStrings, type SharedStrings } from './shared-strings.ts'
import { readSheetRows, toSourceRow } from './sheet-batches.ts'
import { countFilled, isOwnExport, readSheetHead, type SheetHead } from './sheet-head.ts'
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
  { isPreview = false }: { isPreview?: boolean } = {},
): Promise<SourceReader> {
  const file = openSourceFile(source.path)
  const { sizeBytes } = file
  try {
    refuseForeignFile(file)
  } finally {
    file.close()
  }
  const archive = await openArchive(source.path)
  try {
    refuseForeignArchive(archive)
    return await createReader(source, archive, sizeBytes, isPreview)
  } catch (error) {
    archive.close()
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
