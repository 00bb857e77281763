import {
  UPLOAD_FOLDER_PATH,
  UPLOAD_PATH,
  uploadedFolderSchema,
  uploadedPartSchema,
} from '../../shared/bridge/browser-files.ts'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { UploadProgress } from './take-file.ts'
import { upload } from './upload.ts'

/** Files on their way at once; more would only share the same disk. */
const AT_ONCE = 4

/** A folder as a browser hands it over: its files, each by its path inside. */
export interface BrowserFolder {
  name: string
  files: { path: string; file: File }[]
}

/** The folder that a folder input was given; null where it has no files, which is all that a browser tells of. */
export function toBrowserFolder(files: readonly File[]): BrowserFolder | null {
  const [name] = files[0]?.webkitRelativePath.split('/') ?? []
  if (name === undefined || name === '') return null
  return {
    name,
    files: files.map((file) => ({ path: file.webkitRelativePath.slice(name.length + 1), file })),
  }
}

/** Reads a dropped folder with all that is in it. */
export async function readDroppedFolder(entry: FileSystemDirectoryEntry): Promise<BrowserFolder> {
  const files: BrowserFolder['files'] = []
  const read = async (folder: FileSystemDirectoryEntry, prefix: string) => {
    const reader = folder.createReader()
    // A reader gives its entries in batches, and an empty one at the end.
    for (let batch = await readBatch(reader); batch.length > 0; batch = await readBatch(reader)) {
      for (const one of batch) {
        if (isDirectory(one)) await read(one, `${prefix}${one.name}/`)
        else if (isFile(one)) files.push({ path: prefix + one.name, file: await toFile(one) })
      }
    }
  }
  await read(entry, '')
  return { name: entry.name, files }
}

/** Makes a chosen folder readable for the engine by sending its files. Throws a `SluiceError` that says what to do. */
export async function takeFolder(
  folder: BrowserFolder,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<ChosenSource> {
  const { name, files } = folder
  if (files.length === 0) {
    throw new SluiceError({ id: 'dropped_folder_empty', name })
  }
  const opened = await upload({
    url: `${UPLOAD_FOLDER_PATH}?name=${encodeURIComponent(name)}`,
    body: null,
    name,
    parse: (answer) => uploadedFolderSchema.safeParse(answer).data ?? null,
    onSent: () => {},
    signal,
  })
  const total = files.reduce((sum, { file }) => sum + file.size, 0)
  let sent = 0
  let done = 0
  const tell = (partBytes: number) =>
    onProgress({ sent: sent + partBytes, total, files: { sent: done, total: files.length } })
  const waiting = files.values()
  const sendOnes = async () => {
    for (const { path, file } of waiting) {
      await upload({
        url: `${UPLOAD_PATH}?folder=${opened.folder}&name=${encodeURIComponent(path)}`,
        body: file,
        name: path,
        parse: (answer) => uploadedPartSchema.safeParse(answer).data ?? null,
        onSent: tell,
        signal,
      })
      sent += file.size
      done += 1
      tell(0)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendOnes))
  return { sourceId: opened.sourceId, name: opened.name, sizeBytes: total }
}

function readBatch(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject))
}

function toFile(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}
