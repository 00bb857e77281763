import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'

/** One entry per version; a store goes through those it has not seen. Never edit one that was released. */
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
  `
  ALTER TABLE task ADD COLUMN endpoint TEXT NOT NULL DEFAULT 'task/v1/sync';
  CREATE TABLE callback (
    id INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL,
    url TEXT NOT NULL,
    body TEXT,
    timing TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_result TEXT,
    due_ms INTEGER NOT NULL
  );
  CREATE INDEX callback_task ON callback (task_id);
  CREATE INDEX callback_pending ON callback (id) WHERE state = 'pending';
  CREATE TABLE custom_index (index_id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE index_item (
    id INTEGER PRIMARY KEY,
    index_id TEXT NOT NULL REFERENCES custom_index(index_id) ON DELETE CASCADE,
    item_id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    content_hash TEXT,
    metadata TEXT,
    content_variant TEXT
  );
  CREATE INDEX index_item_url ON index_item (index_id, url);
  CREATE INDEX index_item_content ON index_item (index_id, content_hash) WHERE content_hash IS NOT NULL;
  CREATE TABLE appeal (
    id INTEGER PRIMARY KEY,
    appeal_id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    reads INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE request (
    id INTEGER PRIMARY KEY,
    endpoint TEXT NOT NULL,
    key TEXT NOT NULL,
    subject TEXT NOT NULL,
    outcome TEXT NOT NULL,
    task_id TEXT,
    arrived_ms INTEGER NOT NULL,
    body TEXT
  );
  CREATE INDEX request_key ON request (endpoint, key);
  `,
]

/**
 * Opens the sandbox's store: in memory if `file` is null, else a file locked by this process. Throws
 * `SANDBOX_UNAVAILABLE` if the file cannot be used.
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
    throw SluiceError.because(error, { id: 'sandbox_store_unusable', file })
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

/** Creates the only writer of a database. Answers must not be sent before their writes are committed. */
export function createGroupCommit(database: DatabaseSync) {
  const begin = database.prepare('BEGIN')
  const commit = database.prepare('COMMIT')
  let isOpen = false
  let waiting: ((error: Error | null) => void)[] = []

  /** Tells all waiting callers the result, and returns the error, if any. */
  const commitGroup = (): Error | null => {
    if (!isOpen) return null
    isOpen = false
    const callbacks = waiting
    waiting = []
    let failure: Error | null = null
    try {
      commit.run()
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      if (database.isTransaction) database.exec('ROLLBACK')
    }
    for (const callback of callbacks) callback(failure)
    return failure
  }

  const write = <T>(work: () => T): T => {
    if (!isOpen) {
      begin.run()
      isOpen = true
      setImmediate(commitGroup)
    }
    return work()
  }

  const flush = (): void => {
    const failure = commitGroup()
    if (failure !== null) throw failure
  }

  return {
    /** Writes immediately, inside the turn's transaction. */
    write,
    /** Writes, and commits the transaction. */
    writeNow: <T>(work: () => T): T => {
      const result = write(work)
      flush()
      return result
    },
    /** Calls back once everything written so far is committed, or has failed. */
    onCommitted: (callback: (error: Error | null) => void): void => {
      if (isOpen) waiting.push(callback)
      else callback(null)
    },
    /** Commits now. Throws if that fails. */
    flush,
  }
}

/** Groups the writes of one turn of the event loop into one transaction. */
export interface GroupCommit extends ReturnType<typeof createGroupCommit> {}

/** Fills a store that never had any of these; what was removed from it stays removed. */
export function seedOnce(
  database: DatabaseSync,
  group: GroupCommit,
  what: 'appeals' | 'indexes' | 'rules' | 'watchlists',
  seed: () => void,
): void {
  const mark = database.prepare('INSERT INTO seeded (what) VALUES (?) ON CONFLICT DO NOTHING')
  if (group.write(() => mark.run(what)).changes !== 0) seed()
  group.flush()
}
