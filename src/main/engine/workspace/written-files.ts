import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { refuseForeignLinks } from './foreign-links.ts'
import { underLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'

const stampSchema = z.object({ size: z.number(), mtimeMs: z.number() })

/** How a file was left. */
type Stamp = z.infer<typeof stampSchema>

const writtenSchema = z.record(z.string(), stampSchema)

/** Most files that are remembered; those that were written longest ago are forgotten. */
const REMEMBERED = 1_000

function toListFile(workspace: string): string {
  return join(workspace, 'written-files.json')
}

/** A list that is missing or damaged is empty: files are then known by what they hold, or refused. */
function readWritten(workspace: string): z.infer<typeof writtenSchema> {
  try {
    return writtenSchema.parse(JSON.parse(readTextFile(toListFile(workspace))))
  } catch {
    return {}
  }
}

/**
 * How a file is now; null for what is not there, what is no regular file, such as a pipe, which nothing replaces, and what
 * cannot be reached, which is reported by whoever writes it.
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
 * Throws `BAD_USAGE` for a file with content that Sluice has not written, or that was changed since. One that the workspace
 * does not remember is known by what it holds: a script may have a workspace for each of its runs.
 */
export function refuseForeignFile(workspace: string, file: string): void {
  refuseForeignLinks(file)
  const found = readStamp(file)
  if (found === null || found.size === 0) return
  const written = readWritten(workspace)[found.path]
  if (written === undefined ? isOwnOutput(found.path, found.size) : isSame(written, found)) return
  throw new SluiceError({ id: 'file_of_others', file, isChanged: written !== undefined })
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs
}

/** Remembers files as they were written. */
export function rememberWritten(workspace: string, files: readonly (Stamp & { path: string })[]): void {
  if (files.length === 0) return
  const list = toListFile(workspace)
  underLease(list, 'the list of written files', () => {
    const written = new Map(Object.entries(readWritten(workspace)))
    for (const { path, size, mtimeMs } of files) {
      written.delete(path)
      written.set(path, { size, mtimeMs })
    }
    const kept = Object.fromEntries([...written].slice(-REMEMBERED))
    replaceFileSync(list, `${JSON.stringify(kept, null, 2)}\n`, { isPrivate: true })
  })
}

const LOOKED_AT_BYTES = 64 * 1024

/** What begins or ends a file of Sluice: a column or a property of its own, the first members of a line, a page's foot. */
const OWN_BEGINNING =
  /(?:^|[",;|\t])sluice_[a-z_]+|<Application>Sluice<|^\{"row":[^,]+,"record":\d+,|^\{"time":"[^"]+","run_id":"|^\{"id":"\d{8}-\d{6}-\w+-\d+","custom_id":/
const OWN_END = /sluice_(?:row|state)|Sluice \d+\.\d+\.\d+/

/** A file that cannot be read is taken for another's. */
function isOwnOutput(file: string, size: number): boolean {
  try {
    return looksOwn(file, size)
  } catch {
    return false
  }
}

function looksOwn(file: string, size: number): boolean {
  const descriptor = openSync(file, 'r')
  try {
    const read = (from: number) => {
      const piece = Buffer.alloc(Math.min(LOOKED_AT_BYTES, size))
      return piece.subarray(0, readSync(descriptor, piece, 0, piece.length, from))
    }
    const [beginning, end] = [read(0), read(Math.max(0, size - LOOKED_AT_BYTES))]
    return OWN_BEGINNING.test(toText(beginning)) || OWN_END.test(end.toString('latin1'))
  } finally {
    closeSync(descriptor)
  }
}

function toText(beginning: Buffer): string {
  if (beginning[0] !== 0x1f || beginning[1] !== 0x8b) return beginning.toString('utf8')
  try {
    return gunzipSync(beginning, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8')
  } catch {
    return ''
  }
}
