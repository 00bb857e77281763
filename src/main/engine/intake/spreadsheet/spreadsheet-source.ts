import type { PlanSource } from '../../../../shared/plan.ts'
import { type Problem, toFound } from '../../../../shared/problem.ts'
import { toColumnNames } from '../column-names.ts'
import { createSourceError } from '../source-error.ts'
import { openSourceFile } from '../source-file.ts'
import type { SourceBatch, SourceReader, SourceRow } from '../source-reader.ts'
import { type Archive, openArchive } from './archive.ts'
import { refuseForeignArchive, refuseForeignFile } from './refuse-foreign-file.ts'
import { openSharedStrings, type SharedStrings } from './shared-strings.ts'
import { readSheetRows, type TextRow } from './sheet-batches.ts'
import { countFilled, readSheetHead, type SheetHead } from './sheet-head.ts'
import { readStyles } from './styles.ts'
import { chooseSheet, readWorkbook } from './workbook.ts'

/** Most cells that rows may come to, empty ones among them; a few far corners would otherwise fill a disk. */
const MAX_CELLS = 500_000_000

/**
 * Opens a sheet of an Excel workbook (.xlsx, .xlsm): every cell is the text that a person sees, formulas their last
 * value. The header is the first row that is not empty, or the one that `headerRow` numbers as the spreadsheet does.
 *
 * Rows: an empty row between others is a row of empty cells, empty ones at the end are none; hidden rows and columns
 * are read as others; of merged cells the first has the text. A formula that was never calculated is a warning, and so
 * is a whole number of more digits than a spreadsheet keeps.
 *
 * Throws `BAD_SOURCE` for what is no such workbook, or damaged, encrypted or made to do harm, for a sheet that is not
 * there, and without a row; while it is read, for damage further on.
 */
export async function openSpreadsheetSource(source: PlanSource): Promise<SourceReader> {
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
    return await createReader(source, archive, sizeBytes)
  } catch (error) {
    archive.close()
    throw error
  }
}

async function createReader(source: PlanSource, archive: Archive, sizeBytes: number): Promise<SourceReader> {
  const { path } = source
  const workbook = await readWorkbook(archive)
  const { name, part } = chooseSheet(path, workbook.sheets, source.sheet)
  const styles = await readStyles(archive, workbook.styles, workbook.is1904)
  const strings: SharedStrings = openSharedStrings(archive, workbook.sharedStrings)
  const openRows = () => readSheetRows(archive, part, styles, strings)
  let head: SheetHead
  try {
    head = await readSheetHead(source, name, openRows())
  } catch (error) {
    strings.close()
    throw error
  }
  let columns = toColumnNames(head.header, head.width)

  async function* batches(): AsyncGenerator<SourceBatch, void, undefined> {
    let row = 0
    let cells = 0
    for await (const { rows, share } of openRows()) {
      const bytesRead = Math.min(sizeBytes, Math.round(share * sizeBytes))
      let batch: SourceRow[] = []
      for (const sheetRow of rows) {
        const { number } = sheetRow
        const filled = countFilled(sheetRow.cells)
        if (number < head.firstRow || filled === 0) continue
        // The file leaves empty rows out, or has them without a cell; rows keep their distance from the header.
        while (row < number - head.firstRow) {
          row += 1
          batch.push({ row, cells: Array<string>(head.width).fill(''), problems: [] })
          cells += head.width
          if (batch.length >= EMPTY_ROWS_AT_ONCE) {
            yield { rows: batch, bytesRead }
            batch = []
          }
        }
        row += 1
        if (filled > columns.length) columns = toColumnNames(head.header, filled)
        batch.push(toSourceRow(row, sheetRow, filled, head))
        cells += Math.max(filled, head.width)
        if (cells > MAX_CELLS) throw createCellsError(path)
      }
      if (batch.length > 0) yield { rows: batch, bytesRead }
    }
  }

  return {
    format: 'xlsx',
    get columns() {
      return columns
    },
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

const EMPTY_ROWS_AT_ONCE = 1000

function toSourceRow(row: number, sheetRow: TextRow, filled: number, head: SheetHead): SourceRow {
  const cells = sheetRow.cells.slice(0, filled)
  while (cells.length < head.width) cells.push('')
  const problems: Problem[] = []
  const warn = (code: Problem['code'], message: string, found: string) =>
    problems.push({ row, severity: 'warning', code, message, found: toFound(found) })
  if (filled > head.width) {
    warn('ragged_row', `must have at most ${head.width} cells, as the rows above`, `${filled} cells`)
  }
  if (sheetRow.formulaWithoutValue !== null) {
    warn(
      'formula_without_value',
      'must have a calculated value; the cell is read as empty',
      sheetRow.formulaWithoutValue,
    )
  }
  if (sheetRow.imprecise !== null) {
    warn(
      'number_precision',
      'must be text where it has more than 15 digits; a spreadsheet changes the rest',
      sheetRow.imprecise,
    )
  }
  return { row, cells, problems }
}

function createCellsError(path: string): Error {
  return createSourceError(
    path,
    'the sheet comes to more than 500,000,000 cells, most of them empty',
    'Delete the columns to the right of the table, or save the table alone as CSV UTF-8, and name that file.',
  )
}
