import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { refuseIrregular } from './regular-file.ts'

/** SQLite's primary result codes if it cannot make or write the files needed to read a WAL database. */
const CANNOT_WRITE = [8, 14]

/**
 * Opens a SQLite file for reading while others may write to it, which takes a writable folder. In a read-only
 * folder, a file without a WAL is opened as immutable. Throws what SQLite throws, and an error for a WAL that
 * cannot be read there.
 */
export function openReader(file: string, timeoutMs: number): DatabaseSync {
  refuseIrregular(file)
  const db = new DatabaseSync(file, { timeout: timeoutMs, readOnly: true })
  try {
    // Only the first read opens the files next to it.
    db.prepare('PRAGMA user_version').get()
    return db
  } catch (error) {
    db.close()
    if (!isUnwritable(error)) throw error
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new Error(
        `its newest part is in ${file}-wal, which cannot be read in a read-only folder. Copy the workspace to a folder that you can write to`,
        { cause: error },
      )
    }
    const url = pathToFileURL(file)
    url.searchParams.set('immutable', '1')
    return new DatabaseSync(url, { readOnly: true })
  }
}

/**
 * Attaches a SQLite file under a name for reading. In a read-only folder it works as {@link openReader} does,
 * after a reader has made sure that there is no WAL. `probe` is one of its tables. Throws what SQLite throws.
 */
export function attachReader(db: DatabaseSync, file: string, name: string, probe: string): void {
  refuseIrregular(file)
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'ro')
  try {
    db.prepare(`ATTACH ? AS ${name}`).run(url.href)
    // Only the first read opens the files next to it.
    db.prepare(`SELECT count(*) FROM ${name}.${probe}`).get()
  } catch (error) {
    if (!isUnwritable(error)) throw error
    db.exec(`DETACH ${name}`)
    url.searchParams.set('immutable', '1')
    db.prepare(`ATTACH ? AS ${name}`).run(url.href)
  }
}

function isUnwritable(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && CANNOT_WRITE.includes(Number(error.errcode) & 0xff)
}
