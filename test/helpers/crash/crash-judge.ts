import { existsSync } from 'node:fs'
import { Journal } from '../../../src/main/engine/journal/journal.ts'
import { toFamily } from '../../../src/main/engine/journal/run-family.ts'
import { readRunRecord } from '../../../src/main/engine/journal/run-record.ts'
import { summarizeRun } from '../../../src/main/engine/results/run-summary.ts'
import { recoverUnknown } from '../../../src/main/engine/run/journal/recovery.ts'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import type { RecordingService } from '../recording-service.ts'
import type { CrashReport } from './crash-harness.ts'

/** What is checked of one run and its retry, from their journals and from the service's own record. */
export interface Judge {
  /** Whether a run was written down before its process was killed. */
  hasRecord(runId: string): boolean
  /** Lists what a killed process left unknown, and remembers what it had committed as succeeded. */
  noteRecovery(runId: string, token: string): void
  /** What was committed as succeeded before the last session must not have arrived again in it. */
  checkSettled(): void
  /** Every row has exactly one final state, and was accepted once, or as often as it was listed as unknown. */
  judgeEnd(runId: string, childId: string): void
}

/** Builds the judge of one workspace. */
export function createJudge(options: {
  workspace: string
  service: RecordingService
  report: CrashReport
  rows: number
  /** The user_id that each row is to be accepted with, as corrected; null where it is never sent. */
  toUserId: (row: number) => string | null
}): Judge {
  const { workspace, service, report, rows } = options
  const listings = new Map<string, number>()
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

  /** What the journal counts is what its tables hold, and the summary adds up to the rows read. */
  function checkCounts(journal: Journal): void {
    const record = readRunRecord(journal.db)
    if (record === null) return
    const { db, file } = journal
    const view = { db, file, record, workspace: '', isHeld: false, isCutOff: record.state === 'running' }
    const { read, ...others } = summarizeRun(toFamily(view, [view])).rows
    const sum = Object.values(others).reduce((total, n) => total + n, 0)
    if (sum !== read || Object.values(others).some((n) => n < 0)) {
      violations.push(`${read} rows read, counted as ${JSON.stringify(others)}`)
    }
    for (const { state, n } of journal.db
      .prepare('SELECT state, count(*) AS n FROM result GROUP BY state')
      .all()) {
      const counted = journal.counters.get('state', String(state))
      if (counted !== Number(n)) violations.push(`${state}: counted ${counted}, in the journal ${n}`)
    }
  }

  function checkSeconds({ db }: Journal): void {
    const seconds = db.prepare('SELECT sum(sent) AS n FROM second').get()?.['n']
    const tries = db.prepare('SELECT count(*) AS n FROM attempt WHERE sent_at_us IS NOT NULL').get()?.['n']
    if (seconds !== tries) violations.push(`the seconds hold ${seconds} tries, the journal ${tries}`)
  }

  return {
    hasRecord: (runId) =>
      existsSync(toJournalFile(workspace, runId)) &&
      withJournal(runId, ({ db }) => db.prepare('SELECT 1 FROM run').get() !== undefined),
    noteRecovery: (runId, token) =>
      withJournal(runId, (journal) => {
        checkCounts(journal)
        recoverUnknown(journal)
        checkCounts(journal)
        for (const item of listItems(journal, 'unknown')) {
          listings.set(`${token}-${item}`, (listings.get(`${token}-${item}`) ?? 0) + 1)
          report.listedUnknown += 1
        }
        settled.clear()
        for (const item of listItems(journal, 'succeeded')) {
          const arrivals = service.arrived.get(`${token}-${item}`) ?? 0
          if (arrivals === 0) violations.push(`row ${item} is journaled as succeeded and never arrived`)
          settled.set(`${token}-${item}`, arrivals)
        }
      }),
    checkSettled() {
      for (const [postId, arrivals] of settled) {
        if (service.arrived.get(postId) === arrivals) continue
        violations.push(`${postId} was committed as succeeded and sent again`)
      }
    },
    judgeEnd(runId, childId) {
      for (const ended of [runId, childId]) {
        withJournal(ended, (journal) => {
          checkCounts(journal)
          checkSeconds(journal)
          for (const state of ['pending', 'sending', 'failed', 'unknown']) {
            const items = listItems(journal, state)
            if (items.length > 0) violations.push(`${items.length} rows of ${ended} ended as ${state}`)
          }
        })
      }
      for (let row = 1; row <= rows; row += 1) {
        const postId = `${runId}-${row}`
        const accepted = service.accepted.get(postId) ?? 0
        const listed = listings.get(postId) ?? 0
        report.rows += 1
        const userId = options.toUserId(row)
        if ((userId === null) !== (accepted === 0))
          violations.push(`${postId} was accepted ${accepted} times`)
        if (accepted > 0 && service.userIds.get(postId) !== userId)
          violations.push(`${postId} was accepted of ${service.userIds.get(postId)}, not of ${userId}`)
        if (accepted > 1) report.acceptedTwice += 1
        if (accepted > 1 + listed) {
          violations.push(`${postId} was accepted ${accepted} times, listed as unknown ${listed} times`)
        }
      }
    },
  }
}
