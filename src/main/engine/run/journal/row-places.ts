import type { RowPlace, SourcePlace } from '../../../../shared/plan/source-place.ts'
import { toSourcePlace } from '../../../../shared/plan/source-place.ts'
import type { DatabaseSync } from '../../workspace/sqlite-types.ts'

/** A function that tells where a row of a run stands in its source. */
export function createPlaceReader(db: DatabaseSync): (row: number) => SourcePlace {
  const find = db.prepare(
    'SELECT row, sheet_row, line FROM row_place WHERE row <= ? ORDER BY row DESC LIMIT 1',
  )
  return (row) => {
    const noted = find.get(row)
    return toSourcePlace(row, noted === undefined ? undefined : toPlace(noted))
  }
}

function toPlace(noted: Record<string, unknown>): RowPlace {
  return {
    row: Number(noted['row']),
    sheetRow: Number(noted['sheet_row']),
    line: noted['line'] === null ? null : Number(noted['line']),
  }
}
