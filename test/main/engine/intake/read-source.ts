import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSource } from '../../../../src/main/engine/intake/open-source.ts'
import type { SourceRow } from '../../../../src/main/engine/intake/source-reader.ts'
import type { PlanSource } from '../../../../src/shared/plan.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** Writes a file into a folder of the running test and returns its path. */
export function writeSource(content: string | Uint8Array, name = 'source.csv'): string {
  const path = join(createTemporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

/** Everything a reader says about a source. */
export interface ReadSource {
  columns: readonly string[]
  rows: SourceRow[]
  cells: string[][]
  /** "code row severity" of every problem. */
  problems: string[]
  encoding: string
  encodingBy: string
  delimiter: string
  delimiterBy: string
}

/** Reads a whole file as the engine does; `readBytes` is the size of one read. */
export function readSource(
  path: string,
  options: Partial<Omit<PlanSource, 'path'>> & { readBytes?: number } = {},
): ReadSource {
  const { readBytes, ...source } = options
  const reader = openSource({ path, header: true, ...source }, readBytes === undefined ? {} : { readBytes })
  try {
    const rows = [...reader.batches()].flatMap((batch) => batch.rows)
    return {
      columns: [...reader.columns],
      rows,
      cells: rows.map((row) => row.cells),
      problems: rows.flatMap((row) =>
        row.problems.map((problem) => `${problem.code} ${problem.row} ${problem.severity}`),
      ),
      encoding: reader.encoding,
      encodingBy: reader.encodingBy,
      delimiter: reader.delimiter,
      delimiterBy: reader.delimiterBy,
    }
  } finally {
    reader.close()
  }
}

/** Writes the content and reads it. */
export function readText(
  content: string | Uint8Array,
  options: Parameters<typeof readSource>[1] & { name?: string } = {},
): ReadSource {
  const { name, ...rest } = options
  return readSource(writeSource(content, name), rest)
}
