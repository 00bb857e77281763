import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatRow } from '../../../../shared/plan/source-place.ts'
import type { TableColumn } from '../../../../shared/run/choose-columns.ts'
import { type ExportColumn, findGuardMark } from '../../../../shared/run/export-columns.ts'
import { addFormulaGuard } from '../../../../shared/run/formula-guard.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'

/** Writes a report piece by piece; `row` may be called any number of times after `header`. */
export interface ReportWriter {
  /** What comes before the rows, '' for nothing. */
  header(): string
  row(result: ExportRow): string
  /** What comes after the last row. */
  end?(): string
  /** Number of cells changed so far by an apostrophe in front of a formula. */
  readonly guardedCells: number
  /** Number of rows left out so far because the format has no place for them. */
  readonly leftOut?: number
}

export interface ReportOptions {
  /** Names of the source's columns, one for each cell of its widest row. */
  columns: readonly string[]
  /** The header as in the source; null without one. */
  header: readonly string[] | null
  /** The columns of a CSV or XLSX report, in order. */
  table: readonly TableColumn[]
  /** Names and cells exactly as in the source, formulas unguarded (default: false). */
  lossless?: boolean
  /** Separates the cells of a CSV report (default: a comma). */
  delimiter?: string
  /** Whether a CSV report begins with a byte-order mark, which spreadsheets need (default: true). */
  byteOrderMark?: boolean
  /**
   * Whether row numbers may have a letter, as after splitting a record; where cells have types, they are then
   * texts.
   */
  rowsHaveLetters?: boolean
  /** Further members of a row's object in a JSON lines report. */
  members?: (row: ExportRow) => Record<string, unknown>
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A CSV report as spreadsheets open it: UTF-8 with a byte-order mark, CRLF, quotes where RFC 4180 needs them;
 * the source's cells unchanged. Short rows are padded with empty cells.
 *
 * Cells that a spreadsheet would run as a formula are guarded and counted, unless `lossless`; reading the
 * file as a source removes the guard. A lossless file marks itself by quotes around the last column's name,
 * which no CSV reader shows. Columns of an earlier export are renamed, `sluice_row (source)`.
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
  // Most columns are empty in most rows, so gaps are added at once.
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

/** The columns of a source, then the appended ones. */
export function toTable(columns: readonly string[], appended: readonly ExportColumn[]): TableColumn[] {
  return [...columns.keys(), ...appended]
}

/** A report's added columns, as further members of a row's object in JSON lines. */
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

/** A row's cells in a table; `shorten` cuts texts not from the source. Throws if the row is too wide. */
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

/** Most cells, which one test shows to need no guard and no quotes and to contain no delimiter. */
const PLAIN = /^[A-Za-z0-9](?:[\w .:/-]*[\w.:/-])?$/

/** Quotes a cell that needs it, and one with white space at an end, which some readers would strip. */
function quote(cell: string, delimiter: string): string {
  return NEEDS_QUOTES.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/**
 * The names of a table's columns. Each of ours is unique: a source column of that name, such as one of an
 * earlier export, becomes `sluice_row (source)`. A lossless report keeps the source's names, even empty and
 * repeated ones.
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
