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

/** Longest wait for the lease, milliseconds; {@link isLeaseHeld} holds its lock for far less. */
const TAKE_TIMEOUT_MS = 2_000

/**
 * Takes the lease of a file: an exclusive lock on `<file>.lease`, which the operating system releases if the
 * process dies. Throws `RUN_BUSY` while another process holds it, and `WORKSPACE_UNUSABLE` if the file cannot
 * be locked.
 */
export function takeLease(file: string, what: string, timeoutMs: number = TAKE_TIMEOUT_MS): Lease {
  const lock = lockFile(`${file}.lease`, timeoutMs, 'BEGIN EXCLUSIVE')
  if (lock === null) {
    throw new SluiceError({ id: 'held_elsewhere', what })
  }
  return { release: () => lock.close() }
}

/** Runs `work` under the lease of a file. Throws as {@link takeLease} does, and what `work` throws. */
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

/** Whether any process, including this one, holds the lease of a file. Throws `WORKSPACE_UNUSABLE`. */
export function isLeaseHeld(file: string): boolean {
  // A lease that was never made is held by nobody; in a read-only folder it may be missing.
  return isThere(`${file}.lease`) && !whileUnheld(file, () => {})
}

/**
 * Runs `work` while nobody can take the lease of a file; others can still check it. Returns false without
 * running it if any process, including this one, holds the lease. Throws `WORKSPACE_UNUSABLE`.
 */
export function whileUnheld(file: string, work: () => void): boolean {
  // A shared lock conflicts with a held lease, but not with another check.
  const lock = lockFile(`${file}.lease`, 0, 'BEGIN; SELECT 1 FROM sqlite_master')
  if (lock === null) return false
  try {
    work()
    return true
  } finally {
    lock.close()
  }
}

/** Removes the lease file, after the caller has deleted the file that it guarded. */
export function removeLease(file: string): void {
  rmSync(`${file}.lease`, { force: true })
}

/** SQLite's primary result code if another connection holds the lock. */
const SQLITE_BUSY = 5

function lockFile(leaseFile: string, timeoutMs: number, lock: string): DatabaseSync | null {
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(leaseFile, { timeout: timeoutMs })
    closeDatabaseFile(leaseFile)
    // Only the lock matters: nothing is ever written. MEMORY keeps SQLite from making files next to it.
    db.exec(`PRAGMA journal_mode = MEMORY; ${lock}`)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY)
      return null
    // A holder must have read the file, so a damaged one is held by nobody.
    const id = isDamagedDatabase(error) ? 'lock_damaged' : 'lock_unusable'
    throw SluiceError.because(error, { id, file: leaseFile })
  }
}
