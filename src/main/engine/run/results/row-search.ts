import { NO_VERDICT } from '../../../../shared/lookback/verdict.ts'
import { toErrorKey, toErrorPattern, toInvalidKey } from '../../../../shared/run/counts.ts'
import { isUnsuccessful, type RowState } from '../../../../shared/run/item-state.ts'
import { NO_RULE, type RowFilter } from '../../../../shared/run/results.ts'
import { FURTHER_ERRORS } from '../../journal/counters.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import type { DatabaseSync, SQLInputValue } from '../../workspace/sqlite.ts'
import { PROBLEM_COLUMNS, sayCause, toStoredProblem } from '../journal/stored-problems.ts'
import { type JudgedRows, readJudgedRows } from '../journal/verdict-store.ts'
import { readFacetCounts } from './family-counts.ts'

/** Row numbers looked at in one step: some milliseconds, so that other questions are answered in between. */
const STEP_ROWS = 5_000

/** Rows that facets cannot tell apart. */
export interface RowKind {
  state: RowState
  answer: string | null
  /** Error code of a row that did not succeed. */
  errorCode: string | null
  /** Why a row did not succeed, each as {@link toErrorKey} names it; an invalid row may have several. */
  causes: readonly string[]
  rules: readonly string[]
  rows: number
}

/**
 * The rows whose cells contain a text, and of what kind each is: 8 bytes a row. It is built a step at a time, and then
 * counts and pages every combination of the other filters without another scan.
 */
export class RowIndex {
  readonly #search: string
  readonly #among: Uint32Array | null
  /** How many of {@link #among} were looked at. */
  #looked = 0
  #ids = new Uint32Array(1024)
  #kindOf = new Uint32Array(1024)
  #length = 0
  readonly #kinds: RowKind[] = []
  readonly #numberOf = new Map<string, number>()
  #after = 0
  #last: number | null = null
  #readFrom: Version[] | null = null

  /**
   * An empty index of the rows that contain `search`; of all rows where that is empty. `among` are the only rows that are
   * looked at, ascending; null for all.
   */
  constructor(search: string, among: Uint32Array | null = null) {
    this.#search = search
    this.#among = among
  }

  /** The whole index at once, for a thread that has nothing else to answer. */
  static build(view: RunFamily, search = '', among: Uint32Array | null = null): RowIndex {
    const index = new RowIndex(search, among)
    while (!index.isComplete) index.step(view)
    return index
  }

  /** Whether every row was looked at. */
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

  /** Looks at the next few thousand rows. */
  step(family: RunFamily): void {
    this.#readFrom ??= readVersions(family)
    this.#last ??= this.#among?.at(-1) ?? (this.#among ? 0 : Math.max(...family.members.map(readLastRow)))
    const stretch = this.#takeStretch(this.#last)
    const newest = new Map<number, RowKind>()
    for (const member of family.members) {
      for (const [id, kind] of this.#readKinds(member, stretch)) newest.set(id, kind)
    }
    // A first run has every row of its retries, and they came in their order.
    const rows = family.record.parentRunId === null ? newest : [...newest].sort(([a], [b]) => a - b)
    for (const [id, kind] of rows) this.#add(id, kind)
  }

  /** The next rows to look at. */
  #takeStretch(last: number): Stretch {
    const after = this.#after
    if (this.#among === null) {
      this.#after = Math.min(last, after + STEP_ROWS)
      return { sql: (row) => `${row} > ? AND ${row} <= ?`, params: [after, this.#after] }
    }
    const rows = this.#among.subarray(this.#looked, this.#looked + STEP_ROWS)
    this.#looked += rows.length
    this.#after = rows.at(-1) ?? last
    return { sql: (row) => `${row} IN (SELECT value FROM json_each(?))`, params: [`[${rows.join()}]`] }
  }

  /** What one run says of the rows it has in a stretch. */
  #readKinds(view: RunView, stretch: Stretch): [number, RowKind][] {
    const { db } = view
    const search = toSearchCondition(this.#search)
    const rows = db
      .prepare(
        `SELECT row.id, row.item, result.state, result.status, result.error_code, result.message, result.answer
         FROM row LEFT JOIN result ON result.row = row.id
         WHERE ${stretch.sql('row.id')}${search.sql} ORDER BY row.id`,
      )
      .all(...stretch.params, ...search.params)
    if (rows.length === 0) return []
    const rules = readRules(db, stretch)
    const problems = readProblemCauses(db, stretch)
    const known = readFacetCounts(db).get('error') ?? new Map<string, number>()
    return rows.map((row) => {
      const id = Number(row['id'])
      return [id, toKind(view, row, { rules: rules.get(id), problems: problems.get(id), known })]
    })
  }

  /** How many rows of those looked at match. */
  count(filter: RowFilter, judged = NOBODY_JUDGED): number {
    return this.listKinds(filter.verdict, judged).reduce(
      (sum, kind) => sum + (isOfKind(kind, filter) ? kind.rows : 0),
      0,
    )
  }

  /** Numbers of the rows that match, in the order of the source, without the first `offset` ones. */
  pick(filter: RowFilter, offset: number, limit: number, judged = NOBODY_JUDGED): number[] {
    const isPicked = this.#kinds.map((kind) => isOfKind(kind, filter))
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

  /** Numbers of the rows in the order of the source, and the number of each one's kind. */
  get rows(): { ids: Uint32Array; kindOf: Uint32Array } {
    return { ids: this.#ids.subarray(0, this.#length), kindOf: this.#kindOf.subarray(0, this.#length) }
  }

  /** The kinds of rows there are, each with how many rows are of it. */
  get kinds(): readonly RowKind[] {
    return this.#kinds
  }

  /** The kinds of rows there are, each with how many rows with that verdict are of it. */
  listKinds(verdict: RowFilter['verdict'], judged: JudgedRows): readonly RowKind[] {
    if (verdict === undefined) return this.#kinds
    const rows = this.#kinds.map(() => 0)
    for (const id of verdict === NO_VERDICT ? judged.all : (judged.by.get(verdict) ?? [])) {
      const number = this.#findKind(id)
      if (number !== null) rows[number] = (rows[number] ?? 0) + 1
    }
    return this.#kinds.map((kind, number) => {
      const counted = rows[number] ?? 0
      return { ...kind, rows: verdict === NO_VERDICT ? kind.rows - counted : counted }
    })
  }

  /** The number of a row's kind; null where it was not looked at or does not match the search. */
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

  #add(id: number, kind: RowKind): void {
    const key = JSON.stringify([kind.state, kind.answer, kind.errorCode, kind.causes, kind.rules])
    let number = this.#numberOf.get(key)
    if (number === undefined) {
      number = this.#kinds.push(kind) - 1
      this.#numberOf.set(key, number)
    }
    if (this.#length === this.#ids.length) {
      this.#ids = toLonger(this.#ids)
      this.#kindOf = toLonger(this.#kindOf)
    }
    this.#ids[this.#length] = id
    this.#kindOf[this.#length] = number
    this.#length += 1
    const counted = this.#kinds[number]
    if (counted !== undefined) counted.rows += 1
  }
}

const NOBODY_JUDGED: JudgedRows = { all: new Set(), by: new Map() }

/** Whether a row has the verdict that a filter asks for. */
export function hasVerdict(row: number, verdict: RowFilter['verdict'], { all, by }: JudgedRows): boolean {
  if (verdict === undefined) return true
  return verdict === NO_VERDICT ? !all.has(row) : by.get(verdict)?.has(row) === true
}

/** Which rows have which verdicts, where a filter asks for them. */
export function readJudgedFor(family: RunFamily, { verdict }: RowFilter): JudgedRows {
  return verdict === undefined ? NOBODY_JUDGED : readJudgedRows(family)
}

/** Whether rows of a kind match a filter, search and verdict apart. */
export function isOfKind(kind: RowKind, filter: RowFilter): boolean {
  const { state, unsuccessful, ruleIds = [], errorCode, cause, answer } = filter
  return (
    (state === undefined || kind.state === state) &&
    (unsuccessful !== true || isUnsuccessful(kind.state)) &&
    (ruleIds.length === 0 || ruleIds.some((ruleId) => hasRule(kind, ruleId))) &&
    (errorCode === undefined || kind.errorCode === errorCode) &&
    (cause === undefined || kind.causes.includes(cause)) &&
    (answer === undefined || kind.answer === answer)
  )
}

/** Whether rows of a kind triggered a rule, or succeeded without any where the rule is {@link NO_RULE}. */
export function hasRule(kind: RowKind, ruleId: string): boolean {
  if (ruleId !== NO_RULE) return kind.rules.includes(ruleId)
  return kind.state === 'succeeded' && kind.rules.length === 0
}

function toKind(
  { isCutOff, record }: RunView,
  row: Record<string, unknown>,
  found: {
    rules?: string[] | undefined
    problems?: string[] | undefined
    known: ReadonlyMap<string, number>
  },
): RowKind {
  const untried = Number(row['id']) <= record.claimed ? 'sending' : 'pending'
  const stored = (row['state'] as RowState | null) ?? (row['item'] === null ? 'invalid' : untried)
  const problems = stored === 'invalid' ? (found.problems ?? []) : []
  // Nobody is sending any more; such a row is shown as recovery will leave it.
  const isUnsettled = isCutOff && stored === 'sending'
  const isError = !isUnsettled && stored !== 'invalid' && isUnsuccessful(stored)
  return {
    state: isUnsettled ? 'unknown' : stored,
    answer: toText(row['answer']),
    errorCode: isError ? toText(row['error_code']) : null,
    causes: isError ? [toCause(stored, row, found.known)] : problems,
    rules: found.rules ?? [],
    rows: 0,
  }
}

/** The group that the journal counts a row's error in. */
function toCause(state: RowState, row: Record<string, unknown>, known: ReadonlyMap<string, number>): string {
  const [errorCode, message] = [toText(row['error_code']), toText(row['message']) ?? '']
  const status = row['status'] === null ? null : Number(row['status'])
  const pattern = errorCode !== null && status !== null ? toErrorPattern(message) : message
  const key = toErrorKey(state, status, errorCode, pattern)
  return known.has(key) ? key : toErrorKey(state, null, null, FURTHER_ERRORS)
}

/** Rows that are looked at together, as a condition on the column with their numbers. */
interface Stretch {
  sql(row: string): string
  params: readonly SQLInputValue[]
}

function readRules(db: DatabaseSync, { sql, params }: Stretch): Map<number, string[]> {
  const found = db
    .prepare(
      `SELECT row_rule.row, rule.rule_id FROM row_rule INDEXED BY row_rule_by_row
       JOIN rule ON rule.id = row_rule.rule WHERE ${sql('row')} ORDER BY row, rule.id`,
    )
    .all(...params)
  return group(found.map(({ row, rule_id }) => [Number(row), String(rule_id)]))
}

function readProblemCauses(db: DatabaseSync, { sql, params }: Stretch): Map<number, string[]> {
  const found = db
    .prepare(
      `SELECT ${PROBLEM_COLUMNS} FROM problem INDEXED BY problem_by_row
       WHERE ${sql('row')} AND severity = 'error' ORDER BY row, id`,
    )
    .all(...params)
  return group(
    found.map(toStoredProblem).map((problem) => {
      const { row, code, field = null } = problem
      return [row, toInvalidKey(code, field, sayCause(problem))]
    }),
  )
}

function group(pairs: readonly [number, string][]): Map<number, string[]> {
  const groups = new Map<number, string[]>()
  for (const [row, value] of pairs) {
    const values = groups.get(row)
    if (values === undefined) groups.set(row, [value])
    else if (!values.includes(value)) values.push(value)
  }
  return groups
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}

function toSearchCondition(search: string): { sql: string; params: SQLInputValue[] } {
  if (search === '') return { sql: '', params: [] }
  const inJson = toLikePattern(JSON.stringify(search).slice(1, -1))
  // The JSON of the cells tells cheaply where there is nothing. Its own quotes, commas, brackets and escapes are no
  // matches, so a row is looked at more closely where one of them may have been found.
  const isPlain = !search.includes('"') && !/^[[\],]$/.test(search)
  const closely = "EXISTS (SELECT 1 FROM json_each(row.cells) WHERE value LIKE ? ESCAPE '\\')"
  const sql = ` AND row.cells LIKE ? ESCAPE '\\' AND (${isPlain ? "instr(row.cells, '\\') = 0 OR " : ''}${closely})`
  return { sql, params: [inJson, toLikePattern(search)] }
}

function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** A reader of one journal, and a number that changes whenever another connection has committed. */
export interface Version {
  db: DatabaseSync
  version: number
}

/** The versions of the journals of a run and its retries as they are now. */
export function readVersions({ members }: RunFamily): Version[] {
  return members.map(({ db }) => ({
    db,
    version: Number(db.prepare('PRAGMA data_version').get()?.['data_version']),
  }))
}

/** Whether a journal is as it was; one that was opened anew may not be. */
export function isSameVersion(one: Version, other: Version | undefined): boolean {
  return one.db === other?.db && one.version === other.version
}

function toLonger(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(array.length * 2)
  longer.set(array)
  return longer
}

function toText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
