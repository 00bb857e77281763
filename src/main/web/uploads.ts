import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode } from '../../shared/messages/thrown.ts'
import { toUploadError } from './upload-error.ts'
import { toUploadName, toUploadPath } from './upload-name.ts'

/** Leftovers of a shell that was killed are removed when they are older than this, milliseconds. */
const LEFTOVER_AGE_MS = 24 * 3_600_000

/** A file that arrived; `path` never leaves this process. */
interface StoredUpload {
  path: string
  name: string
  sizeBytes: number
}

/** Files that were chosen in a browser, on their way into a run. */
export interface Uploads {
  /** Writes a request's body to a file of its own, piece by piece. Throws `DISK_FULL`, `FILE_UNWRITABLE` or `BAD_SOURCE`. */
  store(request: IncomingMessage, name: string): Promise<StoredUpload>
  /** Makes an empty folder for {@link storeInFolder}. Throws as {@link store} does. */
  openFolder(name: string): Promise<Omit<StoredUpload, 'sizeBytes'> & { folder: string }>
  /** Writes a request's body to that path of a folder made here. Throws as {@link store} does. */
  storeInFolder(request: IncomingMessage, folder: string, path: string): Promise<StoredUpload>
  /** Removes what was stored here; the rows of runs are in their journals. */
  clear(): Promise<void>
}

/** Makes the store of uploads in `<workspace>/uploads`, and removes what killed shells have left there. */
export async function createUploads(workspace: string): Promise<Uploads> {
  const root = join(workspace, 'uploads')
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
    async store(request, name) {
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
    openFolder: (name) =>
      withUploadErrors(root, async () => {
        const { id, place } = await makePlace()
        const safeName = toUploadName(name)
        const path = join(place, safeName)
        await mkdir(path, { mode: 0o700 })
        folders.set(id, path)
        return { path, name: safeName, folder: id }
      }),
    storeInFolder: (request, folder, name) =>
      withUploadErrors(root, async () => {
        const top = folders.get(folder)
        const safePath = toUploadPath(name)
        if (top === undefined || safePath === null) throw toNoPlace(name)
        const path = join(top, safePath)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        try {
          return { path, name: safePath, sizeBytes: await writeBody(request, path) }
        } catch (error) {
          // What was there before came whole, and stays.
          const isThere = toSystemCode(error) === 'EEXIST'
          if (!isThere) await rm(path, { force: true }).catch(() => {})
          throw error
        }
      }),
    async clear() {
      await Promise.all([...own].map((place) => rm(place, { recursive: true, force: true }).catch(() => {})))
      own.clear()
      folders.clear()
    },
  }
}

function toNoPlace(name: string): SluiceError {
  return new SluiceError({ id: 'upload_name_unusable', name })
}

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
