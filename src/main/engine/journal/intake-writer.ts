import type { StatementSync } from 'node:sqlite'
import type { Problem } from '../../../shared/problem.ts'
import { toFound } from '../../../shared/problem.ts'
import type { Journal } from './journal.ts'
import { updateRunRecord } from './run-record.ts'

/** A row that intake has read, mapped and validated. */
export interface IntakeRow {
  row: number
  cells: readonly string[]
  /** Must be unique in the source; null where that needs no check. */
  uniqueId: string | null
  problems: Problem[]
}

/** Most problems kept in words; beyond it they are only counted, by cause. */
const PROBLEMS_MAX = 100_000

/** Writes what intake reads. Memory does not grow with the source: even seen post_ids live in a temporary table. */
export class IntakeWriter {
  readonly #journal: Journal
  readonly #insertRow: StatementSync
  readonly #insertProblem: StatementSync
  readonly #see: StatementSync
  readonly #seenAt: StatementSync
  #rowsRead = 0
  #items = 0
  #problems = { errors: 0, warnings: 0 }

  /** Starts afresh: what an earlier, interrupted intake left is removed, since nothing of it was sent. */
  constructor(journal: Journal) {
    this.#journal = journal
    const { db, counters } = journal
    for (const kind of ['state', 'problem'] as const) {
      for (const [value, n] of counters.entries(kind)) counters.add(kind, value, -n)
    }
    journal.transact('process', () => db.exec('DELETE FROM row; DELETE FROM problem'))
    db.exec('CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID')
    this.#insertRow = db.prepare('INSERT INTO row (id, cells, item) VALUES (?, ?, ?)')
    this.#insertProblem = db.prepare(
      'INSERT INTO problem (row, severity, code, field, message, found) VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#see = db.prepare('INSERT OR IGNORE INTO temp.seen (id, row) VALUES (?, ?)')
    this.#seenAt = db.prepare('SELECT row FROM temp.seen WHERE id = ?')
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  get items(): number {
    return this.#items
  }

  get problems(): { errors: number; warnings: number } {
    return this.#problems
  }

  /** Writes a batch in one transaction. Throws `DISK_FULL`. */
  writeRows(rows: readonly IntakeRow[]): void {
    this.#journal.transact('process', () => {
      for (const row of rows) this.#writeRow(row)
    })
  }

  /** Ends intake: the run is ready to send. */
  finish(columns: readonly string[]): void {
    this.#journal.transact('power', () => {
      updateRunRecord(this.#journal.db, {
        state: 'ready',
        columns: JSON.stringify(columns),
        rows_read: this.#rowsRead,
        items: this.#items,
      })
    })
    this.#journal.db.exec('DROP TABLE temp.seen')
  }

  #writeRow({ row, cells, uniqueId, problems }: IntakeRow): void {
    this.#rowsRead += 1
    let valid = true
    for (const problem of problems) {
      this.#writeProblem(problem)
      if (problem.severity === 'error') valid = false
    }
    if (uniqueId !== null && this.#see.run(uniqueId, row).changes === 0) {
      valid = false
      const first = Number(this.#seenAt.get(uniqueId)?.['row'])
      this.#writeProblem({
        row,
        severity: 'error',
        code: 'not_unique',
        field: 'post_id',
        message: `must be unique within the source, is also in row ${first}`,
        found: toFound(uniqueId),
      })
    }
    if (valid) this.#items += 1
    else this.#journal.counters.add('state', 'invalid', 1)
    this.#insertRow.run(row, JSON.stringify(cells), valid ? row : null)
  }

  #writeProblem(problem: Problem): void {
    const { severity, code, field = null, message, found = null } = problem
    const total = severity === 'error' ? ++this.#problems.errors : ++this.#problems.warnings
    // Messages that name other rows would make a group of their own each.
    const cause = code === 'not_unique' ? 'must be unique within the source' : message
    this.#journal.counters.add('problem', JSON.stringify([severity, code, field, cause]), 1)
    if (total <= PROBLEMS_MAX) this.#insertProblem.run(problem.row, severity, code, field, message, found)
  }
}
