import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDelimitedSource } from '../../../../src/main/engine/source/csv/delimited-source.ts'
import { loadDetector } from '../../../../src/main/engine/source/decoding/encoding.ts'
import { findSourceFormat, openSource } from '../../../../src/main/engine/source/open-source.ts'
import type {
  Quoting,
  SourceBatch,
  SourceReader,
  SourceRow,
} from '../../../../src/main/engine/source/source-reader.ts'
import { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { type SourceWarning, sayExpected } from '../../../../src/shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../src/shared/plan/plan.ts'
import type { RowPlace } from '../../../../src/shared/plan/source-place.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

// The readers that are opened here directly cannot wait for it.
await loadDetector()

/** Writes a file into a folder of the running test and returns its path. */
export function writeSource(content: string | Uint8Array, name = 'source.csv'): string {
  const path = join(createTemporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

/** Everything that a reader reports about a source. */
export interface ReadSource {
  columns: readonly string[]
  /** The source's header; null without one. */
  header: readonly string[] | null
  rows: SourceRow[]
  cells: string[][]
  /** "code row severity" of every problem. */
  problems: string[]
  /** Warnings about the source as a whole, in words, with the number of rows. */
  warnings: string[]
  hidden: { rows: number } | undefined
  /** The same warnings as stored. */
  told: readonly SourceWarning[]
  /** Positions of rows that do not follow the previous row. */
  places: RowPlace[]
  encoding: string
  encodingBy: string
  delimiter: string
  delimiterBy: string
  quoting: Quoting | undefined
}

/** Options of a source, and the size of one read. */
export type ReadOptions = Partial<Omit<PlanSource, 'path'>> & { readBytes?: number }

/** Reads a CSV or TSV file to its end; `readBytes` is the size of one read. */
export function readSource(path: string, options: ReadOptions = {}): ReadSource {
  const { readBytes, ...given } = options
  const source = { path, header: true, ...given }
  const reader = openDelimitedSource({ ...source, format: findSourceFormat(source) }, readBytes)
  try {
    const batches = [...reader.batches()]
    return toReadSource(reader, batches)
  } finally {
    reader.close()
  }
}

/** Reads a source of any format to its end, as the engine does. */
export async function readAnySource(path: string, options: ReadOptions = {}): Promise<ReadSource> {
  const { readBytes, ...source } = options
  const reader = await openSource(
    { path, header: true, ...source },
    readBytes === undefined ? {} : { readBytes },
  )
  try {
    const batches: SourceBatch[] = []
    for await (const batch of reader.batches()) batches.push(batch)
    return toReadSource(reader, batches)
  } finally {
    reader.close()
  }
}

function toReadSource(reader: SourceReader, batches: readonly SourceBatch[]): ReadSource {
  const rows = batches.flatMap((batch) => batch.rows)
  return {
    columns: [...reader.columns],
    header: reader.header,
    rows,
    cells: rows.map((row) => row.cells),
    problems: rows.flatMap((row) =>
      row.problems.map((problem) => `${problem.code} ${problem.row} ${problem.severity}`),
    ),
    warnings: (reader.findWarnings?.() ?? []).map(
      (warning) => `${warning.rows ?? 'all'}: ${sayExpected(warning, 'terminal')}`,
    ),
    hidden: reader.hidden,
    told: reader.findWarnings?.() ?? [],
    places: batches.flatMap((batch) => batch.places ?? []),
    encoding: reader.encoding,
    encodingBy: reader.encodingBy,
    delimiter: reader.delimiter,
    delimiterBy: reader.delimiterBy,
    quoting: reader.quoting,
  }
}

/** The message and hint of the `BAD_SOURCE` error when reading a source of any format. */
export async function failReadingAny(path: string, options: ReadOptions = {}): Promise<string> {
  try {
    await readAnySource(path, options)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'BAD_SOURCE') return `${error.message} | ${error.hint}`
    throw error
  }
  throw new Error('reading succeeded')
}

/** Writes the content and reads it. */
export function readText(
  content: string | Uint8Array,
  options: ReadOptions & { name?: string } = {},
): ReadSource {
  const { name, ...rest } = options
  return readSource(writeSource(content, name), rest)
}
