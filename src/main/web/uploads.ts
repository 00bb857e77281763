import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Uploaded } from '../../shared/bridge/browser-files.ts'
import { SluiceError } from '../../shared/errors.ts'
import { toUploadName } from './upload-name.ts'

/** Leftovers of a shell that was killed are removed when they are older than this, milliseconds. */
const LEFTOVER_AGE_MS = 24 * 3_600_000

/** Files that were chosen in a browser, on their way into a run. */
export interface Uploads {
  /** Writes a request's body to a file of its own, piece by piece. Throws `DISK_FULL`, `FILE_UNWRITABLE` or `BAD_SOURCE`. */
  store(request: IncomingMessage, name: string): Promise<Uploaded>
  /** Whether a path is that of a stored file. */
  holds(path: string): boolean
  /** Removes what was stored here; the rows of runs are in their journals. */
  clear(): Promise<void>
}

/** Makes the store of uploads in `<workspace>/uploads`, and removes what killed shells have left there. */
export async function createUploads(workspace: string): Promise<Uploads> {
  const folder = join(workspace, 'uploads')
  await removeLeftovers(folder)
  const own = new Set<string>()
  return {
    async store(request, name) {
      const place = join(folder, randomBytes(12).toString('hex'))
      const safeName = toUploadName(name)
      const path = join(place, safeName)
      own.add(place)
      try {
        await mkdir(place, { recursive: true, mode: 0o700 })
        const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
        await pipeline(request, file)
        return { path, name: safeName, sizeBytes: file.bytesWritten }
      } catch (error) {
        await rm(place, { recursive: true, force: true }).catch(() => {})
        own.delete(place)
        throw toUploadError(error, folder)
      }
    },
    holds: (path) => resolve(path).startsWith(folder + sep),
    async clear() {
      await Promise.all([...own].map((place) => rm(place, { recursive: true, force: true }).catch(() => {})))
      own.clear()
    },
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const place = join(folder, name)
    const { mtimeMs } = await stat(place).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < Date.now() - LEFTOVER_AGE_MS) {
      await rm(place, { recursive: true, force: true }).catch(() => {})
    }
  }
}

function toUploadError(error: unknown, folder: string): SluiceError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SluiceError({
      code: 'DISK_FULL',
      message: `the file does not fit on the disk that holds ${folder}`,
      hint: 'Free some space there, or start Sluice with another --workspace, and choose the file again.',
      cause: error,
    })
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new SluiceError({
      code: 'BAD_SOURCE',
      message: 'the file did not arrive whole',
      hint: 'Choose it again; if it changes or moves meanwhile, copy it first.',
      cause: error,
    })
  }
  return new SluiceError({
    code: 'FILE_UNWRITABLE',
    message: `the file cannot be written to ${folder}: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'See that the folder can be written, or start Sluice with another --workspace.',
    cause: error,
  })
}
