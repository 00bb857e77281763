import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { LedgerEntry, LedgerState } from '../../../../shared/lookback/ledger.ts'
import type { RowAndRecord } from '../../../../shared/plan/source-place.ts'
import type { RunView } from '../../journal/run-family.ts'
import { BulkInsert } from '../../workspace/sqlite.ts'
import { toTextMatch } from '../../workspace/text-match.ts'

/** Something sent or answered about one entry of a list. */
export interface LedgerEvent<Detail = unknown> {
  /** The id of an index, the name of a watchlist; '' for appeals. */
  list: string
  /** What it concerns, such as the id of an item. */
  key: string
  /** When the answer came, or the request without an answer was sent, Unix microseconds. */
  atUs: number
  runId: string
  /** Numbers of the row that the request came from. */
  numbers: RowAndRecord
  detail: Detail
}

/** How one kind of ledger is built. */
export interface LedgerReader<Detail = never> {
  /** Adds what one run sent and the answers it got. */
  collect(run: RunView, events: { add(event: LedgerEvent<Detail>): void }): void
  /** The entry that all events about one key add up to, in the order of the answers; null for no entry. */
  fold(events: readonly LedgerEvent<Detail>[]): FoldedEntry | null
}

export interface FoldedEntry {
  entry: LedgerEntry
  /** The texts that a search looks through. */
  texts: readonly (string | null)[]
}

export interface EntryFilter {
  list: string
  states: readonly LedgerState[]
  search: string | null
}

const TABLES = `
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY, list TEXT NOT NULL, key TEXT NOT NULL, at_us INTEGER NOT NULL,
    run_id TEXT NOT NULL, numbers TEXT NOT NULL, detail TEXT NOT NULL
  ) STRICT;
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY, list TEXT NOT NULL, state TEXT NOT NULL, first_at_us INTEGER NOT NULL,
    first_record INTEGER NOT NULL, texts TEXT NOT NULL, document TEXT NOT NULL
  ) STRICT;
`

/**
 * The events and entries of a ledger being read, in a database that only this process can open and whose file
 * is gone once it is closed: what was deleted from the journals exists nowhere else.
 */
export class LedgerTables {
  readonly #db: DatabaseSync
  readonly #events: BulkInsert

  constructor() {
    // SQLite keeps a database without a name in a temporary file that it has already unlinked.
    this.#db = new DatabaseSync('')
    this.#db.exec(`PRAGMA cache_size = -16384; PRAGMA temp_store = FILE; ${TABLES} BEGIN`)
    const into = 'INSERT INTO event (list, key, at_us, run_id, numbers, detail)'
    this.#events = new BulkInsert(this.#db, into, '(?, ?, ?, ?, ?, ?)')
  }

  add({ list, key, atUs, runId, numbers, detail }: LedgerEvent): void {
    this.#events.add(list, key, Math.round(atUs), runId, JSON.stringify(numbers), JSON.stringify(detail))
  }

  /** Builds the entries from all events. Only the events of one key are in memory at a time. */
  fold(fold: (events: readonly LedgerEvent<never>[]) => FoldedEntry | null): void {
    this.#events.flush()
    const entries = new BulkInsert(
      this.#db,
      'INSERT INTO entry (list, state, first_at_us, first_record, texts, document)',
      '(?, ?, ?, ?, ?, ?)',
    )
    const finish = (events: readonly LedgerEvent[]) => {
      const [first] = events
      const folded = first === undefined ? null : fold(events as readonly LedgerEvent<never>[])
      if (first === undefined || folded === null) return
      const { entry, texts } = folded
      const text = texts.filter((one) => one !== null).join('\n')
      entries.add(first.list, entry.state, first.atUs, first.numbers.record, text, JSON.stringify(entry))
    }
    let group: LedgerEvent[] = []
    for (const row of this.#db.prepare('SELECT * FROM event ORDER BY list, key, at_us, seq').iterate()) {
      const event = toEvent(row)
      const [first] = group
      if (first !== undefined && (first.key !== event.key || first.list !== event.list)) {
        finish(group)
        group = []
      }
      group.push(event)
    }
    finish(group)
    entries.flush()
    this.#db.exec(
      'DELETE FROM event; CREATE INDEX entry_by_age ON entry (list, first_at_us, first_record, id)',
    )
  }

  /** Every list, by name, with its entries by state. An entry for several items counts that often. */
  readLists(): { name: string; counts: Record<string, number> }[] {
    const counted = this.#db
      .prepare(
        `SELECT list, state, sum(coalesce(json_extract(document, '$.items'), 1)) AS n FROM entry
         GROUP BY list, state ORDER BY list`,
      )
      .all()
    return [...Map.groupBy(counted, ({ list }) => String(list))].map(([name, states]) => ({
      name,
      counts: Object.fromEntries(states.map(({ state, n }) => [String(state), Number(n)])),
    }))
  }

  countEntries(filter: EntryFilter): number {
    return Number(this.#select('count(*) AS n', filter, '').get()?.['n'])
  }

  /** Reads the matching entries, the oldest first. */
  *readEntries(
    filter: EntryFilter,
    page: { offset: number; limit: number } = { offset: 0, limit: -1 },
  ): Generator<LedgerEntry, void, undefined> {
    const rest = `ORDER BY first_at_us, first_record, id LIMIT ${page.limit} OFFSET ${page.offset}`
    for (const row of this.#select('document', filter, rest).iterate()) {
      yield JSON.parse(String(row['document'])) as LedgerEntry
    }
  }

  close(): void {
    this.#db.close()
  }

  #select(
    columns: string,
    { list, states, search }: EntryFilter,
    rest: string,
  ): { get: () => ReturnType<StatementSync['get']>; iterate: () => ReturnType<StatementSync['iterate']> } {
    const params: SQLInputValue[] = [list, JSON.stringify(states)]
    const match = search === null ? null : toTextMatch(search)
    params.push(...(match?.params ?? []))
    const statement = this.#db.prepare(
      `SELECT ${columns} FROM entry WHERE list = ? AND state IN (SELECT value FROM json_each(?))
       ${match === null ? '' : `AND ${match.sql('texts')}`} ${rest}`,
    )
    return { get: () => statement.get(...params), iterate: () => statement.iterate(...params) }
  }
}

function toEvent(row: Record<string, unknown>): LedgerEvent {
  return {
    list: String(row['list']),
    key: String(row['key']),
    atUs: Number(row['at_us']),
    runId: String(row['run_id']),
    numbers: JSON.parse(String(row['numbers'])) as RowAndRecord,
    detail: JSON.parse(String(row['detail'])) as unknown,
  }
}

/** Unix microseconds as ISO 8601. */
export function toIsoTime(us: number): string {
  return new Date(us / 1000).toISOString()
}
