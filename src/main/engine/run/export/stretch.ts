import type { DatabaseSync, SQLInputValue, StatementSync } from '../../workspace/sqlite.ts'

/** Rows read together. */
export interface Stretch {
  kind: keyof typeof CONDITIONS
  params: readonly SQLInputValue[]
}

/** Conditions that select rows, given the column with their numbers. */
const CONDITIONS = {
  between: (column: string) => `${column} BETWEEN ? AND ?`,
  listed: (column: string) => `${column} IN (SELECT value FROM json_each(?))`,
}

/** Most unwanted rows read for each wanted one, rather than selecting rows one by one. */
const SURPLUS_MAX = 1

/** The stretch for some rows: everything from first to last if few rows in between are unwanted. */
export function toStretch(ids: readonly number[]): Stretch {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const id of ids) {
    first = Math.min(first, id)
    last = Math.max(last, id)
  }
  if (last - first >= ids.length * (1 + SURPLUS_MAX)) return { kind: 'listed', params: [JSON.stringify(ids)] }
  return { kind: 'between', params: [first, last] }
}

/** A statement that reads stretches of rows, prepared once for each kind. */
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

  /** Its rows as arrays, which take half the time of objects. */
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
