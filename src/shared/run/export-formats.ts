/** A format for exporting results. Window and help show its texts; a file name's ending selects it. */
interface ExportFormatEntry {
  /** The part of the name after the dots. */
  ending: string
  label: string
  /** What the file holds, as a sentence for the window. */
  meaning: string
  /** The same as a phrase for the command line's help. */
  help: string
}

export const ROW_EXPORT_FORMATS = [
  {
    ending: 'csv',
    label: 'CSV',
    meaning:
      'Your columns first, then the outcome of each row. Excel, LibreOffice and Google Sheets open it with all letters intact (UTF-8 with a byte-order mark).',
    help: 'the source columns, then sluice_ and score. columns; formulas are escaped and counted unless --lossless',
  },
  {
    ending: 'xlsx',
    label: 'Excel workbook',
    meaning:
      'The same columns. Your cells and all ids are text, so that nothing turns into a number or a date; our own numbers are numbers.',
    help: 'the same columns, your cells and ids as text, our numbers as numbers',
  },
  {
    ending: 'jsonl',
    label: 'JSON lines',
    meaning: 'One object per row with its request and response, for programs.',
    help: 'one JSON document per row, with request, answer and callbacks',
  },
  {
    ending: 'parquet',
    label: 'Parquet',
    meaning:
      'The columns of a CSV, ours as numbers and true or false. DuckDB, pandas, Polars and Spark read it; Sluice does not.',
    help: 'the same columns, ours as numbers and true or false, for DuckDB, pandas, Polars and Spark',
  },
] as const satisfies readonly ExportFormatEntry[]

/** Formats with a run's content as in OpenAI's batch API: JSON lines of tasks, only for whole runs. */
export const BATCH_EXPORT_FORMATS = [
  {
    ending: 'batch-output.jsonl',
    label: 'OpenAI batch output',
    meaning:
      'One line per row as the batch API answers: flagged, categories (rules) and category_scores (classes), or an error.',
    help: "results as lines of OpenAI's batch output, rules as categories",
  },
  {
    ending: 'batch-input.jsonl',
    label: 'OpenAI batch input',
    meaning:
      'One moderation request per row with its id and content, to send the same content to another service. Sluice reads it.',
    help: "ids and contents as requests of OpenAI's batch input, which can be a source",
  },
] as const satisfies readonly ExportFormatEntry[]

/** Formats of a load test's measurements, and of the load itself, without a k6 project as a folder. */
export const LOAD_EXPORT_FORMATS = [
  {
    ending: 'html',
    label: 'Report',
    meaning: 'One page that opens offline: summary, thresholds, latency over time, errors, generator health.',
    help: 'report with charts, works offline',
  },
  {
    ending: 'md',
    label: 'Markdown',
    meaning: 'The summary as Markdown, for a pull request, an issue or a wiki.',
    help: 'the summary as Markdown, for pull requests and job summaries',
  },
  {
    ending: 'junit.xml',
    label: 'JUnit',
    meaning: 'Each threshold as a test, for CI servers.',
    help: 'thresholds as test cases',
  },
  {
    ending: 'hlog',
    label: 'Histogram log',
    meaning: 'The latencies of each second, for HdrHistogram tools.',
    help: 'latencies for HdrHistogram tools',
  },
  {
    ending: 'csv',
    label: 'CSV by second',
    meaning: 'One line per measured second, for Excel or another spreadsheet program.',
    help: 'one row per second',
  },
  {
    ending: 'jsonl',
    label: 'JSON lines of requests',
    meaning: 'Requests with their answers: an even sample, and those that did not succeed.',
    help: 'sampled requests',
  },
  {
    ending: 'k6.zip',
    label: 'k6 project',
    meaning: 'A k6 script with the same load, the rows as sent, and how to run it. It contains no API key.',
    help: 'k6 project of the same load, as a zip file',
  },
] as const satisfies readonly ExportFormatEntry[]

export type RowExportFormat = (typeof ROW_EXPORT_FORMATS)[number]['ending']

/** A format of OpenAI's batch API, named by its ending. */
export type BatchExportFormat = (typeof BATCH_EXPORT_FORMATS)[number]['ending']

export type LoadExportFormat = (typeof LOAD_EXPORT_FORMATS)[number]['ending']

/** A format of a load test's measurements. */
export type LoadReportFormat = Exclude<LoadExportFormat, 'k6.zip'>

/** Alternative endings of formats. */
const OTHER_ENDINGS = new Map([
  ['htm', 'html'],
  ['ndjson', 'jsonl'],
])

/** The format with which a file's name ends, in any case; null if there is none. */
export function findExportFormat<Ending extends string>(
  file: string,
  formats: readonly { ending: Ending }[],
): Ending | null {
  const name = file.toLowerCase()
  const last = name.slice(name.lastIndexOf('.') + 1)
  const usual = `${name.slice(0, name.length - last.length)}${OTHER_ENDINGS.get(last) ?? last}`
  return formats.find(({ ending }) => usual.endsWith(`.${ending}`))?.ending ?? null
}

/** Follows the ending of a text format if the file is compressed. */
const GZIP = '.gz'

/** The format of a run's rows for a file name, and if compressed: `rows.csv.gz`. Null for other names. */
export function findRowFormat(
  file: string,
): { format: RowExportFormat | BatchExportFormat; isGzip: boolean } | null {
  const isGzip = file.toLowerCase().endsWith(GZIP)
  // The first match counts: the batch formats are JSON lines too.
  const formats = [...BATCH_EXPORT_FORMATS, ...ROW_EXPORT_FORMATS]
  const format = findExportFormat(isGzip ? file.slice(0, -GZIP.length) : file, formats)
  return format === null ? null : { format, isGzip }
}

export function isBatchFormat(format: RowExportFormat | BatchExportFormat): format is BatchExportFormat {
  return BATCH_EXPORT_FORMATS.some(({ ending }) => ending === format)
}

/** Whether a format is text, which gzip makes smaller; the others are already compressed. */
export function isTextFormat(
  format: RowExportFormat | BatchExportFormat,
): format is 'csv' | 'jsonl' | BatchExportFormat {
  return format === 'csv' || format === 'jsonl' || isBatchFormat(format)
}

/** The endings of formats, listed for a sentence: `.csv, .xlsx`. */
export function listEndings(formats: readonly { ending: string }[]): string {
  return formats.map(({ ending }) => `.${ending}`).join(', ')
}
