import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  decodeBody,
  type InboxAddress,
  type InboxCallback,
  type InboxCounts,
  openInboxReader,
  readCounters,
  SELF_TEST_PREFIX,
  toInboxCounts,
  toInboxFile,
} from './inbox.ts'

/** Bodies of one page add up to about this much at most, unless one alone is larger, bytes. */
const PAGE_BYTES = 16 * 1024 * 1024

/** Reads a workspace's inbox while it may be written, in short reads; an inbox that does not exist yet is empty. */
export class InboxReader {
  readonly #file: string
  #open: { db: DatabaseSync; sizes: StatementSync; page: StatementSync } | null = null

  constructor(workspace: string) {
    this.#file = toInboxFile(workspace)
  }

  /**
   * The callbacks of a run behind the one with id `afterId`, in the order they came, at most `limit` of them; fewer
   * where they are large, and none only where there is none. Throws `WORKSPACE_UNUSABLE`.
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
    return open.page.all(runToken, afterId, lastId).map((row) => ({
      id: Number(row['id']),
      item: Number(row['item']),
      receivedAtUs: Number(row['received_at_us']),
      body: row['body'] instanceof Uint8Array ? decodeBody(row['body']) : '',
    }))
  }

  /** Tokens of the runs that have callbacks here, whether or not the workspace still has those runs. */
  readRunTokens(): string[] {
    const rows = this.#connect()?.db.prepare('SELECT token FROM run').all() ?? []
    return rows.map(({ token }) => String(token)).filter((token) => !token.startsWith(SELF_TEST_PREFIX))
  }

  /** What the receiver has counted; refusals of the last second may be missing. */
  readCounts(): InboxCounts {
    const open = this.#connect()
    return toInboxCounts(open === null ? new Map() : readCounters(open.db))
  }

  /** Where the process that holds the inbox listens; null while none does. */
  readAddress(): InboxAddress | null {
    const row = this.#connect()?.db.prepare('SELECT base_url, host, port FROM listening').get()
    if (row === undefined) return null
    return { baseUrl: String(row['base_url']), host: String(row['host']), port: Number(row['port']) }
  }

  /** Lets the file go; the next read opens it again. */
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
      page: db.prepare(`SELECT id, item, received_at_us, body ${behind} AND id <= ? ORDER BY id`),
    }
    return this.#open
  }
}
