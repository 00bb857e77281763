import { rmSync } from 'node:fs'
import { openJournalReader } from '../../journal/open-journal.ts'
import { type RunRecord, readRunRecord } from '../../journal/run-record.ts'
import { sealParent } from '../../journal/successor.ts'
import { readWholeRun } from '../../journal/whole-run.ts'
import { isLeaseHeld, removeLease, takeLease } from '../../workspace/lease.ts'
import { toJournalFile, toRunFiles } from '../../workspace/workspace-files.ts'

/** Longest wait for somebody who only looks at the lease, milliseconds; it is the main thread that waits. */
const LOOK_MS = 50

/**
 * Removes a run's journal for good, under its lease to the last, so that nobody takes the run up meanwhile. A parent
 * whose rows the run may have sent, or that stand in a child of the run, never sends them again. Throws `RUN_BUSY`.
 */
export function deleteJournal(workspace: string, runId: string): void {
  const file = toJournalFile(workspace, runId)
  const lease = takeLease(file, `run ${runId}`, LOOK_MS)
  try {
    const record = readRecord(file)
    if (record !== null && record.parentRunId !== null && hasTakenRows(record)) {
      for (const giver of findGivers(workspace, runId)) sealParent(workspace, giver, runId)
    }
    removeJournal(workspace, runId)
  } finally {
    lease.release()
  }
  if (!isLeaseHeld(file)) removeLease(file)
}

/** Removes the files of a run, except its lease. */
function removeJournal(workspace: string, runId: string): void {
  for (const file of toRunFiles(workspace, runId)) rmSync(file, { force: true })
}

/** The runs of the whole that name a retry as the one that stands for rows of theirs. */
function findGivers(workspace: string, retryId: string): string[] {
  const read = (runId: string) => {
    const record = readRecord(toJournalFile(workspace, runId))
    return record === null ? null : { record }
  }
  return readWholeRun(retryId, workspace, read)
    .filter(({ record }) => record.supersededBy === retryId || record.unknownTakenBy === retryId)
    .map(({ record }) => record.runId)
}

/** Null where the journal holds no run, or cannot be read any more. */
function readRecord(file: string): RunRecord | null {
  try {
    const db = openJournalReader(file)
    try {
      return readRunRecord(db)
    } finally {
      db.close()
    }
  } catch {
    return null
  }
}

function hasTakenRows({ claimedRows, supersededBy, unknownTakenBy }: RunRecord): boolean {
  return claimedRows > 0 || supersededBy !== null || unknownTakenBy !== null
}
