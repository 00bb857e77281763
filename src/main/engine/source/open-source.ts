import { statSync } from 'node:fs'
import { extname } from 'node:path'
import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import {
  findFormatOfEnding,
  getFormatTraits,
  removePackedEnding,
  type SourceFormat,
} from '../../../shared/plan/source-formats.ts'
import { openDelimitedSource } from './csv/delimited-source.ts'
import { DetectorMissing, loadDetector } from './decoding/encoding.ts'
import { describeReading } from './describe-reading.ts'
import { unpackGzip } from './gzip.ts'
import { openJsonLinesSource } from './jsonl/json-lines-source.ts'
import type { SourceReader } from './source-reader.ts'
import { watchTableEdges } from './table-edges.ts'
import { findTables, isFolder } from './tables/tables.ts'
import { openUnitedSource } from './tables/united-source.ts'

/** Options of reading that {@link openSource} otherwise chooses. */
export interface OpenSourceOptions {
  /** Size of one read of a text file (default: 65,536 bytes); rows do not depend on it. */
  readBytes?: number
  /** Whether only the first rows are needed: nothing is searched for in all of a long file. */
  isPreview?: boolean
  /** Path of the file's bytes, if that is an unpacked copy. */
  contentPath?: string
  /** Whether only the name suggests the format, so that the content may be another of the same kind. */
  isFormatGuessed?: boolean
}

/**
 * Opens a source: several files, and folders of tables, one after another, each with the reader of its
 * format, taken from the plan, the path or the name's ending; a gzip file is first unpacked into a copy that
 * lasts as long as the reader. Throws `BAD_SOURCE` for what cannot be read as rows; the readers say more.
 */
export async function openSource(source: PlanSource, options: OpenSourceOptions = {}): Promise<SourceReader> {
  const tables = await findTables(source)
  /** Files may be opened several times, and must not change in between. */
  const states = new Map<string, string | null>()
  const open = (one: PlanSource) => {
    const state = states.get(one.path) ?? readState(one.path)
    states.set(one.path, state)
    return openOne(one, state, options)
  }
  if (tables === null) return open(source)
  const { more: _more, ...reading } = source
  return openUnitedSource(
    tables,
    ({ path }) => open({ ...reading, path }),
    (reader) => describeReading(reader, reading),
    options.isPreview,
  )
}

/** Size and time of a file, to detect writes; null if it is not a file. */
function readState(path: string): string | null {
  try {
    const found = statSync(path)
    return found.isFile() ? `${found.size} ${found.mtimeMs}` : null
  } catch {
    return null
  }
}

async function openOne(
  source: PlanSource,
  state: string | null,
  options: OpenSourceOptions,
): Promise<SourceReader> {
  const reader = await openFile(source, options)
  const findWarnings = reader.findWarnings
  reader.findWarnings = (isSent) => {
    const changed: SourceWarning[] =
      readState(source.path) === state ? [] : [{ severity: 'warning', code: 'source_changed' }]
    return [...(findWarnings?.(isSent) ?? []), ...changed]
  }
  if (!getFormatTraits(reader.format).hasHeader) return reader
  const readBatches = reader.batches
  reader.batches = () => watchTableEdges(readBatches(), reader.header)
  return reader
}

async function openFile(source: PlanSource, options: OpenSourceOptions): Promise<SourceReader> {
  const unpacked = await unpackGzip(source.path)
  if (unpacked === null) return openUnpacked(source, options)
  try {
    const reader = await openUnpacked(source, { ...options, contentPath: unpacked.path })
    // Except on Windows, an open file can be read without a name; then nothing stays behind after a crash.
    if (process.platform !== 'win32') unpacked.remove()
    const close = reader.close
    reader.close = () => {
      close()
      unpacked.remove()
    }
    return reader
  } catch (error) {
    unpacked.remove()
    throw error
  }
}

async function openUnpacked(source: PlanSource, options: OpenSourceOptions): Promise<SourceReader> {
  try {
    return await openByFormat(source, options)
  } catch (error) {
    if (!(error instanceof DetectorMissing)) throw error
    await loadDetector()
    return openByFormat(source, options)
  }
}

type OpenReader = (source: PlanSource, options: OpenSourceOptions) => SourceReader | Promise<SourceReader>

/** Readers that need large libraries are loaded when the first source of their format is opened. */
const READERS: Record<SourceFormat, OpenReader> = {
  csv: openDelimited,
  tsv: openDelimited,
  xlsx: async (source, options) =>
    (await import('./xlsx/spreadsheet-source.ts')).openSpreadsheetSource(source, options),
  jsonl: openJsonLinesSource,
  'openai-batch': openJsonLinesSource,
  async folder(source) {
    // Any of its files may need it when rows are read.
    await loadDetector()
    return (await import('./folder/folder-source.ts')).openFolderSource(source)
  },
}

async function openByFormat(source: PlanSource, options: OpenSourceOptions): Promise<SourceReader> {
  const format = findSourceFormat(source)
  return READERS[format]({ ...source, format }, { ...options, isFormatGuessed: source.format === undefined })
}

function openDelimited(source: PlanSource, { readBytes, contentPath }: OpenSourceOptions): SourceReader {
  return openDelimitedSource(source, readBytes, contentPath)
}

/** The format given by the person, else that of a folder, else that of the name's ending, else CSV. */
export function findSourceFormat({ path, format }: Pick<PlanSource, 'path' | 'format'>): SourceFormat {
  if (format !== undefined) return format
  return isFolder(path) ? 'folder' : (findFormatOfEnding(extname(removePackedEnding(path))) ?? 'csv')
}
