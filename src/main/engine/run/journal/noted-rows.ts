import type { DatabaseSync, StatementSync } from '../../workspace/sqlite.ts'

/** Most entries that are read at once. */
const AHEAD_MAX = 1_000

/**
 * Entries of a journal that apply from their row until the next entry. Reading in ascending row order costs
 * next to nothing, however many entries there are: they are read ahead, twice as many each time they run out.
 * Any other row is looked up.
 */
export class NotedRows<Entry extends { row: number }> {
  readonly #find: StatementSync
  readonly #readOn: StatementSync
  readonly #toEntry: (stored: Record<string, unknown>) => Entry
  /** Consecutive entries, and the index of the one found last; -1 if the row comes before all of them. */
  #entries: Entry[] = []
  #at = -1
  #isBegun = false
  /** Whether no entry follows `#entries`. */
  #isAtEnd = false
  #ahead = 1

  /** `select` reads all entries of a table; its column `row` is the table's key. */
  constructor(db: DatabaseSync, select: string, toEntry: (stored: Record<string, unknown>) => Entry) {
    this.#find = db.prepare(`${select} WHERE row <= ? ORDER BY row DESC LIMIT 1`)
    this.#readOn = db.prepare(`${select} WHERE row > ? ORDER BY row LIMIT ?`)
    this.#toEntry = toEntry
  }

  /** The last entry at or before a row. */
  findFor(row: number): Entry | undefined {
    if (!this.#isBegun || row < (this.#entries[this.#at]?.row ?? 0)) this.#lookUp(row)
    for (;;) {
      const next = this.#entries[this.#at + 1]
      if (next === undefined) {
        if (this.#isAtEnd) break
        this.#readAhead(row)
      } else if (next.row <= row) this.#at += 1
      else break
    }
    return this.#entries[this.#at]
  }

  #lookUp(row: number): void {
    const found = this.#find.get(row)
    this.#entries = found === undefined ? [] : [this.#toEntry(found)]
    this.#at = this.#entries.length - 1
    this.#isBegun = true
    this.#isAtEnd = false
    this.#ahead = 1
  }

  #readAhead(row: number): void {
    const current = this.#entries[this.#at]
    const entries = this.#readOn.all(current?.row ?? 0, this.#ahead).map(this.#toEntry)
    const last = entries.at(-1)
    this.#isAtEnd = entries.length < this.#ahead
    // An entry far ahead is looked up instead of reading everything in between.
    if (last !== undefined && !this.#isAtEnd && last.row < row && this.#ahead > 1) {
      this.#lookUp(row)
      return
    }
    this.#entries = current === undefined ? entries : [current, ...entries]
    this.#at = current === undefined ? -1 : 0
    this.#ahead = Math.min(AHEAD_MAX, this.#ahead * 2)
  }
}
