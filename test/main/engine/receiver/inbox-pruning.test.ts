import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Journal } from '../../../../src/main/engine/journal/journal.ts'
import { InboxReader } from '../../../../src/main/engine/receiver/inbox.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { startCallbackService } from '../../../helpers/callback-service.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTestEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()

test('callbacks stay in the inbox until the last run of their chain is deleted', async () => {
  onlyInLongForm()
  const service = await startCallbackService(() => ({}))
  const workspace = join(folder, 'workspace')
  const engine = createTestEngine(workspace)
  const inbox = new InboxReader(workspace)
  try {
    const plan = createRunPlan(folder, 3, service.baseUrl, { operation: { kind: 'task', mode: 'async' } })
    const first = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
    const second = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
    expect(new Set(inbox.readRunTokens())).toEqual(new Set([first.run_id, second.run_id]))
    await engine.runs.deleteRun(first.run_id)
    expect(inbox.readRunTokens()).toEqual([second.run_id])
    expect(inbox.readAfter(second.run_id, 0, 10)).toHaveLength(3)
  } finally {
    inbox.close()
    await engine.close()
  }
})

test('callbacks stay while a run that may be of their chain cannot be read, for example from a newer version', async () => {
  onlyInLongForm()
  const service = await startCallbackService(({ index }) => ({ isLate: index === 0 }))
  const workspace = join(folder, 'newer')
  const engine = createTestEngine(workspace)
  const plan = createRunPlan(folder, 3, service.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    callback: { timeoutMs: 100 },
  })
  const parent = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
  expect(parent.rows.overdue).toBe(1)
  await engine.close()
  const child = createInProcessRuns(workspace).retryAsChild(parent.run_id, 'skip', { hold: true })
  await child.until(({ phase }) => phase === 'ready')
  child.command({ kind: 'stop' })
  await child.ended
  const journal = new Journal(toJournalFile(workspace, child.runId), { runId: child.runId })
  journal.db.exec('PRAGMA user_version = 99')
  journal.close()
  const later = createTestEngine(workspace)
  const inbox = new InboxReader(workspace)
  try {
    await later.receiver.open()
    await later.runs.deleteRun(parent.run_id)
    expect(inbox.readRunTokens()).toEqual([parent.run_id])
  } finally {
    inbox.close()
    await later.close()
  }
})
