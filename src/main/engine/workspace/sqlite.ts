import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Types for readers and writers of a journal; only the journal itself opens a database. */
export type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Prepared statements of each database, which the steps of a reader share. */
const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** Most prepared statements kept per database. */
const PREPARED_MAX = 30

/** Arrays, because objects take twice as long to make. */
function prepareTuples(db: DatabaseSync, sql: string): StatementSync {
  const own = prepared.get(db) ?? new Map<string, StatementSync>()
  prepared.set(db, own)
  let statement = own.get(sql)
  if (statement === undefined) {
    statement = db.prepare(sql)
    statement.setReturnArrays(true)
    if (own.size >= PREPARED_MAX) own.clear()
    own.set(sql, statement)
  }
  return statement
}

/** The rows of a statement, each as an array. */
export function readTuples<Tuple>(db: DatabaseSync, sql: string, params: readonly SQLInputValue[]): Tuple[] {
  return prepareTuples(db, sql).all(...params) as unknown as Tuple[]
}

/** The only row of a statement, as an array. */
export function readTuple<Tuple extends unknown[]>(
  db: DatabaseSync,
  sql: string,
  params: readonly SQLInputValue[],
): Tuple {
  return prepareTuples(db, sql).get(...params) as unknown as Tuple
}

/** The rows of a statement as objects with a member for each column, typed as the tables declare. */
export function readRows<Row>(db: DatabaseSync, sql: string, ...params: SQLInputValue[]): Row[] {
  return db.prepare(sql).all(...params) as unknown as Row[]
}

/** The values of a single-column statement. */
export function readValues<Value>(db: DatabaseSync, sql: string, ...params: SQLInputValue[]): Value[] {
  return readRows<Record<string, Value>>(db, sql, ...params).flatMap((row) => Object.values(row))
}

/** The number that a statement returns; 0 for null or no row. */
export function readNumber(db: DatabaseSync, sql: string, ...params: SQLInputValue[]): number {
  return readValues<number | null>(db, sql, ...params)[0] ?? 0
}

/** A number that changes with every commit of another connection. */
export function readVersion(db: DatabaseSync): number {
  return readNumber(db, 'PRAGMA data_version')
}

export function hasColumn(db: DatabaseSync, table: string, column: string): boolean {
  return readValues(db, 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, column).length > 0
}

/** Decodes the positions (from 0) that SQL's `char` encoded as characters (from 1). */
export function toPlaces(characters: string | null): Uint16Array {
  const places = new Uint16Array(characters?.length ?? 0)
  for (let at = 0; at < places.length; at += 1) places[at] = (characters?.charCodeAt(at) ?? 0) - 1
  return places
}

/** A stored value as text; null stays null. */
export function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}

/** A stored value as a number; null stays null. */
export function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

/** Rows per statement, the largest first: half the cost of a small insert is per statement. */
const SIZES = [32, 8, 1] as const

/**
 * Inserts rows in order, many with one statement. Rows from {@link add} are in the file after {@link flush};
 * the caller keeps a transaction open for both and flushes before it ends.
 */
export class BulkInsert {
  readonly #db: DatabaseSync
  readonly #sql: { into: string; row: string; tail: string }
  /** Values per row. */
  readonly #width: number
  readonly #statements = new Map<number, StatementSync>()
  #values: SQLInputValue[] = []

  /**
   * `into` is the statement up to `VALUES`, `row` is one row with a `?` for each value, and `tail` is what
   * follows the rows, such as `ON CONFLICT`.
   */
  constructor(db: DatabaseSync, into: string, row: string, tail = '') {
    this.#db = db
    this.#sql = { into, row, tail }
    this.#width = row.split('?').length - 1
  }

  add(...values: SQLInputValue[]): void {
    this.#values.push(...values)
    if (this.#values.length >= SIZES[0] * this.#width) this.flush()
  }

  /** Writes the remaining rows. After a failed statement, its rows and all others are discarded. */
  flush(): void {
    const values = this.#values
    if (values.length === 0) return
    this.#values = []
    let from = 0
    for (const size of SIZES) {
      const length = size * this.#width
      for (; values.length - from >= length; from += length) {
        const rows = length === values.length ? values : values.slice(from, from + length)
        this.#prepare(size).run(...rows)
      }
    }
  }

  /** Discards unwritten rows after a rollback. */
  forget(): void {
    this.#values = []
  }

  #prepare(rows: number): StatementSync {
    let statement = this.#statements.get(rows)
    if (statement === undefined) {
      const { into, row, tail } = this.#sql
      const sql = `${into} VALUES ${Array(rows).fill(row).join(', ')} ${tail}`
      statement = this.#db.prepare(sql)
      this.#statements.set(rows, statement)
    }
    return statement
  }
}
