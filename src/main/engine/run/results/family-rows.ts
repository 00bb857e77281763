import { IN_FLIGHT_MAX } from '../../../../shared/load/load-pace.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { sayExpected } from '../../../../shared/messages/problem-messages.ts'
import type { SourcePlace } from '../../../../shared/plan/source-place.ts'
import { listStates, type RowState, UNSUCCESSFUL_STATES } from '../../../../shared/run/item-state.ts'
import type { Problem } from '../../../../shared/run/problem.ts'
import type { ResultRow } from '../../../../shared/run/results.ts'
import type { RowFilter } from '../../../../shared/run/row-filters.ts'
import {
  amongRows,
  createRuleReader,
  listSetsWith,
  readFoundRules,
  visitScores,
} from '../../journal/found-reader.ts'
import { findTakersOf, type RunFamily, type RunView } from '../../journal/run-family.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { createPostIdMapper } from '../../mapping/row-mapper.ts'
import type { SQLInputValue } from '../../workspace/sqlite.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { createPlaceAdder } from '../journal/problem-places.ts'
import { CUT_OFF_MESSAGE } from '../journal/recovery.ts'
import { PROBLEM_COLUMNS, toStoredProblem } from '../journal/stored-problems.ts'
import { pickRows, readFacetCounts, toUnsettled } from './family-counts.ts'

/** Columns of `row` and `result` for a {@link JoinedRow}, in the order of its members. */
export const JOINED_COLUMNS = `row.id, row.cells, row.item, result.state, result.attempts, result.status,
  result.error_code, result.message, result.task_id, result.duration_us, result.custom_index_item_id, result.answer,
  result.callback_us, row.kinds`

/** A row with its result, as SQLite gives it. */
export interface JoinedRow {
  id: number
  cells: string
  item: number | null
  state: string | null
  attempts: number | null
  status: number | null
  error_code: string | null
  message: string | null
  task_id: string | null
  duration_us: number | null
  custom_index_item_id: string | null
  answer: string | null
  callback_us: number | null
  kinds: string | null
}

/** A row as one run of a whole shows it, and the stored row behind it. */
export interface RunRow {
  result: ResultRow
  joined: JoinedRow
}

/** Reads rows of one run as the results table shows them, ascending by number; missing rows are left out. */
export function readRunRows(view: RunView, ids: readonly number[]): RunRow[] {
  const wanted = JSON.stringify(ids)
  const joined = view.db
    .prepare(
      `SELECT ${JOINED_COLUMNS} FROM row LEFT JOIN result ON result.row = row.id
       WHERE row.id IN (SELECT value FROM json_each(?)) ORDER BY row.id`,
    )
    .all(wanted) as unknown as JoinedRow[]
  const unsendable = joined.filter(({ item }) => item === null).map(({ id }) => id)
  const toResult = createResultRows(view, {
    rules: readFoundRules(view.db, amongRows(wanted), createRuleReader(view.db)),
    scores: readScores(view, wanted),
    errors: unsendable.length === 0 ? new Map() : readErrors(view, JSON.stringify(unsendable)),
    toPlace: createPlaceReader(view.db),
  })
  return joined.map((row) => ({ result: toResult(row), joined: row }))
}

/** What other tables hold for rows, by row. */
export interface FoundBeside {
  rules: ReadonlyMap<number, ResultRow['triggeredRules']>
  scores: ReadonlyMap<number, ResultRow['classScores']>
  /** Why rows are not sent. */
  errors: ReadonlyMap<number, readonly Problem[]>
  toPlace: (row: number, kinds?: string | null) => SourcePlace
}

/** Why each of the rows is not sent; `ids` is a JSON array. */
export function readErrors({ db }: RunView, ids: string): ReadonlyMap<number, readonly Problem[]> {
  const addPlace = createPlaceAdder(db)
  const found = db
    .prepare(
      `SELECT ${PROBLEM_COLUMNS} FROM problem INDEXED BY problem_by_row
       WHERE row IN (SELECT value FROM json_each(?)) AND severity = 'error' ORDER BY row, id`,
    )
    .all(ids)
  return Map.groupBy(
    found.map((stored) => addPlace(toStoredProblem(stored))),
    ({ row }) => row,
  )
}

/** The scores of each of the rows, by class; `ids` is a JSON array. */
function readScores({ db }: RunView, ids: string): ReadonlyMap<number, ResultRow['classScores']> {
  const scores = new Map<number, ResultRow['classScores']>()
  visitScores(db, amongRows(ids), (row, className, score) => {
    const others = scores.get(row)
    if (others === undefined) scores.set(row, [{ className, score }])
    else others.push({ className, score })
  })
  for (const own of scores.values()) own.sort((a, b) => (a.className < b.className ? -1 : 1))
  return scores
}

/** How often a run tried a row. A try in flight when its process died counts, too. */
export function countTries(view: RunView, joined: JoinedRow): number {
  return (joined.attempts ?? 0) + (isUnsettled(view, joined) ? 1 : 0)
}

/** Nobody is sending it any more; such a row is shown as recovery will leave it. */
export function isUnsettled({ record, isCutOff }: RunView, joined: JoinedRow): boolean {
  return isCutOff && toState(joined, record.claimed) === 'sending'
}

export function toShownState(view: RunView, joined: JoinedRow): RowState {
  return isUnsettled(view, joined) ? 'unknown' : toState(joined, view.record.claimed)
}

/** Completes rows with what other tables hold for them, and with their post_ids. */
export function createResultRows(view: RunView, found: FoundBeside): (joined: JoinedRow) => ResultRow {
  const { plan, columns, runToken, state, runId } = view.record
  // Column names are stored once all rows are read.
  const isUnread = state === 'intake' && columns.length === 0
  let mapper: ReturnType<typeof createPostIdMapper> | null = null
  return (joined) => {
    if (isUnread) throw new SluiceError({ id: 'rows_unread', runId })
    const cells = parseCells(joined.cells)
    mapper ??= createPostIdMapper(plan, columns, runToken)
    const isUnsendable = joined.item === null
    const isLost = isUnsettled(view, joined)
    // The reason for skipping a row is in its message; other reasons are among the problems.
    const message =
      isUnsendable && joined.message === null
        ? (found.errors.get(joined.id) ?? []).map(toProblemMessage).join('; ')
        : joined.message
    return {
      row: joined.id,
      place: found.toPlace(joined.id, joined.kinds),
      state: toShownState(view, joined),
      status: isLost ? null : joined.status,
      errorCode: isLost ? null : joined.error_code,
      message: isLost ? CUT_OFF_MESSAGE : message,
      taskId: joined.task_id,
      postId: isUnsendable && joined.state !== 'skipped' ? null : mapper(joined.id, cells, joined.kinds),
      triggeredRules: isUnsendable || joined.state === null ? [] : (found.rules.get(joined.id) ?? []),
      classScores: found.scores.get(joined.id) ?? [],
      customIndexItemId: joined.custom_index_item_id,
      answer: joined.answer as ResultRow['answer'],
      durationMs: joined.duration_us === null ? null : joined.duration_us / 1000,
      callbackLatencyMs: joined.callback_us === null ? null : joined.callback_us / 1000,
      attempts: countTries(view, joined),
      cells,
    }
  }
}

function toState({ item, state, id }: JoinedRow, claimed: number): RowState {
  return (state as RowState | null) ?? (item === null ? 'invalid' : id <= claimed ? 'sending' : 'pending')
}

function toProblemMessage(problem: Problem): string {
  const { field, found } = problem
  const where = field === undefined ? '' : `${field}: `
  return `${where}${sayExpected(problem, 'terminal')}${found === undefined ? '' : `, found \`${found}\``}`
}

/** Where to find the rows that match a filter, so that SQLite walks the shortest index and never sorts. */
interface PageSource {
  from: string
  where: string[]
  params: SQLInputValue[]
  /** The sort key; ascends with the row number. */
  key: string
}

/** A rule is rare if at most one row in this many triggered it. */
const FEW = 50

const ROWS = 'row LEFT JOIN result ON result.row = row.id'
/** A correction may have made a tried row invalid. */
const NOT_LEFT_OUT =
  "NOT EXISTS (SELECT 1 FROM result WHERE result.row = row.id AND result.state <> 'invalid')"

/** Finds the rows of one run that match a filter answered by the journal's own indexes, see `isSimple`. */
export function toPageSource(view: RunView, filter: RowFilter): PageSource {
  const { ruleIds: [ruleId] = [], errorCode, answer } = filter
  const byResult = toResultConditions(view, filter)
  if (ruleId !== undefined) {
    const sets = listSetsWith(view.db, ruleId)
    // SQLite cannot search an index for an empty list.
    if (sets.length === 0) return { from: ROWS, where: ['FALSE'], params: [], key: 'row.id' }
    // Rows of a rare rule are sorted; otherwise rows are walked in order.
    const counted = readFacetCounts(view.db).get('rule')?.get(ruleId) ?? 0
    const index = counted * FEW < view.record.claimedRows ? 'INDEXED BY found_by_rules' : 'NOT INDEXED'
    const from = `found ${index} CROSS JOIN result ON result.row = found.row
      CROSS JOIN row ON row.id = found.row`
    const where = [`found.rules <> 0 AND found.rules IN (${sets.join(', ')})`, ...byResult.where]
    return { from, where, params: byResult.params, key: 'found.row' }
  }
  if (answer !== undefined) {
    const from = 'result INDEXED BY result_by_answer CROSS JOIN row ON row.id = result.row'
    return { from, ...byResult, key: 'result.row' }
  }
  if (errorCode !== undefined) {
    const from = 'result INDEXED BY result_by_error CROSS JOIN row ON row.id = result.row'
    return { from, ...byResult, key: 'result.row' }
  }
  return toStateSource(view, filter)
}

function toStateSource(view: RunView, { state, unsuccessful }: RowFilter): PageSource {
  const unsettled = view.isCutOff ? toUnsettled(view) : null
  if (unsuccessful) {
    const invalid = `SELECT id FROM row INDEXED BY row_invalid WHERE item IS NULL AND ${NOT_LEFT_OUT}`
    const settled = `SELECT row FROM result INDEXED BY result_by_state WHERE state IN (${toList(UNSUCCESSFUL_STATES)})`
    const sources = unsettled === null ? [invalid, settled] : [invalid, settled, unsettled.sql]
    return { from: ROWS, where: [isIn(sources)], params: unsettled?.params ?? [], key: 'row.id' }
  }
  if (state === undefined) return { from: ROWS, where: [], params: [], key: 'row.id' }
  if (state === 'invalid') {
    const from = 'row INDEXED BY row_invalid LEFT JOIN result ON result.row = row.id'
    return { from, where: ['row.item IS NULL', NOT_LEFT_OUT], params: [], key: 'row.id' }
  }
  if (state === 'unknown' && unsettled !== null) {
    const settled = "SELECT row FROM result WHERE state = 'unknown'"
    return { from: ROWS, where: [isIn([settled, unsettled.sql])], params: unsettled.params, key: 'row.id' }
  }
  // Nobody is sending any more.
  if (state === 'sending' && view.isCutOff) return { from: ROWS, where: ['FALSE'], params: [], key: 'row.id' }
  if (state === 'pending' || state === 'sending') {
    // Rows never tried have no result: they are above the watermark, or in flight just below it.
    const untried =
      state === 'pending'
        ? 'SELECT id FROM row WHERE id > ? AND item IS NOT NULL'
        : `SELECT id FROM (SELECT id FROM row WHERE id <= ? AND item IS NOT NULL
           ORDER BY id DESC LIMIT ${IN_FLIGHT_MAX})`
    return {
      from: ROWS,
      where: [
        isIn(['SELECT row FROM result WHERE state = ?', untried]),
        '(result.state IS NULL OR result.state = ?)',
      ],
      params: [state, view.record.claimed, state],
      key: 'row.id',
    }
  }
  const from = 'result INDEXED BY result_by_state CROSS JOIN row ON row.id = result.row'
  return { from, where: ['result.state = ?'], params: [state], key: 'result.row' }
}

function toResultConditions(
  { isCutOff }: RunView,
  { state, errorCode, answer, unsuccessful }: RowFilter,
): { where: string[]; params: SQLInputValue[] } {
  const where: string[] = []
  const params: SQLInputValue[] = []
  const cutOff = isCutOff ? ['sending'] : []
  if (answer !== undefined) {
    where.push('result.answer = ?')
    params.push(answer)
  }
  if (unsuccessful) where.push(`result.state IN (${toList([...UNSUCCESSFUL_STATES, ...cutOff])})`)
  if (errorCode !== undefined) {
    // A row to be tried again, or delivered before, has a try's code but no error.
    where.push(`result.error_code = ? AND result.state IN (${toList(UNSUCCESSFUL_STATES)})`)
    params.push(errorCode)
  }
  if (state === 'unknown') where.push(`result.state IN (${toList(['unknown', ...cutOff])})`)
  else if (state === 'sending' && isCutOff) where.push('FALSE')
  else if (state !== undefined) {
    where.push('result.state = ?')
    params.push(state)
  }
  return { where, params }
}

function isIn(sources: readonly string[]): string {
  return `row.id IN (${sources.join(' UNION ALL ')})`
}

function toList(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ')
}

/** Row numbers read at once from each run. */
const CHUNK = 5_000

/** A row's number and the newest run that contains it. */
export interface FamilyRow {
  id: number
  member: RunView
}

/** Lists matching rows in source order, each from its newest run. No read stays open afterwards. */
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

/**
 * Reads rows as the results table shows them, in the given order: with the tries of all runs of the whole
 * and, for a row that a retry has yet to send, the last answer before it.
 */
export function readFamilyRows(family: RunFamily, rows: readonly FamilyRow[]): RunRow[] {
  const found = new Map<number, RunRow>()
  for (const member of family.members) {
    const ids = rows.filter((row) => row.member === member).map(({ id }) => id)
    for (const row of readWithEarlier(family, member, ids)) found.set(row.result.row, row)
  }
  return rows.map(({ id }) => found.get(id)).filter((row) => row !== undefined)
}

/** The newest run of each row, in the given order; rows that no run has are left out. */
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

function readWithEarlier(family: RunFamily, member: RunView, ids: readonly number[]): RunRow[] {
  if (ids.length === 0) return []
  const rows = new Map(readRunRows(member, ids).map((row) => [row.result.row, row]))
  for (const earlier of listEarlier(family, member)) {
    for (const before of readRunRows(earlier, ids)) {
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

const NEVER_TAKEN: readonly RowState[] = ['succeeded', 'acknowledged']

/** The matching rows of one run that no retry has taken over, a chunk at a time. */
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
    // No retry takes over what succeeded, or what was never sent unless it is corrected.
    const states: readonly RowState[] =
      member.record.invalidTakenBy === null ? [...NEVER_TAKEN, ...listStates('unsent')] : NEVER_TAKEN
    const isNeverTaken = states.some((state) => state === filter.state)
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
      const statement = this.member.db.prepare(sql)
      statement.setReturnArrays(true)
      const ids = (statement.all(...params, this.#after) as unknown as [number][]).map(([id]) => id)
      this.#isAtEnd = ids.length < CHUNK
      this.#after = ids.at(-1) ?? this.#after
      const taken = new Set(this.#takers.flatMap((taker) => pickRows(taker, ids)))
      this.#chunk = taken.size === 0 ? ids : ids.filter((id) => !taken.has(id))
    }
  }
}
