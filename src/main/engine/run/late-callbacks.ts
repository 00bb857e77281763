import type { Journal } from '../journal/journal.ts'
import { findTakenOver, type RunFamily } from '../journal/run-family.ts'
import { readRunRecord } from '../journal/run-record.ts'
import type { RunView } from '../journal/run-view.ts'
import { readLatency, writeLatency } from '../journal/seconds.ts'
import { InboxReader } from '../receiver/inbox.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { CallbackSettler } from './callback-settler.ts'
import { ItemClaims } from './journal/item-claims.ts'
import { rebuildSeconds } from './journal/recovery.ts'

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

/** Processes the callbacks that came when nobody held the run; nothing is sent, and the run stays as it ended. */
export function settleCallbacks(workspace: string, journal: Journal): void {
  const record = readRunRecord(journal.db)
  if (record === null || record.callbackBase === null) return
  // The whole that is written below must hold the second in which a run was cut off.
  if (record.state === 'running') rebuildSeconds(journal)
  const inbox = new InboxReader(workspace)
  const latency = readLatency(journal.db)
  const { judgeCallback } = createOperationExchange(record.plan, { deliveredCodes: [], nowMs: Date.now })
  const settler = new CallbackSettler({
    journal,
    record,
    claims: new ItemClaims(journal, record),
    inbox: {
      readAfter: (afterId, limit) => inbox.readAfter(record.runToken, afterId, limit),
      close: () => inbox.close(),
    },
    takenOver: findTakenOver(record, workspace),
    judge: judgeCallback,
    nowMs: Date.now,
    onLatency: (latencyUs) => latency.record('callback_latency', latencyUs),
  })
  try {
    while (settler.look()) {
      journal.transact('process', () => settler.write())
      settler.committed()
    }
    journal.transact('process', () => writeLatency(journal.db, latency))
  } finally {
    settler.close()
  }
}
