import { isOfCause, toErrorKey, toErrorPattern, toInvalidKey } from '../../../../shared/run/counts.ts'
import { isUnsuccessful, type RowState } from '../../../../shared/run/item-state.ts'
import { type FilterOf, NO_RULE, type RowFilter } from '../../../../shared/run/row-filters.ts'
import { FURTHER_ERRORS } from '../../journal/counters.ts'
import { createRuleReader, readFoundRules } from '../../journal/found-reader.ts'
import type { RunView } from '../../journal/run-family.ts'
import type { DatabaseSync, SQLInputValue } from '../../workspace/sqlite.ts'
import { CUT_OFF_CAUSE } from '../journal/recovery.ts'
import { PROBLEM_COLUMNS, sayCause, toStoredProblem } from '../journal/stored-problems.ts'
import { readFacetCounts } from './family-counts.ts'

/** The facets of a row in a journal; most rows of a run share a few kinds. */
export interface RowKind {
  state: RowState
  answer: string | null
  /** Error code of a row that did not succeed. */
  errorCode: string | null
  /** Why a row did not succeed, named by {@link toErrorKey}; an invalid row may have several reasons. */
  causes: readonly string[]
  /** Ids of the rules that it triggered, in the journal's order. */
  rules: readonly string[]
}

/** Numbers kinds from 0 in order of appearance. */
export class KindNumbers {
  readonly kinds: RowKind[]
  readonly #numberOf: Map<string, number>

  /** `kinds` are numbered already, and keep their numbers. */
  constructor(kinds: RowKind[] = []) {
    this.kinds = kinds
    this.#numberOf = new Map(kinds.map((kind, number) => [toKey(kind), number]))
  }

  toNumber(kind: RowKind): number {
    const key = toKey(kind)
    const known = this.#numberOf.get(key)
    if (known !== undefined) return known
    this.#numberOf.set(key, this.kinds.length)
    return this.kinds.push(kind) - 1
  }
}

function toKey({ state, answer, errorCode, causes, rules }: RowKind): string {
  return JSON.stringify([state, answer, errorCode, causes, rules])
}

/** Most kinds that are kept apart. */
const KINDS_MAX = 60_000

/** The kind of each row: 2 bytes a row. */
export class RowKinds {
  readonly #numbers: KindNumbers
  /** The number of each row's kind plus one; 0 for none. */
  readonly of: Uint16Array

  /** Takes a number of rows, or stored kinds. */
  constructor(rows: number | Uint16Array, kinds: RowKind[] = []) {
    this.of = typeof rows === 'number' ? new Uint16Array(rows) : rows
    this.#numbers = new KindNumbers(kinds)
  }

  get kinds(): readonly RowKind[] {
    return this.#numbers.kinds
  }

  /** Whether every row has its kind, however many there are. */
  get isWhole(): boolean {
    return this.kinds.length < KINDS_MAX
  }

  set(row: number, kind: RowKind): void {
    if (this.isWhole) this.of[row] = this.#numbers.toNumber(kind) + 1
  }
}

const NO_RULES: readonly string[] = []

/** The displayed kind of a row: a dead process's rows in flight are unknown, as recovery leaves them. */
export function toShown(kind: RowKind, { isCutOff }: Pick<RunView, 'isCutOff'>): RowKind {
  return isCutOff && kind.state === 'sending'
    ? { ...kind, state: 'unknown', errorCode: null, causes: [CUT_OFF_CAUSE] }
    : kind
}

/** Whether rows of a kind match a filter, apart from search and verdict. */
export function isOfKind(kind: RowKind, filter: RowFilter): boolean {
  for (const name of TESTED) {
    const value = filter[name]
    if (value !== undefined && !(TESTS[name] as (kind: RowKind, value: unknown) => boolean)(kind, value))
      return false
  }
  return true
}

type Tested = FilterOf<'counters' | 'kinds'>

const TESTS: { [Name in Tested]: (kind: RowKind, value: NonNullable<RowFilter[Name]>) => boolean } = {
  state: (kind, state) => kind.state === state,
  unsuccessful: (kind) => isUnsuccessful(kind.state),
  ruleIds: (kind, ruleIds) => ruleIds.length === 0 || ruleIds.some((ruleId) => hasRule(kind, ruleId)),
  flagged: (kind) => kind.rules.length > 0,
  errorCode: (kind, code) => kind.errorCode === code,
  cause: (kind, cause) => kind.causes.some((key) => isOfCause(key, cause)),
  answer: (kind, answer) => kind.answer === answer,
}
const TESTED = Object.keys(TESTS) as Tested[]

/** Whether rows of a kind triggered a rule or, for {@link NO_RULE}, succeeded without any. */
export function hasRule(kind: RowKind, ruleId: string): boolean {
  if (ruleId !== NO_RULE) return kind.rules.includes(ruleId)
  return kind.state === 'succeeded' && kind.rules.length === 0
}

/** Rows read together, as a condition on the column with their numbers. */
export interface Stretch {
  sql(row: string): string
  params: readonly SQLInputValue[]
}

/** The rows above a number, up to another. */
export function toStretch(above: number, upTo: number): Stretch {
  return { sql: (row) => `${row} > ? AND ${row} <= ?`, params: [above, upTo] }
}

/** A further condition on the rows of a journal. */
export interface RowCondition {
  sql: string
  params: readonly SQLInputValue[]
}

export interface ReadRow {
  id: number
  kind: RowKind
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  attempts: number
  durationUs: number | null
}

/** A row of `row` with its `result`, if there is one. */
type StoredRow = [
  id: number,
  item: number | null,
  state: RowState | null,
  status: number | null,
  errorCode: string | null,
  message: string | null,
  answer: string | null,
  attempts: number | null,
  durationUs: number | null,
]

export function readRows(view: RunView, stretch: Stretch, condition: RowCondition | null = null): ReadRow[] {
  const { db, record } = view
  const statement = db.prepare(
    `SELECT row.id, row.item, state, status, error_code, message, answer, attempts, duration_us
     FROM row LEFT JOIN result ON result.row = row.id
     WHERE ${stretch.sql('row.id')}${condition?.sql ?? ''} ORDER BY row.id`,
  )
  statement.setReturnArrays(true)
  const rows = statement.all(...stretch.params, ...(condition?.params ?? [])) as unknown as StoredRow[]
  if (rows.length === 0) return []
  const toRule = createRuleReader(db)
  const among = { sql: stretch.sql('row'), params: stretch.params }
  const rules = readFoundRules(db, among, (number) => toRule(number)?.ruleId)
  const problems = readProblemCauses(db, stretch)
  const known = readFacetCounts(db).get('error') ?? new Map<string, number>()
  return rows.map((row) => {
    const [id, item, stored, , errorCode, , answer, attempts, durationUs] = row
    const untried = id <= record.claimed ? 'sending' : 'pending'
    const state = stored ?? (item === null ? 'invalid' : untried)
    const isError = state !== 'invalid' && isUnsuccessful(state)
    const problem = state === 'invalid' ? problems.get(id) : undefined
    const kind: RowKind = {
      state,
      answer,
      errorCode: isError ? errorCode : null,
      causes: isError ? [toCause(state, row, known)] : (problem ?? []),
      rules: rules.get(id) ?? NO_RULES,
    }
    const isAnswered = stored === 'succeeded' && errorCode === null
    return { id, kind, isAnswered, attempts: attempts ?? 0, durationUs }
  })
}

/** The group in which the journal counts a row's error. */
function toCause(
  state: RowState,
  [, , , status, errorCode, message]: StoredRow,
  known: ReadonlyMap<string, number>,
): string {
  const text = message ?? ''
  const pattern = errorCode !== null && status !== null ? toErrorPattern(text) : text
  const key = toErrorKey(state, status, errorCode, pattern)
  return known.has(key) ? key : toErrorKey(state, null, null, FURTHER_ERRORS)
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
