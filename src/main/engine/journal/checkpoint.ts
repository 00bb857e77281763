import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { whileUnheld } from '../workspace/lease.ts'

/** How long the end of a run waits for readers, milliseconds. */
const PATIENCE_MS = 500

/**
 * Closes a writer's journal with everything committed in the file itself and an empty WAL, so that a copy of
 * the file is complete. SQLite does that by itself only if nobody else has the file open. If a reader
 * prevents it, {@link checkpointUnheld} does it later.
 */
export function closeWhole(db: DatabaseSync): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; PRAGMA wal_checkpoint(TRUNCATE)`)
  } catch {
    // On a full disk, for example, committed data stays in the WAL, where every reader finds it.
  } finally {
    db.close()
  }
}

/**
 * Does the same for a journal that no process holds, because its process was killed or a reader was active
 * when its run ended. Called after each read of a journal; if it fails, the next reader tries again.
 */
export function checkpointUnheld(file: string): void {
  try {
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    whileUnheld(file, () => closeWithoutWaiting(openExisting(file)))
  } catch {
    // In a read-only folder, for example. Readers of the journal report what is wrong with it.
  }
}

/** Opens a file without creating it, since it may have just been deleted. */
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
