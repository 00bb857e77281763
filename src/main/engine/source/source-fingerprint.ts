import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import {
  isSameSource,
  type SourceChange,
  type SourceFingerprint,
} from '../../../shared/plan/source-fingerprint.ts'
import { findSourceFormat } from './open-source.ts'
import { findTables, type Tables } from './tables/tables.ts'

/** Bytes of a source read at once for hashing. */
const CHUNK_BYTES = 1024 * 1024

/**
 * Fingerprint of a source, to detect a later change: a file by its content, a folder by the names, sizes and
 * times of its files. Null if it cannot be read; reading its rows says why.
 */
export async function fingerprintSource(source: PlanSource): Promise<SourceFingerprint | null> {
  try {
    const tables = await findTables(source)
    if (tables !== null) return await fingerprintFiles(tables)
    return findSourceFormat(source) === 'folder'
      ? await fingerprintFolder(source.path)
      : await fingerprintFile(source.path)
  } catch {
    return null
  }
}

/** How a source has changed since a run read it. `before` is null if that run recorded nothing. */
export async function findSourceChange(
  source: PlanSource,
  before: SourceFingerprint | null,
): Promise<SourceChange> {
  const now = await fingerprintSource(source)
  if (now === null) return { kind: 'missing' }
  if (before === null) return { kind: 'unknown', now }
  return isSameSource(before, now) ? { kind: 'same', now } : { kind: 'changed', before, now }
}

async function fingerprintFile(path: string): Promise<SourceFingerprint | null> {
  const found = statSync(path)
  if (!found.isFile()) return null
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) hash.update(chunk)
  return {
    sha256: hash.digest('hex'),
    bytes: found.size,
    files: null,
    modified_at: found.mtime.toISOString(),
  }
}

/** For several files: their names and contents, in row order. */
async function fingerprintFiles({ files }: Tables): Promise<SourceFingerprint | null> {
  const hash = createHash('sha256')
  let [bytes, modified] = [0, '']
  for (const { path, name } of files) {
    const found = await fingerprintFile(path)
    if (found === null) return null
    hash.update(`${name}\0${found.sha256}\0`)
    bytes += found.bytes
    if (found.modified_at > modified) modified = found.modified_at
  }
  return { sha256: hash.digest('hex'), bytes, files: files.length, modified_at: modified }
}

async function fingerprintFolder(folder: string): Promise<SourceFingerprint> {
  const { walkFolder } = await import('./folder/walk-folder.ts')
  const hash = createHash('sha256')
  let [bytes, files, newestMs] = [0, 0, 0]
  for (const entry of walkFolder(folder)) {
    if (entry.kind !== 'file') continue
    const { path } = entry
    const { size, mtimeMs } = statSync(join(folder, path))
    hash.update(`${path}\0${size}\0${mtimeMs}\0`)
    bytes += size
    files += 1
    newestMs = Math.max(newestMs, mtimeMs)
  }
  return { sha256: hash.digest('hex'), bytes, files, modified_at: new Date(newestMs).toISOString() }
}
