import type { Problem } from '../../../../shared/run/problem.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { createPlaceReader } from './intake-writer.ts'

/** A function that adds to a problem the places of its row and of the row that it names. */
export function createPlaceAdder(db: DatabaseSync): (problem: Problem) => Problem {
  const toPlace = createPlaceReader(db)
  return (problem) => {
    const other =
      problem.code === 'not_unique' || problem.code === 'look_alike' ? problem.details?.['row'] : undefined
    return {
      ...problem,
      place: toPlace(problem.row),
      ...(typeof other === 'number' ? { alsoAt: toPlace(other) } : {}),
    }
  }
}
