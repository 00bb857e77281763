import { SluiceError } from '../../../../shared/messages/errors.ts'
import { addFormulaGuard, type ExportColumn } from '../../../../shared/run/export-format.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'

/** Writes a report piece by piece; `row` may be called any number of times after `header`. */
export interface ReportWriter {
  /** What stands before the rows, '' for nothing. */
  header(): string
  row(result: ExportRow): string
}

/** What a report is made of. */
export interface ReportOptions {
  /** Names of the source's columns, as many as its widest row has cells. */
  columns: readonly string[]
  /** The header as the source has it; null where it has none. */
  header: readonly string[] | null
  /** Columns that are appended to those of the source. */
  appended: readonly ExportColumn[]
  /** Names and cells exactly as they were, formulas unguarded. */
  lossless: boolean
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A CSV report as spreadsheets open it: UTF-8 with a byte-order mark, CRLF, quotes where RFC 4180 needs them; the
 * source's columns and cells as they were, then the appended ones. Short rows are filled up with empty cells.
 *
 * Cells that a spreadsheet would run as a formula are guarded, unless `lossless`; reading the file as a source takes
 * the guard off again. A lossless file says that it has none by quotes around the last column's name, which no
 * reader of CSV shows. Columns of an earlier export are renamed, `sluice_row (source)`.
 */
export function createCsvWriter(options: ReportOptions): ReportWriter {
  const { columns, appended, lossless } = options
  const guard = lossless ? (cell: string) => cell : addFormulaGuard
  const toRecord = (cells: readonly string[]) => `${cells.map((cell) => quote(guard(cell))).join(',')}\r\n`
  return {
    header() {
      const record = toRecord([...toSourceNames(options), ...appended.map(({ name }) => name)])
      if (!lossless) return BYTE_ORDER_MARK + record
      const last = appended.at(-1)?.name ?? ''
      return `${BYTE_ORDER_MARK}${record.slice(0, -last.length - 2)}"${last}"\r\n`
    },
    row(result) {
      const { cells } = result
      if (cells.length > columns.length) throw createRowWidthError(result.row, cells.length, columns.length)
      const padding =
        columns.length > cells.length ? Array<string>(columns.length - cells.length).fill('') : []
      return toRecord([...cells, ...padding, ...appended.map(({ read }) => read(result))])
    },
  }
}

/** Quotes a cell that needs it, and one with white space at an end, which some readers would take off. */
function quote(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/**
 * The names that the source's columns have in a report. Each appended name stands once: a source's column of that name,
 * such as one of an earlier export, is called `sluice_row (source)`. A lossless report has them as the source does, empty
 * and doubled ones among them.
 */
export function toSourceNames({ columns, header, appended, lossless }: ReportOptions): string[] {
  if (lossless && header !== null) return columns.map((_, index) => header[index] ?? '')
  const own = new Set(appended.map(({ name }) => name))
  const used = new Set(columns)
  return columns.map((name) => {
    if (!own.has(name)) return name
    let renamed = `${name} (source)`
    for (let number = 2; used.has(renamed); number += 1) renamed = `${name} (source ${number})`
    used.add(renamed)
    return renamed
  })
}

/** A row with more cells than there are columns would push the appended columns aside: a bug, not a user's mistake. */
export function createRowWidthError(row: number, cells: number, columns: number): SluiceError {
  return new SluiceError({ id: 'export_row_too_wide', row, cells, columns })
}
