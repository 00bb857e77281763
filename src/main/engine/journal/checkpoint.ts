import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { whileUnheld } from '../workspace/lease.ts'

/** How long the end of a run waits for readers that are in the middle of a read, milliseconds. */
const PATIENCE_MS = 500

/**
 * Closes a journal that was open for writing, with all that was committed in the file itself and an empty WAL, so that a
 * copy of the file says the same. SQLite does that by itself only if nobody else has the file open. What a read that is
 * under way prevents is left to {@link checkpointUnheld}.
 */
export function closeWhole(db: DatabaseSync): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; PRAGMA wal_checkpoint(TRUNCATE)`)
  } catch {
    // On a full disk, for example: what was committed stays in the WAL, where every reader finds it.
  } finally {
    db.close()
  }
}

/**
 * Does the same for a journal that no process holds: one whose process was killed, or that had a read under way when its
 * run ended. Whoever has read a journal calls it afterwards. If it cannot be done, the next reader does it.
 */
export function checkpointUnheld(file: string): void {
  try {
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    whileUnheld(file, () => closeWithoutWaiting(openExisting(file)))
  } catch {
    // A read-only folder, for example. Whoever reads the journal says what is wrong with it.
  }
}

/** Opens a file without making it where it is missing: it may have just been deleted. */
function openExisting(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  url.searchParams.set('mode', 'rw')
  return new DatabaseSync(url, { timeout: 0 })
}

function closeWithoutWaiting(db: DatabaseSync): void {
  try {
    if (process.platform === 'darwin') db.exec('PRAGMA checkpoint_fullfsync = 1')
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}
