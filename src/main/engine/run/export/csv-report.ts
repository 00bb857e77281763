import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatRow } from '../../../../shared/plan/source-place.ts'
import type { TableColumn } from '../../../../shared/run/choose-columns.ts'
import { type ExportColumn, findGuardMark } from '../../../../shared/run/export-columns.ts'
import { addFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'

/** Writes a report piece by piece; `row` may be called any number of times after `header`. */
export interface ReportWriter {
  /** What stands before the rows, '' for nothing. */
  header(): string
  row(result: ExportRow): string
  /** What is still to be written after the last row. */
  end?(): string
  /** Cells that were not written as they are, so far: an apostrophe was put in front of a formula. */
  readonly guardedCells: number
  /** Rows that were not written, so far, since the format has no place for them. */
  readonly leftOut?: number
}

export interface ReportOptions {
  /** Names of the source's columns, as many as its widest row has cells. */
  columns: readonly string[]
  /** The header as the source has it; null if it has none. */
  header: readonly string[] | null
  /** The columns of a CSV or XLSX report, in order. */
  table: readonly TableColumn[]
  /** Names and cells exactly as they were, formulas unguarded. */
  lossless: boolean
  /** Stands between the cells of a CSV report; a comma unless given. */
  delimiter?: string
  /** Whether a CSV report begins with a byte-order mark, which spreadsheets need (default: true). */
  byteOrderMark?: boolean
  /** Whether numbers of rows may have a letter, as those of a split record have: where cells have types, they are texts. */
  rowsHaveLetters?: boolean
  /** Further members of a row's object in a report of JSON lines. */
  members?: (row: ExportRow) => Record<string, unknown>
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A CSV report as spreadsheets open it: UTF-8 with a byte-order mark, CRLF, quotes where RFC 4180 needs them; the
 * source's cells as they were. Short rows are filled up with empty cells.
 *
 * Cells that a spreadsheet would run as a formula are guarded and counted, unless `lossless`; reading the file as a source
 * takes the guard off again. A lossless file says that it has none by quotes around the last column's name, which no
 * reader of CSV shows. Columns of an earlier export are renamed, `sluice_row (source)`.
 */
export function createCsvWriter(options: ReportOptions): ReportWriter {
  const { lossless, delimiter = ',', byteOrderMark = true } = options
  let guardedCells = 0
  const toCell = (cell: string) => {
    if (cell === '' || PLAIN.test(cell)) return cell
    if (lossless) return quote(cell, delimiter)
    const guarded = addFormulaGuard(cell)
    if (guarded !== cell) guardedCells += 1
    return quote(guarded, delimiter)
  }
  // Most columns are empty in most rows: what stands for some in a row is added at once.
  const gaps = Array.from(options.table, (_, cells) => delimiter.repeat(cells))
  return {
    header() {
      const names = toTableNames(options)
      const marked = lossless ? names.length - 1 : names.lastIndexOf(findGuardMark(names) ?? '')
      const cells = names.map((name, index) => {
        const cell = toCell(name)
        return index === marked && cell === name ? `"${name}"` : cell
      })
      return `${byteOrderMark ? BYTE_ORDER_MARK : ''}${cells.join(delimiter)}\r\n`
    },
    row(result) {
      refuseTooWide(options, result)
      let [record, gap] = ['', 0]
      for (const column of options.table) {
        const cell = typeof column === 'number' ? (result.cells[column] ?? '') : column.read(result)
        if (cell !== '') {
          // A number has nothing to guard, and nothing to quote.
          record += (gaps[gap] ?? '') + (typeof cell === 'number' ? cell : toCell(cell))
          gap = 0
        }
        gap += 1
      }
      return `${record}${gaps[gap - 1] ?? ''}\r\n`
    },
    get guardedCells() {
      return guardedCells
    },
  }
}

/** The columns of a source, then those that are appended to them. */
export function toTable(columns: readonly string[], appended: readonly ExportColumn[]): TableColumn[] {
  return [...columns.keys(), ...appended]
}

/** The cells of columns that a report adds of its own, as further members of a row's object in JSON lines. */
export function toMembers(added: readonly ExportColumn[]): NonNullable<ReportOptions['members']> {
  return (row) => Object.fromEntries(added.map(({ name, read }) => [name, String(read(row))]))
}

/** Throws if a row is wider than its table, which would lose cells: a bug, not a user's mistake. */
export function refuseTooWide(
  { columns }: Pick<ReportOptions, 'columns'>,
  { place, cells }: ExportRow,
): void {
  if (cells.length <= columns.length) return
  throw new SluiceError({
    id: 'export_row_too_wide',
    row: formatRow(place),
    cells: cells.length,
    columns: columns.length,
  })
}

/** A row's cells in a table; `shorten` takes texts that are not of the source. Throws if the row is too wide. */
export function readTableCells(
  { columns, table }: ReportOptions,
  result: ExportRow,
  shorten = (cell: string) => cell,
): (string | number)[] {
  const { cells } = result
  refuseTooWide({ columns }, result)
  return table.map((column) => {
    if (typeof column === 'number') return cells[column] ?? ''
    const cell = column.read(result)
    return typeof cell === 'number' ? cell : shorten(cell)
  })
}

/** Most cells: nothing to guard, nothing to quote and no delimiter, as a single look shows. */
const PLAIN = /^[A-Za-z0-9](?:[\w .:/-]*[\w.:/-])?$/

/** Quotes a cell that needs it, and one with white space at an end, which some readers would take off. */
function quote(cell: string, delimiter: string): string {
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/**
 * The names of a table's columns. Each of ours stands once: a source's column of that name, such as one of an earlier
 * export, is called `sluice_row (source)`. A lossless report has the source's names as they are, empty and repeated
 * ones among them.
 */
export function toTableNames({ columns, header, table, lossless }: ReportOptions): string[] {
  const own = new Set(table.flatMap((column) => (typeof column === 'number' ? [] : [column.name])))
  const used = new Set(columns)
  return table.map((column) => {
    if (typeof column !== 'number') return column.name
    const name = columns[column] ?? ''
    if (lossless && header !== null) return header[column] ?? ''
    if (!own.has(name)) return name
    let renamed = `${name} (source)`
    for (let number = 2; used.has(renamed); number += 1) renamed = `${name} (source ${number})`
    used.add(renamed)
    return renamed
  })
}
