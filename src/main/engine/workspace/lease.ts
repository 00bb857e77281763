import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { isDamagedDatabase } from '../../../shared/messages/thrown.ts'
import { closeDatabaseFile } from './file-permissions.ts'
import { isThere } from './is-there.ts'

/** The right to write a SQLite file, held by one process at a time. */
export interface Lease {
  release(): void
}

/** Longest wait for the lease, milliseconds; a check by {@link isLeaseHeld} takes far less. */
const TAKE_TIMEOUT_MS = 2_000

/**
 * Takes the lease next to a file: an exclusive lock on `<file>.lease`, which the operating system releases when the
 * process dies, so that the lease of a dead process can be taken. Throws `RUN_BUSY` while another holds it, and
 * `WORKSPACE_UNUSABLE` if the file cannot be locked.
 */
export function takeLease(file: string, what: string, timeoutMs: number = TAKE_TIMEOUT_MS): Lease {
  const lock = lockFile(`${file}.lease`, timeoutMs, 'BEGIN EXCLUSIVE')
  if (lock === null) {
    throw new SluiceError({ id: 'held_elsewhere', what })
  }
  return { release: () => lock.close() }
}

/** Works while this process holds the lease of a file. Throws as {@link takeLease} does, and what `work` throws. */
export function underLease<Result>(
  file: string,
  what: string,
  work: () => Result,
  timeoutMs = TAKE_TIMEOUT_MS,
): Result {
  const lease = takeLease(file, what, timeoutMs)
  try {
    return work()
  } finally {
    lease.release()
  }
}

/** Whether some process, this one included, holds the lease of a file. Throws `WORKSPACE_UNUSABLE`. */
export function isLeaseHeld(file: string): boolean {
  // Nobody holds what nobody has made; a read-only folder may lack it.
  return isThere(`${file}.lease`) && !whileUnheld(file, () => {})
}

/**
 * Works on a file while nobody can take its lease; others can still look at the lease. Does nothing and returns false
 * if some process, this one included, holds it. Throws `WORKSPACE_UNUSABLE`.
 */
export function whileUnheld(file: string, work: () => void): boolean {
  // A shared lock conflicts with the holder's, but not with another check.
  const lock = lockFile(`${file}.lease`, 0, 'BEGIN; SELECT 1 FROM sqlite_master')
  if (lock === null) return false
  try {
    work()
    return true
  } finally {
    lock.close()
  }
}

/** Removes the lease's own file. The caller has just deleted what it guarded. */
export function removeLease(file: string): void {
  rmSync(`${file}.lease`, { force: true })
}

/** SQLite's primary result code where another connection holds the lock. */
const SQLITE_BUSY = 5

function lockFile(leaseFile: string, timeoutMs: number, lock: string): DatabaseSync | null {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(leaseFile, { timeout: timeoutMs })
    closeDatabaseFile(leaseFile)
    // Nothing is ever written: the lock is the whole content. MEMORY keeps SQLite from making files next to it.
    db.exec(`PRAGMA journal_mode = MEMORY; ${lock}`)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY)
      return null
    // Whoever holds it has read it, so nobody does.
    const id = isDamagedDatabase(error) ? 'lock_damaged' : 'lock_unusable'
    throw SluiceError.because(error, { id, file: leaseFile })
  }
}
