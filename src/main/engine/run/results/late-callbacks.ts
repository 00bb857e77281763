import type { RunFamily } from '../../journal/run-family.ts'
import type { RunView } from '../../journal/run-view.ts'
import { InboxReader } from '../../receiver/inbox-reader.ts'

/** Which of a run and its retries have callbacks that were not taken in yet, or rows that have become overdue. */
export function findLateRuns({ members }: RunFamily): string[] {
  return members.filter((run) => !run.isHeld && hasLateCallbacks(run)).map(({ record }) => record.runId)
}

/** A load test measures its own callbacks and takes no more. */
function hasLateCallbacks({ db, record, workspace }: RunView): boolean {
  if (record.callbackBase === null || record.plan.load !== undefined) return false
  const overdue = db
    .prepare("SELECT 1 FROM result WHERE state = 'acknowledged' AND acknowledged_at <= ? LIMIT 1")
    .get(Date.now() - record.plan.callback.timeoutMs)
  if (overdue !== undefined) return true
  const inbox = new InboxReader(workspace)
  try {
    return inbox.readAfter(record.runToken, record.inboxRead, 1).length > 0
  } finally {
    inbox.close()
  }
}
