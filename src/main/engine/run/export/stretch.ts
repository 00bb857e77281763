import type { DatabaseSync, SQLInputValue, StatementSync } from '../../workspace/sqlite.ts'

/** Rows that are read together. */
export interface Stretch {
  kind: keyof typeof CONDITIONS
  params: readonly SQLInputValue[]
}

/** Which rows a statement reads, by the column that has their numbers. */
const CONDITIONS = {
  between: (column: string) => `${column} BETWEEN ? AND ?`,
  listed: (column: string) => `${column} IN (SELECT value FROM json_each(?))`,
}

/** Rows beyond those that are wanted, for each of them, that are read rather than leaving them out one by one. */
const SURPLUS_MAX = 1

/** The stretch of some rows: all from the first to the last where few of them are not wanted. */
export function toStretch(ids: readonly number[]): Stretch {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const id of ids) {
    first = Math.min(first, id)
    last = Math.max(last, id)
  }
  if (last - first >= ids.length * (1 + SURPLUS_MAX)) return { kind: 'listed', params: [JSON.stringify(ids)] }
  return { kind: 'between', params: [first, last] }
}

/** A statement that reads stretches of rows; prepared once for each kind of them. */
export class StretchStatement {
  readonly #db: DatabaseSync
  readonly #toSql: (condition: string) => string
  readonly #column: string
  readonly #statements = new Map<Stretch['kind'], StatementSync>()

  /** `toSql` puts the condition on `column` into the statement. */
  constructor(db: DatabaseSync, column: string, toSql: (condition: string) => string) {
    this.#db = db
    this.#column = column
    this.#toSql = toSql
  }

  /** Its rows as arrays, which take half the time that objects take. */
  readTuples<Tuple extends readonly unknown[]>(stretch: Stretch): Tuple[] {
    return this.#prepare(stretch).all(...stretch.params) as unknown as Tuple[]
  }

  #prepare({ kind }: Stretch): StatementSync {
    let statement = this.#statements.get(kind)
    if (statement === undefined) {
      statement = this.#db.prepare(this.#toSql(CONDITIONS[kind](this.#column)))
      statement.setReturnArrays(true)
      this.#statements.set(kind, statement)
    }
    return statement
  }
}
