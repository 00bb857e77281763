import type { RunFamily, RunView } from '../journal/run-family.ts'
import type { DatabaseSync, SQLInputValue } from '../workspace/sqlite.ts'

/** A row as looking back reads it: what it was, and what the service decided. */
export interface AnsweredRow {
  row: number
  /** Parsed when they are first asked for. */
  readonly cells: string[]
  /** What each cell is in a JSON source; null where all are text. */
  kinds: string | null
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  /** Ids of the rules that it triggered. */
  ruleIds: readonly string[]
  /** Its scores as they were asked for; null where it has none. */
  scores: readonly (number | null)[]
  /** The run whose answer it is. */
  member: RunView
}

/** The scores of each row that are read: of some classes, in that order, or the highest of all its classes alone. */
export type WantedScores = readonly string[] | 'highest'

/** Row numbers read in one step: so few that most of what is read is garbage before it is moved to old space. */
const STEP_ROWS = 1_000

/** Above the first row number, up to the second. */
type Range = readonly [above: number, last: number]

/**
 * Reads every row of a run and its retries in the order of the source, a thousand at a time, each with its newest
 * answer. No read stays open behind it.
 */
export function* readAnsweredRows(
  family: RunFamily,
  wanted: WantedScores = [],
): Generator<AnsweredRow[], void, undefined> {
  const last = Math.max(...family.members.map(readLastRow))
  const readers = family.members.map((member) => createStepReader(member, wanted))
  for (let above = 0; above < last; above += STEP_ROWS) {
    yield mergeSteps(readers.map((readStep) => readStep([above, above + STEP_ROWS])))
  }
}

/** The rows of all members in their order, each from the newest that has it; members come oldest first. */
function mergeSteps(steps: readonly AnsweredRow[][]): AnsweredRow[] {
  const [first = [], ...newer] = steps.filter(({ length }) => length > 0)
  if (newer.length === 0) return first
  const newest = new Map([first, ...newer].flat().map((row) => [row.row, row]))
  return [...newest.values()].sort((a, b) => a.row - b.row)
}

function createStepReader(member: RunView, wanted: WantedScores): (range: Range) => AnsweredRow[] {
  const ruleIds = readRuleIds(member)
  return (range) => {
    const { db } = member
    const found = readTuples<RowTuple>(
      db,
      `SELECT row.id, row.cells, row.kinds, result.state = 'succeeded' AND result.error_code IS NULL
       FROM row LEFT JOIN result ON result.row = row.id WHERE row.id > ? AND row.id <= ? ORDER BY row.id`,
      range,
    )
    const rows = found.map((tuple) => new StoredRow(member, tuple))
    if (rows.length === 0) return rows
    addRules(rows, db, range, ruleIds)
    if (wanted === 'highest') addHighestScores(rows, db, range)
    else if (wanted.length > 0) addScores(rows, db, range, wanted)
    return rows
  }
}

type RowTuple = [row: number, cells: string, kinds: string | null, isAnswered: number | null]

/** A row as it stands in the journal. Its cells stay a JSON text until they are asked for, which many questions never do. */
class StoredRow implements AnsweredRow {
  readonly row: number
  readonly kinds: string | null
  readonly isAnswered: boolean
  readonly member: RunView
  ruleIds: readonly string[] = NONE
  scores: (number | null)[] = []
  #cells: string | string[]

  constructor(member: RunView, [row, cells, kinds, isAnswered]: RowTuple) {
    this.row = row
    this.kinds = kinds
    this.isAnswered = isAnswered === 1
    this.member = member
    this.#cells = cells
  }

  get cells(): string[] {
    if (typeof this.#cells === 'string') this.#cells = JSON.parse(this.#cells) as string[]
    return this.#cells
  }
}

const NONE: readonly string[] = []

function addRules(
  rows: readonly StoredRow[],
  db: DatabaseSync,
  range: Range,
  ruleIds: ReadonlyMap<number, string>,
): void {
  const triggered = readTuples<[row: number, rule: number]>(
    db,
    'SELECT row, rule FROM row_rule INDEXED BY row_rule_by_row WHERE row > ? AND row <= ? ORDER BY row, rule',
    range,
  )
  matchRows(rows, triggered, (row, [, rule]) => {
    const ruleId = ruleIds.get(rule)
    if (ruleId !== undefined) row.ruleIds = [...row.ruleIds, ruleId]
  })
}

function addHighestScores(rows: readonly StoredRow[], db: DatabaseSync, range: Range): void {
  const highest = readTuples<[row: number, score: number]>(
    db,
    'SELECT row, max(score) FROM row_class WHERE row > ? AND row <= ? GROUP BY row ORDER BY row',
    range,
  )
  for (const row of rows) row.scores = [null]
  matchRows(rows, highest, (row, [, score]) => {
    row.scores[0] = score
  })
}

function addScores(
  rows: readonly StoredRow[],
  db: DatabaseSync,
  range: Range,
  classes: readonly string[],
): void {
  const places = classes.map(() => '?').join(', ')
  const found = readTuples<[row: number, score: number, className: string]>(
    db,
    `SELECT row, score, class FROM row_class WHERE row > ? AND row <= ? AND class IN (${places}) ORDER BY row`,
    [...range, ...classes],
  )
  for (const row of rows) row.scores = classes.map(() => null)
  matchRows(rows, found, (row, [, score, className]) => {
    for (const [index, name] of classes.entries()) if (name === className) row.scores[index] = score
  })
}

/** Hands over each of what was found of rows, ascending like these, with its row. */
function matchRows<Found extends readonly [row: number, ...unknown[]]>(
  rows: readonly StoredRow[],
  found: readonly Found[],
  add: (row: StoredRow, found: Found) => void,
): void {
  let at = 0
  for (const one of found) {
    while ((rows[at]?.row ?? Number.POSITIVE_INFINITY) < one[0]) at += 1
    const row = rows[at]
    if (row?.row === one[0]) add(row, one)
  }
}

/** Arrays rather than objects, which take twice as long to make. */
function readTuples<Tuple>(db: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Tuple[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all(...values) as unknown as Tuple[]
}

function readRuleIds({ db }: RunView): Map<number, string> {
  const rules = db.prepare('SELECT id, rule_id FROM rule').all()
  return new Map(rules.map(({ id, rule_id }) => [Number(id), String(rule_id)]))
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}
