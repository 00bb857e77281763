import type { ResultRow } from '../../../../shared/run/results.ts'
import { createRuleReader, createSetReader, readScoreClasses } from '../../journal/found-reader.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { type Stretch, StretchStatement } from './stretch.ts'

type Rule = ResultRow['triggeredRules'][number]
type Score = ResultRow['classScores'][number]

/** What answers say about rows, by row; rows without findings have no entry. */
export interface FoundAnswers {
  rules: ReadonlyMap<number, Rule[]>
  scores: ReadonlyMap<number, Score[]>
}

type FoundTuple = [row: number, set: number, further: string | null, ...scores: (number | null)[]]

/** Creates a function that reads the rules that rows triggered, and scores by class, a stretch at a time. */
export function createAnswersReader(db: DatabaseSync): (stretch: Stretch) => FoundAnswers {
  const toRules = createSetReader(db, createRuleReader(db))
  let classes: string[] = []
  let found = createStatement(db, [])
  return (stretch) => {
    const now = readScoreClasses(db)
    // A run under way finds new ones.
    if (now.length !== classes.length) {
      classes = now.map(({ className }) => className)
      found = createStatement(
        db,
        now.map(({ column }) => column),
      )
    }
    const rules = new Map<number, Rule[]>()
    const scores = new Map<number, Score[]>()
    for (const [row, set, further, ...own] of found.readTuples<FoundTuple>(stretch)) {
      if (set !== 0) rules.set(row, toRules(set))
      const scored = toScores(classes, own, further)
      if (scored.length > 0) scores.set(row, scored)
    }
    return { rules, scores }
  }
}

function createStatement(db: DatabaseSync, columns: readonly string[]): StretchStatement {
  const wanted = ['row', 'rules', 'further_scores', ...columns].join(', ')
  return new StretchStatement(
    db,
    'row',
    (condition) => `SELECT ${wanted} FROM found NOT INDEXED WHERE ${condition} ORDER BY row`,
  )
}

function toScores(
  classes: readonly string[],
  scores: readonly (number | null)[],
  further: string | null,
): Score[] {
  const scored: Score[] = []
  for (const [at, className] of classes.entries()) {
    const score = scores[at] ?? null
    if (score !== null) scored.push({ className, score })
  }
  if (further === null) return scored
  for (const [className, score] of JSON.parse(further) as [string, number][])
    scored.push({ className, score })
  return scored.sort((a, b) => (a.className < b.className ? -1 : 1))
}
