import { expect, test } from 'vitest'
import { insertRunRecord, updateRunRecord } from '../../../../src/main/engine/journal/run-record.ts'
import { readLatency } from '../../../../src/main/engine/journal/seconds.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { IntakeWriter } from '../../../../src/main/engine/run/journal/intake-writer.ts'
import { ItemClaims } from '../../../../src/main/engine/run/journal/item-claims.ts'
import { OutcomeWriter } from '../../../../src/main/engine/run/journal/outcome-writer.ts'
import { rebuildSeconds, recoverUnknown } from '../../../../src/main/engine/run/journal/recovery.ts'
import { settleCallbacks } from '../../../../src/main/engine/run/late-callbacks.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { openTestJournal, readRecord, readStates, toAttempt, toIntakeRow } from '../journal/test-journal.ts'

/** A journal whose process died while it was sending so many rows of an async run, with none of its seconds. */
function openCutOff(rows: number) {
  const workspace = createTemporaryFolder()
  createWorkspaceFolders(workspace)
  const journal = openTestJournal({ file: toJournalFile(workspace, 'run-1') })
  const plan = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:1' },
    source: { path: '/source.csv' },
    operation: { kind: 'task', mode: 'async' },
    mapping: { user_id: { kind: 'template', template: 'user' } },
  })
  const ids = { runId: 'run-1', runToken: 'run-1', parentRunId: null, name: 'a run', appVersion: '0' }
  journal.transact('power', () =>
    insertRunRecord(journal.db, {
      ...ids,
      plan,
      createdAtMs: Date.now(),
      callbackBase: 'http://127.0.0.1:1',
    }),
  )
  const writer = new IntakeWriter(journal, (_, cells) => cells[0] ?? '')
  writer.writeRows(Array.from({ length: rows }, (_, i) => toIntakeRow(i + 1)))
  writer.finish(['text_data'])
  const claims = new ItemClaims(journal, readRecord(journal))
  journal.transact('power', () => {
    updateRunRecord(journal.db, { state: 'running' })
    claims.raiseWatermark(claims.readFresh(rows))
  })
  return { workspace, journal }
}

async function receive(workspace: string, items: readonly number[]): Promise<void> {
  const inbox = InboxWriter.open(workspace)
  if (inbox === null) throw new Error('the inbox is held')
  for (const item of items) {
    const body = Buffer.from(JSON.stringify({ task_id: `task-${item}`, triggered_rules: [] }))
    await new Promise((stored) =>
      inbox.store({ runToken: 'run-1', item, receivedAtUs: Date.now() * 1_000, body }, stored),
    )
  }
  inbox.close()
}

test('a cut-off run that is looked at before it is resumed keeps the latency of its last second', async () => {
  const { workspace, journal } = openCutOff(3)
  const outcomes = new OutcomeWriter(journal)
  const sentAtUs = Date.now() * 1_000
  journal.transact('process', () => {
    for (const item of [1, 2]) {
      const attempt = toAttempt(item, { state: 'acknowledged', sentAtUs })
      outcomes.count(attempt)
      outcomes.write([attempt])
    }
  })
  await receive(workspace, [1])
  settleCallbacks(workspace, journal)
  recoverUnknown(journal)
  rebuildSeconds(journal)
  expect(readStates(journal)).toEqual({
    items: { 1: 'succeeded', 2: 'acknowledged', 3: 'unknown' },
    counted: { succeeded: 1, acknowledged: 1, unknown: 1 },
  })
  expect(readLatency(journal.db).percentiles('http_req_duration')?.count).toBe(2)
  expect(readLatency(journal.db).percentiles('callback_latency')?.count).toBe(1)
})
