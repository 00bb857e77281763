import { extname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import {
  type BatchExportFormat,
  findRowFormat,
  isBatchFormat,
  isTextFormat,
  type RowExportFormat,
} from '../../../../shared/run/export-formats.ts'
import type { ExportRow } from '../../../../shared/run/results.ts'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { createCsvWriter, type ReportOptions, type ReportWriter } from './csv-report.ts'
import { createJsonlWriter } from './jsonl-report.ts'
import { writeXlsx } from './xlsx-report.ts'

const TEXT_WRITERS: Record<'csv' | 'jsonl', (options: ReportOptions) => ReportWriter> = {
  csv: createCsvWriter,
  jsonl: createJsonlWriter,
}

/**
 * The format of a file's name, apart from `.gz`. Throws `BAD_USAGE` for any other ending and for batch
 * formats, which have no place for what a report adds to rows.
 */
export function findReportFormat(file: string): RowExportFormat {
  const format = findRunFormat(file)
  if (isBatchFormat(format)) throw new SluiceError({ id: 'export_batch_of_run', file })
  return format
}

/** The same for the rows of a run alone, which also have batch formats. */
export function findRunFormat(file: string): RowExportFormat | BatchExportFormat {
  const found = findRowFormat(file)
  if (found?.isGzip && !isTextFormat(found.format)) throw new SluiceError({ id: 'export_gzip_of_text', file })
  if (found !== null) return found.format
  throw new SluiceError({ id: 'export_ending', file, ending: extname(file).toLowerCase() })
}

/**
 * Writes rows to a file, page by page in constant memory, in the given format or by its ending, compressed if
 * its name ends in `.gz`. An existing file is replaced once the new one is complete. Throws `BAD_USAGE`,
 * `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeReport(
  options: ReportOptions & {
    file: string
    format?: RowExportFormat
    /** Replaces the format's own writer. */
    writer?: ReportWriter
    pages: Iterable<readonly ExportRow[]> | AsyncIterable<readonly ExportRow[]>
  },
): Promise<ExportResult> {
  const { file } = options
  const format = options.format ?? (options.writer === undefined ? findReportFormat(file) : 'jsonl')
  let rows = 0
  async function* countRows() {
    for await (const page of options.pages) {
      rows += page.length
      yield page
    }
  }
  const writer =
    options.writer ?? (format === 'csv' || format === 'jsonl' ? TEXT_WRITERS[format](options) : null)
  const pieces = writer === null ? writeTable(format, options, countRows()) : writeText(writer, countRows())
  try {
    const sizeBytes = await replaceFile(file, async (append) => {
      for await (const piece of findRowFormat(file)?.isGzip ? compress(pieces) : pieces) await append(piece)
    })
    const guardedCells = writer?.guardedCells ?? 0
    const leftOut = writer?.leftOut ?? 0
    return {
      file,
      rows: rows - leftOut,
      sizeBytes,
      ...(guardedCells > 0 && { guardedCells }),
      ...(leftOut > 0 && { leftOut }),
    }
  } catch (error) {
    throw toFileError(file, error)
  }
}

/** The same pieces in the gzip format. */
function compress(pieces: AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  // Errors on the way are thrown to the reader of the result.
  return pipeline(Readable.from(pieces, { objectMode: false }), createGzip(), () => {})
}

async function* writeTable(
  format: RowExportFormat,
  options: ReportOptions,
  pages: AsyncIterable<readonly ExportRow[]>,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Most exports need no Parquet, whose library is not small.
  const write = format === 'xlsx' ? writeXlsx : (await import('./parquet-report.ts')).writeParquet
  yield* write(options, pages)
}

async function* writeText(
  writer: ReportWriter,
  pages: AsyncIterable<readonly ExportRow[]>,
): AsyncGenerator<string, void, undefined> {
  let piece = writer.header()
  for await (const page of pages) {
    for (const result of page) {
      piece += writer.row(result)
      if (piece.length < PIECE_CHARACTERS) continue
      yield piece
      piece = ''
    }
  }
  yield piece + (writer.end?.() ?? '')
}

/** Approximate length of pieces in which text is written, UTF-16 code units; larger ones take longer. */
const PIECE_CHARACTERS = 64 * 1024
