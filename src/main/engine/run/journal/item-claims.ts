import type { StatementSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { toRowsPerItem } from '../../../../shared/operations/operations.ts'
import { selectItemRows } from '../../journal/item-rows.ts'
import type { Journal } from '../../journal/journal.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import { createReplacedReader, selectReplacedTries } from '../../journal/sent-as.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { createRowMapper, type MapRow } from '../../mapping/row-mapper.ts'
import { toText } from '../../workspace/sqlite.ts'

/** An item that may be sent, as a durable mark says. It holds one row, or several of a watchlist. */
export interface ClaimedItem {
  item: number
  rows: { row: number; cells: string[]; kinds: string | null }[]
  /** Tries before, in this run. */
  attempts: number
  /** Whether it has a mark of its own instead of the watermark, because it is resent or corrected. */
  isMarked?: true
}

/** The columns `id`, `cells`, `item` and `kinds`. */
type FreshRow = [number, string, number, string | null]

const WITHOUT_RESULT = ' AND NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id)'
/** The first waiting row of an item with several; after a retry others may have ended. */
const FIRST_WAITING = `NOT EXISTS (SELECT 1 FROM result AS waiting INDEXED BY result_by_state
  CROSS JOIN row AS other ON other.id = waiting.row WHERE waiting.state = 'pending' AND waiting.row >= row.item
  AND waiting.row < result.row AND other.item = row.item)`
/** Rows of an item may have fewer tries than others, because a correction had made them invalid. */
export const TRIES_OF_ITEM = `max(attempts, coalesce((SELECT max(number) FROM attempt WHERE attempt.item = row.item), 0))`

/** Cells of one block of items, UTF-8 bytes: a few huge rows must not fill the memory. */
const BLOCK_MAX_BYTES = 4 * 1024 * 1024

/**
 * The marks on disk before anything is sent (docs/architecture.md §2.1): a watermark for items sent the first
 * time, and a mark of its own for each resent item.
 */
export class ItemClaims {
  readonly #journal: Journal
  readonly #record: RunRecord
  readonly #fresh: StatementSync
  readonly #freshSize: StatementSync
  readonly #again: StatementSync
  readonly #watermark: StatementSync
  readonly #mark: StatementSync
  readonly #unmark: StatementSync
  readonly #rowsOf: StatementSync
  readonly #unknownTries: StatementSync
  readonly #lostTry: StatementSync
  readonly #rowsPerItem: number
  /** Whether tries in a parent run may have been accepted. */
  readonly hasLostTries: boolean
  #claimed: number
  #claimedRows: number
  #mapRow: MapRow | null = null
  #delivered: ReturnType<typeof prepareDelivered> | null = null

  constructor(journal: Journal, record: RunRecord) {
    this.#journal = journal
    this.#record = record
    this.#rowsPerItem = toRowsPerItem(record.plan.operation)
    this.#claimed = record.claimed
    this.#claimedRows = record.claimedRows
    const { db } = journal
    // Rows settled by a late callback before they were sent have a result above the watermark.
    const fresh = `SELECT id, cells, item, kinds FROM row WHERE id > ?1 AND item IS NOT NULL${record.callbackBase === null ? '' : WITHOUT_RESULT} ORDER BY id LIMIT ?2`
    this.#freshSize = db.prepare(`SELECT coalesce(sum(octet_length(cells)), 0) AS bytes FROM (${fresh})`)
    this.#fresh = db.prepare(fresh)
    this.#fresh.setReturnArrays(true)
    this.#again = db.prepare(
      this.#rowsPerItem === 1
        ? "SELECT row AS item, row, attempts FROM result WHERE state = 'pending' AND row > ? ORDER BY row LIMIT ?"
        : `SELECT row.item, result.row, ${TRIES_OF_ITEM} AS attempts
           FROM result INDEXED BY result_by_state CROSS JOIN row ON row.id = result.row
           WHERE state = 'pending' AND result.row > ?1 AND ${FIRST_WAITING} ORDER BY result.row LIMIT ?2`,
    )
    this.#watermark = db.prepare('UPDATE run SET claimed = ?, claimed_rows = ?')
    this.#mark = db.prepare("UPDATE result SET state = 'sending' WHERE row = ? AND state = 'pending'")
    this.#unmark = db.prepare("UPDATE result SET state = 'pending' WHERE row = ? AND state = 'sending'")
    // In an item with several rows, a correction may have replaced the content of some.
    const replaced = this.#rowsPerItem === 1 ? selectReplacedTries('?1') : '0'
    this.#unknownTries = db.prepare(
      `SELECT (SELECT count(*) FROM attempt WHERE item = ?1 AND outcome = 'unknown' AND number > ${replaced})
       + (SELECT count(DISTINCT attempts) FROM earlier WHERE row = ?2 AND attempts > ${selectReplacedTries('?2')}
          AND (state = 'overdue' OR (state = 'unknown' AND NOT EXISTS (SELECT 1 FROM attempt
            WHERE item = ?1 AND outcome = 'unknown' AND number > ${replaced} AND number <= earlier.attempts))))
       + (SELECT count(*) FROM lost_try WHERE item = ?1 AND ${replaced} = 0) AS n`,
    )
    this.#lostTry = db.prepare('SELECT 1 FROM lost_try WHERE item = ?')
    this.hasLostTries = db.prepare('SELECT 1 FROM lost_try LIMIT 1').get() !== undefined
    this.#rowsOf = db.prepare(selectItemRows('row.id, row.cells, row.kinds'))
  }

  /** Items above the watermark, without claiming them: at most `limit`, fewer if huge, none at the end. */
  readFresh(limit: number): ClaimedItem[] {
    const isSeveral = this.#rowsPerItem > 1
    let itemsMax = limit
    // One more row than the items can have shows whether the last item is complete.
    let rowsMax = limit * this.#rowsPerItem + (isSeveral ? 1 : 0)
    for (;;) {
      const bytes = Number(this.#freshSize.get(this.#claimed, rowsMax)?.['bytes'])
      if (bytes <= BLOCK_MAX_BYTES || itemsMax <= 1) break
      itemsMax = Math.max(1, Math.floor((itemsMax * BLOCK_MAX_BYTES) / bytes))
      rowsMax = itemsMax * this.#rowsPerItem + (isSeveral ? 1 : 0)
    }
    const rows = this.#fresh.all(this.#claimed, rowsMax) as unknown as FreshRow[]
    const items: ClaimedItem[] = []
    let last: ClaimedItem | null = null
    for (const [row, cells, item, kinds] of rows) {
      if (last === null || last.item !== item) {
        if (items.length >= itemsMax) return items
        last = { item, rows: [], attempts: 0 }
        items.push(last)
      }
      last.rows.push({ row, cells: parseCells(cells), kinds })
    }
    if (isSeveral && rows.length === rowsMax) items.pop()
    return items
  }

  /**
   * Items that an earlier session left to be resent, each with its first waiting row; at most `limit` whose
   * row comes after row `after`.
   */
  readPending(after: number, limit: number): { item: number; row: number; attempts: number }[] {
    return this.#again.all(after, limit).map(({ item, row, attempts }) => ({
      item: Number(item),
      row: Number(row),
      attempts: Number(attempts),
    }))
  }

  /** Raises the watermark over items. The caller has a transaction open, and syncs it before sending. */
  raiseWatermark(items: readonly ClaimedItem[]): void {
    const last = items.at(-1)?.rows.at(-1)
    if (last === undefined) return
    this.#writeWatermark(last.row, this.#claimedRows + countRows(items))
  }

  /** Lowers the watermark below items that were claimed but never sent. The caller has a transaction open. */
  lowerWatermark(unsent: readonly ClaimedItem[]): void {
    const first = unsent[0]
    if (first === undefined) return
    this.#writeWatermark(first.item - 1, this.#claimedRows - countRows(unsent))
  }

  /**
   * Marks items about to be resent and reads them, except those that a callback has settled meanwhile. Like
   * {@link raiseWatermark}, needs an open transaction, synced before they are sent.
   */
  markAgain(items: readonly { item: number; attempts: number }[]): ClaimedItem[] {
    return items.flatMap(({ item, attempts }) => {
      const rows = this.#rowsOf.all(item).map((row) => ({
        row: Number(row['id']),
        cells: parseCells(String(row['cells'])),
        kinds: row['kinds'] === null ? null : String(row['kinds']),
      }))
      const marked = rows.filter(({ row }) => this.#mark.run(row).changes > 0)
      this.#journal.counters.add('state', 'pending', -marked.length)
      this.#journal.counters.add('state', 'sending', marked.length)
      return marked.length === 0 ? [] : [{ item, rows: marked, attempts, isMarked: true }]
    })
  }

  /** Removes marks of items that were not resent after all. The caller has a transaction open. */
  unmark(items: readonly ClaimedItem[]): void {
    for (const { rows } of items) {
      for (const { row } of rows) {
        // A mark is missing, and was not counted, if its own transaction was undone.
        if (this.#unmark.run(row).changes === 0) continue
        this.#journal.counters.add('state', 'sending', -1)
        this.#journal.counters.add('state', 'pending', 1)
      }
    }
  }

  /** Whether an item may have been sent: the watermark covers it. */
  isClaimed(item: number): boolean {
    return item <= this.#claimed
  }

  /**
   * Tries of a row of an item that may have been accepted, in any session of the run since its content was
   * corrected: unanswered ones, those whose answer or callback did not tell, and those whose callback did not
   * come in time. Those of its parent runs count as one, and so do those of the item that it was split from.
   */
  countUnknownTries(item: number, row: number = item): number {
    return Number(this.#unknownTries.get(item, row)?.['n'])
  }

  /** Whether a parent run sent an item in a try that may have been accepted. */
  hasLostTry(item: number): boolean {
    return this.#lostTry.get(item) !== undefined
  }

  /**
   * Which content of a row, sent alone, the service has if it answers this code because it knows the id: the
   * present one, which the person who began the session may have confirmed, or one that a correction has
   * replaced under the same id.
   */
  findDelivered(item: number, errorCode: string | null): 'present' | 'replaced' | 'either' {
    this.#delivered ??= prepareDelivered(this.#journal)
    const { isSaid, readReplaced, row: ofItem } = this.#delivered
    if (isSaid.get(errorCode) !== undefined) return 'present'
    const sent = readReplaced(item).filter(
      ({ attempts, attemptsBefore, mayBeTaken }) => mayBeTaken || attempts > attemptsBefore,
    )
    const row = ofItem.get(item)
    if (sent.length === 0 || row === undefined) return 'present'
    const { plan, columns, runToken } = this.#record
    this.#mapRow ??= createRowMapper(plan, columns, runToken)
    const cells = parseCells(String(row['cells']))
    const present = this.#mapRow(item, cells, toText(row['kinds'])).body
    const bodies = sent.map(({ kinds, mayBeTaken }) => ({
      body: this.#mapRow?.(item, cells, kinds).body,
      mayBeTaken,
    }))
    const replaced = bodies.filter(({ body }) => body?.['post_id'] === present['post_id'])
    if (replaced.every(({ body }) => isDeepStrictEqual(body, present))) return 'present'
    const isPresentTaken = replaced.some(
      ({ body, mayBeTaken }) => mayBeTaken && isDeepStrictEqual(body, present),
    )
    return isPresentTaken || this.countUnknownTries(item) > 0 ? 'either' : 'replaced'
  }

  /** Counts a row above the watermark that was settled unsent. The caller has a transaction open. */
  noteSettledUnsent(): void {
    this.#writeWatermark(this.#claimed, this.#claimedRows + 1)
  }

  /** Whether a request with this many rows of an item has all of them, so that the item can be split. */
  isWhole(item: number, rows: number): boolean {
    return this.#rowsOf.all(item).length === rows
  }

  /** Splits in two an item to be resent; returns the new items. The caller has a transaction open. */
  split(item: number): [number, number] {
    const rows = this.#rowsOf.all(item).map((row) => Number(row['id']))
    const second = rows[Math.ceil(rows.length / 2)]
    const last = rows.at(-1)
    if (second === undefined || last === undefined)
      throw new Error(`item ${item} has one row and cannot be split`)
    this.#journal.db
      .prepare('UPDATE row SET item = ?1 WHERE item = ?2 AND id BETWEEN ?1 AND ?3')
      .run(second, item, last)
    if (this.countUnknownTries(item) > 0) {
      this.#journal.db.prepare('INSERT OR IGNORE INTO lost_try VALUES (?)').run(second)
    }
    return [item, second]
  }

  #writeWatermark(claimed: number, claimedRows: number): void {
    this.#watermark.run(claimed, claimedRows)
    this.#claimed = claimed
    this.#claimedRows = claimedRows
  }
}

function countRows(items: readonly ClaimedItem[]): number {
  return items.reduce((sum, { rows }) => sum + rows.length, 0)
}

function prepareDelivered({ db }: Journal) {
  return {
    isSaid: db.prepare(
      `SELECT 1 FROM (SELECT options FROM session ORDER BY number DESC LIMIT 1)
       JOIN json_each(options, '$.deliveredCodes') WHERE json_each.value = ?`,
    ),
    readReplaced: createReplacedReader(db),
    row: db.prepare('SELECT cells, kinds FROM row WHERE id = ?'),
  }
}
