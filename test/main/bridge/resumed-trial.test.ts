import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RunHandle } from '../../../src/main/engine/engine-interface.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createRunPlan } from '../../helpers/test-folder.ts'
import { connectWindow, withBridge } from './connect.ts'

const KEY = 'a-key-of-the-service'

it('an interrupted trial of the command line is resumed as one by a window, and then its rest', async () => {
  const folder = createTemporaryFolder()
  const { services } = withBridge(join(folder, 'workspace'))
  const { client } = await connectWindow('message port', services)
  let trial: RunHandle | null = null
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number === 2) trial?.stop()
      wire.send(200, toTaskAnswer(request))
    },
  })
  const pace = { kind: 'closed', concurrency: 1 } as const
  const plan = createRunPlan(folder, 9, server.baseUrl, { pace })
  const apiKey = ApiKey.create(KEY, plan.connection, 'of the test')
  trial = await services.engine.runs.startRun(plan, { apiKey, limit: 5 })
  const { runId } = trial
  expect(await trial.ended).toMatchObject({ state: 'interrupted', rows: { not_sent: 7 } })
  const resume = async () => {
    await client.runs.resumeRun({ runId, onUnknown: 'skip', apiKey: KEY })
    await services.engine.runs.heldRun(runId)?.ended
    return client.runs.summarize({ runId })
  }
  expect(await resume()).toMatchObject({ state: 'completed', rows: { succeeded: 5, not_sent: 4 } })
  expect(await resume()).toMatchObject({ state: 'completed', rows: { succeeded: 9, not_sent: 0 } })
})
