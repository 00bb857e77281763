import type { ExportColumn } from '../../../../shared/run/export-columns.ts'
import { addFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'
import { createRowWidthError } from './row-width-error.ts'
import { toSourceNames } from './source-names.ts'

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
