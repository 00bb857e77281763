import type { PlanSource } from '../../../shared/plan/plan.ts'
import { type RowPlace, toSourcePlace } from '../../../shared/plan/source-place.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import { findHeaderDoubt } from './header.ts'
import { openSource } from './open-source.ts'

/** The first `limit` rows of a source and how it is read. Throws `BAD_SOURCE` as {@link openSource} does. */
export async function previewSource(source: PlanSource, limit: number): Promise<SourcePreview> {
  const reader = await openSource(source, { isPreview: true })
  try {
    const rows: SourcePreview['rows'] = []
    const problems: Problem[] = []
    let noted: RowPlace | undefined
    reading: for await (const batch of reader.batches()) {
      const notes = [...(batch.places ?? [])]
      for (const { row, cells, problems: found } of batch.rows) {
        if (rows.length >= limit) break reading
        while (notes[0] !== undefined && notes[0].row <= row) noted = notes.shift()
        const place = toSourcePlace(row, noted)
        rows.push({ row, place, cells })
        problems.push(...found.map((problem) => ({ ...problem, place })))
      }
    }
    const { workbook } = reader
    const isTable = reader.format === 'csv' || reader.format === 'tsv' || reader.format === 'xlsx'
    // Who names the header's row has looked at it.
    const doubt =
      isTable && source.header && source.headerRow === undefined
        ? findHeaderDoubt(reader.columns, rows)
        : null
    return {
      columns: [...reader.columns],
      rows,
      encoding: reader.encoding,
      encodingBy: reader.encodingBy,
      delimiter: reader.delimiter,
      delimiterBy: reader.delimiterBy,
      header: source.header,
      format: reader.format,
      ...(workbook === null ? {} : { sheets: [...workbook.sheets], sheet: workbook.sheet }),
      problems: doubt === null ? problems : [doubt, ...problems],
      sizeBytes: reader.sizeBytes,
    }
  } finally {
    reader.close()
  }
}
