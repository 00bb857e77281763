import type { PlanSource } from '../../../shared/plan.ts'
import type { Problem } from '../../../shared/problem.ts'
import type { SourcePreview } from '../../../shared/results.ts'
import { openSource } from './open-source.ts'

/** The first `limit` rows of a source and how it is read. Throws `BAD_SOURCE` as {@link openSource} does. */
export function previewSource(source: PlanSource, limit: number): SourcePreview {
  const reader = openSource(source)
  try {
    const rows: SourcePreview['rows'] = []
    const problems: Problem[] = []
    reading: for (const batch of reader.batches()) {
      for (const { row, cells, problems: found } of batch.rows) {
        if (rows.length >= limit) break reading
        rows.push({ row, cells })
        problems.push(...found)
      }
    }
    return {
      columns: [...reader.columns],
      rows,
      encoding: reader.encoding,
      encodingBy: reader.encodingBy,
      delimiter: reader.delimiter,
      delimiterBy: reader.delimiterBy,
      header: source.header,
      problems,
      sizeBytes: reader.sizeBytes,
    }
  } finally {
    reader.close()
  }
}
