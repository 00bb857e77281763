import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { APP_VERSION } from '../../../../shared/version.ts'
import { closeDatabaseFile } from '../../workspace/file-permissions.ts'
import { underLease } from '../../workspace/lease.ts'
import { findForeign, type OwnSchema, readSchemaVersion } from '../../workspace/own-schema.ts'

/** Raise this when rows hold something else: older catalogues are rebuilt. Changed tables are noticed. */
const MADE_BY = `${APP_VERSION} 10`

const TABLES = `
  -- Every run and retry that has a journal, readable or not, as it was when it was read last.
  CREATE TABLE run (
    id TEXT PRIMARY KEY,
    -- The first run of the whole it belongs to; null where its journal cannot be read, or holds no run yet.
    first TEXT,
    -- Why it cannot be read.
    error TEXT,
    -- What the file system said of its files; null where they have to be read again in any case.
    fingerprint TEXT,
    size_bytes INTEGER NOT NULL,
    -- Whether its state depends on a process holding it, and whether one did.
    is_open INTEGER NOT NULL,
    is_held INTEGER NOT NULL,
    -- Where its callbacks are in the inbox, how far they were read, and when the next and the last row are overdue (Unix
    -- milliseconds); null where none come.
    run_token TEXT NOT NULL,
    inbox_read INTEGER,
    overdue_at INTEGER,
    last_overdue_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_by_first ON run (first);

  -- A run with its retries, as lists show it. Texts to search in are folded; moments are Unix milliseconds.
  CREATE TABLE whole (
    id TEXT PRIMARY KEY,
    -- The newest of the run and its retries.
    newest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- When the newest of the run and its retries ended, or when it was created if it has not ended.
    ended_at INTEGER NOT NULL,
    product TEXT NOT NULL,
    operation TEXT NOT NULL,
    target TEXT,
    state TEXT NOT NULL,
    connection TEXT,
    base_url TEXT NOT NULL,
    task_base_url TEXT,
    name TEXT NOT NULL,
    rows INTEGER NOT NULL,
    p95 REAL,
    size_bytes INTEGER NOT NULL,
    has_failed INTEGER NOT NULL,
    -- How a load test failed; null if it did not, and of other runs.
    load_failure TEXT,
    search TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tag (id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (id, tag)) STRICT, WITHOUT ROWID;
  -- The summary and the course of the latency as JSON. In a table of its own, so that searching the others reads few
  -- pages.
  CREATE TABLE summary (id TEXT PRIMARY KEY, document TEXT NOT NULL, course TEXT NOT NULL) STRICT;

  -- The version of Sluice whose words the summaries have.
  CREATE TABLE made_by (version TEXT NOT NULL) STRICT;
`

const SCHEMA: OwnSchema = { steps: [TABLES] }

/** How long a statement waits for another process's short lock, and a writer for the lease, milliseconds. */
const BUSY_TIMEOUT_MS = 10_000

/** SQLite's primary result codes for a file that is damaged, is not a database, or lacks a table. */
const DAMAGE = [11, 26, 1]

/** A catalogue that is unusable and must be rebuilt. */
class CatalogueOutdated extends Error {}

export function toCatalogueFile(workspace: string): string {
  return join(workspace, 'catalogue')
}

/** Paths of the catalogue and of SQLite's files next to it, without the lease; some may not exist. */
function toCatalogueFiles(workspace: string): string[] {
  const file = toCatalogueFile(workspace)
  return [`${file}-journal`, `${file}-wal`, `${file}-shm`, file]
}

/** Where the catalogue is kept: in its file, or in memory if that cannot be used. */
export interface CatalogueStore {
  /** Reads one snapshot. Throws what {@link isWorthless} recognises, and what SQLite throws. */
  read<Result>(work: (db: DatabaseSync) => Result): Result
  /** Writes in one transaction, one process at a time. Throws the same and `RUN_BUSY`. */
  write(work: (db: DatabaseSync) => void): void
  /** Changes with every write; null if unknown. */
  readVersion(): string | null
  /** Purges deleted rows: those that moved within a page may have left their text there. Throws the same. */
  compact(): void
}

/** Whether an error means that a catalogue must be rebuilt. */
export function isWorthless(error: unknown): boolean {
  if (error instanceof CatalogueOutdated || error instanceof SyntaxError) return true
  return error instanceof Error && 'errcode' in error && DAMAGE.includes(Number(error.errcode) & 0xff)
}

/** Removes a worthless catalogue; only time is lost. Throws `RUN_BUSY`. */
export function removeCatalogue(workspace: string): void {
  withLease(workspace, () => {
    for (const file of toCatalogueFiles(workspace)) rmSync(file, { recursive: true, force: true })
  })
}

/** The catalogue's file, opened for each piece of work, so that no deleted or replaced one is written to. */
export function openCatalogueFile(workspace: string): CatalogueStore {
  const use = <Result>(work: (db: DatabaseSync) => Result): Result => {
    const db = new DatabaseSync(toCatalogueFile(workspace), { timeout: BUSY_TIMEOUT_MS })
    try {
      closeDatabaseFile(toCatalogueFile(workspace))
      // A rollback journal leaves nothing behind that could hold a deleted run's text.
      db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON')
      db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768')
      return work(db)
    } finally {
      db.close()
    }
  }
  const write = (work: (db: DatabaseSync) => void) =>
    withLease(workspace, () =>
      use((db) => {
        if (isEmpty(db)) createTables(db)
        refuseOutdated(db)
        work(db)
      }),
    )
  return {
    read(work) {
      if (use(isEmpty)) write(() => {})
      return use((db) => {
        refuseOutdated(db)
        return work(db)
      })
    },
    write: (work) => write((db) => transact(db, work)),
    readVersion: () => readVersion(toCatalogueFile(workspace)),
    compact: () => write((db) => db.exec('VACUUM')),
  }
}

/** A catalogue that lives as long as this process. */
export function openMemoryCatalogue(): CatalogueStore {
  const db = new DatabaseSync(':memory:')
  createTables(db)
  return {
    read: (work) => work(db),
    write: (work) => transact(db, work),
    readVersion: () => null,
    compact: () => db.exec('VACUUM'),
  }
}

/** A file written to this recently may be written to again without a trace; see {@link readRunFilesState}. */
const RECENT_MS = 2_500

function readVersion(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || Math.abs(Date.now() - found.mtimeMs) < RECENT_MS) return null
  return [found.ino, found.size, found.mtimeMs, found.ctimeMs].join()
}

function transact(db: DatabaseSync, work: (db: DatabaseSync) => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    work(db)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function withLease(workspace: string, work: () => void): void {
  underLease(toCatalogueFile(workspace), 'the catalogue of runs', work, BUSY_TIMEOUT_MS)
}

function refuseOutdated(db: DatabaseSync): void {
  if (findForeign(db, SCHEMA) !== null) throw new CatalogueOutdated('a foreign schema')
  if (readSchemaVersion(db) !== SCHEMA.steps.length) throw new CatalogueOutdated('another schema')
  const made = db.prepare('SELECT version FROM made_by').get()
  if (made?.['version'] !== MADE_BY) throw new CatalogueOutdated('another version of Sluice')
}

function isEmpty(db: DatabaseSync): boolean {
  return readSchemaVersion(db) === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
}

function createTables(db: DatabaseSync): void {
  db.exec(`BEGIN IMMEDIATE; ${TABLES}; PRAGMA user_version = ${SCHEMA.steps.length}`)
  db.prepare('INSERT INTO made_by (version) VALUES (?)').run(MADE_BY)
  db.exec('COMMIT')
}
