import type { StatementSync } from 'node:sqlite'
import type { Journal } from './journal.ts'
import { type RunRecord, updateRunRecord } from './run-record.ts'

/** An item that may be sent: a durable mark says so. For tasks it holds one row. */
export interface ClaimedItem {
  item: number
  rows: { row: number; cells: string[] }[]
  /** Tries it had before, in this run. */
  attempts: number
}

/** Cells of one block of items, UTF-16 code units: a few huge rows must not fill the memory. */
const BLOCK_MAX_CHARACTERS = 4 * 1024 * 1024

/**
 * The marks that stand on disk before anything goes on the wire (design §2): a watermark for items sent the first
 * time, a mark of its own for each item that is sent again.
 */
export class ItemClaims {
  readonly #journal: Journal
  readonly #fresh: StatementSync
  readonly #again: StatementSync
  readonly #mark: StatementSync
  readonly #unmark: StatementSync
  readonly #rowsOf: StatementSync
  #claimed: number
  #claimedRows: number

  constructor(journal: Journal, record: RunRecord) {
    this.#journal = journal
    this.#claimed = record.claimed
    this.#claimedRows = record.claimedRows
    const { db } = journal
    this.#fresh = db.prepare('SELECT id, cells FROM row WHERE id > ? AND item = id ORDER BY id LIMIT ?')
    this.#again = db.prepare(
      "SELECT item, attempts FROM result WHERE state = 'pending' AND item > ? ORDER BY item LIMIT ?",
    )
    this.#mark = db.prepare("UPDATE result SET state = 'sending' WHERE item = ? AND state = 'pending'")
    this.#unmark = db.prepare("UPDATE result SET state = 'pending' WHERE item = ? AND state = 'sending'")
    // An item's rows are consecutive but for invalid ones; the bound keeps SQLite from walking to the table's end.
    this.#rowsOf = db.prepare(
      `SELECT id, cells FROM row WHERE id >= ?1 AND item = ?1 AND id < coalesce((SELECT id FROM row WHERE id > ?1
       AND item IS NOT NULL AND item <> ?1 ORDER BY id LIMIT 1), 9e18) ORDER BY id`,
    )
  }

  /** Items above the watermark, without claiming them: at most `limit`, fewer where they are huge, none at the end. */
  readFresh(limit: number): ClaimedItem[] {
    const items: ClaimedItem[] = []
    let characters = 0
    for (const row of this.#fresh.iterate(this.#claimed, limit)) {
      const item = Number(row['id'])
      const cells = String(row['cells'])
      items.push({ item, rows: [{ row: item, cells: JSON.parse(cells) as string[] }], attempts: 0 })
      characters += cells.length
      if (characters >= BLOCK_MAX_CHARACTERS) break
    }
    return items
  }

  /** Items that wait to be sent again, left by an earlier session; at most `limit` after item `after`. */
  readPending(after: number, limit: number): { item: number; attempts: number }[] {
    return this.#again
      .all(after, limit)
      .map((row) => ({ item: Number(row['item']), attempts: Number(row['attempts']) }))
  }

  /** Raises the watermark over these items. The caller has a transaction of `power` durability open. */
  raiseWatermark(items: readonly ClaimedItem[]): void {
    const last = items.at(-1)
    if (last === undefined) return
    this.#claimed = last.item
    for (const item of items) this.#claimedRows += item.rows.length
    this.#writeWatermark()
  }

  /** Lowers the watermark under items that were claimed and never sent. The caller has a transaction open. */
  lowerWatermark(unsent: readonly ClaimedItem[]): void {
    const first = unsent[0]
    if (first === undefined) return
    this.#claimed = first.item - 1
    for (const item of unsent) this.#claimedRows -= item.rows.length
    this.#writeWatermark()
  }

  /** Marks items that are about to be sent again, and reads them. The caller has a `power` transaction open. */
  markAgain(items: readonly { item: number; attempts: number }[]): ClaimedItem[] {
    return items.map(({ item, attempts }) => {
      this.#mark.run(item)
      const rows = this.#rowsOf.all(item).map((row) => ({
        row: Number(row['id']),
        cells: JSON.parse(String(row['cells'])) as string[],
      }))
      this.#journal.counters.add('state', 'pending', -rows.length)
      this.#journal.counters.add('state', 'sending', rows.length)
      return { item, rows, attempts }
    })
  }

  /** Takes marks back of items that were not sent again after all. The caller has a transaction open. */
  unmark(items: readonly ClaimedItem[]): void {
    for (const { item, rows } of items) {
      // A mark whose own transaction was undone is not there, and was not counted.
      if (this.#unmark.run(item).changes === 0) continue
      this.#journal.counters.add('state', 'sending', -rows.length)
      this.#journal.counters.add('state', 'pending', rows.length)
    }
  }

  #writeWatermark(): void {
    updateRunRecord(this.#journal.db, { claimed: this.#claimed, claimed_rows: this.#claimedRows })
  }
}
