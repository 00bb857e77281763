import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InboxReader } from '../../../../src/main/engine/journal/inbox-reader.ts'
import { startCallbackService } from '../../../helpers/callback-service.ts'
import { createTestEngine } from '../../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()

test('callbacks stay in the inbox until the last run of their chain is deleted', async () => {
  const service = await startCallbackService(() => ({}))
  const workspace = join(folder, 'workspace')
  const engine = createTestEngine(workspace)
  const inbox = new InboxReader(workspace)
  try {
    const plan = createRunPlan(folder, 3, service.baseUrl, { operation: { kind: 'task', mode: 'async' } })
    const first = await (await engine.startRun(plan, { apiKey: 'key' })).ended
    const second = await (await engine.startRun(plan, { apiKey: 'key' })).ended
    expect(new Set(inbox.readRunTokens())).toEqual(new Set([first.run_id, second.run_id]))
    await engine.deleteRun(first.run_id)
    expect(inbox.readRunTokens()).toEqual([second.run_id])
    expect(inbox.readAfter(second.run_id, 0, 10)).toHaveLength(3)
  } finally {
    inbox.close()
    await engine.close()
  }
})
