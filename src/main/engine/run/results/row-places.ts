import {
  type RowAndRecord,
  type SourcePlace,
  toRowAndRecord,
  toSourcePlace,
} from '../../../../shared/plan/source-place.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { createPlaceReader } from '../journal/intake-writer.ts'
import { findNewest } from './family-rows.ts'

/** Places of rows in the source of a run, by number; rows that no run has are left out. */
export function readPlaces(family: RunFamily, ids: readonly number[]): ReadonlyMap<number, SourcePlace> {
  const newest = Map.groupBy(findNewest(family, ids), ({ member }) => member)
  return new Map(
    [...newest].flatMap(([{ db }, rows]) => {
      const toPlace = createPlaceReader(db)
      return rows.map(({ id }) => [id, toPlace(id)] as const)
    }),
  )
}

/** Creates a function that gives both numbers of these rows. */
export function createNumberReader(family: RunFamily, ids: readonly number[]): (id: number) => RowAndRecord {
  const places = readPlaces(family, ids)
  return (id) => toRowAndRecord(id, places.get(id) ?? toSourcePlace(id, undefined))
}

/** The place of a row; a row that no run has gets its own number. */
export function readPlace(family: RunFamily, id: number): SourcePlace {
  return readPlaces(family, [id]).get(id) ?? toSourcePlace(id, undefined)
}
