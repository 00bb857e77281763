import type { ExportOptions, ExportResult } from '../../../shared/results.ts'
import { writeReport } from '../report/write-report.ts'
import { readAllPages } from './result-page.ts'
import type { RunView } from './run-view.ts'

/** Writes a run's rows to a file, its format chosen by the ending. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`. */
export async function exportRun(view: RunView, options: ExportOptions): Promise<ExportResult> {
  return writeReport({
    file: options.file,
    columns: view.record.columns,
    pages: readAllPages(view, options.filter ?? {}),
    lossless: options.lossless ?? false,
  })
}
