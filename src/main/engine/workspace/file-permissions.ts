import { chmodSync, existsSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** Bits of a mode that let anybody but the owner do something. */
const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/** What SQLite puts next to a database. */
const DATABASE_ENDINGS = ['-wal', '-shm', '-journal']

/**
 * Makes every file of this process and its children private to its owner. On Windows, where modes do not apply,
 * it has no effect: there the profile folder, which nobody else may open, protects the workspace.
 */
export function keepFilesPrivate(): void {
  process.umask(OTHERS)
}

/**
 * Makes a folder and those above it that are missing, for their owner alone, one after the other: Node's own recursive
 * mkdir never returns on file systems such as /proc. Throws what the file system throws.
 */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return
  makeFolders(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/**
 * Closes a folder to other users; null once it is, else why it must not be used: it is another user's, or others can
 * write to it and that cannot be changed. Modes do not apply on Windows, so there it is never refused.
 */
export function closeFolder(folder: string): string | null {
  if (process.platform === 'win32') return null
  const found = statSync(folder)
  if (!isOwn(found)) return `${folder} belongs to another user (uid ${found.uid})`
  if ((found.mode & OTHERS) === 0) return null
  let reason = 'its mode did not change'
  try {
    chmodSync(folder, found.mode & 0o7700)
  } catch (error) {
    reason = toSystemCode(error) ?? String(error)
  }
  // A folder that others may only read stays usable where the file system has no modes, such as a memory stick.
  if ((statSync(folder).mode & OTHERS_WRITE) === 0) return null
  return `other users can write to ${folder}, and that cannot be changed (${reason})`
}

/**
 * Why nothing in a folder may be run as code: somebody else could have written it. Null if nobody could; on Windows, where
 * modes do not apply, always.
 */
export function findWriters(folder: string): string | null {
  const found = statSync(folder)
  if (!found.isDirectory()) return `${folder} is no folder`
  if (process.platform === 'win32') return null
  if (!isOwn(found)) return `${folder} belongs to another user (uid ${found.uid})`
  return (found.mode & OTHERS_WRITE) === 0 ? null : `other users can write to ${folder}`
}

/**
 * Closes a database that has just been opened, and what is next to it, to other users; SQLite makes its files as the
 * umask has it, and those next to a database with the mode of the database. Works by path alone: closing a descriptor of
 * its file would release every lock that this process has on it. Throws if the file is another user's, and what the
 * file system throws.
 */
export function closeDatabaseFile(file: string): void {
  if (process.platform === 'win32') return
  for (const ending of ['', ...DATABASE_ENDINGS]) {
    const found = statSync(file + ending, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (!isOwn(found)) throw new Error(`${file}${ending} belongs to another user (uid ${found.uid})`)
    if ((found.mode & OTHERS) !== 0) chmodSync(file + ending, 0o600)
  }
}

function isOwn({ uid }: Stats): boolean {
  return uid === process.geteuid?.()
}
