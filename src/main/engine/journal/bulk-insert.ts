import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Rows of one statement, the larger first. Half of what a small insert costs is paid once a statement. */
const SIZES = [32, 8, 1] as const

/**
 * Inserts rows in their order, many with one statement. What {@link add} was given is in the file after
 * {@link flush}; the caller has a transaction open for both, and flushes before it ends.
 */
export class BulkInsert {
  readonly #db: DatabaseSync
  readonly #head: string
  readonly #tail: string
  readonly #columns: number
  readonly #statements = new Map<number, StatementSync>()
  #values: SQLInputValue[] = []

  /** `into` is the statement up to `VALUES`, `tail` what follows the rows, such as an `ON CONFLICT`. */
  constructor(db: DatabaseSync, into: string, columns: number, tail = '') {
    this.#db = db
    this.#head = into
    this.#tail = tail
    this.#columns = columns
  }

  /** Takes one row's values. */
  add(...values: SQLInputValue[]): void {
    this.#values.push(...values)
    if (this.#values.length >= SIZES[0] * this.#columns) this.flush()
  }

  /** Writes the rows that are left. What a failed statement was to write is forgotten with the rest. */
  flush(): void {
    const values = this.#values
    if (values.length === 0) return
    this.#values = []
    let from = 0
    for (const size of SIZES) {
      const length = size * this.#columns
      for (; values.length - from >= length; from += length) {
        const rows = length === values.length ? values : values.slice(from, from + length)
        this.#prepare(size).run(...rows)
      }
    }
  }

  /** Forgets rows that were not written, whose transaction was undone. */
  forget(): void {
    this.#values = []
  }

  #prepare(rows: number): StatementSync {
    let statement = this.#statements.get(rows)
    if (statement === undefined) {
      const row = `(${Array(this.#columns).fill('?').join(', ')})`
      const sql = `${this.#head} VALUES ${Array(rows).fill(row).join(', ')} ${this.#tail}`
      statement = this.#db.prepare(sql)
      this.#statements.set(rows, statement)
    }
    return statement
  }
}
