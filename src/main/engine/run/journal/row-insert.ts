import { BulkInsert, type DatabaseSync, type StatementSync } from '../../workspace/sqlite.ts'

/** Plain rows per statement. */
const PLAIN_ROWS = 32

/**
 * Inserts the rows of a source in order. Most are plain: consecutive, each its own item or all of them
 * unsent, with text cells only. Their statement binds the first number and the cells, a quarter of the
 * values, since binding takes longer than adding numbers. Rows given to {@link add} are in the file after
 * {@link flush}.
 */
export class RowInsert {
  readonly #any: BulkInsert
  readonly #plain: Record<'sent' | 'unsent', StatementSync>
  /** Plain rows not written yet: the number of the first, and the cells of each. */
  #first = 0
  #cells: string[] = []
  #kind: 'sent' | 'unsent' = 'sent'

  constructor(db: DatabaseSync) {
    this.#any = new BulkInsert(db, 'INSERT INTO row (id, cells, item, kinds)', '(?, ?, ?, ?)')
    const prepare = (toItem: (at: number) => string) => {
      const rows = Array.from(
        { length: PLAIN_ROWS },
        (_, at) => `(?1 + ${at}, ?${at + 2}, ${toItem(at)}, NULL)`,
      )
      return db.prepare(`INSERT INTO row (id, cells, item, kinds) VALUES ${rows.join(', ')}`)
    }
    this.#plain = { sent: prepare((at) => `?1 + ${at}`), unsent: prepare(() => 'NULL') }
  }

  /** Adds a row with the JSON of its cells; `item` is null if it is not sent. */
  add(row: number, cells: string, item: number | null, kinds: string | null): void {
    const kind = item === null ? 'unsent' : 'sent'
    if ((item !== null && item !== row) || kinds !== null) {
      this.#handOn()
      this.#any.add(row, cells, item, kinds)
      return
    }
    if (row !== this.#first + this.#cells.length || kind !== this.#kind) this.#handOn()
    this.#kind = kind
    if (this.#cells.length === 0) this.#first = row
    this.#cells.push(cells)
    if (this.#cells.length < PLAIN_ROWS) return
    this.#any.flush()
    this.#plain[kind].run(this.#first, ...this.#cells)
    this.#cells = []
  }

  flush(): void {
    this.#handOn()
    this.#any.flush()
  }

  /** Plain rows that do not fill a statement are written like the others. */
  #handOn(): void {
    for (const [at, cells] of this.#cells.entries()) {
      const row = this.#first + at
      this.#any.add(row, cells, this.#kind === 'sent' ? row : null, null)
    }
    this.#cells = []
  }
}
