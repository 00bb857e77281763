import { findNeeds } from '../../../../shared/messages/problem-traits.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { AcceptCode } from '../../../../shared/run/accept-code.ts'
import { isAcceptedCause } from '../../../../shared/run/accepted-causes.ts'
import type { ProblemGroup } from '../../../../shared/run/problem.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import type { RunRecord } from '../../journal/run-record.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { NOT_OF_LEFT_OUT } from '../journal/stored-problems.ts'
import { readProblemGroups } from './problem-groups.ts'

/** The run with the requested warnings, and what was accepted for it. */
type AskedRecord = Pick<RunRecord, 'columns'> & { plan: Pick<Plan, 'accept' | 'accepted'> }

/** A run's warnings to accept before anything is sent, by cause, each with the rows that would be sent. */
export function readGuardedWarnings(db: DatabaseSync): ProblemGroup[] {
  return readProblemGroups({ db }).flatMap((group) => {
    const needed = findNeeds(group)
    if (needed === null) return []
    // A fix that does not fit stays open, whatever happens to the row that now has its number.
    const rows = needed === 'fixes_do_not_fit' ? group.rows : group.rows - countUnsent(db, group)
    return rows > 0 ? [{ ...group, rows }] : []
  })
}

/** The causes that neither these codes nor any of these runs has accepted. */
export function listOpen(
  groups: readonly ProblemGroup[],
  records: readonly AskedRecord[],
  codes: readonly AcceptCode[] = [],
): ProblemGroup[] {
  const isAccepted = (group: ProblemGroup, { columns, plan }: AskedRecord) =>
    [...codes, ...(plan.accept ?? [])].some((code) => code === findNeeds(group)) ||
    isAcceptedCause(group, columns, plan.accepted)
  return groups.filter((group) => !records.some((record) => isAccepted(group, record)))
}

/** The open warnings of a run and its whole: acceptance for one part holds for all. */
export function readOpenWarningsOfWhole({ whole }: Pick<RunFamily, 'whole'>): ProblemGroup[] {
  const records = whole.map(({ record }) => record)
  return whole.flatMap(({ db }) => listOpen(readGuardedWarnings(db), records))
}

/** Rows with a problem of that cause that are also invalid, so not sent. Left-out rows were never counted. */
function countUnsent(db: DatabaseSync, { code, field, args }: ProblemGroup): number {
  const counted = db
    .prepare(
      `SELECT count(DISTINCT problem.row) AS n FROM problem JOIN row ON row.id = problem.row
       WHERE row.item IS NULL AND severity = 'warning' AND code = ? AND field IS ? AND args IS ?
       AND ${NOT_OF_LEFT_OUT}`,
    )
    .get(code, field, args === undefined ? null : JSON.stringify(args))
  return Number(counted?.['n'])
}
