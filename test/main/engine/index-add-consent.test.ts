import { expect, test } from 'vitest'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'

const folder = openTestFolder()
const engine = openEngine(folder)

test('the engine resends no index add of unknown outcome without consent, whoever asks', async () => {
  const server = await startFaultServer({ onRequest: (_, wire) => wire.reset() })
  const plan = createRunPlan(
    folder,
    ['https://media.example/1.jpg', 'https://media.example/2.jpg'],
    server.baseUrl,
    {
      operation: { kind: 'index-add', mode: 'sync', indexId: 'idx' },
      mapping: { url: { kind: 'column', column: 'text_data' } },
    },
  )
  const start = { apiKey: 'key' }
  const run = await engine.runs.startRun(plan, start)
  expect((await run.ended).rows).toMatchObject({ unknown: 2 })
  for (const again of [engine.runs.resumeRun, engine.runs.retryRun]) {
    await expect(again(run.runId, { onUnknown: 'resend', ...start })).rejects.toMatchObject({
      code: 'NOT_CONFIRMED',
      message: expect.stringContaining('2 items'),
    })
  }
  expect(server.requests).toHaveLength(2)
  const resumed = await engine.runs.resumeRun(run.runId, {
    onUnknown: 'resend',
    resendIndexAdds: true,
    ...start,
  })
  expect((await resumed.ended).rows).toMatchObject({ unknown: 2 })
  expect(server.requests).toHaveLength(4)
})
