import type { Problem } from '../../../../shared/run/problem.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { createPlaceReader } from './intake-writer.ts'

const NAMES_OTHER_ROW: ReadonlySet<Problem['code']> = new Set([
  'not_unique',
  'same_item',
  'look_alike',
  'unfit_fix',
])

/** Creates a function that adds to a problem the places of its row and of the row it names. */
export function createPlaceAdder(db: DatabaseSync): (problem: Problem) => Problem {
  // Each reads its rows in its own order.
  const [toPlace, toOtherPlace] = [createPlaceReader(db), createPlaceReader(db)]
  return (problem) => {
    const other = NAMES_OTHER_ROW.has(problem.code) ? problem.details?.['row'] : undefined
    return {
      ...problem,
      place: toPlace(problem.row),
      ...(typeof other === 'number' ? { alsoAt: toOtherPlace(other) } : {}),
    }
  }
}
