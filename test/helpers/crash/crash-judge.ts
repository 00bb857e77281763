import { existsSync } from 'node:fs'
import { Journal } from '../../../src/main/engine/journal/journal.ts'
import { readSessions } from '../../../src/main/engine/journal/sessions.ts'
import { recoverUnknown } from '../../../src/main/engine/run/journal/recovery.ts'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { judgeHistory } from '../history/judge-history.ts'
import { readRunHistory } from '../history/read-run-history.ts'
import type { HistoryVerdict } from '../history/verdict.ts'
import type { RecordingService } from '../recording-service.ts'
import type { CrashReport } from './crash-harness.ts'

/** Checks of a run and its retry, by their journals and the service's own record. */
export interface Judge {
  /** Whether a run was recorded before its process was killed. */
  hasRecord(runId: string): boolean
  /** Whether a retry or correction has put rows of a run into the queue. */
  hasSession(runId: string, kind: 'retry' | 'correction'): boolean
  /** Lists the rows that a killed process left unknown, and remembers those it had committed as succeeded. */
  noteRecovery(runId: string): void
  /** Rows committed as succeeded before the last session must not have arrived again in it. */
  checkSettled(): void
  /**
   * Every row has exactly one final state, and was accepted once, plus at most once for each time that it was
   * listed as unknown.
   */
  judgeEnd(runId: string): void
}

/** Creates the judge of one workspace. */
export function createJudge(options: {
  workspace: string
  service: RecordingService
  report: CrashReport
  rows: number
  /** The user_id, as corrected, that each row must be accepted with; null if it is never sent. */
  toUserId: (row: number) => string | null
}): Judge {
  const { workspace, service, report, rows } = options
  const settled = new Map<string, number>()
  const { violations } = report

  function withJournal<Result>(runId: string, use: (journal: Journal) => Result): Result {
    const journal = new Journal(toJournalFile(workspace, runId), { runId })
    try {
      return use(journal)
    } finally {
      journal.close()
    }
  }

  const listItems = (journal: Journal, state: string): number[] =>
    journal.db
      .prepare('SELECT row AS item FROM result WHERE state = ?')
      .all(state)
      .map((row) => Number(row['item']))

  /** Compares the journals of the run and its retry with the recording in their current state. */
  function judge(runId: string): HistoryVerdict {
    const verdict = judgeHistory(readRunHistory(toJournalFile(workspace, runId)), service.recording.events)
    for (const { kind, message } of verdict.faults) violations.push(`${kind}: ${message}`)
    return verdict
  }

  return {
    hasRecord: (runId) =>
      existsSync(toJournalFile(workspace, runId)) &&
      withJournal(runId, ({ db }) => db.prepare('SELECT 1 FROM run').get() !== undefined),
    hasSession: (runId, wanted) =>
      withJournal(runId, ({ db }) => readSessions(db).some(({ kind }) => kind === wanted)),
    noteRecovery(runId) {
      judge(runId)
      withJournal(runId, (journal) => {
        recoverUnknown(journal)
        report.listedUnknown += listItems(journal, 'unknown').length
        settled.clear()
        for (const item of listItems(journal, 'succeeded')) {
          settled.set(`${runId}-${item}`, service.arrived.get(`${runId}-${item}`) ?? 0)
        }
      })
      judge(runId)
    },
    checkSettled() {
      for (const [postId, arrivals] of settled) {
        if (service.arrived.get(postId) === arrivals) continue
        violations.push(`${postId} was committed as succeeded and sent again`)
      }
    },
    judgeEnd(runId) {
      const { ok, info, fail } = judge(runId)
      const neverSent = Array.from({ length: rows }, (_, i) => options.toUserId(i + 1)).filter(
        (id) => id === null,
      )
      if (ok !== rows - neverSent.length || fail !== neverSent.length || info > 0) {
        violations.push(`${rows} rows ended as ${ok} ok, ${info} info, ${fail} fail`)
      }
      for (let row = 1; row <= rows; row += 1) {
        const postId = `${runId}-${row}`
        const accepted = service.accepted.get(postId) ?? 0
        report.rows += 1
        const userId = options.toUserId(row)
        if ((userId === null) !== (accepted === 0))
          violations.push(`${postId} was accepted ${accepted} times`)
        if (accepted > 0 && service.userIds.get(postId) !== userId)
          violations.push(`${postId} was accepted of ${service.userIds.get(postId)}, not of ${userId}`)
        if (accepted > 1) report.acceptedTwice += 1
      }
    },
  }
}
