import { setImmediate } from 'node:timers/promises'
import { FOLDER_COLUMNS } from '../../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import type { ReadAs } from '../../../../shared/run/read-as.ts'
import { toGroups } from '../../../../shared/to-groups.ts'
import { resolveEncoding } from '../decoding/text-reader.ts'
import type { SourceBatch, SourceReader } from '../source-reader.ts'
import { readFolderRow } from './folder-row.ts'
import { SkippedFiles } from './skipped-files.ts'
import { type FolderEntry, walkFolder } from './walk-folder.ts'

/** Files read at once, and most files of a batch. */
const FILES_AT_ONCE = 32

/** Text after which a batch ends, UTF-16 code units. */
const BATCH_CHARACTERS = 1024 * 1024

/** Entries of a walk between which other events get their turn. */
const ENTRIES_AT_ONCE = 500

/**
 * Opens a folder: one row per file in it and its subfolders, in path order, without hidden ones. A text file
 * fills `text_data`, a JSON file `request`, a media file `media` with its path; texts are decoded like CSV
 * files. A file that cannot be sent becomes a row with an error, so that none is left out silently. Throws
 * `BAD_SOURCE` for what is not a readable folder, and for one without a file.
 */
export async function openFolderSource(source: PlanSource): Promise<SourceReader> {
  const { path, encoding } = source
  if (encoding !== undefined && resolveEncoding(encoding) === null) {
    throw new SluiceError({ id: 'source_encoding_unknown', source: path, encoding })
  }
  const { sizeBytes, skipped } = await measureFolder(path)
  let encodings: NonNullable<ReadAs['encodings']> = []
  const place = {
    root: path,
    encoding,
    onText(first: string, name: string, by: SourceReader['encodingBy']) {
      const known = encodings.find((one) => one.name === name && one.by === by)
      if (known === undefined) encodings.push({ name, by, files: 1, first })
      else {
        known.files += 1
        // Files are read in parallel.
        if (first < known.first) known.first = first
      }
    },
  }

  async function* batches(): AsyncGenerator<SourceBatch, void, undefined> {
    let row = 0
    encodings = []
    let bytesRead = 0
    let rows: SourceBatch['rows'] = []
    let characters = 0
    for (const entries of toGroups(walkFolder(path), FILES_AT_ONCE)) {
      const first = row
      const read = await Promise.all(
        entries.map((entry, index) => readFolderRow(first + index + 1, entry, place)),
      )
      row += entries.length
      bytesRead += entries.reduce((sum, entry) => sum + toSize(entry), 0)
      rows.push(...read)
      characters += read.reduce(
        (sum, { cells }) => sum + cells.reduce((all, cell) => all + cell.length, 0),
        0,
      )
      if (characters >= BATCH_CHARACTERS || rows.length >= ENTRIES_AT_ONCE) {
        yield { rows, bytesRead }
        rows = []
        characters = 0
      }
    }
    if (rows.length > 0) yield { rows, bytesRead }
  }

  return {
    format: 'folder',
    columns: FOLDER_COLUMNS,
    header: null,
    workbook: null,
    sizeBytes,
    encoding: encoding ?? '',
    encodingBy: encoding === undefined ? 'strict' : 'given',
    delimiter: '',
    delimiterBy: 'ending',
    batches,
    describe: () =>
      encodings.length === 0
        ? {}
        : {
            encodings: encodings.toSorted(
              (one, other) => other.files - one.files || (one.first < other.first ? -1 : 1),
            ),
          },
    findWarnings: () => skipped.findWarnings(),
    close: () => undefined,
  }
}

/** Total bytes of the files, and the skipped ones. */
async function measureFolder(path: string): Promise<{ sizeBytes: number; skipped: SkippedFiles }> {
  let sizeBytes = 0
  const skipped = new SkippedFiles()
  let entries = 0
  try {
    for (const entry of walkFolder(path, (hidden) => skipped.note(hidden))) {
      sizeBytes += toSize(entry)
      entries += 1
      if (entries % ENTRIES_AT_ONCE === 0) await setImmediate()
    }
  } catch (cause) {
    const system = toSystemCode(cause) ?? 'unknown'
    throw new SluiceError({ id: 'folder_unreadable', source: path, system }, { cause })
  }
  if (entries === 0) {
    throw new SluiceError({ id: 'folder_is_empty', source: path })
  }
  return { sizeBytes, skipped }
}

function toSize(entry: FolderEntry): number {
  return entry.kind === 'file' ? entry.sizeBytes : 0
}
