import { existsSync } from 'node:fs'
import type { ItemState } from '../../../shared/run/item-state.ts'
import { toJournalFile } from '../workspace/workspace-files.ts'
import { Journal } from './journal.ts'
import { type RunRecord, readRunRecord, updateRunRecord } from './run-record.ts'

/** Behind the id of a child run that was deleted after it had sent rows of its parent. */
const DELETED = ' (deleted)'

/**
 * The child run that stands for rows of its parent, given what the parent's record names. Null where there is none, or
 * where it was deleted before it had sent anything: then the parent has its rows back.
 */
export function findSuccessor(named: string | null, workspace: string): string | null {
  if (named === null || isDeleted(named)) return named
  return existsSync(toJournalFile(workspace, named)) ? named : null
}

/** Whether what a record names is a retry that was deleted after it had sent rows. */
export function isDeleted(named: string): boolean {
  return named.endsWith(DELETED)
}

/**
 * States that a child run takes over, rows that were never sent having none, and those that it takes only where rows of
 * unknown outcome are resent. An index add whose callback is overdue was acknowledged: another may add it twice.
 */
export function toRetriedStates({ plan }: Pick<RunRecord, 'plan'>): {
  certain: readonly ItemState[]
  unknown: readonly ItemState[]
} {
  return plan.operation.kind === 'index-add'
    ? { certain: ['rejected', 'failed', 'pending'], unknown: ['unknown', 'overdue'] }
    : { certain: ['rejected', 'failed', 'overdue', 'pending'], unknown: ['unknown'] }
}

/**
 * States of the rows that a child run stands for, whose callbacks are its own. A child that was deleted after it had
 * sent some stands for nothing any more.
 */
export function findTakenOver(
  record: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy' | 'plan'>,
  workspace: string,
): ReadonlySet<ItemState> {
  const isTaken = (named: string | null) => {
    const successor = findSuccessor(named, workspace)
    return successor !== null && !isDeleted(successor)
  }
  const states = toRetriedStates(record)
  return new Set([
    ...(isTaken(record.supersededBy) ? states.certain : []),
    ...(isTaken(record.unknownTakenBy) ? states.unknown : []),
  ])
}

/** The retries that stand for rows of a run and still exist: one for what did not succeed, another for unknown rows. */
export function findTakers(
  { supersededBy, unknownTakenBy }: Pick<RunRecord, 'supersededBy' | 'unknownTakenBy'>,
  workspace: string,
): string[] {
  const takers = [supersededBy, unknownTakenBy].map((named) => findSuccessor(named, workspace))
  return [...new Set(takers)].filter((taker) => taker !== null).filter((taker) => !isDeleted(taker))
}

/** The run that a record names as its successor, and whether it was deleted. */
export function describeSuccessor(named: string): { by: string; isDeleted: boolean } {
  return { by: named.replace(DELETED, ''), isDeleted: isDeleted(named) }
}

/**
 * Tells the parent that its child is about to be deleted though it has sent rows, so that the parent never sends them
 * a second time. A parent that is gone needs no telling. Throws `RUN_BUSY`.
 */
export function sealParent(workspace: string, parentRunId: string, childRunId: string): void {
  const file = toJournalFile(workspace, parentRunId)
  if (!existsSync(file)) return
  const parent = new Journal(file, { runId: parentRunId })
  try {
    const record = readRunRecord(parent.db)
    const sealed = `${childRunId}${DELETED}`
    parent.transact('power', () => {
      if (record?.supersededBy === childRunId) updateRunRecord(parent.db, { superseded_by: sealed })
      if (record?.unknownTakenBy === childRunId) updateRunRecord(parent.db, { unknown_taken_by: sealed })
    })
  } finally {
    parent.close()
  }
}
