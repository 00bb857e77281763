import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { refuseForeignLinks } from './foreign-links.ts'
import { underLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync, toFileError } from './replace-file.ts'

/** The state of a file when it was last written. */
interface Stamp {
  size: number
  mtimeMs: number
}

const writtenSchema = z.record(
  z.string(),
  z.object({ size: z.number(), mtimeMs: z.number(), sha256: z.string().optional() }),
)

/** Most files remembered; those written longest ago are forgotten. */
const REMEMBERED = 1_000

function toListFile(workspace: string): string {
  return join(workspace, 'written-files.json')
}

/** A missing or damaged list counts as empty, so files are then refused. */
function readWritten(workspace: string): z.infer<typeof writtenSchema> {
  try {
    return writtenSchema.parse(JSON.parse(readTextFile(toListFile(workspace))))
  } catch {
    return {}
  }
}

/**
 * The present state of a file; null if it is missing, if it is not a regular file, such as a pipe, which is
 * never replaced, or if it is unreachable, which the code that writes it reports.
 */
export function readStamp(file: string): (Stamp & { path: string }) | null {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isFile() !== true) return null
    return { path: realpathSync(file), size: found.size, mtimeMs: found.mtimeMs }
  } catch {
    return null
  }
}

/**
 * Throws `BAD_USAGE` unless a file is empty or as this workspace wrote it, here or under another name.
 * Nothing in a table tells whether a person has changed it, so a file that the workspace does not remember
 * may be anybody's.
 */
export function refuseForeignFile(workspace: string, file: string): void {
  const [found, written] = unlessBlocked(file, () => {
    refuseForeignLinks(file)
    const stamp = readStamp(file)
    return [stamp, stamp === null ? {} : readWritten(workspace)]
  })
  if (found === null || found.size === 0) return
  const own = written[found.path]
  if (own?.size === found.size && own.mtimeMs === found.mtimeMs) return
  if (isAsWritten(Object.values(written), found)) return
  throw new SluiceError({ id: 'file_of_others', file, isChanged: own !== undefined })
}

function unlessBlocked<T>(file: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw toFileError(file, error)
  }
}

/** Compares content, not time: copies, caches and checkouts keep only the content. */
function isAsWritten(
  written: readonly { size: number; sha256?: string | undefined }[],
  { path, size }: Stamp & { path: string },
): boolean {
  const alike = written.filter((one) => one.size === size && one.sha256 !== undefined)
  const hash = alike.length === 0 ? null : toHash(path)
  return alike.some(({ sha256 }) => sha256 === hash)
}

/** Null for a file that cannot be read. */
function toHash(file: string): string | null {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'r')
    const hash = createHash('sha256')
    const piece = Buffer.alloc(HASHED_AT_ONCE)
    for (let length = 1; length > 0; ) {
      length = readSync(descriptor, piece)
      hash.update(piece.subarray(0, length))
    }
    return hash.digest('hex')
  } catch {
    return null
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

const HASHED_AT_ONCE = 1024 * 1024

export function rememberWritten(workspace: string, files: readonly (Stamp & { path: string })[]): void {
  if (files.length === 0) return
  const list = toListFile(workspace)
  const hashed = files.map(({ path, size, mtimeMs }) => {
    return { path, size, mtimeMs, sha256: toHash(path) ?? undefined }
  })
  underLease(list, 'the list of written files', () => {
    const written = new Map(Object.entries(readWritten(workspace)))
    for (const { path, ...stamp } of hashed) {
      written.delete(path)
      written.set(path, stamp)
    }
    const kept = Object.fromEntries([...written].slice(-REMEMBERED))
    replaceFileSync(list, `${JSON.stringify(kept, null, 2)}\n`, { isPrivate: true })
  })
}
