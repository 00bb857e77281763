import { InboxReader } from '../journal/inbox-reader.ts'
import type { RunView } from './run-view.ts'

/**
 * Whether the inbox has callbacks of a run that were not taken in yet, or rows of it have become overdue. A load test
 * measures its own and takes no more.
 */
export function hasLateCallbacks({ db, record, workspace }: RunView): boolean {
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
