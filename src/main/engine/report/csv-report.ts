import { EXPORT_COLUMNS } from '../../../shared/export-columns.ts'
import { addFormulaGuard } from '../../../shared/formula-guard.ts'
import type { ResultRow } from '../../../shared/results.ts'
import { toExportCells } from './export-cells.ts'
import { createRowWidthError } from './row-width-error.ts'

/** Writes a report piece by piece; `row` may be called any number of times after `header`. */
export interface ReportWriter {
  /** What stands before the rows, '' for nothing. */
  header(): string
  row(result: ResultRow): string
}

/** What a report is made of. */
export interface ReportOptions {
  /** Names of the source's columns, as many as its widest row has cells. */
  columns: readonly string[]
  /** Cells exactly as they were, formulas unguarded. */
  lossless: boolean
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A CSV report as spreadsheets open it: UTF-8 with a byte-order mark, CRLF, quotes where RFC 4180 needs them; the
 * source's columns and cells as they were, then {@link EXPORT_COLUMNS}. Short rows are filled up with empty cells.
 *
 * Cells that a spreadsheet would run as a formula are guarded, unless `lossless`; reading the file as a source takes
 * the guard off again. A lossless file says that it has none by quotes around the last column's name, which no
 * reader of CSV shows. Columns of an earlier export are renamed, `sluice_row (source)`.
 */
export function createCsvWriter({ columns, lossless }: ReportOptions): ReportWriter {
  const guard = lossless ? (cell: string) => cell : addFormulaGuard
  const toRecord = (cells: readonly string[]) => `${cells.map((cell) => quote(guard(cell))).join(',')}\r\n`
  return {
    header() {
      const record = toRecord([...renameExportColumns(columns), ...EXPORT_COLUMNS])
      if (!lossless) return BYTE_ORDER_MARK + record
      const last = EXPORT_COLUMNS.at(-1) ?? ''
      return `${BYTE_ORDER_MARK}${record.slice(0, -last.length - 2)}"${last}"\r\n`
    },
    row(result) {
      const { cells } = result
      if (cells.length > columns.length) throw createRowWidthError(result.row, cells.length, columns.length)
      const padding =
        columns.length > cells.length ? Array<string>(columns.length - cells.length).fill('') : []
      return toRecord([...cells, ...padding, ...toExportCells(result)])
    },
  }
}

/** Lets each of our names stand once, for the column that this report appends. */
export function renameExportColumns(columns: readonly string[]): string[] {
  const own = new Set<string>(EXPORT_COLUMNS)
  const used = new Set(columns)
  return columns.map((name) => {
    if (!own.has(name)) return name
    let renamed = `${name} (source)`
    for (let number = 2; used.has(renamed); number += 1) renamed = `${name} (source ${number})`
    used.add(renamed)
    return renamed
  })
}

/** Quotes a cell that needs it, and one with white space at an end, which some readers would take off. */
function quote(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/
