import { NO_VERDICT } from '../../../../shared/lookback/verdict.ts'
import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { type DatabaseSync, readVersion } from '../../workspace/sqlite.ts'
import { toTextMatch } from '../../workspace/text-match.ts'
import { type JudgedRows, readJudgedRows } from '../journal/verdict-store.ts'
import { MARKS } from './journal-findings.ts'
import type { RowFindings } from './row-findings.ts'
import {
  isOfKind,
  KindNumbers,
  type RowCondition,
  type RowKind,
  readRows,
  type Stretch,
  toShown,
  toStretch,
} from './row-kinds.ts'

/** Rows read in one step: some milliseconds, so that other questions are answered in between. */
const STEP_ROWS = 5_000

export type CountedKind = RowKind & { rows: number }

/**
 * The rows whose cells contain a text, and the kind of each: 8 bytes a row. It is built a step at a time, or
 * at once if findings know the rows; then every combination of the other filters is counted and paged without
 * another scan.
 */
export class RowIndex {
  readonly #search: string
  readonly #among: Uint32Array | null
  /** How many of {@link #among} were read. */
  #looked = 0
  #ids = new Uint32Array(1024)
  #kindOf = new Uint32Array(1024)
  #length = 0
  readonly #numbers = new KindNumbers()
  /** Number of rows of each kind, by its number. */
  readonly #rows: number[] = []
  #after = 0
  #last: number | null = null
  #readFrom: Version[] | null = null

  /**
   * An empty index of the rows that contain `search`, or of all rows if that is empty. `among` are the only
   * rows to read, ascending; null for all.
   */
  constructor(search: string, among: Uint32Array | null = null) {
    this.#search = search
    this.#among = among
  }

  /** The whole index at once, for a thread with nothing else to answer. */
  static build(view: RunFamily, search = '', among: Uint32Array | null = null): RowIndex {
    const index = new RowIndex(search, among)
    while (!index.isComplete) index.step(view)
    return index
  }

  /** The index of all rows in the findings, or of those `among` them. It is as complete as the findings. */
  static ofFindings(family: RunFamily, findings: RowFindings, among: Uint32Array | null = null): RowIndex {
    const index = new RowIndex('', among)
    index.#addFound(family, findings)
    return index
  }

  /** Whether every row was read. */
  get isComplete(): boolean {
    return this.#last !== null && this.#after >= this.#last
  }

  /** Whether the journal has changed since the index was begun. */
  isOutdated(family: RunFamily): boolean {
    const known = this.#readFrom
    if (known === null) return false
    const now = readVersions(family)
    return known.length !== now.length || known.some((one, index) => !isSameVersion(one, now[index]))
  }

  /** Reads the next few thousand rows. */
  step(family: RunFamily): void {
    this.#readFrom ??= readVersions(family)
    this.#last ??= this.#among?.at(-1) ?? (this.#among ? 0 : Math.max(...family.members.map(readLastRow)))
    const stretch = this.#takeStretch(this.#last)
    const condition = toSearchCondition(this.#search)
    const newest = new Map<number, RowKind>()
    for (const member of family.members) {
      for (const { id, kind } of readRows(member, stretch, condition)) newest.set(id, toShown(kind, member))
    }
    // A first run has every row of its retries, and they came in order.
    const rows = family.record.parentRunId === null ? newest : [...newest].sort(([a], [b]) => a - b)
    for (const [id, kind] of rows) this.#add(id, this.#numbers.toNumber(kind))
  }

  #addFound(family: RunFamily, findings: RowFindings): void {
    const members = family.members.flatMap((member) => {
      const columns = findings.ofJournal(member.file)?.columns
      return columns === undefined ? [] : [{ member, columns }]
    })
    const last = Math.max(0, ...members.map(({ columns }) => columns.last))
    const read = Math.min(last, findings.lastRead)
    // The number of each row's kind plus one. The newest run with a row determines it.
    const kindOf = new Uint32Array(read + 1)
    for (const { member, columns } of members) {
      const { marks, kinds } = columns
      const end = Math.min(read, columns.last)
      const numbers = kinds.kinds.map((kind) => this.#numbers.toNumber(toShown(kind, member)) + 1)
      const numberOf = Uint32Array.from([1, ...numbers])
      for (let id = 1; id <= end; id += 1) {
        if (((marks[id] ?? 0) & MARKS.row) !== 0) kindOf[id] = numberOf[kinds.of[id] ?? 0] ?? 1
      }
    }
    const among = this.#among
    const ids = new Uint32Array(among?.length ?? read)
    const kindsOf = new Uint32Array(ids.length)
    const rows = new Uint32Array(this.#numbers.kinds.length + 1)
    let length = 0
    for (let at = 0; at < ids.length; at += 1) {
      const id = among === null ? at + 1 : (among[at] ?? 0)
      const number = kindOf[id] ?? 0
      if (number === 0) continue
      ids[length] = id
      kindsOf[length] = number - 1
      rows[number - 1] = (rows[number - 1] ?? 0) + 1
      length += 1
    }
    this.#ids = ids
    this.#kindOf = kindsOf
    this.#length = length
    for (const [number, counted] of rows.entries()) if (counted > 0) this.#rows[number] = counted
    this.#last = last
    this.#after = findings.isComplete ? last : read
  }

  /** The next rows to read. */
  #takeStretch(last: number): Stretch {
    const after = this.#after
    if (this.#among === null) {
      this.#after = Math.min(last, after + STEP_ROWS)
      return toStretch(after, this.#after)
    }
    const rows = this.#among.subarray(this.#looked, this.#looked + STEP_ROWS)
    this.#looked += rows.length
    this.#after = rows.at(-1) ?? last
    return { sql: (row) => `${row} IN (SELECT value FROM json_each(?))`, params: [`[${rows.join()}]`] }
  }

  /** Number of matching rows among those read. */
  count(filter: RowFilter, judged = NOBODY_JUDGED): number {
    return this.listKinds(filter.verdict, judged).reduce(
      (sum, kind) => sum + (isOfKind(kind, filter) ? kind.rows : 0),
      0,
    )
  }

  /** Numbers of the matching rows, in source order, without the first `offset` ones. */
  pick(filter: RowFilter, offset: number, limit: number, judged = NOBODY_JUDGED): number[] {
    const isPicked = this.#numbers.kinds.map((kind) => isOfKind(kind, filter))
    const picked: number[] = []
    let left = offset
    for (let at = 0; at < this.#length && picked.length < limit; at += 1) {
      const id = this.#ids[at] ?? 0
      if (isPicked[this.#kindOf[at] ?? 0] !== true || !hasVerdict(id, filter.verdict, judged)) continue
      if (left > 0) left -= 1
      else picked.push(id)
    }
    return picked
  }

  /** How many matching rows come before a matching row, in source order; null if it does not match. */
  findOffset(filter: RowFilter, row: number, judged = NOBODY_JUDGED): number | null {
    const isPicked = this.#numbers.kinds.map((kind) => isOfKind(kind, filter))
    let before = 0
    for (let at = 0; at < this.#length; at += 1) {
      const id = this.#ids[at] ?? 0
      if (id > row) return null
      if (isPicked[this.#kindOf[at] ?? 0] !== true || !hasVerdict(id, filter.verdict, judged)) continue
      if (id === row) return before
      before += 1
    }
    return null
  }

  /** Numbers of the rows in source order, and the number of each one's kind. */
  get rows(): { ids: Uint32Array; kindOf: Uint32Array } {
    return { ids: this.#ids.subarray(0, this.#length), kindOf: this.#kindOf.subarray(0, this.#length) }
  }

  /** The existing kinds of rows, each with its number of rows. */
  get kinds(): readonly CountedKind[] {
    return this.#numbers.kinds.map((kind, number) => ({ ...kind, rows: this.#rows[number] ?? 0 }))
  }

  /** The existing kinds of rows, each with its number of rows that have the verdict. */
  listKinds(verdict: RowFilter['verdict'], judged: JudgedRows): readonly CountedKind[] {
    const { kinds } = this
    if (verdict === undefined) return kinds
    const rows = kinds.map(() => 0)
    for (const id of verdict === NO_VERDICT ? judged.all : (judged.by.get(verdict) ?? [])) {
      const number = this.#findKind(id)
      if (number !== null) rows[number] = (rows[number] ?? 0) + 1
    }
    return kinds.map((kind, number) => {
      const counted = rows[number] ?? 0
      return { ...kind, rows: verdict === NO_VERDICT ? kind.rows - counted : counted }
    })
  }

  /** The number of a row's kind; null if it was not read or does not match the search. */
  #findKind(id: number): number | null {
    let [low, high] = [0, this.#length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.#ids[middle] ?? 0
      if (found === id) return this.#kindOf[middle] ?? null
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return null
  }

  #add(id: number, number: number): void {
    if (this.#length === this.#ids.length) {
      this.#ids = toLonger(this.#ids)
      this.#kindOf = toLonger(this.#kindOf)
    }
    this.#ids[this.#length] = id
    this.#kindOf[this.#length] = number
    this.#length += 1
    this.#rows[number] = (this.#rows[number] ?? 0) + 1
  }
}

const NOBODY_JUDGED: JudgedRows = { all: new Set(), by: new Map() }

export function hasVerdict(row: number, verdict: RowFilter['verdict'], { all, by }: JudgedRows): boolean {
  if (verdict === undefined) return true
  return verdict === NO_VERDICT ? !all.has(row) : by.get(verdict)?.has(row) === true
}

/** The verdicts on rows, if a filter asks for them; rows that it keeps count as having its verdict. */
export function readJudgedFor(family: RunFamily, { verdict, keptRows = [] }: RowFilter): JudgedRows {
  if (verdict === undefined) return NOBODY_JUDGED
  const judged = readJudgedRows(family)
  if (keptRows.length === 0) return judged
  if (verdict === NO_VERDICT) return { ...judged, all: judged.all.difference(new Set(keptRows)) }
  const kept = new Set([...(judged.by.get(verdict) ?? []), ...keptRows])
  return { all: new Set([...judged.all, ...keptRows]), by: new Map(judged.by).set(verdict, kept) }
}

/** The highest number of a row that a run has; 0 without any. */
export function readLastRow({ db }: Pick<RunView, 'db'>): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}

function toSearchCondition(search: string): RowCondition | null {
  if (search === '') return null
  const json = JSON.stringify(search).slice(1, -1)
  const inJson = toTextMatch(json)
  const inCell = toTextMatch(search)
  // LIKE stops at a NUL, so another character replaces NULs in cells.
  const withNul = toTextMatch(json.replaceAll('\\u0000', '\u0001'))
  const shown = String.raw`replace(json_quote(value), '\u0000', char(1))`
  // The JSON of the cells is a cheap test for no match. Its own quotes, commas, brackets and escapes are not
  // matches, so a row is checked more closely if one of them may have been found.
  const isPlain = !search.includes('"') && !/^[[\],]$/.test(search)
  const matches = `${inCell.sql('value')} OR instr(value, char(0)) > 0 AND ${withNul.sql(shown)}`
  const closely = `EXISTS (SELECT 1 FROM json_each(row.cells) WHERE ${matches})`
  const sql = ` AND ${inJson.sql('row.cells')} AND (${isPlain ? "instr(row.cells, '\\') = 0 OR " : ''}${closely})`
  return { sql, params: [...inJson.params, ...inCell.params, ...withNul.params] }
}

/** A reader of one journal, and its {@link readVersion}. */
export interface Version {
  db: DatabaseSync
  version: number
}

/** The present versions of the journals of a run and its retries. */
export function readVersions({ members }: RunFamily): Version[] {
  return members.map(({ db }) => ({ db, version: readVersion(db) }))
}

/** Whether a journal is unchanged; a reopened one may not be. */
export function isSameVersion(one: Version, other: Version | undefined): boolean {
  return one.db === other?.db && one.version === other.version
}

/** The same numbers with room for as many again; the old array is then empty. */
export function toLonger(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  return new Uint32Array(array.buffer.transfer(array.byteLength * 2))
}
