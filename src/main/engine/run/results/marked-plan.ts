import { withColumnNames } from '../../../../shared/mapping/kept-columns.ts'
import { findNeeds } from '../../../../shared/messages/problem-traits.ts'
import { getFixedRecord, isOfOneRow } from '../../../../shared/plan/fixes.ts'
import type { Plan, SentPlan } from '../../../../shared/plan/plan.ts'
import { joinAcceptedCauses } from '../../../../shared/run/accepted-causes.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { parseCells } from '../../journal/stored-cells.ts'
import { createRowHash } from '../../mapping/row-hash.ts'
import { readGuardedWarnings } from './open-warnings.ts'

/**
 * The plan of a run, completed from its journal: accepted causes, if an earlier version kept codes, the row
 * hash of each fix that has only a number, and the names of columns mapped by number.
 */
export function readMarkedPlan(family: Pick<RunFamily, 'db' | 'record' | 'whole'>): Plan {
  // Which fixes applied before concerns only the run.
  const { earlierFixes: _earlier, ...plan }: SentPlan = withRowHashes(withCauses(family), family)
  return { ...plan, mapping: withColumnNames(plan.mapping, family.record.columns) }
}

/**
 * The plan for running a whole again: with the fixes of the newest correcting retry that was sent, since a
 * person who left a row out there does not want it sent.
 */
export function readPlanAgain({ whole }: Pick<RunFamily, 'whole'>): Plan {
  const [first] = whole
  if (first === undefined) throw new Error('a run belongs to a whole')
  const { fixes: own, ...plan } = readMarkedPlan({ db: first.db, record: first.record, whole })
  const correcting = whole.findLast(({ record }) => record.corrects && record.startedAtMs !== null)
  const fixes =
    correcting === undefined ? own : withRowHashes(correcting.record.plan, { ...correcting, whole }).fixes
  return { ...plan, ...(fixes !== undefined && { fixes }) }
}

function withCauses({ db, record }: Pick<RunFamily, 'db' | 'record'>): Plan {
  const { columns, plan } = record
  const { accept, accepted: before, ...rest } = plan
  if (accept === undefined || columns.length === 0) return plan
  const causes = readGuardedWarnings(db).filter((group) => accept.some((code) => code === findNeeds(group)))
  const accepted = joinAcceptedCauses(before, columns, causes)
  return { ...rest, ...(accepted !== undefined && { accepted }) }
}

function withRowHashes(plan: Plan, { record, whole }: Pick<RunFamily, 'record' | 'whole'>): Plan {
  const { columns } = record
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
