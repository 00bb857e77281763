import type { LoadReport, NumberedSample } from '../../../../shared/load/load-report.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import {
  findExportFormat,
  LOAD_EXPORT_FORMATS,
  type LoadReportFormat,
} from '../../../../shared/run/export-formats.ts'
import type { ExportResult } from '../../../../shared/run/results.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { formatJunitReport } from './junit-report.ts'
import { formatLoadPage } from './load-page.ts'
import { createHlogWriter, createSecondsWriter, formatSample, type HlogInterval } from './tool-reports.ts'

/** The format that a file's ending asks for. Throws `BAD_USAGE` for any other ending. */
export function findLoadReportFormat(file: string): LoadReportFormat {
  const format = findExportFormat(file, LOAD_EXPORT_FORMATS)
  if (format !== null && format !== 'k6.zip') return format
  throw new SluiceError({ id: 'load_report_ending', file })
}

type Pages<Item> = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>

/** What reports are made of; what grows with the run is read in pages. */
export interface LoadReportSource {
  report: LoadReport
  /** Every latency of every second, by second; read for `.hlog` alone. */
  intervals: Pages<HlogInterval>
  /** Requests that were kept whole; read for `.jsonl` alone. */
  samples: Pages<NumberedSample>
}

/**
 * Writes a load test's report into a file, in a given format or by its ending. A file that is there is
 * replaced once the new one is whole. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeLoadReport(
  options: LoadReportSource & { file: string; format?: LoadReportFormat },
): Promise<ExportResult> {
  const { file } = options
  const format = options.format ?? findLoadReportFormat(file)
  let rows = 0
  try {
    const sizeBytes = await replaceFile(file, async (append) => {
      for await (const page of WRITERS[format](options)) {
        await append(page.text)
        rows += page.rows
      }
    })
    return { file, rows, sizeBytes }
  } catch (error) {
    throw toFileError(file, error)
  }
}

interface WrittenPage {
  text: string
  /** Requests, seconds or intervals in it; a document for people has none. */
  rows: number
}

const WRITERS: Readonly<
  Record<LoadReportFormat, (source: LoadReportSource) => Iterable<WrittenPage> | AsyncIterable<WrittenPage>>
> = {
  html: ({ report }) => [{ text: formatLoadPage(report), rows: 0 }],
  'junit.xml': ({ report }) => [{ text: formatJunitReport(report), rows: 0 }],
  async *hlog({ report, intervals }) {
    const writer = createHlogWriter({ startedAt: report.startedAt ?? EPOCH, runId: report.runId })
    yield { text: writer.header(), rows: 0 }
    for await (const page of intervals) yield { text: page.map(writer.interval).join(''), rows: page.length }
  },
  *csv({ report }) {
    const writer = createSecondsWriter()
    yield { text: writer.header(), rows: 0 }
    for (const second of report.seconds) yield { text: writer.second(second), rows: 1 }
  },
  async *jsonl({ samples }) {
    for await (const page of samples) yield { text: page.map(formatSample).join(''), rows: page.length }
  },
}

/** Where a load that never began is said to have begun: its log holds no interval. */
const EPOCH = '1970-01-01T00:00:00.000Z'
