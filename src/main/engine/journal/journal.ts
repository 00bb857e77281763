import { closeSync, fsync, openSync, readSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { findDiskTrouble, isDamagedDatabase } from '../../../shared/messages/thrown.ts'
import { closeDatabaseFile } from '../workspace/file-permissions.ts'
import { isThere } from '../workspace/is-there.ts'
import { isLeaseHeld, type Lease, takeLease, underLease } from '../workspace/lease.ts'
import { openReader } from '../workspace/open-reader.ts'
import { readSchemaVersion, refuseForeignSchema, takeSchemaSteps } from '../workspace/own-schema.ts'
import { refuseIrregular } from '../workspace/regular-file.ts'
import { isWritable, toRunId, toWorkspace } from '../workspace/workspace-files.ts'
import { closeWhole } from './checkpoint.ts'
import { Counters } from './counters.ts'
import { JOURNAL_SCHEMA } from './migrations.ts'

/**
 * What a commit survives. `process`: the death of this process (`synchronous=NORMAL`). `power`: a power cut,
 * too (`synchronous=FULL`); the watermark and the marks of retries need it, since losing one would silently
 * resend rows.
 */
type Durability = 'process' | 'power'

/** Called right before and after every commit, with its number from 1; crash tests kill the process there. */
export type CommitHook = (when: 'before' | 'after', number: number) => void

/** A run's SQLite file, open for writing under its lease. */
export class Journal {
  readonly file: string
  readonly db: DatabaseSync
  readonly counters: Counters
  readonly #lease: Lease
  /** See {@link CommitHook}; handed on to a parent's journal. */
  readonly onCommit: CommitHook | undefined
  readonly #sync: () => Promise<void>
  #commits = 0
  #durability: Durability = 'process'
  /** The WAL, once opened for syncing; null if the file system allows none. */
  #wal: number | null | undefined

  /** Takes the lease, opens or creates the file. Throws `RUN_BUSY`, `WORKSPACE_UNUSABLE`, `RUN_NOT_FOUND`. */
  constructor(
    file: string,
    options: {
      runId: string
      mustExist?: boolean
      onCommit?: CommitHook | undefined
      /** Implements {@link sync} (default: fsync in another thread, which no simulated clock waits for). */
      sync?: (() => Promise<void>) | undefined
    },
  ) {
    this.file = file
    this.onCommit = options.onCommit
    this.#sync = options.sync ?? (() => this.#syncWal())
    this.#lease = takeLease(file, `run ${options.runId}`)
    try {
      // Checked under the lease, so that a run that is being deleted is not created again.
      if (options.mustExist && !isThere(file))
        throw new SluiceError({ id: 'run_deleted', runId: options.runId })
      this.db = openJournal(file)
      this.counters = new Counters(this.db)
    } catch (error) {
      this.#lease.release()
      throw error
    }
  }

  /**
   * Runs `write` in one transaction, together with the changes of counters. Throws `DISK_FULL` if there is no
   * room: the transaction is rolled back, and the counters keep their changes for the next try. With
   * `isApart` only counts that `write` makes itself are written: outcomes that found no room must not be
   * counted without being there.
   */
  transact(durability: Durability, write: () => void, isApart = false): void {
    this.begin(durability, isApart)
    this.attempt(write)
    this.commit()
  }

  /** Begins a transaction for work in several pieces; {@link commit} ends it. */
  begin(durability: Durability, isApart = false): void {
    if (durability !== this.#durability) {
      this.db.exec(`PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`)
      this.#durability = durability
    }
    this.counters.begin(isApart)
    this.attempt(() => this.db.exec('BEGIN IMMEDIATE'))
  }

  /** Does one piece of the transaction's work; rolls back if it throws. */
  attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      this.counters.rolledBack()
      throw toDiskFull(error, this.file)
    }
  }

  /** Commits the transaction of {@link begin}. Throws `DISK_FULL` as {@link transact} does. */
  commit(): void {
    this.#commits += 1
    this.attempt(() => {
      this.counters.write()
      this.onCommit?.('before', this.#commits)
      this.db.exec('COMMIT')
    })
    this.counters.committed()
    this.onCommit?.('after', this.#commits)
  }

  /**
   * Resolves when everything committed survives a power cut, as after a commit of `power`; this thread does
   * not wait for the disk. Rejects with `DISK_FULL`. The journal must not be closed before.
   */
  sync(): Promise<void> {
    return this.#sync()
  }

  /** Closes the file, which then holds everything committed, and releases the lease. */
  close(): void {
    if (typeof this.#wal === 'number') closeSync(this.#wal)
    closeWhole(this.db)
    this.#lease.release()
  }

  #syncWal(): Promise<void> {
    this.#wal ??= openWal(this.file)
    const wal = this.#wal
    // Without a WAL, every commit syncs the file itself.
    if (wal === null) return Promise.resolve()
    return new Promise((resolve, reject) => {
      fsync(wal, (error) => (error === null ? resolve() : reject(toDiskFull(error, this.file))))
    })
  }
}

function toDiskFull(error: unknown, file: string): unknown {
  const disk = findDiskTrouble(error)
  if (disk === null) return error
  return SluiceError.because(error, { id: 'journal_disk_full', file, disk })
}

/** Opens a journal's WAL directly, not through SQLite and without a lock; null if there is none. */
function openWal(file: string): number | null {
  try {
    return openSync(`${file}-wal`, 'r+')
  } catch {
    return null
  }
}

const STEPS = JOURNAL_SCHEMA.steps.length

/** How long a statement waits for another process's short lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

/** WAL pages (8 MB) after which they are copied into the file; requests wait meanwhile. */
export const CHECKPOINT_PAGES = 2000

/** Copies the WAL into the file whenever it reaches this many pages. */
export function checkpointEvery(db: DatabaseSync, pages: number): void {
  db.exec(`PRAGMA wal_autocheckpoint = ${pages}`)
}

/**
 * Opens a journal for writing and updates its schema. The caller holds the run's lease. Throws
 * `WORKSPACE_UNUSABLE` if the file is not a journal or comes from a newer version.
 */
export function openJournal(file: string): DatabaseSync {
  const db = openFile(file, false)
  try {
    refuseForeignSchema(db, file, JOURNAL_SCHEMA)
    // WAL lets readers read while the run writes. NORMAL survives the death of the process; data that must
    // survive a power cut (the watermark, the marks of retries) is committed under FULL, see journal.ts.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    db.exec('PRAGMA temp_store = FILE; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 67108864')
    checkpointEvery(db, CHECKPOINT_PAGES)
    if (process.platform === 'darwin') db.exec('PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1')
    takeSchemaSteps(db, JOURNAL_SCHEMA, (version) => tooNew(file, version))
    return db
  } catch (error) {
    db.close()
    throw toUnusable(file, error)
  }
}

/**
 * Opens a journal for reading while it may be written. It has no schema yet if its writer is just creating
 * it. Throws as {@link openJournal} does.
 */
export function openJournalReader(file: string): DatabaseSync {
  const db = openFile(file, true)
  try {
    refuseForeignSchema(db, file, JOURNAL_SCHEMA)
    const version = readSchemaVersion(db)
    if (version > STEPS) throw tooNew(file, version)
    const isHeld = version !== STEPS && isLeaseHeld(file)
    // A journal without a run is still being created, and may be complete by now.
    if (isHeld && version > 0 && hasRun(db) && readSchemaVersion(db) < STEPS)
      throw new SluiceError({ id: 'journal_migrating', file })
    if (version === STEPS || isHeld) {
      db.exec('PRAGMA query_only = 1; PRAGMA cache_size = -2048')
      return db
    }
  } catch (error) {
    db.close()
    throw toUnusable(file, error)
  }
  db.close()
  migrateFile(file)
  return openJournalReader(file)
}

function hasRun(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM run').get() !== undefined
}

/** Whether a journal is of an earlier version, by its file's head, which is quick. False if unreadable. */
export function isOfEarlierVersion(file: string): boolean {
  try {
    refuseIrregular(file)
    const descriptor = openSync(file, 'r')
    try {
      const version = Buffer.alloc(4)
      if (readSync(descriptor, version, 0, 4, USER_VERSION_AT) < 4) return false
      return version.readUInt32BE() > 0 && version.readUInt32BE() < STEPS
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false
  }
}

const USER_VERSION_AT = 60

/** False while the run's thread is creating the file. */
export function hasSchema(db: DatabaseSync): boolean {
  return readSchemaVersion(db) > 0
}

/** Opens a journal of an older version, or one not completely created, once for writing. */
function migrateFile(file: string): void {
  if (!isWritable(toWorkspace(file))) throw new SluiceError({ id: 'journal_unusable', file, reason: TOO_OLD })
  underLease(file, `the journal ${file}`, () => closeWhole(openJournal(file)))
}

const TOO_OLD =
  'it is of an earlier version, and cannot be brought up to date in a read-only folder. Copy the workspace to a folder that you can write to'

function openFile(file: string, readOnly: boolean): DatabaseSync {
  let db: DatabaseSync | null = null
  try {
    if (readOnly) return openReader(file, BUSY_TIMEOUT_MS)
    refuseIrregular(file)
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    closeDatabaseFile(file)
    return db
  } catch (error) {
    db?.close()
    throw toUnusable(file, error)
  }
}

function tooNew(file: string, version: number): SluiceError {
  return new SluiceError({ id: 'journal_too_new', file, version, known: STEPS })
}

function toUnusable(file: string, cause: unknown): SluiceError {
  if (cause instanceof SluiceError) return cause
  // Opening creates or updates the schema.
  if (findDiskTrouble(cause) === 'full') {
    return SluiceError.because(cause, { id: 'journal_no_room', file, disk: 'full' })
  }
  if (isDamagedDatabase(cause)) {
    return SluiceError.because(cause, { id: 'journal_damaged', file, runId: toRunId(file) })
  }
  return SluiceError.because(cause, { id: 'journal_unusable', file })
}
