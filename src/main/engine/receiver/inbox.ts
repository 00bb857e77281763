import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { type LastRefusal, REFUSALS, type Refusal } from '../../../shared/run/callback-overview.ts'
import { closeDatabaseFile } from '../workspace/file-permissions.ts'
import { isThere } from '../workspace/is-there.ts'
import { openReader } from '../workspace/open-reader.ts'
import {
  type OwnSchema,
  readSchemaVersion,
  refuseForeignSchema,
  takeSchemaSteps,
} from '../workspace/own-schema.ts'
import { refuseIrregular } from '../workspace/regular-file.ts'
import { readRows } from '../workspace/sqlite.ts'

/** A callback on its way into the inbox. */
export interface InboxEntry {
  runToken: string
  item: number
  /** When its last byte came, Unix microseconds. */
  receivedAtUs: number
  /** The body, byte for byte. */
  body: Uint8Array
}

export interface InboxCallback {
  /** Its place in the inbox: rises with each callback of the workspace, and is never reused. */
  id: number
  item: number
  receivedAtUs: number
  /** The body as text; bytes that are not UTF-8 become U+FFFD. */
  body: string
  /** Whether it had such bytes. */
  isDamaged?: boolean
}

/** Counts of a workspace's receiver since the workspace was created. */
export interface InboxCounts {
  received: number
  /** Requests not answered 200, by reason; only reasons that occurred. */
  refused: Partial<Record<Refusal, number>>
  /** HEAD and GET requests to callback addresses, which only check for existence; absent without any. */
  probes?: number
}

/** A callback that is in the inbox, without its body. */
export interface InboxItem {
  id: number
  runToken: string
  item: number
  receivedAtUs: number
  sizeBytes: number
}

/** Beginning of the note stored instead of a refused callback. */
export const REFUSAL_NOTE = 'Sluice refused this callback: '

/** Where the process that holds the inbox listens. */
export interface InboxAddress {
  baseUrl: string
  host: string
  port: number
}

export function toInboxFile(workspace: string): string {
  return join(workspace, 'inbox')
}

/** Prefix of the tokens of self-tests, which are not runs and are neither counted nor kept. */
export const SELF_TEST_PREFIX = 'self-test-'

const decoder = new TextDecoder()

/** A body as text, without a byte order mark; bytes that are not UTF-8 become U+FFFD. */
export function decodeBody(body: Uint8Array): string {
  return decoder.decode(body)
}

/**
 * Reads the inbox's counters: `last_id`, `received`, `probes`, one `refused:KIND` each, and the time and size
 * of the last of that kind. They are written about once a second; later callbacks are then counted one by
 * one, so that none is missed and no id reused, however the writer ended.
 */
export function readCounters(db: DatabaseSync): Map<string, number> {
  const counters = new Map<string, number>()
  for (const { name, n } of db.prepare('SELECT name, n FROM counter').all()) {
    counters.set(String(name), Number(n))
  }
  const since = db.prepare(
    `SELECT max(callback.id) AS last_id, count(*) FILTER (WHERE substr(token, 1, ?) <> ?) AS received
     FROM callback JOIN run ON run.id = run WHERE callback.id > ?`,
  )
  const lastId = counters.get('last_id') ?? 0
  const later = since.get(SELF_TEST_PREFIX.length, SELF_TEST_PREFIX, lastId)
  counters.set('last_id', Number(later?.['last_id'] ?? lastId))
  counters.set('received', (counters.get('received') ?? 0) + Number(later?.['received']))
  return counters
}

export function toInboxCounts(counters: ReadonlyMap<string, number>): InboxCounts {
  const refused: InboxCounts['refused'] = {}
  for (const refusal of REFUSALS) {
    const n = counters.get(`refused:${refusal}`)
    if (n !== undefined) refused[refusal] = n
  }
  const probes = counters.get('probes') ?? 0
  return { received: counters.get('received') ?? 0, refused, ...(probes > 0 && { probes }) }
}

function toLastRefused(counters: ReadonlyMap<string, number>): Partial<Record<Refusal, LastRefusal>> {
  const last: Partial<Record<Refusal, LastRefusal>> = {}
  for (const refusal of REFUSALS) {
    const atMs = counters.get(`refused_at_ms:${refusal}`)
    const sizeBytes = counters.get(`refused_bytes:${refusal}`) ?? -1
    if (atMs !== undefined) last[refusal] = { atMs, sizeBytes: sizeBytes < 0 ? null : sizeBytes }
  }
  return last
}

/** How long a statement waits for another process's short lock before it fails, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000

/** As in `migrations.ts`: a step that has shipped is never edited. */
const SCHEMA: OwnSchema = {
  steps: [
    `
  CREATE TABLE run (id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE) STRICT;
  -- id is counted by the writer and never used again, so that a reader's position stays true after a deletion.
  CREATE TABLE callback (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    item INTEGER NOT NULL,
    received_at_us INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE INDEX callback_by_run ON callback (run, id);
  -- last_id, received, probes, and a refused:KIND for each kind of refusal.
  CREATE TABLE counter (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- One row while the process that holds the inbox listens.
  CREATE TABLE listening (base_url TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL) STRICT;
  `,
  ],
}

/**
 * Opens the inbox for writing, creating it if it is missing. The caller holds its lease. Throws
 * `WORKSPACE_UNUSABLE` if the file is not an inbox or comes from a newer version.
 */
export function openInbox(file: string): DatabaseSync {
  let db: DatabaseSync | null = null
  try {
    refuseIrregular(file)
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    closeDatabaseFile(file)
    refuseForeignSchema(db, file, SCHEMA)
    // Deleted data is overwritten: callbacks hold content.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON')
    db.exec(
      'PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
    )
    if (process.platform === 'darwin') db.exec('PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1')
    takeSchemaSteps(db, SCHEMA, (version) => toTooNew(file, version))
    giveRoomBack(db)
    return db
  } catch (error) {
    db?.close()
    throw toInboxError(file, error)
  }
}

/** Free pages from which the file is shrunk, and most used pages, beyond which that would take too long. */
const ROOM = { freePages: 4_000, usedPages: 16_000 }

/**
 * Shrinks the file if much of it is free and little must be copied. Shrinking bit by bit would cost a tenth
 * of every commit's time.
 */
function giveRoomBack(db: DatabaseSync): void {
  const read = (pragma: string) => Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma])
  const freePages = read('freelist_count')
  if (freePages < ROOM.freePages || read('page_count') - freePages > ROOM.usedPages) return
  // The checkpoint shortens the file; if a reader is in the way, the next opening does.
  db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Opens the inbox for reading while others write; null if there is none yet. Throws `WORKSPACE_UNUSABLE`. */
function openInboxReader(file: string): DatabaseSync | null {
  if (!isThere(file)) return null
  let db: DatabaseSync | null = null
  try {
    db = openReader(file, BUSY_TIMEOUT_MS)
    refuseForeignSchema(db, file, SCHEMA)
    const version = readSchemaVersion(db)
    if (version > SCHEMA.steps.length) throw toTooNew(file, version)
    if (version === SCHEMA.steps.length) {
      db.exec('PRAGMA query_only = 1; PRAGMA cache_size = -4096')
      return db
    }
    // Its writer is creating or upgrading it.
    db.close()
    return null
  } catch (error) {
    if (db?.isOpen) db.close()
    throw toInboxError(file, error)
  }
}

function toTooNew(file: string, version: number): SluiceError {
  return new SluiceError({ id: 'inbox_too_new', file, version, known: SCHEMA.steps.length })
}

/** The error that prevented opening or writing the inbox, as `WORKSPACE_UNUSABLE`. */
export function toInboxError(file: string, cause: unknown): SluiceError {
  if (cause instanceof SluiceError) return cause
  return SluiceError.because(cause, { id: 'inbox_unusable', file })
}

/** Approximate limit on the bodies of one page together, bytes; a larger body gets its own page. */
const PAGE_BYTES = 16 * 1024 * 1024

type StoredCallback = Omit<InboxCallback, 'body'> & { body: Uint8Array }

/** Reads a workspace's inbox in short reads while it may be written; a missing inbox counts as empty. */
export class InboxReader {
  readonly #file: string
  #open: { db: DatabaseSync; sizes: StatementSync; page: StatementSync } | null = null

  constructor(workspace: string) {
    this.#file = toInboxFile(workspace)
  }

  /**
   * The callbacks of a run after id `afterId`, in order of arrival, at most `limit`; fewer if they are large,
   * but at least one if there is any. Throws `WORKSPACE_UNUSABLE`.
   */
  readAfter(runToken: string, afterId: number, limit: number): InboxCallback[] {
    const open = this.#connect()
    if (open === null) return []
    let lastId = 0
    let sizeBytes = 0
    for (const { id, size } of open.sizes.all(runToken, afterId, limit)) {
      sizeBytes += Number(size)
      if (lastId !== 0 && sizeBytes > PAGE_BYTES) break
      lastId = Number(id)
    }
    if (lastId === 0) return []
    const found = open.page.all(runToken, afterId, lastId) as unknown as StoredCallback[]
    return found.map(({ body, ...callback }) => ({
      ...callback,
      body: decodeBody(body),
      ...(!isUtf8(body) && { isDamaged: true }),
    }))
  }

  /** The id of each run's last callback, by run token. */
  readLastIds(): Map<string, number> {
    const last = 'SELECT token, (SELECT max(id) FROM callback WHERE callback.run = run.id) AS last FROM run'
    const rows = this.#connect()?.db.prepare(last).all() ?? []
    return new Map(rows.map(({ token, last }) => [String(token), Number(last ?? 0)]))
  }

  /** Tokens of the runs with callbacks here, whether or not the workspace still has those runs. */
  readRunTokens(): string[] {
    const rows = this.#connect()?.db.prepare('SELECT token FROM run').all() ?? []
    return rows.map(({ token }) => String(token)).filter((token) => !token.startsWith(SELF_TEST_PREFIX))
  }

  /** The newest callbacks of all runs, newest first, at most `limit`. */
  readNewest(limit: number): InboxItem[] {
    const newest = `SELECT callback.id, token AS runToken, item, received_at_us AS receivedAtUs, length(body) AS sizeBytes
      FROM callback JOIN run ON run.id = run WHERE substr(token, 1, ?) <> ? ORDER BY callback.id DESC LIMIT ?`
    const open = this.#connect()
    return open === null ? [] : readRows(open.db, newest, SELF_TEST_PREFIX.length, SELF_TEST_PREFIX, limit)
  }

  /** The body of one callback as text; null if it is gone. */
  readBody(id: number): string | null {
    const body = this.#connect()?.db.prepare('SELECT body FROM callback WHERE id = ?').get(id)?.['body']
    return body instanceof Uint8Array ? decodeBody(body) : null
  }

  /** The receiver's counts; refusals of the last second may be missing. */
  readCounts(): InboxCounts {
    const open = this.#connect()
    return toInboxCounts(open === null ? new Map() : readCounters(open.db))
  }

  /** The last refused request of each kind; those of the last second may be missing. */
  readLastRefused(): Partial<Record<Refusal, LastRefusal>> {
    const open = this.#connect()
    return open === null ? {} : toLastRefused(readCounters(open.db))
  }

  /** Where the process that holds the inbox listens; null while none does. */
  readAddress(): InboxAddress | null {
    const open = this.#connect()
    if (open === null) return null
    return readRows<InboxAddress>(open.db, 'SELECT base_url AS baseUrl, host, port FROM listening')[0] ?? null
  }

  /** Closes the file; the next read opens it again. */
  close(): void {
    this.#open?.db.close()
    this.#open = null
  }

  #connect() {
    if (this.#open !== null) return this.#open
    const db = openInboxReader(this.#file)
    if (db === null) return null
    const behind = 'FROM callback WHERE run = (SELECT id FROM run WHERE token = ?) AND id > ?'
    this.#open = {
      db,
      sizes: db.prepare(`SELECT id, length(body) AS size ${behind} ORDER BY id LIMIT ?`),
      page: db.prepare(
        `SELECT id, item, received_at_us AS receivedAtUs, body ${behind} AND id <= ? ORDER BY id`,
      ),
    }
    return this.#open
  }
}
