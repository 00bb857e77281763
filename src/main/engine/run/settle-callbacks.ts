import type { Journal } from '../journal/journal.ts'
import { readLatency, writeLatency } from '../journal/run-latency.ts'
import { readRunRecord } from '../journal/run-record.ts'
import { findTakenOver } from '../journal/successor.ts'
import { InboxReader } from '../receiver/inbox-reader.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { CallbackSettler } from './callback-settler.ts'
import { ItemClaims } from './journal/item-claims.ts'
import { rebuildSeconds } from './journal/rebuild-seconds.ts'

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
