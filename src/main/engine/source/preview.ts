import type { PlanSource } from '../../../shared/plan/plan.ts'
import { getFormatTraits } from '../../../shared/plan/source-formats.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import { describeFiles } from './describe-reading.ts'
import { findHeaderDoubt, mayDoubtHeader } from './header-doubt.ts'
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
    const { likelyHeaderRow = null } = reader
    const doubt =
      getFormatTraits(reader.format).hasHeader && mayDoubtHeader(source, likelyHeaderRow)
        ? findHeaderDoubt(
            reader.columns,
            rows.map(({ cells }) => cells),
          )
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
      ...(reader.links?.length && {
        links: reader.links.map(({ name, linkName, cell }) => ({ name, linkName, cell })),
      }),
      ...(reader.rowsInKeys?.length && { rowsInKeys: [...reader.rowsInKeys] }),
      ...(reader.likelyHeaderRow != null && { likelyHeaderRow: reader.likelyHeaderRow }),
      format: reader.format,
      readAs: [...describeFiles(reader, source)],
      ...(workbook === null
        ? {}
        : {
            sheets: [...workbook.sheets],
            sheet: workbook.sheet,
            sheetRows: [...workbook.rows],
            hiddenSheets: [...workbook.hidden],
          }),
      ...(reader.files !== undefined && {
        files: reader.files.map(({ encodingReadings, ...file }) => ({
          ...file,
          ...(encodingReadings !== undefined && { encodingReadings: [...encodingReadings] }),
        })),
      }),
      ...(reader.ownExport == null ? {} : { ownExport: reader.ownExport }),
      problems: doubt === null ? problems : [{ row: 1, ...doubt }, ...problems],
      sizeBytes: reader.sizeBytes,
    }
  } finally {
    reader.close()
  }
}
