import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { isInside, toFilePath } from './media-path.ts'

/** An open file that may be sent. */
export interface MediaFile {
  handle: FileHandle
  sizeBytes: number
  modifiedAtMs: number
  /** Changes with the file. */
  etag: string
}

// Opening a pipe must not wait for somebody who writes into it.
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Opens the file at a path inside a folder (a real path); null if it is not a regular file, or where it is outside
 * the folder. Links to the inside are followed. The caller closes the handle.
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
 * Checks what was opened, not what the path says: a link that is swapped between opening and looking changes the path,
 * never the handle. The path now leads to a file inside the folder, and that file is the one that is open.
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
  // Not followed: what is a link by now was put there after the path was resolved.
  const named = await lstat(real, { bigint: true })
  if (named.ino !== opened.ino || named.dev !== opened.dev) return null
  return {
    handle,
    sizeBytes: Number(opened.size),
    modifiedAtMs: Number(opened.mtimeMs),
    etag: `"${opened.ino.toString(36)}-${opened.size.toString(36)}-${opened.mtimeNs.toString(36)}"`,
  }
}
