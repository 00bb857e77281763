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

/** Longest wait for a process that only checks the lease, milliseconds; the main thread waits. */
const LOOK_MS = 50

/**
 * Permanently removes a run's journal, under its lease so that nobody resumes the run meanwhile. A parent
 * never resends rows that the run may have sent, or that now belong to a child of the run. Throws `RUN_BUSY`.
 */
export function deleteJournal(workspace: string, runId: string): void {
  const file = toJournalFile(workspace, runId)
  const work = () => {
    const record = readRecord(file)
    if (record !== null && record.parentRunId !== null && hasTakenRows(record)) {
      for (const giver of findGivers(workspace, runId)) sealParent(workspace, giver, runId)
    }
    removeJournal(workspace, runId)
    // A retry shares the source of its parent.
    if (record?.parentRunId === null) removeStdin(workspace, record.plan.source.path)
  }
  underLease(file, `run ${runId}`, work, LOOK_MS)
  if (!isLeaseHeld(file)) removeLease(file)
}

/** Removes the files of a run, except its lease. Throws `WORKSPACE_UNUSABLE`, as in a read-only folder. */
function removeJournal(workspace: string, runId: string): void {
  try {
    removeExports(workspace, runId)
    for (const file of toRunFiles(workspace, runId)) rmSync(file, { force: true })
  } catch (error) {
    throw SluiceError.because(error, { id: 'run_not_deleted', runId })
  }
}

/** The runs of the whole that name a retry as the holder of some of their rows. */
function findGivers(workspace: string, retryId: string): string[] {
  const read = (runId: string) => {
    const record = readRecord(toJournalFile(workspace, runId))
    return record === null ? null : { record }
  }
  return readWholeRun(retryId, workspace, read)
    .filter(({ record }) => listSuccessors(record).includes(retryId))
    .map(({ record }) => record.runId)
}

/** Null if the journal is unreadable or holds no run or another one. */
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
 * Marks in the parent that its child is about to be deleted after sending rows, so that the parent never
 * resends them. Does nothing if the parent is gone. Throws `RUN_BUSY`.
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
