import type { ResultRow, RowFilter } from '../../../../shared/run/results.ts'
import { findTakersOf, type RunFamily } from '../../journal/run-family.ts'
import type { RunView } from '../../journal/run-view.ts'
import { pickRows } from './family-counts.ts'
import { type PageSource, toPageSource } from './page-source.ts'
import { createResultRows, JOINED_COLUMNS, type JoinedRow } from './result-rows.ts'

/** Row numbers read at once from each run. */
const CHUNK = 5_000

/** A row's number and the newest run that has it. */
export interface FamilyRow {
  id: number
  member: RunView
}

/** Lists the rows that match in the order of the source, each from its newest run. No read stays open behind it. */
export function* listFamilyRows(family: RunFamily, filter: RowFilter): Generator<FamilyRow, void, undefined> {
  const lists = family.members.map((member) => new MemberRows(member, family.members, filter))
  for (;;) {
    let next: MemberRows | null = null
    for (const list of lists) if (list.head < (next?.head ?? Number.POSITIVE_INFINITY)) next = list
    if (next === null) return
    yield { id: next.head, member: next.member }
    next.advance()
  }
}

/** A row as the results table shows it, and the run whose answer that is. */
export interface ShownRow {
  result: ResultRow
  /** The newest run that tried the row, or has it where none did. */
  shownBy: RunView
  joined: JoinedRow
}

/**
 * Reads rows as the results table shows them, in the order given: with the tries of all runs of the whole, and where a
 * retry has yet to send a row, with the last answer before that.
 */
export function readFamilyRows(family: RunFamily, rows: readonly FamilyRow[]): ShownRow[] {
  const found = new Map<number, ShownRow>()
  for (const member of family.members) {
    const ids = rows.filter((row) => row.member === member).map(({ id }) => id)
    for (const row of readWithEarlier(family, member, ids)) found.set(row.result.row, row)
  }
  return rows.map(({ id }) => found.get(id)).filter((row) => row !== undefined)
}

/** The newest run of each row, in the order given; rows that no run has are left out. */
export function findNewest({ members }: RunFamily, ids: readonly number[]): FamilyRow[] {
  const newest = new Map<number, RunView>()
  for (const member of members) for (const id of pickRows(member, ids)) newest.set(id, member)
  return ids.flatMap((id) => {
    const member = newest.get(id)
    return member === undefined ? [] : [{ id, member }]
  })
}

/** Runs of the whole that are older than a member, newest first. */
export function listEarlier({ whole }: RunFamily, member: RunView): RunView[] {
  const index = whole.findIndex(({ record }) => record.runId === member.record.runId)
  return whole.slice(0, Math.max(0, index)).reverse()
}

function readWithEarlier(family: RunFamily, member: RunView, ids: readonly number[]): ShownRow[] {
  if (ids.length === 0) return []
  const rows = new Map(readShown(member, ids).map((row) => [row.result.row, row]))
  for (const earlier of listEarlier(family, member)) {
    for (const before of readShown(earlier, ids)) {
      const { attempts: tries, row: id } = before.result
      const newer = rows.get(id)
      if (tries === 0 || newer === undefined) continue
      const { attempts, state } = newer.result
      const shown = attempts === 0 ? before : newer
      rows.set(id, { ...shown, result: { ...shown.result, state, attempts: attempts + tries } })
    }
  }
  return [...rows.values()]
}

function readShown(member: RunView, ids: readonly number[]): ShownRow[] {
  const toResult = createResultRows(member)
  return readJoined(member, ids).map((joined) => ({ result: toResult(joined), shownBy: member, joined }))
}

function readJoined({ db }: RunView, ids: readonly number[]): JoinedRow[] {
  return db
    .prepare(
      `SELECT ${JOINED_COLUMNS} FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id IN (SELECT value FROM json_each(?)) ORDER BY row.id`,
    )
    .all(JSON.stringify(ids)) as unknown as JoinedRow[]
}

/** The rows of one run that match and that no retry stands for, a chunk at a time. */
class MemberRows {
  readonly member: RunView
  readonly #takers: readonly RunView[]
  readonly #source: PageSource
  #chunk: readonly number[] = []
  #at = 0
  #after = 0
  #isAtEnd = false

  constructor(member: RunView, members: readonly RunView[], filter: RowFilter) {
    this.member = member
    // What succeeded, or was never sent since it is invalid, no retry takes over.
    const isNeverTaken = ['succeeded', 'invalid', 'acknowledged'].includes(filter.state ?? '')
    this.#takers = isNeverTaken ? [] : findTakersOf(member, members)
    this.#source = toPageSource(member, filter)
    this.#read()
  }

  /** The next row's number; infinity at the end. */
  get head(): number {
    return this.#chunk[this.#at] ?? Number.POSITIVE_INFINITY
  }

  advance(): void {
    this.#at += 1
    if (this.#at >= this.#chunk.length) this.#read()
  }

  #read(): void {
    this.#at = 0
    this.#chunk = []
    const { from, where, params, key } = this.#source
    const sql = `SELECT ${key} AS id FROM ${from} WHERE ${[...where, `${key} > ?`].join(' AND ')}
      ORDER BY ${key} LIMIT ${CHUNK}`
    while (this.#chunk.length === 0 && !this.#isAtEnd) {
      const ids = this.member.db
        .prepare(sql)
        .all(...params, this.#after)
        .map(({ id }) => Number(id))
      this.#isAtEnd = ids.length < CHUNK
      this.#after = ids.at(-1) ?? this.#after
      const taken = new Set(this.#takers.flatMap((taker) => pickRows(taker, ids)))
      this.#chunk = taken.size === 0 ? ids : ids.filter((id) => !taken.has(id))
    }
  }
}
