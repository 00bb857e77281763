import type { RunReport } from '../../../../shared/lookback/run-report.ts'
import { type Cell, type Table, toValue } from '../../../../shared/report/report.ts'
import { type ReportSheet, toRunSheets } from '../../../../shared/report/run-tables.ts'
import type { TableColumn } from '../../../../shared/run/choose-columns.ts'
import { quotesContent } from '../../../../shared/run/export-columns.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { readExportPages } from '../../run/export/export-rows.ts'
import { chooseTable } from '../../run/export/row-columns.ts'
import {
  cutToCell,
  type Sheet,
  type SheetCell,
  type SheetRow,
  writeWorkbook,
} from '../../run/export/workbook.ts'
import { toResultsSheet } from '../../run/export/xlsx-report.ts'

/**
 * A bulk run as a workbook: summary, results, failures by cause, rules, and the evaluation if there is one.
 * Figures are numbers, ready for formulas. Throws what an export throws.
 */
export function writeRunWorkbook(
  family: RunFamily,
  report: RunReport,
): AsyncGenerator<Buffer, void, undefined> {
  const { columns, header } = family.record
  const table = listColumns(family, report.has_content)
  const pages = readExportPages(family, {}, { withRequests: false })
  const results = toResultsSheet({ columns, header, table, lossless: false }, pages)
  return writeWorkbook(
    toRunSheets(report).flatMap((sheet) =>
      sheet.name === 'Summary' ? [toSheet(sheet), results] : [toSheet(sheet)],
    ),
  )
}

/** Widths of the first columns of each sheet, characters. */
const WIDTHS: Readonly<Record<ReportSheet['name'], readonly number[]>> = {
  Summary: [28, 40, 14, 60],
  'Failures by cause': [10, 10, 12, 10, 24, 60, 24, 60],
  Rules: [36, 24, 10, 22],
  Evaluation: [36, 24],
}

/** The columns of an export; without content only those that cannot quote a cell of the source. */
function listColumns(family: RunFamily, hasContent: boolean): TableColumn[] {
  const table = chooseTable(family)
  if (hasContent) return table
  return table.filter((column) => typeof column !== 'number' && !quotesContent(column.name))
}

/** Tables below each other, an empty row between their groups. */
function toSheet({ name, groups }: ReportSheet): Sheet {
  const rows = groups.flatMap((tables, index) => [
    ...(index === 0 ? [] : [{ cells: [] }]),
    ...tables.flatMap(toTableRows),
  ])
  const columns = Math.max(1, ...rows.map(({ cells }) => cells.length))
  return { name, widths: WIDTHS[name], columns, rows: [rows] }
}

/** A table in rows: figures are numbers; bars are left out, since a figure next to them says the same. */
function toTableRows({ columns, rows }: Table): SheetRow[] {
  const toCells = <Value>(values: readonly Value[]) => values.filter((_, at) => columns[at]?.kind !== 'bar')
  return [
    { cells: toCells(columns).map(({ title }) => title), isHeader: true },
    ...rows.map((row) => ({ cells: toCells(row).map(toSheetCell) })),
  ]
}

function toSheetCell(cell: Cell): SheetCell {
  const value = toValue(cell) ?? ''
  return typeof value === 'string' ? cutToCell(value) : value
}
