import { existsSync, realpathSync } from 'node:fs'
import { SluiceError } from '../../../shared/errors.ts'
import { decodeHistogram, type LatencySeriesName } from '../../../shared/latency-meter.ts'
import type { LoadSample } from '../../../shared/load-report.ts'
import type { ExportOptions, ExportResult } from '../../../shared/results.ts'
import { readSamples } from '../journal/load-writer.ts'
import type { HlogInterval } from '../report/load/hlog-report.ts'
import { writeLoadReport } from '../report/load/write-load-report.ts'
import { writeReport } from '../report/write-report.ts'
import { readLoadReport } from './load-report.ts'
import { readLoadSeconds } from './load-seconds.ts'
import { readAllPages } from './result-page.ts'
import type { RunView } from './run-view.ts'

/** Writes a run's rows to a file, its format chosen by the ending. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`. */
export async function exportRun(view: RunView, options: ExportOptions): Promise<ExportResult> {
  refuseSource(view, options.file)
  if (view.record.plan.load !== undefined) return exportLoad(view, options.file)
  return writeReport({
    file: options.file,
    columns: view.record.columns,
    pages: readAllPages(view, options.filter ?? {}),
    lossless: options.lossless ?? false,
  })
}

/** What a load test measured; its rows have no results of their own. */
function exportLoad(view: RunView, file: string): Promise<ExportResult> {
  return writeLoadReport({
    file,
    report: readLoadReport(view),
    intervals: readIntervals(view),
    samples: readSamplePages(view),
  })
}

function* readIntervals({ db }: RunView): Generator<HlogInterval[]> {
  for (const page of readLoadSeconds(db)) {
    yield page.flatMap((second) =>
      Object.entries(second.histograms).map(([series, histogram]) => ({
        metric: series as LatencySeriesName,
        startS: second.extras.second,
        lengthS: 1,
        maxMs: decodeHistogram(histogram).maxValue / 1000,
        histogram,
      })),
    )
  }
}

function* readSamplePages({ db }: RunView): Generator<LoadSample[]> {
  for (const sample of readSamples(db)) yield [sample]
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
