import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { isLeaseHeld, takeLease } from '../workspace/lease.ts'
import { closeDatabaseFile } from '../workspace/private-files.ts'
import { MIGRATIONS } from './migrations.ts'

/** How long a statement waits for another process's short lock before it fails, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

/** Pages of the WAL after which they are copied into the file, 8 MB, while requests wait for it. */
export const CHECKPOINT_PAGES = 2000

/** Has the WAL copied into the file whenever it has so many pages. */
export function checkpointEvery(db: DatabaseSync, pages: number): void {
  db.exec(`PRAGMA wal_autocheckpoint = ${pages}`)
}

/**
 * Opens a journal for writing and brings its schema up to date. The caller holds the run's lease.
 * Throws `WORKSPACE_UNUSABLE` where the file is not a journal or comes from a newer version.
 */
export function openJournal(file: string): DatabaseSync {
  const db = openFile(file, false)
  try {
    // WAL lets readers read while the run writes. NORMAL survives the death of the process; what must survive a power
    // cut (the watermark, the marks of retries) is committed under FULL, see journal.ts.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    db.exec('PRAGMA temp_store = FILE; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 67108864')
    checkpointEvery(db, CHECKPOINT_PAGES)
    if (process.platform === 'darwin') db.exec('PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1')
  } catch (error) {
    db.close()
    throw unusable(file, error)
  }
  migrate(db, file)
  return db
}

/**
 * Opens a journal for reading while it may be written. It may have no schema yet if its writer is just creating it.
 * Throws as {@link openJournal} does.
 */
export function openJournalReader(file: string): DatabaseSync {
  const db = openFile(file, true)
  const version = readVersion(db, file)
  if (version < MIGRATIONS.length && !isLeaseHeld(file)) {
    db.close()
    migrateFile(file)
    return openJournalReader(file)
  }
  if (version > MIGRATIONS.length) {
    db.close()
    throw tooNew(file, version)
  }
  db.exec('PRAGMA query_only = 1; PRAGMA cache_size = -16384')
  return db
}

/** False where the run's thread is just making the file. */
export function hasSchema(db: DatabaseSync): boolean {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']) > 0
}

/** Opens a journal of an older version, or one that was cut off in the making, once for writing. */
function migrateFile(file: string): void {
  const lease = takeLease(file, `the journal ${file}`)
  try {
    openJournal(file).close()
  } finally {
    lease.release()
  }
}

function openFile(file: string, readOnly: boolean): DatabaseSync {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly })
    if (!readOnly) closeDatabaseFile(file)
    return db
  } catch (error) {
    db?.close()
    throw unusable(file, error)
  }
}

function migrate(db: DatabaseSync, file: string): void {
  const version = readVersion(db, file)
  if (version > MIGRATIONS.length) {
    db.close()
    throw tooNew(file, version)
  }
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`)
  }
}

function readVersion(db: DatabaseSync, file: string): number {
  try {
    return Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
  } catch (error) {
    db.close()
    throw unusable(file, error)
  }
}

function tooNew(file: string, version: number): SluiceError {
  return new SluiceError({ id: 'journal_too_new', file, version, known: MIGRATIONS.length })
}

function unusable(file: string, cause: unknown): SluiceError {
  return new SluiceError({ id: 'journal_unusable', file, reason: toThrownText(cause) }, { cause })
}
