import {
  type DatabaseSync,
  readRows,
  readTuples,
  readValues,
  type SQLInputValue,
  type StatementSync,
} from '../workspace/sqlite.ts'
import { SCORE_COLUMNS_MAX, type TermKind, toScoreColumn } from './found-writer.ts'

/** Selects rows: an SQL condition on the column with their numbers. */
export interface FoundRows {
  sql: string
  params: readonly SQLInputValue[]
}

/** Selects the rows of a JSON array of numbers. */
export function amongRows(ids: string): FoundRows {
  return { sql: 'row IN (SELECT value FROM json_each(?))', params: [ids] }
}

/** Selects the rows above one number, up to another. */
export function betweenRows([above, upTo]: readonly [above: number, upTo: number]): FoundRows {
  return { sql: 'row > ? AND row <= ?', params: [above, upTo] }
}

/** Most meanings of numbers kept in memory. */
const KNOWN_MAX = 10_000

/** Looks up the meaning of a journal's numbers. */
class TermReader<Value> {
  readonly #term: StatementSync
  readonly #kind: TermKind
  readonly #toValue: (text: string) => Value
  readonly #known = new Map<number, Value>()

  constructor(db: DatabaseSync, kind: TermKind, toValue: (text: string) => Value) {
    this.#term = db.prepare('SELECT value FROM term WHERE kind = ? AND id = ?')
    this.#kind = kind
    this.#toValue = toValue
  }

  at(number: number): Value {
    const known = this.#known.get(number)
    if (known !== undefined) return known
    const value = this.#toValue(String(this.#term.get(this.#kind, number)?.['value'] ?? '[]'))
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(number, value)
    return value
  }
}

/** Creates a function that returns the names of a set by its number. */
export function createNameReader(db: DatabaseSync, kind: 'language' | 'model'): (number: number) => string[] {
  const terms = new TermReader(db, kind, (text) => JSON.parse(text) as string[])
  return (number) => terms.at(number)
}

/** Creates a reader of the rules of a set by its number, in the order of their numbers; none for 0. */
export function createSetReader<Rule>(
  db: DatabaseSync,
  toRule: (number: number) => Rule | undefined,
): (set: number) => Rule[] {
  const sets = new TermReader(db, 'rules', (text) =>
    (JSON.parse(text) as number[]).map(toRule).filter((rule) => rule !== undefined),
  )
  return (set) => sets.at(set)
}

/** Reads the triggered rules of rows; rows without rules are left out. */
export function readFoundRules<Rule>(
  db: DatabaseSync,
  { sql, params }: FoundRows,
  toRule: (number: number) => Rule | undefined,
): Map<number, Rule[]> {
  const toRules = createSetReader(db, toRule)
  const found = readTuples<[row: number, set: number]>(
    db,
    // Rows are found by number, not through the index of rows with rules.
    `SELECT row, rules FROM found NOT INDEXED WHERE ${sql} AND rules <> 0 ORDER BY row`,
    params,
  )
  return new Map(found.map(([row, set]) => [row, toRules(set)]))
}

export function createRuleReader(
  db: DatabaseSync,
): (number: number) => { ruleId: string; ruleName: string } | undefined {
  const rule = db.prepare('SELECT rule_id, rule_name FROM rule WHERE id = ?')
  return (number) => {
    const found = rule.get(number)
    if (found === undefined) return undefined
    return { ruleId: String(found['rule_id']), ruleName: String(found['rule_name']) }
  }
}

export function listSetsWith(db: DatabaseSync, ruleId: string): number[] {
  return readValues<number>(
    db,
    `SELECT term.id FROM rule CROSS JOIN term WHERE rule.rule_id = ? AND term.kind = 'rules'
     AND EXISTS (SELECT 1 FROM json_each(term.value) AS own WHERE own.value = rule.id) ORDER BY term.id`,
    ruleId,
  )
}

/** Classes with a column of scores, by name. */
export function readScoreClasses(db: DatabaseSync): { className: string; column: string }[] {
  const classes = "SELECT id, value AS className FROM term WHERE kind = 'class' ORDER BY value"
  return readRows<{ id: number; className: string }>(db, classes).map(({ id, className }) => ({
    className,
    column: toScoreColumn(id),
  }))
}

/** Whether rows may have scores of classes without a column. */
export function hasFurtherClasses(db: DatabaseSync): boolean {
  return (
    readScoreClasses(db).length >= SCORE_COLUMNS_MAX ||
    db.prepare("SELECT 1 FROM term WHERE kind = 'further'").get() !== undefined
  )
}

/**
 * Classes of which rows have scores: those with columns, then at most `most` others. Reads all rows only if
 * some class has no column.
 */
export function listScoreClasses(db: DatabaseSync, most: number): string[] {
  const classes = readScoreClasses(db).map(({ className }) => className)
  if (!hasFurtherClasses(db)) return classes
  const further = readValues<string>(
    db,
    `SELECT DISTINCT pair.value ->> 0 FROM found, json_each(found.further_scores) AS pair
     WHERE further_scores IS NOT NULL LIMIT ?`,
    most,
  )
  return [...classes, ...further.map(String)]
}

/** Calls back with each score of the rows, row after row. Rows ascend. */
export function visitScores(
  db: DatabaseSync,
  { sql, params }: FoundRows,
  visit: (row: number, className: string, score: number) => void,
): void {
  const classes = readScoreClasses(db)
  const columns = ['row', 'further_scores', ...classes.map(({ column }) => column)]
  const found = readTuples<[row: number, further: string | null, ...scores: (number | null)[]]>(
    db,
    `SELECT ${columns.join(', ')} FROM found NOT INDEXED WHERE ${sql} ORDER BY row`,
    params,
  )
  for (const [row, further, ...scores] of found) {
    for (const [at, { className }] of classes.entries()) {
      const score = scores[at] ?? null
      if (score !== null) visit(row, className, score)
    }
    if (further === null) continue
    for (const [className, score] of JSON.parse(further) as [string, number][]) visit(row, className, score)
  }
}
