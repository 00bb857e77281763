import { existsSync, realpathSync } from 'node:fs'
import { SluiceError } from '../../../shared/errors.ts'
import type { ExportOptions, ExportResult } from '../../../shared/results.ts'
import { writeReport } from '../report/write-report.ts'
import { readAllPages } from './result-page.ts'
import type { RunView } from './run-view.ts'

/** Writes a run's rows to a file, its format chosen by the ending. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`. */
export async function exportRun(view: RunView, options: ExportOptions): Promise<ExportResult> {
  refuseSource(view, options.file)
  return writeReport({
    file: options.file,
    columns: view.record.columns,
    pages: readAllPages(view, options.filter ?? {}),
    lossless: options.lossless ?? false,
  })
}

/** An export replaces the file that is there; never the source itself, which it would take the place of. */
function refuseSource({ record }: RunView, file: string): void {
  const { path } = record.plan.source
  if (!existsSync(file) || !existsSync(path) || realpathSync(file) !== realpathSync(path)) return
  throw new SluiceError({
    code: 'BAD_USAGE',
    message: `${file} is the source of this run, which the export would replace`,
    hint: 'Name another file, such as results.csv.',
  })
}
