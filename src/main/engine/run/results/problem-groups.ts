import type { Problem, ProblemGroup } from '../../../../shared/run/problem.ts'
import type { RunView } from '../../journal/run-family.ts'
import { createPlaceAdder } from '../journal/problem-places.ts'
import {
  type CountedCause,
  createExamplesReader,
  isUnsentCause,
  readCauseKey,
  toCauseKey,
} from '../journal/stored-problems.ts'
import { readFacetCounts } from './family-counts.ts'

/** Rows that illustrate a group of problems. */
const EXAMPLES = 10

/** Groups a run's problems by cause, errors first, most rows first, each with its first rows. */
export function readProblemGroups({ db }: Pick<RunView, 'db'>): ProblemGroup[] {
  const readExamples = createExamplesReader(db, EXAMPLES)
  const addPlaces = createPlaceAdder(db)
  const counts = readFacetCounts(db).get('problem') ?? new Map<string, number>()
  const causes = new Map<string, CountedCause>()
  for (const key of counts.keys()) {
    const cause = readCauseKey(key)
    if (isUnsentCause(cause)) cause.severity = 'warning'
    // An earlier version counted by words, which have no arguments to build a key from.
    causes.set(cause.text === undefined ? toCauseKey(toProblem(cause)) : key, cause)
  }
  return [...causes]
    .map(([key, cause]) => {
      const rows = counts.get(key) ?? 0
      const unsent = counts.get(toCauseKey(toProblem(cause), true)) ?? 0
      const examples = readExamples(cause, rows === 0).map(addPlaces)
      return { ...cause, rows, ...(unsent > 0 && { unsent }), examples }
    })
    .sort((a, b) => (a.severity === b.severity ? b.rows - a.rows : a.severity === 'error' ? -1 : 1))
}

function toProblem({ field, ...cause }: CountedCause): Omit<Problem, 'row'> {
  return { ...cause, ...(field !== null && { field }) }
}
