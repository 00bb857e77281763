import { expect, test } from 'vitest'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)
const CALLBACKS = { callbackBase: 'http://127.0.0.1:9/callbacks' }

test('a resumed run waits for no callbacks if nothing was acknowledged', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.reset() })
  const plan = createRunPlan(folder, 3, server.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
    retry: { limit: 0 },
  })
  const first = runs.start(plan, CALLBACKS)
  await first.until(({ rows }) => rows.unknown === 3)
  first.command({ kind: 'stop' })
  await first.ended
  // Its callbacks would be awaited for ten minutes.
  const resumed = await runs.resume(first.runId, 'skip', CALLBACKS).ended
  expect(resumed).toMatchObject({ state: 'completed', rows: { unknown: 3, awaiting: 0 } })
})
