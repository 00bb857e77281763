import type { ExportRow } from '../../../../shared/run/results.ts'
import { type ReportOptions, readTableCells, toTableNames } from './csv-report.ts'
import { cutToCell, type Sheet, type SheetRow, writeWorkbook } from './workbook.ts'

type Pages = Iterable<readonly ExportRow[]> | AsyncIterable<readonly ExportRow[]>

/**
 * A report as a workbook of one sheet: the source's columns and cells unchanged, as text, then the appended
 * ones; the header is frozen. The service's texts are cut to fit a cell, and marked as cut. Throws what
 * {@link writeWorkbook} throws.
 */
export function writeXlsx(
  options: ReportOptions,
  pages: Pages,
  maxRows?: number,
): AsyncGenerator<Buffer, void, undefined> {
  return writeWorkbook([toResultsSheet(options, pages)], maxRows)
}

/** The rows of a table as a sheet: our numbers as numbers, all else as text. */
export function toResultsSheet(options: ReportOptions, pages: Pages): Sheet {
  const names = toTableNames(options)
  async function* listRows(): AsyncGenerator<SheetRow[], void, undefined> {
    yield [{ cells: names, isHeader: true }]
    for await (const page of pages) {
      yield page.map((result) => ({ cells: readTableCells(options, result, cutToCell) }))
    }
  }
  return { name: 'Results', columns: names.length, rows: listRows() }
}
