import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { refuseIrregular } from './regular-file.ts'

/** SQLite's primary result codes if it cannot make or write the files that reading a WAL database takes. */
const CANNOT_WRITE = [8, 14]

/**
 * Opens a SQLite file for reading while others may write to it. SQLite needs a writable folder for that; in a read-only
 * one, the file is opened as one that nobody changes, provided that it has no WAL. Throws what SQLite throws, and an
 * error for a WAL that cannot be read there.
 */
export function openReader(file: string, timeoutMs: number): DatabaseSync {
  refuseIrregular(file)
  const db = new DatabaseSync(file, { timeout: timeoutMs, readOnly: true })
  try {
    // The first read is what takes the files next to it.
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
 * Attaches a SQLite file for reading under a name, next to others; as {@link openReader} does in a read-only folder, for which
 * a reader has made sure that the file has no WAL. `probe` is a table of it. Throws what SQLite throws.
 */
export function attachReader(db: DatabaseSync, file: string, name: string, probe: string): void {
  refuseIrregular(file)
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'ro')
  try {
    db.prepare(`ATTACH ? AS ${name}`).run(url.href)
    // The first read is what takes the files next to it.
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
