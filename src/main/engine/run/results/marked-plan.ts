import { getFixedRecord, isOfOneRow } from '../../../../shared/plan/fixes.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { createRowHash } from '../../mapping/row-hash.ts'
import { parseCells } from '../journal/intake-writer.ts'

/**
 * The plan of a run, in which each fix of one row says what that row was: an earlier version, or a person who wrote the
 * plan, may have named its number alone, and the journal has its cells.
 */
export function readMarkedPlan({ record, whole }: Pick<RunFamily, 'record' | 'whole'>): Plan {
  const { plan, columns } = record
  const isUnmarked = (fix: NonNullable<Plan['fixes']>[number]) => isOfOneRow(fix) && fix.rowHash === undefined
  if (plan.fixes === undefined || columns.length === 0 || !plan.fixes.some(isUnmarked)) return plan
  const toHash = createRowHash(columns)
  const findHash = (row: number | null) => {
    for (const { db } of whole) {
      const stored = db.prepare('SELECT cells, kinds FROM row WHERE id = ?').get(row)
      if (stored === undefined) continue
      const { cells, kinds = null } = stored
      return toHash(parseCells(String(cells)), kinds === null ? null : String(kinds))
    }
    return undefined
  }
  const fixes = plan.fixes.map((fix) => {
    const rowHash = isUnmarked(fix) ? findHash(getFixedRecord(fix)) : undefined
    return rowHash === undefined ? fix : { ...fix, rowHash }
  })
  return { ...plan, fixes }
}
