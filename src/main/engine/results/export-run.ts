import { decodeHistogram, toToolFormat } from '../../../shared/load/latency-meter.ts'
import type { LoadReport, NumberedSample } from '../../../shared/load/load-report.ts'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import type { LabelsFile } from '../../../shared/lookback/evaluation.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { createQuoteRemover } from '../../../shared/messages/quotes.ts'
import { OPERATIONS } from '../../../shared/operations/operations.ts'
import type { Plan, PlanSource } from '../../../shared/plan/plan.ts'
import { formatRow, type SourcePlace, toRowAndRecord } from '../../../shared/plan/source-place.ts'
import {
  type BatchExportFormat,
  isBatchFormat,
  type RowExportFormat,
} from '../../../shared/run/export-formats.ts'
import { isExportDelimiter } from '../../../shared/run/formula-guard.ts'
import { countRows } from '../../../shared/run/item-state.ts'
import type { ExportOptions } from '../../../shared/run/results.ts'
import type { ExportResult } from '../../../shared/run/written-rows.ts'
import { readCutOffMs, readSamples } from '../journal/load-record.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { parseCells } from '../journal/stored-cells.ts'
import { writeK6Archive } from '../load/k6/k6-archive.ts'
import { checkK6Folder, type K6Project, writeK6Project } from '../load/k6/k6-project.ts'
import { readLoadSeconds } from '../load/load-results.ts'
import type { HlogInterval } from '../load/report/tool-reports.ts'
import { findLoadReportFormat, writeLoadReport } from '../load/report/write-load-report.ts'
import { createRowMapper, type MapRow } from '../mapping/row-mapper.ts'
import { createBatchInputWriter, createBatchOutputWriter } from '../run/export/batch-report.ts'
import { haveLetters, listCutNames, readExportPages, readTriggeredRules } from '../run/export/export-rows.ts'
import { chooseTable, findCutColumns } from '../run/export/row-columns.ts'
import { findRunFormat, writeReport } from '../run/export/write-report.ts'
import { createPlaceReader } from '../run/journal/intake-writer.ts'
import { readFamilyCounts, summarizeFamilyCounts } from '../run/results/family-counts.ts'
import { openSource } from '../source/open-source.ts'
import { checkTarget } from '../workspace/replace-file.ts'
import { findReplacedSource } from '../workspace/replaced-source.ts'
import type { DatabaseSync } from '../workspace/sqlite.ts'
import { readLoadReport } from './load-report.ts'

/** Throws `BAD_USAGE` or `FILE_UNWRITABLE` if a plan's run could not be exported; writes nothing. */
export async function checkExport(plan: Plan, file: string): Promise<void> {
  refuseSource({ record: { plan } }, file)
  if (plan.load === undefined) findFormatFor(plan, file)
  else if (!/\.k6(\.zip)?$/i.test(file)) findLoadReportFormat(file)
  await (plan.load !== undefined && /\.k6$/i.test(file) ? checkK6Folder(file) : checkTarget(file))
}

/**
 * Writes a run's rows to a file in the format of its ending; `among` are the rows of the filter's cell,
 * ascending. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function exportRun(
  view: RunFamily,
  options: ExportOptions,
  among: Uint32Array | null = null,
): Promise<ExportResult> {
  refuseSource(view, options.file)
  if (/\.k6\.zip$/i.test(options.file)) return writeK6Archive({ file: options.file, ...toK6Project(view) })
  if (options.format === 'k6' || /\.k6$/i.test(options.file)) {
    return writeK6Project({ folder: options.file, ...toK6Project(view) })
  }
  if (view.record.plan.load !== undefined) return exportLoad(view, options.file)
  const format = findFormatFor(view.record.plan, options.file)
  if (format !== 'csv' && options.delimiter !== undefined) {
    throw new SluiceError({ id: 'export_delimiter_of_csv', file: options.file })
  }
  const isLines = format === 'jsonl' || isBatchFormat(format)
  if (isLines && (options.columns !== undefined || options.rulesAsColumns)) {
    throw new SluiceError({ id: 'export_columns_of_jsonl', file: options.file })
  }
  // Rows that a session settles while the file is written may still be in it.
  const { rows } = summarizeFamilyCounts(view, readFamilyCounts(view))
  const withoutResult = countRows(rows, 'open')
  const written = isBatchFormat(format)
    ? await writeBatch(view, format, options, among)
    : await writeTable(view, format, options, among)
  return withoutResult === 0 ? written : { ...written, withoutResult }
}

/** Most rows with damaged answers that are named. */
const DAMAGED_NAMED = 10

async function writeTable(
  view: RunFamily,
  format: RowExportFormat,
  options: ExportOptions,
  among: Uint32Array | null,
): Promise<ExportResult> {
  const { columns, header } = view.record
  const damaged = { rows: 0, first: [] as string[] }
  const onDamaged = (place: SourcePlace) => {
    damaged.rows += 1
    if (damaged.rows <= DAMAGED_NAMED) damaged.first.push(formatRow(place))
  }
  const pages = { withRequests: format === 'jsonl', onDamaged, among }
  const table = format === 'jsonl' ? [] : chooseTable(view, options)
  const written = await writeReport({
    file: options.file,
    format,
    columns,
    header,
    table,
    rowsHaveLetters: haveLetters(view),
    pages: readExportPages(view, options.filter ?? {}, pages),
    lossless: options.lossless ?? false,
    byteOrderMark: options.byteOrderMark ?? true,
    delimiter: await findDelimiter(view, options),
  })
  return {
    ...written,
    ...findCutColumns(view, table),
    ...(damaged.rows > 0 && { damaged }),
  }
}

/** The format of an export; only tasks have content for a batch format. Throws `BAD_USAGE`. */
function findFormatFor({ operation }: Plan, file: string): ReturnType<typeof findRunFormat> {
  const format = findRunFormat(file)
  if (isBatchFormat(format) && OPERATIONS[operation.kind].subject !== 'content')
    throw new SluiceError({ id: 'export_batch_of_task', file })
  return format
}

async function writeBatch(
  view: RunFamily,
  format: BatchExportFormat,
  options: ExportOptions,
  among: Uint32Array | null,
): Promise<ExportResult> {
  const { columns, header, runId } = view.record
  const writer =
    format === 'batch-input.jsonl'
      ? createBatchInputWriter({ columns })
      : createBatchOutputWriter({ runId, columns, rules: readTriggeredRules(view) })
  const written = await writeReport({
    file: options.file,
    writer,
    columns,
    header,
    table: [],
    lossless: true,
    pages: readExportPages(view, options.filter ?? {}, { withRequests: false, withFields: true, among }),
  })
  const cutColumns = format === 'batch-input.jsonl' ? [] : listCutNames(view, ['rules'])
  return cutColumns.length === 0 ? written : { ...written, cutColumns }
}

/** The requested delimiter; the source's is detected again. Throws `BAD_SOURCE` or `BAD_USAGE`. */
async function findDelimiter({ record }: RunFamily, { delimiter = ',' }: ExportOptions): Promise<string> {
  if (delimiter !== 'source') return delimiter
  const reader = await openSource(record.plan.source)
  reader.close()
  if (reader.delimiter === '') return ','
  if (isExportDelimiter(reader.delimiter)) return reader.delimiter
  throw new SluiceError({ id: 'export_delimiter_of_source', delimiter: reader.delimiter })
}

/** Exports what a load test measured; its rows have no results of their own. */
function exportLoad(view: RunFamily, file: string): Promise<ExportResult> {
  return writeLoadReport({
    file,
    report: removeQuotes(view, readLoadReport(view)),
    intervals: readIntervals(view),
    samples: readSamplePages(view),
  })
}

/** Removes quotes of rows from messages, since these files hold no content of rows. */
function removeQuotes({ db }: RunFamily, report: LoadReport): LoadReport {
  const select = db.prepare('SELECT cells FROM row WHERE id = ?')
  const { firstRequest, stopReason } = report
  const toRemover = (row: number | undefined) => {
    const cells = row === undefined ? undefined : select.get(row)?.['cells']
    return createQuoteRemover(cells === undefined ? [] : parseCells(String(cells)))
  }
  const ofFirst = toRemover(firstRequest?.row)
  return {
    ...report,
    stopReason: stopReason === null ? null : ofFirst(stopReason),
    errors: report.errors.map((error) => ({ ...error, message: toRemover(error.row)(error.message) })),
    ...(firstRequest !== undefined && {
      firstRequest: {
        ...firstRequest,
        message: firstRequest.message === null ? null : ofFirst(firstRequest.message),
      },
    }),
  }
}

/** The run's load as a k6 project that sends the same bodies at the same rates. */
function toK6Project({ db, record }: RunView): Omit<K6Project, 'folder'> {
  const { plan, columns, runToken, appVersion } = record
  const { connection, operation, load } = plan
  if (load === undefined || operation.kind !== 'task') {
    throw new SluiceError({ id: 'k6_needs_load', runId: record.runId })
  }
  const mapRow = createRowMapper(plan, columns, runToken)
  return { plan: { connection, operation, load }, appVersion, bodies: readBodies(db, mapRow) }
}

/** Bodies of the rows to send, a page at a time. */
function* readBodies(db: DatabaseSync, mapRow: MapRow): Generator<Record<string, unknown>[]> {
  const page = db.prepare(
    'SELECT id, cells, kinds FROM row WHERE id > ? AND item IS NOT NULL ORDER BY id LIMIT 500',
  )
  let last = 0
  for (let rows = page.all(last); rows.length > 0; rows = page.all(last)) {
    last = Number(rows.at(-1)?.['id'])
    yield rows.map(({ id, cells, kinds }) => {
      const own = kinds === null ? null : String(kinds)
      return mapRow(Number(id), JSON.parse(String(cells)) as string[], own).body
    })
  }
}

function* readIntervals({ db }: RunView): Generator<HlogInterval[]> {
  for (const page of readLoadSeconds(db)) {
    yield page.flatMap((second) =>
      Object.entries(second.histograms).map(([series, histogram]) => ({
        metric: series as TrendMetric,
        startS: second.extras.second,
        lengthS: 1,
        maxMs: decodeHistogram(histogram).maxValue / 1000,
        histogram: toToolFormat(histogram),
      })),
    )
  }
}

function* readSamplePages(view: RunView): Generator<NumberedSample[]> {
  const toPlace = createPlaceReader(view.db)
  // Requests that ended later are in none of the load's figures.
  const cutOffMs = readCutOffMs(view)
  for (const sample of readSamples(view.db)) {
    const endMs = sample.sentMs + (sample.httpReqDurationMs ?? 0)
    if (cutOffMs === null || endMs < cutOffMs)
      yield [{ ...sample, ...toRowAndRecord(sample.row, toPlace(sample.row)) }]
  }
}

/** Throws `BAD_USAGE` if a file to write is one that a run, a retry of it or the labels were read from. */
export function refuseSource(
  view: { record: Pick<RunView['record'], 'plan'>; whole?: readonly Pick<RunView, 'record'>[] },
  file: string,
  labels?: LabelsFile,
): void {
  for (const { record } of [view, ...(view.whole ?? [])]) refuseReplacing(record.plan.source, file, 'run')
  if (labels !== undefined) refuseReplacing(labels.source, file, 'labels')
}

function refuseReplacing(source: PlanSource, file: string, of: 'run' | 'labels'): void {
  const replaced = findReplacedSource(source, file)
  if (replaced !== null) throw new SluiceError({ id: 'export_over_source', file, of, ...replaced })
}
