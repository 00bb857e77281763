import type { ResultRow } from '../../../../shared/run/results.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { type Stretch, StretchStatement } from './stretch.ts'

type Rule = ResultRow['triggeredRules'][number]
type Score = ResultRow['classScores'][number]

/** What answers said of rows, by row; of rows without any there is no entry. */
export interface FoundAnswers {
  rules: ReadonlyMap<number, Rule[]>
  scores: ReadonlyMap<number, Score[]>
}

/** A function that reads which rules rows triggered, and their scores by class, a stretch at a time. */
export function createAnswersReader(db: DatabaseSync): (stretch: Stretch) => FoundAnswers {
  const rulesOf = new StretchStatement(
    db,
    'row',
    (condition) =>
      `SELECT row, rule FROM row_rule INDEXED BY row_rule_by_row WHERE ${condition} ORDER BY row, rule`,
  )
  const scoresOf = new StretchStatement(
    db,
    'row',
    (condition) => `SELECT row, class, score FROM row_class WHERE ${condition} ORDER BY row, class`,
  )
  let rules: ReadonlyMap<number, Rule> = new Map()
  const findRule = (id: number): Rule => {
    // A run under way triggers new ones.
    if (!rules.has(id)) rules = readRules(db)
    return rules.get(id) ?? { ruleId: '', ruleName: '' }
  }
  return (stretch) => ({
    rules: group(rulesOf.readTuples<[number, number]>(stretch), ([, id]) => findRule(id)),
    scores: group(scoresOf.readTuples<[number, string, number]>(stretch), ([, className, score]) => ({
      className,
      score,
    })),
  })
}

function readRules(db: DatabaseSync): ReadonlyMap<number, Rule> {
  const stored = db.prepare('SELECT id, rule_id, rule_name FROM rule').all()
  return new Map(
    stored.map(({ id, rule_id: ruleId, rule_name: ruleName }) => [
      Number(id),
      { ruleId: String(ruleId), ruleName: String(ruleName) },
    ]),
  )
}

/** What tuples are of each row, which is their first value; they come row by row. */
function group<Tuple extends readonly [row: number, ...rest: unknown[]], Value>(
  tuples: readonly Tuple[],
  toValue: (tuple: Tuple) => Value,
): Map<number, Value[]> {
  const groups = new Map<number, Value[]>()
  let values: Value[] = []
  let last: number | null = null
  for (const tuple of tuples) {
    const [row] = tuple
    if (row !== last) {
      values = []
      groups.set(row, values)
      last = row
    }
    values.push(toValue(tuple))
  }
  return groups
}
