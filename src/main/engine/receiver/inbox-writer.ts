import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { LastRefusal, Refusal } from '../../../shared/run/callback-overview.ts'
import { type Lease, takeLease } from '../workspace/lease.ts'
import {
  type InboxAddress,
  type InboxCounts,
  type InboxEntry,
  InboxReader,
  openInbox,
  readCounters,
  SELF_TEST_PREFIX,
  toInboxCounts,
  toInboxError,
  toInboxFile,
} from './inbox.ts'

/** How long counters may wait for their commit, milliseconds: writing them each time adds a tenth to it. */
const COUNTERS_AFTER_MS = 1_000

/** Most callbacks that one transaction deletes, so that arriving ones do not wait long. */
const DELETED_AT_ONCE = 500

/** Called once an entry is on disk, or with the error. */
export type StoredListener = (error: Error | null) => void

/** The only writer of the inbox. One commit, which survives a power cut, stores everything that waits. */
export class InboxWriter {
  readonly #db: DatabaseSync
  readonly #lease: Lease
  readonly #insert: StatementSync
  readonly #insertRun: StatementSync
  readonly #count: StatementSync
  readonly #counters: Map<string, number>
  readonly #dirty = new Set<string>()
  readonly #runs = new Map<string, number>()
  /** Runs added by the open transaction. */
  #added: string[] = []
  #waiting: { entry: InboxEntry; stored: StoredListener }[] = []
  #immediate: NodeJS.Immediate | null = null
  #timer: NodeJS.Timeout | null = null

  private constructor(db: DatabaseSync, lease: Lease) {
    this.#db = db
    this.#lease = lease
    this.#insert = db.prepare(
      'INSERT INTO callback (id, run, item, received_at_us, body) VALUES (?, ?, ?, ?, ?)',
    )
    this.#insertRun = db.prepare('INSERT INTO run (token) VALUES (?) RETURNING id')
    this.#count = db.prepare('INSERT OR REPLACE INTO counter (name, n) VALUES (?, ?)')
    this.#counters = readCounters(db)
    for (const { id, token } of db.prepare('SELECT id, token FROM run').all()) {
      this.#runs.set(String(token), Number(id))
    }
    db.exec('DELETE FROM listening')
  }

  /** Opens or creates a workspace's inbox; null while another process has it. Throws `WORKSPACE_UNUSABLE`. */
  static open(workspace: string): InboxWriter | null {
    const file = toInboxFile(workspace)
    const lease = tryLease(file)
    if (lease === null) return null
    let db: DatabaseSync | null = null
    try {
      db = openInbox(file)
      const writer = new InboxWriter(db, lease)
      for (const token of [...writer.#runs.keys()]) {
        if (token.startsWith(SELF_TEST_PREFIX)) while (writer.#deleteSome(token));
      }
      return writer
    } catch (error) {
      db?.close()
      lease.release()
      throw toInboxError(file, error)
    }
  }

  /** Stores an entry with the next commit, which follows as soon as everything that has arrived is read. */
  store(entry: InboxEntry, stored: StoredListener): void {
    this.#waiting.push({ entry, stored })
    this.#immediate ??= setImmediate(() => this.#commit())
  }

  /** Counts a refused request, with its time and size. */
  countRefusal(refusal: Refusal, { atMs, sizeBytes }: LastRefusal): void {
    for (const [name, n] of [
      [`refused_at_ms:${refusal}`, atMs],
      [`refused_bytes:${refusal}`, sizeBytes ?? -1],
    ] as const) {
      this.#counters.set(name, n)
      this.#dirty.add(name)
    }
    this.#add(`refused:${refusal}`)
  }

  /** Counts a request that only checks whether the address exists. */
  countProbe(): void {
    this.#add('probes')
  }

  /** Counts since the workspace was created. */
  counts(): InboxCounts {
    return toInboxCounts(this.#counters)
  }

  /** Tells other processes where this one listens. Throws `WORKSPACE_UNUSABLE`. */
  publish({ baseUrl, host, port }: InboxAddress): void {
    try {
      this.#db.exec('DELETE FROM listening')
      this.#db
        .prepare('INSERT INTO listening (base_url, host, port) VALUES (?, ?, ?)')
        .run(baseUrl, host, port)
    } catch (error) {
      throw toInboxError(this.#db.location() ?? 'inbox', error)
    }
  }

  /** Deletes these runs' callbacks, a few at a time. Their space is reused, or freed at the next opening. */
  async forget(runTokens: readonly string[]): Promise<void> {
    // Counters not yet written would be lost with the deleted entries.
    if (this.#db.isOpen) this.#commitCounters()
    for (const token of runTokens) {
      while (this.#db.isOpen && this.#deleteSome(token)) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    // The WAL keeps deleted content until it is copied into the file; a reader in the way leaves that to the
    // next time.
    if (this.#db.isOpen) this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Stores what waits, closes the file and releases the lease. */
  close(): void {
    if (!this.#db.isOpen) return
    this.#commit()
    this.#commitCounters()
    try {
      this.#db.exec('DELETE FROM listening')
    } catch {
      // The next process that opens the inbox removes it.
    }
    this.#db.close()
    this.#lease.release()
  }

  #add(counter: string): void {
    this.#counters.set(counter, (this.#counters.get(counter) ?? 0) + 1)
    this.#dirty.add(counter)
    this.#timer ??= setTimeout(() => this.#commitCounters(), COUNTERS_AFTER_MS).unref()
  }

  #commitCounters(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const failure = this.#transact(() => {
      for (const name of this.#dirty) this.#count.run(name, this.#counters.get(name) ?? 0)
    })
    // What could not be written is written with the next count.
    if (failure === null) this.#dirty.clear()
  }

  #commit(): void {
    if (this.#immediate !== null) clearImmediate(this.#immediate)
    this.#immediate = null
    const group = this.#waiting
    this.#waiting = []
    if (group.length === 0) return
    const failures = new Map<InboxEntry, Error>()
    const failure = this.#transact(() => {
      for (const { entry } of group) {
        try {
          this.#write(entry)
        } catch (error) {
          // An entry that SQLite rejects, for its size for example, must not affect the others.
          if (!this.#db.isTransaction) throw error
          failures.set(entry, toError(error))
        }
      }
    })
    for (const { entry, stored } of group) stored(failure ?? failures.get(entry) ?? null)
  }

  /** Runs `work` in one transaction; if it fails, nothing has changed. */
  #transact(work: () => void): Error | null {
    const counters = new Map(this.#counters)
    this.#added = []
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      work()
      this.#db.exec('COMMIT')
      return null
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      for (const [name] of this.#counters) this.#counters.set(name, counters.get(name) ?? 0)
      for (const token of this.#added) this.#runs.delete(token)
      return toError(error)
    }
  }

  #write({ runToken, item, receivedAtUs, body }: InboxEntry): void {
    let run = this.#runs.get(runToken)
    if (run === undefined) {
      run = Number(this.#insertRun.get(runToken)?.['id'])
      this.#runs.set(runToken, run)
      this.#added.push(runToken)
    }
    const id = (this.#counters.get('last_id') ?? 0) + 1
    this.#insert.run(id, run, item, receivedAtUs, body)
    this.#add('last_id')
    if (!runToken.startsWith(SELF_TEST_PREFIX)) this.#add('received')
  }

  /** Returns whether that run has more. */
  #deleteSome(token: string): boolean {
    const run = this.#runs.get(token)
    if (run === undefined) return false
    const some = 'SELECT id FROM callback WHERE run = ? ORDER BY id LIMIT ?'
    const { changes } = this.#db
      .prepare(`DELETE FROM callback WHERE id IN (${some})`)
      .run(run, DELETED_AT_ONCE)
    if (Number(changes) === DELETED_AT_ONCE) return true
    this.#db.prepare('DELETE FROM run WHERE id = ?').run(run)
    this.#runs.delete(token)
    return false
  }
}

/** Deletes callbacks of runs if no process receives any; else the inbox's holder does at its next start. */
export async function forgetCallbacks(workspace: string, runTokens: readonly string[]): Promise<void> {
  const inbox = new InboxReader(workspace)
  const known = inbox.readRunTokens().filter((token) => runTokens.includes(token))
  inbox.close()
  const writer = known.length === 0 ? null : InboxWriter.open(workspace)
  if (writer === null) return
  try {
    await writer.forget(known)
  } finally {
    writer.close()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** Null while another process holds it. */
function tryLease(file: string): Lease | null {
  try {
    return takeLease(file, 'the inbox', 0)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'RUN_BUSY') return null
    throw error
  }
}
