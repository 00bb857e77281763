import { listRows } from './row-groups.ts'
import type { MemberHistory, RowHistory, RunHistory } from './run-history.ts'
import { createFault, sayRow } from './say-fault.ts'
import type { Fault } from './verdict.ts'

/**
 * Checks the journals of a run and its retries against each other: every row exists, in exactly one state.
 */
export function judgeFamily(run: RunHistory): Fault[] {
  return [
    ...run.members.flatMap(judgeMember),
    ...findDoubled(run),
    ...listRows(run).flatMap(({ member, row }) =>
      isUnsettled(member, row)
        ? [createFault('unsettled', member, row, `${sayRow(row)} is ${row.state}, though its run has ended.`)]
        : [],
    ),
  ]
}

function isUnsettled({ state }: MemberHistory, row: RowHistory): boolean {
  return row.state === 'sending' || (row.state === 'pending' && state === 'completed')
}

function judgeMember(member: MemberHistory): Fault[] {
  const { rows, rowsRead, runId, takenBy } = member
  const faults = rows.flatMap((row) => {
    const { item, stored } = row
    const isSendable = item !== null
    if (stored === null || isSendable !== (stored === 'left_out' || stored === 'invalid')) return []
    const what = isSendable ? 'is to be sent and left out' : `is not to be sent, and ${stored}`
    return [createFault('two-states', member, row, `${sayRow(row)} ${what}.`)]
  })
  if (rows.length !== rowsRead) {
    const message = `Run ${runId} has read ${rowsRead} rows, and its journal has ${rows.length}.`
    faults.push({ kind: 'missing', runId, row: null, id: null, message })
  }
  for (const name of new Set(Object.values(takenBy))) {
    if (name === null || !name.includes(' ')) continue
    const message = `A retry of run ${runId} is missing, which may have sent rows again: ${name}.`
    faults.push({ kind: 'missing', runId, row: null, id: null, message })
  }
  return faults
}

/** Rows that two journals claim: a retry only has the rows that the run before it gave away. */
function findDoubled({ members }: RunHistory): Fault[] {
  const holders = new Map<number, { member: MemberHistory; row: RowHistory }>()
  const faults: Fault[] = []
  for (const member of members) {
    for (const row of member.rows) {
      const before = holders.get(row.row)
      holders.set(row.row, { member, row })
      if (before === undefined || mayTake(before.member, before.row, member.runId)) continue
      const message = `${sayRow(row)} is ${before.row.state} in ${before.member.runId} and ${row.state} in ${member.runId}, which had no consent to take it.`
      faults.push(createFault('two-states', member, row, message))
    }
  }
  return faults
}

function mayTake({ takenBy, retried }: MemberHistory, { item, state }: RowHistory, taker: string): boolean {
  if (item === null) return takenBy.invalid === taker
  return (
    (takenBy.rest === taker && retried.rest.includes(state)) ||
    (takenBy.unknown === taker && retried.unknown.includes(state))
  )
}
