import { chmodSync, existsSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** Mode bits that give access to users other than the owner. */
const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/** Endings of the files that SQLite puts next to a database. */
const DATABASE_ENDINGS = ['-wal', '-shm', '-journal']

/**
 * Makes all new files of this process and its children private to their owner. No effect on Windows, where
 * modes do not apply: there the profile folder, which nobody else may open, protects the workspace.
 */
export function keepFilesPrivate(): void {
  process.umask(OTHERS)
}

/**
 * Makes a folder and its missing parents, private to their owner, one after the other: Node's own recursive
 * mkdir never returns on file systems such as /proc. Throws what the file system throws.
 */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return
  makeFolders(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/**
 * Closes a folder to other users. Returns null, or why it must not be used: it belongs to another user, or
 * others can write to it and that cannot be changed. Never refuses on Windows, where modes do not apply.
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
  // Without modes, as on many memory sticks, a folder that others can only read stays usable.
  if ((statSync(folder).mode & OTHERS_WRITE) === 0) return null
  return `other users can write to ${folder}, and that cannot be changed (${reason})`
}

/**
 * Why no file of a folder may be run as code: another user could have written it. Null if nobody could, and
 * always on Windows, where modes do not apply.
 */
export function findWriters(folder: string): string | null {
  const found = statSync(folder)
  if (!found.isDirectory()) return `${folder} is no folder`
  if (process.platform === 'win32') return null
  if (!isOwn(found)) return `${folder} belongs to another user (uid ${found.uid})`
  return (found.mode & OTHERS_WRITE) === 0 ? null : `other users can write to ${folder}`
}

/**
 * Closes a database that has just been opened, and the files next to it, to other users: SQLite creates the
 * database under the umask and gives the files next to it the same mode. Works by path alone, because closing
 * a descriptor of the file would release every lock that this process has on it. Throws if the file belongs
 * to another user, and what the file system throws.
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
