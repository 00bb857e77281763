import { InboxReader } from '../journal/inbox-reader.ts'
import type { RunView } from './run-view.ts'

/** Whether the inbox has callbacks of a run that were not taken in yet; a load test measures its own and takes no more. */
export function hasLateCallbacks({ record, workspace }: RunView): boolean {
  if (record.callbackBase === null || record.plan.load !== undefined) return false
  const inbox = new InboxReader(workspace)
  try {
    return inbox.readAfter(record.runToken, record.inboxRead, 1).length > 0
  } finally {
    inbox.close()
  }
}
