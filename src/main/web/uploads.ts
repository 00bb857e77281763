import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode } from '../../shared/messages/thrown.ts'
import { toUploadsFolder } from '../bridge/sources.ts'

/** Age from which leftovers of a killed shell are removed, milliseconds. */
const LEFTOVER_AGE_MS = 24 * 3_600_000

/** An uploaded file; `path` never leaves this process. */
interface StoredUpload {
  path: string
  name: string
  sizeBytes: number
}

/** Creates the store of uploads in `<workspace>/uploads`, and removes leftovers of killed shells. */
export async function createUploads(workspace: string) {
  const root = toUploadsFolder(workspace)
  await removeLeftovers(root)
  const own = new Set<string>()
  const folders = new Map<string, string>()
  const makePlace = async () => {
    const id = randomBytes(12).toString('hex')
    const place = join(root, id)
    own.add(place)
    await mkdir(place, { recursive: true, mode: 0o700 })
    return { id, place }
  }
  return {
    /** Streams a request's body to its own file. Throws `DISK_FULL`, `FILE_UNWRITABLE` or `BAD_SOURCE`. */
    async store(request: IncomingMessage, name: string): Promise<StoredUpload> {
      const safeName = toUploadName(name)
      const { place } = await withUploadErrors(root, makePlace)
      try {
        const path = join(place, safeName)
        return { path, name: safeName, sizeBytes: await writeBody(request, path) }
      } catch (error) {
        await rm(place, { recursive: true, force: true }).catch(() => {})
        own.delete(place)
        throw toUploadError(error, root)
      }
    },
    /** Makes an empty folder for {@link storeInFolder}. Throws as {@link store} does. */
    openFolder: (name: string): Promise<Omit<StoredUpload, 'sizeBytes'> & { folder: string }> =>
      withUploadErrors(root, async () => {
        const { id, place } = await makePlace()
        const safeName = toUploadName(name)
        const path = join(place, safeName)
        await mkdir(path, { mode: 0o700 })
        folders.set(id, path)
        return { path, name: safeName, folder: id }
      }),
    /** Writes a request's body to a path in a folder made here. Throws as {@link store} does. */
    storeInFolder: (request: IncomingMessage, folder: string, name: string): Promise<StoredUpload> =>
      withUploadErrors(root, async () => {
        const top = folders.get(folder)
        const safePath = toUploadPath(name)
        if (top === undefined || safePath === null)
          throw new SluiceError({ id: 'upload_name_unusable', name })
        const path = join(top, safePath)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        try {
          return { path, name: safePath, sizeBytes: await writeBody(request, path) }
        } catch (error) {
          // An existing file was complete, and stays.
          const isThere = toSystemCode(error) === 'EEXIST'
          if (!isThere) await rm(path, { force: true }).catch(() => {})
          throw error
        }
      }),
    /** Removes everything stored here; rows of runs are in their journals. */
    async clear(): Promise<void> {
      await Promise.all([...own].map((place) => rm(place, { recursive: true, force: true }).catch(() => {})))
      own.clear()
      folders.clear()
    },
  }
}

/** Files chosen in a browser, on their way into a run. */
export interface Uploads extends Awaited<ReturnType<typeof createUploads>> {}

/** Streams a request's body into a new file; returns its size in bytes. */
async function writeBody(request: IncomingMessage, path: string): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  await pipeline(request, file)
  return file.bytesWritten
}

async function withUploadErrors<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toUploadError(error, root)
  }
}

async function removeLeftovers(root: string): Promise<void> {
  const names = await readdir(root).catch(() => [])
  for (const name of names) {
    const place = join(root, name)
    const { mtimeMs } = await stat(place).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < Date.now() - LEFTOVER_AGE_MS) {
      await rm(place, { recursive: true, force: true }).catch(() => {})
    }
  }
}

/** Longest name, in bytes of UTF-8, safely within the limits of every file system. */
const LONGEST_BYTES = 200

/** Names that Windows reserves for devices, with any ending. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** A plain file name made from the browser's: no folders, control characters, hidden files or devices. */
export function toUploadName(name: string): string {
  const bare = name
    .toWellFormed()
    .replace(/^.*[\\/]/s, '')
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '-')
    .replace(/^[\s.]+|[\s.]+$/g, '')
  const safe = DEVICE.test(bare) ? `_${bare}` : bare
  return shorten(safe) || 'upload.csv'
}

/** Cuts out the middle of a long name, so that its ending stays. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST_BYTES) return name
  const ending = /\.[^.]{1,10}$/.exec(name)?.[0] ?? ''
  let stem = ''
  for (const character of name.slice(0, name.length - ending.length)) {
    if (Buffer.byteLength(stem + character + ending) > LONGEST_BYTES) break
    stem += character
  }
  return stem + ending
}

/** Longest path inside an uploaded folder, in bytes of UTF-8. */
const LONGEST_PATH_BYTES = 1_000

/**
 * A path inside an uploaded folder, its parts joined by `/` and otherwise unchanged, since media addresses
 * are made from them; null if it leaves the folder or no system could store it.
 */
function toUploadPath(path: string): string | null {
  const parts = path.split('/')
  if (parts.some(isUnusablePart) || Buffer.byteLength(path) > LONGEST_PATH_BYTES) return null
  return parts.join('/')
}

function isUnusablePart(part: string): boolean {
  if (part === '' || part === '.' || part === '..') return true
  return /[\\\p{Cc}]/u.test(part) || !part.isWellFormed() || DEVICE.test(part) || part.includes(':')
}

/** Turns an error from storing an upload in `root` into `DISK_FULL`, `BAD_SOURCE` or `FILE_UNWRITABLE`. */
function toUploadError(error: unknown, root: string): SluiceError {
  if (error instanceof SluiceError) return error
  const code = toSystemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SluiceError({ id: 'upload_disk_full', folder: root }, { cause: error })
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new SluiceError({ id: 'upload_cut_off' }, { cause: error })
  }
  return SluiceError.because(error, { id: 'upload_unwritable', folder: root })
}
