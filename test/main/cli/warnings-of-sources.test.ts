import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import type { Fix } from '../../../src/shared/plan/fixes.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** A run of a file whose encoding is uncertain, and a retry that corrects its second row. */
async function setUp({ rows, args = [] }: { rows: readonly string[]; args?: readonly string[] }) {
  const sandbox = await withSandbox({ apiKeys: ['the-key'] })
  const workspace = createTemporaryFolder()
  const content = Buffer.from(`user_id,text_data\n${rows.join('\n')}\n`, 'latin1')
  writeSource(workspace, 'posts.csv', content)
  const command = ['task', join(workspace, 'posts.csv'), '--base-url', sandbox.baseUrl, ...args]
  const first = await runInProcess(command, { workspace, env: { SLUICE_API_KEY: 'the-key' } })
  const engine = createEngine({ workspace })
  onTestFinished(() => engine.close())
  const runId = (await engine.runs.listRuns()).runs[0]?.run_id ?? ''
  const apiKey = ApiKey.create('the-key', (await engine.runs.readPlan(runId)).connection, 'of a test')
  const fixes: Fix[] = [{ kind: 'cell', record: 2, field: 'user_id', value: 'u2' }]
  const retry = await engine.runs.retryRun(runId, { apiKey, onUnknown: 'skip', fixes, hold: true })
  await retry.ready
  onTestFinished(() => retry.stop())
  const countSent = async () => (await sandbox.stats()).tasks
  return { first, engine, retry, countSent }
}

it('a retry that corrects rows asks about the encoding if nobody was asked, since no row could be sent', async () => {
  onlyInLongForm()
  const { first, engine, retry, countSent } = await setUp({ rows: ['u_1,caf\xe9', 'u_2,caf\xe9'] })
  expect(first.code).toBe(2)
  expect(await engine.results.readOpenWarnings(retry.runId)).toMatchObject([
    { code: 'uncertain_encoding', rows: 1 },
  ])
  retry.begin()
  await expect(retry.ended).rejects.toThrow('encoding')
  expect(await countSent()).toBe(0)
})

it('a retry that corrects rows does not ask again what was accepted before', async () => {
  const { engine, retry, countSent } = await setUp({
    rows: ['u1,caf\xe9', 'u_2,caf\xe9'],
    args: ['--accept', 'encoding_uncertain'],
  })
  expect(await countSent()).toBe(1)
  expect(await engine.results.readOpenWarnings(retry.runId)).toEqual([])
  retry.begin()
  await retry.ended
  expect(await countSent()).toBe(2)
})
