import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows, writeText } from './plans.ts'

const KEY = 'a-key-that-must-stay-in-memory'
const SUMMARY = join(import.meta.dirname, '../../fixtures/k6/v2/summary-export.k6')

async function open() {
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  return { bridge, client, sources: bridge.services.sources }
}

it('imports a k6 result as a load test in the list of runs', async () => {
  const { client, sources } = await open()
  const { sourceId } = await sources.add(SUMMARY, 'summary.json')
  const imported = await client.load.importK6({ sourceIds: [sourceId] })
  expect(imported).toMatchObject({ name: 'k6: summary.json', state: 'completed' })
  expect(await client.load.importK6({ sourceIds: [sourceId], name: 'nightly' })).toMatchObject({
    name: 'nightly',
  })
  expect((await client.runs.list({ product: 'load' })).total).toBe(2)
  const report = await client.load.report({ runId: imported.run_id })
  expect(report).toMatchObject({ counts: { sent: 12 }, seconds: [] })
})

it('says why a file is not a k6 result, and imports only files that were chosen', async () => {
  const { client, sources } = await open()
  const { sourceId } = await sources.add(writeText('{"metrics": 5}', 'other.json'))
  const toError = (call: PromiseLike<unknown>) => call.then(() => null, parseBridgeError)
  expect(await toError(client.load.importK6({ sourceIds: [sourceId] }))).toMatchObject({ code: 'BAD_SOURCE' })
  expect(await toError(client.load.importK6({ sourceIds: ['/etc/passwd'] }))).toMatchObject({
    code: 'BAD_SOURCE',
    message: expect.stringContaining('the source is unknown'),
  })
})

it('saves a load test as a k6 project in one file before anything is sent', async () => {
  onlyInLongForm()
  const { bridge, client } = await open()
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const request = await createRequest(bridge.services, writeRows(2), sandbox.baseUrl, {
    load: { pace: { kind: 'open', ratePerSecond: 5 }, durationMs: 1_000 },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  const file = join(createTemporaryFolder(), 'posts.k6.zip')
  const target = bridge.host.addExportFile(file)
  expect(await client.exports.create({ runId, format: 'k6.zip', ...target })).toMatchObject({
    kind: 'file',
    file,
    rows: 2,
  })
  const bytes = readFileSync(file)
  expect(bytes.subarray(0, 2).toString()).toBe('PK')
  for (const name of ['script.js', 'rows-001.json', 'testrun.yaml', 'README.md']) {
    expect(bytes.includes(`k6-project/${name}`)).toBe(true)
  }
  expect(bytes.includes(KEY)).toBe(false)
  expect((await sandbox.stats()).requests).toBe(0)
})
