import { findNeeds } from '../../../../shared/messages/problem-traits.ts'
import { type AcceptCode, joinAccepted } from '../../../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../../../shared/run/problem.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { NOT_OF_LEFT_OUT } from '../journal/stored-problems.ts'
import { readProblemGroups } from './facets.ts'

/**
 * The causes of warnings of a run that a person has yet to accept before anything is sent, each with the rows that would
 * be sent with it.
 */
export function readOpenWarnings(db: DatabaseSync, accepted: readonly AcceptCode[]): ProblemGroup[] {
  return readProblemGroups({ db }).flatMap((group) => {
    const needed = findNeeds(group)
    if (needed === null || accepted.includes(needed)) return []
    // A fix that does not fit is open whatever becomes of the row that has its number now.
    const rows = needed === 'fixes_do_not_fit' ? group.rows : group.rows - countUnsent(db, group)
    return rows > 0 ? [{ ...group, rows }] : []
  })
}

/** The open warnings of a run and everything that belongs to it: what was accepted for one of its parts holds for all. */
export function readOpenWarningsOfWhole({ whole }: Pick<RunFamily, 'whole'>): ProblemGroup[] {
  const accepted = joinAccepted(...whole.map(({ record }) => record.plan.accept))
  return whole.flatMap(({ db }) => readOpenWarnings(db, accepted))
}

/** Rows with a problem of that cause that are not sent, since they are invalid, too. Those left out were never counted. */
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
