import { rmSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { isThere } from '../workspace/is-there.ts'
import { isLeaseHeld, removeLease, underLease } from '../workspace/lease.ts'
import { removeStdin } from '../workspace/stdin-source.ts'
import { removeExports } from '../workspace/workspace-exports.ts'
import { toJournalFile, toRunFiles, toRunId } from '../workspace/workspace-files.ts'
import { Journal, openJournalReader } from './journal.ts'
import { listSuccessors, readWholeRun, toDeletedName } from './run-family.ts'
import { type RunRecord, readRunRecord, updateRunRecord } from './run-record.ts'

/** Longest wait for somebody who only looks at the lease, milliseconds; it is the main thread that waits. */
const LOOK_MS = 50

/**
 * Removes a run's journal for good, under its lease to the last, so that nobody takes the run up meanwhile. A parent
 * whose rows the run may have sent, or that stand in a child of the run, never sends them again. Throws `RUN_BUSY`.
 */
export function deleteJournal(workspace: string, runId: string): void {
  const file = toJournalFile(workspace, runId)
  const work = () => {
    const record = readRecord(file)
    if (record !== null && record.parentRunId !== null && hasTakenRows(record)) {
      for (const giver of findGivers(workspace, runId)) sealParent(workspace, giver, runId)
    }
    removeJournal(workspace, runId)
    // A retry has the source of its parent.
    if (record?.parentRunId === null) removeStdin(workspace, record.plan.source.path)
  }
  underLease(file, `run ${runId}`, work, LOOK_MS)
  if (!isLeaseHeld(file)) removeLease(file)
}

/** Removes the files of a run, except its lease. Throws `WORKSPACE_UNUSABLE`, in a read-only folder for example. */
function removeJournal(workspace: string, runId: string): void {
  try {
    removeExports(workspace, runId)
    for (const file of toRunFiles(workspace, runId)) rmSync(file, { force: true })
  } catch (error) {
    throw SluiceError.because(error, { id: 'run_not_deleted', runId })
  }
}

/** The runs of the whole that name a retry as the one that stands for rows of theirs. */
function findGivers(workspace: string, retryId: string): string[] {
  const read = (runId: string) => {
    const record = readRecord(toJournalFile(workspace, runId))
    return record === null ? null : { record }
  }
  return readWholeRun(retryId, workspace, read)
    .filter(({ record }) => listSuccessors(record).includes(retryId))
    .map(({ record }) => record.runId)
}

/** Null if the journal holds no run or another one, or cannot be read any more. */
function readRecord(file: string): RunRecord | null {
  try {
    const db = openJournalReader(file)
    try {
      const record = readRunRecord(db)
      return record?.runId === toRunId(file) ? record : null
    } finally {
      db.close()
    }
  } catch {
    return null
  }
}

function hasTakenRows(record: RunRecord): boolean {
  return record.claimedRows > 0 || listSuccessors(record).some((named) => named !== null)
}

/**
 * Tells the parent that its child is about to be deleted though it has sent rows, so that the parent never sends them
 * a second time. A parent that is gone needs no telling. Throws `RUN_BUSY`.
 */
function sealParent(workspace: string, parentRunId: string, childRunId: string): void {
  const file = toJournalFile(workspace, parentRunId)
  if (!isThere(file)) return
  const parent = new Journal(file, { runId: parentRunId })
  try {
    const record = readRunRecord(parent.db)
    const sealed = toDeletedName(childRunId)
    parent.transact('power', () => {
      if (record?.supersededBy === childRunId) updateRunRecord(parent.db, { superseded_by: sealed })
      if (record?.unknownTakenBy === childRunId) updateRunRecord(parent.db, { unknown_taken_by: sealed })
      if (record?.invalidTakenBy === childRunId) updateRunRecord(parent.db, { invalid_taken_by: sealed })
    })
  } finally {
    parent.close()
  }
}
