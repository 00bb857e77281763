import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { isInside, toFilePath } from './addresses.ts'

/** Which part of a file a request wants, and which copy it already has. */
export interface MediaConditions {
  isHead: boolean
  range: string | undefined
  ifRange: string | undefined
  ifNoneMatch: string | undefined
  ifModifiedSince: string | undefined
}

/** The answer to a request for a file; `lastByte` is inclusive, and -1 if the file is empty. */
export type MediaAnswer =
  | { status: 200 | 206; firstByte: number; lastByte: number }
  | { status: 304 }
  | { status: 416 }

/**
 * Decides what to send, by RFC 9110 §13.2.2 and §14.2: the whole file, a part of it, or nothing. Several
 * ranges at once get the whole file, which every client must handle.
 */
export function toMediaAnswer(
  file: { sizeBytes: number; modifiedAtMs: number; etag: string },
  conditions: MediaConditions,
): MediaAnswer {
  const { isHead, range, ifRange, ifNoneMatch, ifModifiedSince } = conditions
  const isUnchanged =
    ifNoneMatch === undefined ? isNotNewer(file, ifModifiedSince) : isListed(file.etag, ifNoneMatch)
  if (isUnchanged) return { status: 304 }
  const whole = { status: 200, firstByte: 0, lastByte: file.sizeBytes - 1 } as const
  const part = isHead || range === undefined ? null : parseRange(range)
  if (part === null || !isSame(file, ifRange)) return whole
  const lastByte = file.sizeBytes - 1
  if (part.first === null) {
    if (part.last === 0 || file.sizeBytes === 0) return { status: 416 }
    return { status: 206, firstByte: Math.max(0, file.sizeBytes - part.last), lastByte }
  }
  if (part.first > lastByte) return { status: 416 }
  return { status: 206, firstByte: part.first, lastByte: Math.min(part.last, lastByte) }
}

/** `first` is null for a suffix of `last` bytes. Null if it is not a known range, which is then ignored. */
function parseRange(range: string): { first: number | null; last: number } | null {
  const [, first, last] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') return { first: null, last: Number(last) }
  if (last === '') return { first: Number(first), last: Number.POSITIVE_INFINITY }
  return Number(first) <= Number(last) ? { first: Number(first), last: Number(last) } : null
}

function isListed(etag: string, list: string): boolean {
  return list.split(',').some((item) => ['*', etag].includes(item.trim().replace(/^W\//, '')))
}

function isNotNewer({ modifiedAtMs }: { modifiedAtMs: number }, since: string | undefined): boolean {
  const sinceMs = Date.parse(since ?? '')
  return Math.floor(modifiedAtMs / 1000) * 1000 <= sinceMs
}

/** Whether a part may be combined with what the client has; with a weak tag never. */
function isSame(file: { modifiedAtMs: number; etag: string }, ifRange: string | undefined): boolean {
  if (ifRange === undefined) return true
  if (/^(W\/)?"/.test(ifRange)) return ifRange === file.etag
  return Date.parse(ifRange) === Math.floor(file.modifiedAtMs / 1000) * 1000
}

export interface MediaFile {
  handle: FileHandle
  sizeBytes: number
  modifiedAtMs: number
  etag: string
}

// Opening a pipe must not wait for its writer.
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Opens the file at a path inside a folder (a real path); null if it is not a regular file or is outside the
 * folder. Links to the inside are followed. The caller closes the handle.
 */
export async function openMediaFile(folder: string, path: string): Promise<MediaFile | null> {
  const filePath = toFilePath(folder, path)
  if (filePath === null) return null
  const handle = await open(filePath, READ_WITHOUT_WAITING).catch(() => null)
  if (handle === null) return null
  const file = await checkOpened(handle, folder, filePath).catch(() => null)
  if (file === null) await handle.close()
  return file
}

/**
 * Checks the opened file, not the path: swapping a link after opening changes the path, never the handle.
 * Ensures that the path now leads to a file inside the folder, and that this is the open file.
 */
export async function checkOpened(
  handle: FileHandle,
  folder: string,
  filePath: string,
): Promise<MediaFile | null> {
  const opened = await handle.stat({ bigint: true })
  if (!opened.isFile()) return null
  const real = await realpath(filePath)
  if (!isInside(folder, real)) return null
  // Links are not followed: any link here was created after the path was resolved.
  const named = await lstat(real, { bigint: true })
  if (named.ino !== opened.ino || named.dev !== opened.dev) return null
  return {
    handle,
    sizeBytes: Number(opened.size),
    modifiedAtMs: Number(opened.mtimeMs),
    etag: `"${opened.ino.toString(36)}-${opened.size.toString(36)}-${opened.mtimeNs.toString(36)}"`,
  }
}

export function toFileHeaders({
  etag,
  modifiedAtMs,
}: Pick<MediaFile, 'etag' | 'modifiedAtMs'>): Record<string, string> {
  return {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    // A page or a drawing among the files must not run anything in a browser that shows it.
    'content-security-policy': "default-src 'none'; sandbox",
    etag,
    'last-modified': new Date(modifiedAtMs).toUTCString(),
    'x-content-type-options': 'nosniff',
  }
}
