import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import { getFormatTraits } from '../../../shared/plan/source-formats.ts'
import { type Problem, toFound } from '../../../shared/run/problem.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import { describeFiles } from './describe-reading.ts'
import { openSource } from './open-source.ts'
import { createBatchPlaces } from './source-reader.ts'

/** The first `limit` rows of a source and how it is read. Throws `BAD_SOURCE` as {@link openSource} does. */
export async function previewSource(source: PlanSource, limit: number): Promise<SourcePreview> {
  const reader = await openSource(source, { isPreview: true })
  try {
    const rows: SourcePreview['rows'] = []
    const problems: Problem[] = []
    const findPlace = createBatchPlaces()
    reading: for await (const batch of reader.batches()) {
      const toPlace = findPlace(batch)
      for (const { row, cells, problems: found } of batch.rows) {
        if (rows.length >= limit) break reading
        const place = toPlace(row)
        rows.push({ row, place, cells })
        problems.push(...found.map((problem) => ({ ...problem, place })))
      }
    }
    const { workbook } = reader
    // Who names the header's row has looked at it.
    const doubt =
      getFormatTraits(reader.format).hasHeader &&
      source.header &&
      source.headerRow === undefined &&
      reader.likelyHeaderRow == null
        ? findHeaderDoubt(reader.columns, rows)
        : null
    return {
      columns: [...reader.columns],
      rows,
      encoding: reader.encoding,
      encodingBy: reader.encodingBy,
      ...(reader.encodingReadings?.length && { encodingReadings: [...reader.encodingReadings] }),
      delimiter: reader.delimiter,
      delimiterBy: reader.delimiterBy,
      ...reader.quoting,
      header: source.header,
      ...(reader.likelyHeaderRow != null && { likelyHeaderRow: reader.likelyHeaderRow }),
      format: reader.format,
      readAs: [...describeFiles(reader, source)],
      ...(workbook === null
        ? {}
        : { sheets: [...workbook.sheets], sheet: workbook.sheet, sheetRows: [...workbook.rows] }),
      ...(reader.files !== undefined && {
        files: reader.files.map(({ encodingReadings, ...file }) => ({
          ...file,
          ...(encodingReadings !== undefined && { encodingReadings: [...encodingReadings] }),
        })),
      }),
      ...(reader.ownExport == null ? {} : { ownExport: reader.ownExport }),
      problems: doubt === null ? problems : [doubt, ...problems],
      sizeBytes: reader.sizeBytes,
    }
  } finally {
    reader.close()
  }
}

/**
 * A warning where the line that is taken for the header looks like a row, which would then be lost: one of its cells
 * is an address, a moment or a long text above others of its kind, or a value that the column has again and again.
 * Null where nothing speaks for it.
 */
function findHeaderDoubt(
  header: readonly string[],
  rows: readonly { cells: readonly string[] }[],
): FoundProblem | null {
  const others = rows
    .slice(0, ROWS)
    .filter(({ cells }) => header.some((name, index) => cells[index] !== name))
  const isDoubtful = header.some((name, index) => {
    if (name === '') return false
    const column = others.map(({ cells }) => cells[index] ?? '').filter((cell) => cell !== '')
    const isAbove = (isKind: (cell: string) => boolean) =>
      isKind(name) && column.length > 0 && column.filter(isKind).length >= 0.8 * column.length
    return (
      column.filter((cell) => cell === name).length >= 2 ||
      name.length > LONG_CHARACTERS ||
      DATA.some((pattern) => isAbove((cell) => pattern.test(cell)))
    )
  })
  if (!isDoubtful) return null
  return {
    row: 1,
    severity: 'warning',
    code: 'header_like_data',
    found: toFound(header.join(' | ')),
  }
}

/** Rows that a header is held against. */
const ROWS = 100

/** Names of columns are shorter than this. */
const LONG_CHARACTERS = 120

const DATA = [
  /^https?:\/\/\S+$/i,
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
]
