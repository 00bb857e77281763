import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import { startCallbackService } from '../../helpers/callback-service.ts'
import { openEngine } from '../../helpers/test-engine.ts'
import { openTestFolder } from '../../helpers/test-folder.ts'

const folder = openTestFolder()

test('rows with an empty callback address column call back to us, the others to their own address', async () => {
  const urls: string[] = []
  const service = await startCallbackService(({ callbackUrl }) => {
    urls.push(callbackUrl)
    return { isLate: callbackUrl.startsWith('http://127.0.0.1:1/') }
  })
  const path = join(folder, 'own.csv')
  writeFileSync(path, 'text_data,user_id,results to\na,user,http://127.0.0.1:1/mine\nb,user,\n')
  const plan = planSchema.parse({
    connection: { baseUrl: service.baseUrl },
    source: { path },
    operation: { kind: 'task', mode: 'async' },
    mapping: { callback_url: { kind: 'column', column: 'results to' } },
    callback: { timeoutMs: 5_000 },
  })
  const engine = openEngine(join(folder, 'workspace'))
  const ended = await (await engine.runs.startRun(plan, { apiKey: 'key' })).ended
  expect(urls.filter((url) => url === 'http://127.0.0.1:1/mine')).toHaveLength(1)
  expect(urls.filter((url) => url.includes(`/callback/${ended.run_id}/2/`))).toHaveLength(1)
  expect(ended).toMatchObject({
    state: 'completed',
    rows: { read: 2, succeeded: 2, awaiting: 0 },
    callbacks: { settled: 1 },
  })
}, 30_000)
