import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gunzipSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { refuseForeignLinks } from './foreign-links.ts'
import { underLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync, toFileError } from './replace-file.ts'

/** How a file was left. */
interface Stamp {
  size: number
  mtimeMs: number
}

const writtenSchema = z.record(
  z.string(),
  z.object({ size: z.number(), mtimeMs: z.number(), sha256: z.string().optional() }),
)

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
  const [found, written] = unlessBlocked(file, () => {
    refuseForeignLinks(file)
    const stamp = readStamp(file)
    return [stamp, stamp === null ? undefined : readWritten(workspace)[stamp.path]]
  })
  if (found === null || found.size === 0) return
  if (written === undefined ? isOwnOutput(found.path, found.size) : isAsWritten(written, found)) return
  throw new SluiceError({ id: 'file_of_others', file, isChanged: written !== undefined })
}

function unlessBlocked<T>(file: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw toFileError(file, error)
  }
}

/** Copies, caches and checkouts keep what a file holds, but not its time. */
function isAsWritten(
  written: Stamp & { sha256?: string | undefined },
  found: Stamp & { path: string },
): boolean {
  if (written.size !== found.size) return false
  return (
    written.mtimeMs === found.mtimeMs ||
    (written.sha256 !== undefined && written.sha256 === toHash(found.path))
  )
}

/** Null for a file that cannot be read. */
function toHash(file: string): string | null {
  return readPieces(file, (read) => {
    const hash = createHash('sha256')
    for (let from = 0; ; ) {
      const piece = read(from, HASHED_AT_ONCE)
      if (piece.length === 0) return hash.digest('hex')
      hash.update(piece)
      from += piece.length
    }
  })
}

const HASHED_AT_ONCE = 1024 * 1024

function readPieces<T>(file: string, use: (read: (from: number, length: number) => Buffer) => T): T | null {
  let descriptor: number | null = null
  try {
    const opened = openSync(file, 'r')
    descriptor = opened
    return use((from, length) => {
      const piece = Buffer.alloc(length)
      return piece.subarray(0, readSync(opened, piece, 0, length, from))
    })
  } catch {
    return null
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

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

const LOOKED_AT_BYTES = 64 * 1024

/** How lines of JSON, figures of each second and logs of histograms begin. */
const OWN_BEGINNING =
  /^(?:\{"row":[^,]+,"record":\d+,|\{"time":"[^"]+","run_id":"|\{"id":"\d{8}-\d{6}-\w+-\d+","custom_id":|\{"kept":"\w+","sent_ms":|second,scheduled,sent,succeeded,|#\[Sluice )/
const OWN_COLUMN = /(?:^|[",;|\t])sluice_[a-z_]+/
/** What a page, a document in Markdown and a test suite say of the run and the program. */
const OWN_REPORT = /\brun \d{8}-\d{6}-\w+ · Sluice \d+\.\d+\.\d+|<testsuite [^>]*package="sluice"/

const PROPERTIES = 'docProps/app.xml'

function isOwnOutput(file: string, size: number): boolean {
  const isOwn = readPieces(file, (read) => {
    const beginning = read(0, LOOKED_AT_BYTES)
    const end = read(Math.max(0, size - LOOKED_AT_BYTES), LOOKED_AT_BYTES)
    if (beginning.toString('latin1', 0, 4) === 'PK\x03\x04') return isOwnWorkbook(beginning)
    if (end.toString('latin1').endsWith('PAR1')) return /sluice_(?:row|state)/.test(end.toString('latin1'))
    const text = toText(beginning).replace(/^\ufeff/, '')
    return (
      OWN_BEGINNING.test(text) ||
      OWN_COLUMN.test(toFirstRecord(text)) ||
      [text, end.toString('utf8')].some((part) => OWN_REPORT.test(part))
    )
  })
  // What cannot be read may be anybody's.
  return isOwn ?? false
}

/** The header of a table, whose names may have line breaks in quotes. */
function toFirstRecord(text: string): string {
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted
    else if (text[at] === '\n' && !isQuoted) return text.slice(0, at)
  }
  return isQuoted ? '' : text
}

/** The properties of workbooks of versions up to 0.2 are compressed. */
function isOwnWorkbook(beginning: Buffer): boolean {
  const at = beginning.indexOf(PROPERTIES)
  if (at < 4) return false
  const part = beginning.subarray(at + PROPERTIES.length + beginning.readUInt16LE(at - 2))
  const isCompressed = beginning.readUInt16LE(at - 22) !== 0
  try {
    const xml = isCompressed ? inflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH }) : part
    return xml.includes('<Application>Sluice<')
  } catch {
    return false
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
