import type { RunFamily, RunView } from '../journal/run-family.ts'

/** A row as looking back reads it: what it was, and what the service decided. */
export interface AnsweredRow {
  row: number
  cells: string[]
  /** What each cell is in a JSON source; null where all are text. */
  kinds: string | null
  /** The service answered it with a result of its own. */
  isAnswered: boolean
  /** Ids of the rules that it triggered. */
  ruleIds: readonly string[]
  /** Its score of each class asked for; null where it has none. */
  scores: (number | null)[]
  /** The run whose answer it is. */
  member: RunView
}

/** Row numbers read in one step: so few that most of what is read is garbage before it is moved to old space. */
const STEP_ROWS = 1_000

/**
 * Reads every row of a run and its retries in the order of the source, a thousand at a time, each with its newest
 * answer. No read stays open behind it. `classes` are those whose scores are wanted.
 */
export function* readAnsweredRows(
  family: RunFamily,
  classes: readonly string[] = [],
): Generator<AnsweredRow[], void, undefined> {
  const last = Math.max(...family.members.map(readLastRow))
  const rulesOf = new Map(family.members.map((member) => [member, readRuleIds(member)]))
  for (let after = 0; after < last; after += STEP_ROWS) {
    const newest = new Map<number, AnsweredRow>()
    for (const member of family.members) {
      readStep(member, after, { classes, ruleIds: rulesOf.get(member) ?? new Map(), newest })
    }
    // A first run has every row of its retries, and they came in their order.
    const isInOrder = family.record.parentRunId === null || family.members.length === 1
    yield isInOrder ? [...newest.values()] : [...newest.values()].sort((a, b) => a.row - b.row)
  }
}

function readStep(
  member: RunView,
  after: number,
  found: {
    classes: readonly string[]
    ruleIds: ReadonlyMap<number, string>
    newest: Map<number, AnsweredRow>
  },
): void {
  const { db } = member
  const { classes, ruleIds, newest } = found
  const range = [after, after + STEP_ROWS] as const
  const rows = db.prepare(
    `SELECT row.id, row.cells, row.kinds, result.state = 'succeeded' AND result.error_code IS NULL
     FROM row LEFT JOIN result ON result.row = row.id WHERE row.id > ? AND row.id <= ? ORDER BY row.id`,
  )
  rows.setReturnArrays(true)
  const own = new Map<number, AnsweredRow>()
  for (const [id, cells, kinds, isAnswered] of rows.all(...range) as unknown as RowTuple[]) {
    const row = {
      row: id,
      cells: JSON.parse(cells) as string[],
      kinds,
      isAnswered: isAnswered === 1,
      ruleIds: NONE,
      scores: classes.map(() => null),
      member,
    }
    own.set(id, row)
    newest.set(id, row)
  }
  if (own.size === 0) return
  addRules(member, range, ruleIds, own)
  for (const [index, name] of classes.entries()) addScores(member, range, name, index, own)
}

type RowTuple = [id: number, cells: string, kinds: string | null, isAnswered: number | null]

const NONE: readonly string[] = []

function addRules(
  { db }: RunView,
  range: readonly [number, number],
  ruleIds: ReadonlyMap<number, string>,
  rows: ReadonlyMap<number, AnsweredRow>,
): void {
  const triggered = db.prepare(
    'SELECT row, rule FROM row_rule INDEXED BY row_rule_by_row WHERE row > ? AND row <= ? ORDER BY row, rule',
  )
  triggered.setReturnArrays(true)
  for (const [id, rule] of triggered.all(...range) as unknown as [number, number][]) {
    const row = rows.get(id)
    const ruleId = ruleIds.get(rule)
    if (row !== undefined && ruleId !== undefined) row.ruleIds = [...row.ruleIds, ruleId]
  }
}

function addScores(
  { db }: RunView,
  range: readonly [number, number],
  className: string,
  index: number,
  rows: ReadonlyMap<number, AnsweredRow>,
): void {
  const scores = db.prepare('SELECT row, score FROM row_class WHERE row > ? AND row <= ? AND class = ?')
  scores.setReturnArrays(true)
  for (const [id, score] of scores.all(...range, className) as unknown as [number, number][]) {
    const row = rows.get(id)
    if (row !== undefined) row.scores[index] = score
  }
}

function readRuleIds({ db }: RunView): Map<number, string> {
  const rules = db.prepare('SELECT id, rule_id FROM rule').all()
  return new Map(rules.map(({ id, rule_id }) => [Number(id), String(rule_id)]))
}

function readLastRow({ db }: RunView): number {
  return Number(db.prepare('SELECT max(id) AS id FROM row').get()?.['id'] ?? 0)
}
