import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/errors.ts'

/** One entry a version; a store is brought up to date by those it has not seen. Never edit one that was released. */
const MIGRATIONS = [
  `
  CREATE TABLE api_key (
    id INTEGER PRIMARY KEY,
    key_hash TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    created_at TEXT NOT NULL,
    active INTEGER NOT NULL
  );
  CREATE TABLE rule (rule_id TEXT PRIMARY KEY, document TEXT NOT NULL);
  CREATE TABLE watchlist (name TEXT PRIMARY KEY);
  CREATE TABLE watchlist_term (
    watchlist TEXT NOT NULL REFERENCES watchlist(name) ON DELETE CASCADE,
    term TEXT NOT NULL,
    notes TEXT,
    PRIMARY KEY (watchlist, term)
  ) WITHOUT ROWID;
  CREATE TABLE task (
    id INTEGER PRIMARY KEY,
    post_id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    request TEXT
  );
  CREATE TABLE refusal (
    post_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (post_id, outcome)
  ) WITHOUT ROWID;
  CREATE TABLE analysed (content_number INTEGER PRIMARY KEY);
  CREATE TABLE seeded (what TEXT PRIMARY KEY) WITHOUT ROWID;
  `,
]

/**
 * Opens the sandbox's store: in memory where `file` is null, otherwise a file that this process holds alone.
 * Throws `SANDBOX_UNAVAILABLE` where the file cannot be used.
 */
export function openDatabase(file: string | null): DatabaseSync {
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(file ?? ':memory:', { timeout: 500, enableForeignKeyConstraints: true })
    if (file !== null) {
      database.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;',
      )
    }
    migrate(database)
    return database
  } catch (error) {
    database?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new SluiceError({
      code: 'SANDBOX_UNAVAILABLE',
      message: `the sandbox's store ${file ?? 'in memory'} cannot be opened: ${reason}`,
      hint: 'Name a file in a folder you can write to that no other sandbox holds, or leave it out to keep the store in memory.',
      cause: error,
    })
  }
}

function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > MIGRATIONS.length) {
    throw new Error(
      `it has version ${version} and this program knows versions up to ${MIGRATIONS.length}; it was made by a newer one`,
    )
  }
  database.exec('BEGIN IMMEDIATE')
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  database.exec('COMMIT')
}
