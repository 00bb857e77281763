import type { z } from 'zod'
import {
  UPLOAD_FOLDER_PATH,
  UPLOAD_PATH,
  uploadedFolderSchema,
  uploadedPartSchema,
} from '../../shared/bridge/browser-files.ts'
import { type ChosenSource, chosenSourceSchema } from '../../shared/bridge/source.ts'
import { isErrorMessage } from '../../shared/messages/error-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { parseJson } from '../../shared/service/parse-json.ts'
import { bridge, findDesktopApi } from './client.ts'

/** Progress of an upload in bytes; for a folder, also in files. */
export interface UploadProgress {
  sent: number
  total: number
  files?: { sent: number; total: number }
}

/** Thrown for dropped items that are not on disk, such as a mail attachment. */
function toNoFileError(name: string): SluiceError {
  return new SluiceError({ id: 'file_not_here', name })
}

/**
 * Makes a chosen file readable for the engine: in place on the desktop, by an upload in a browser. Throws a
 * `SluiceError` with instructions.
 */
export async function takeFile(
  file: File,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<ChosenSource> {
  const desktop = findDesktopApi()
  if (desktop === null) {
    return upload({
      url: `${UPLOAD_PATH}?name=${encodeURIComponent(file.name)}`,
      body: file,
      name: file.name,
      schema: chosenSourceSchema,
      onSent: (sent) => onProgress({ sent, total: file.size }),
      signal,
    })
  }
  const source = await desktop.takeFile(file)
  if (source === null) throw toNoFileError(file.name)
  return source
}

/** An item that a person chose or dropped: a file, or a folder that a browser has read. */
export type Chosen = File | BrowserFolder | Promise<BrowserFolder>

/** Turns everything chosen at once into one source, sorted by name. Throws a `SluiceError` with advice. */
export async function takeAll(
  chosen: readonly Chosen[],
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<ChosenSource> {
  const parts = (await Promise.all(chosen)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const sizes = parts.map((part) => ('files' in part ? sumSizes(part.files) : part.size))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const sources: ChosenSource[] = []
  let before = 0
  for (const [index, part] of parts.entries()) {
    const tell = ({ sent }: UploadProgress) =>
      onProgress({ sent: before + sent, total, files: { sent: index, total: parts.length } })
    sources.push('files' in part ? await takeFolder(part, tell, signal) : await takeFile(part, tell, signal))
    before += sizes[index] ?? 0
  }
  return bridge.source.unite({ sourceIds: sources.map(({ sourceId }) => sourceId) })
}

function sumSizes(files: BrowserFolder['files']): number {
  return files.reduce((sum, { file }) => sum + file.size, 0)
}

/** Concurrent uploads; more would only share the same disk. */
const AT_ONCE = 4

/** A folder from a browser: its files, each with its path inside. */
export interface BrowserFolder {
  name: string
  files: { path: string; file: File }[]
}

/** The folder from a folder input; null if it has no files, since browsers list only files. */
export function toBrowserFolder(files: readonly File[]): BrowserFolder | null {
  const [name] = files[0]?.webkitRelativePath.split('/') ?? []
  if (name === undefined || name === '') return null
  return {
    name,
    files: files.map((file) => ({ path: file.webkitRelativePath.slice(name.length + 1), file })),
  }
}

/** The dropped items. A folder's files are listed; the desktop reads the folder in place by its path. */
export function listDropped({ items, files }: DataTransfer): Chosen[] {
  if (findDesktopApi() !== null) return [...files]
  return [...items].flatMap((item): Chosen[] => {
    const entry = item.webkitGetAsEntry()
    if (entry !== null && isDirectory(entry)) return [readDroppedFolder(entry)]
    const file = item.getAsFile()
    return file === null ? [] : [file]
  })
}

async function readDroppedFolder(entry: FileSystemDirectoryEntry): Promise<BrowserFolder> {
  const files: BrowserFolder['files'] = []
  const read = async (folder: FileSystemDirectoryEntry, prefix: string) => {
    const reader = folder.createReader()
    // A reader returns its entries in batches, and an empty batch at the end.
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

/** Uploads a chosen folder's files, so that the engine can read them. Throws a `SluiceError` with advice. */
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
    schema: uploadedFolderSchema,
    onSent: () => {},
    signal,
  })
  const total = sumSizes(files)
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
        schema: uploadedPartSchema,
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

/**
 * Sends one file, or nothing if `body` is null, to an address of this page's own origin, and returns the
 * parsed answer. Throws a `SluiceError` with instructions, or an `AbortError`.
 */
function upload<T>(options: {
  url: string
  body: File | null
  /** The person's name for it. */
  name: string
  schema: z.ZodType<T>
  onSent: (sentBytes: number) => void
  signal: AbortSignal
}): Promise<T> {
  const { body, signal } = options
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  // XMLHttpRequest instead of fetch: only it reports upload progress, and streams from disk in every browser.
  const request = new XMLHttpRequest()
  const fail = () => reject(toUploadError(options.name, request))
  request.open('PUT', options.url)
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.upload.addEventListener('progress', (event) => options.onSent(event.loaded))
  request.addEventListener('load', () => {
    const answer = options.schema.safeParse(parseJson(request.responseText))
    if (request.status === 201 && answer.success) resolve(answer.data)
    else fail()
  })
  request.addEventListener('error', fail)
  request.addEventListener('abort', () => reject(new DOMException('The upload was given up', 'AbortError')))
  signal.addEventListener('abort', () => request.abort(), { once: true })
  if (signal.aborted) reject(new DOMException('The upload was given up', 'AbortError'))
  else request.send(body)
  return promise
}

function toUploadError(name: string, request: XMLHttpRequest): SluiceError {
  const answer = parseJson(request.responseText)
  return new SluiceError(isErrorMessage(answer) ? answer : { id: 'upload_failed', name })
}
