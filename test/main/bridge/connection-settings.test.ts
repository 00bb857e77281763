import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { ConnectionSettings } from '../../../src/shared/bridge/connections.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'

const KEY = 'a-key-typed-once-4711'

const toSettings = (baseUrl: string, more: Partial<ConnectionSettings> = {}): ConnectionSettings => ({
  baseUrl,
  taskBaseUrl: null,
  timeoutMs: null,
  isProduction: false,
  ...more,
})

async function openWindow(answer?: () => Promise<boolean>) {
  const workspace = createTemporaryFolder()
  const { client } = await connectWindow('message port', withBridge(workspace, answer).services)
  return { workspace, client }
}

const readAllFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

const toCode = (call: PromiseLike<unknown>) => call.then(() => 'done', String)

it('tests settings before they are saved, and sends the stored key only where it belongs', async () => {
  const service = await withSandbox({ apiKeys: [KEY] })
  const stranger = await startFaultServer({ onRequest: (_, wire) => wire.send(400, {}) })
  const { client, workspace } = await openWindow()
  const typed = await client.connections.testSettings({
    name: null,
    settings: toSettings(service.baseUrl),
    apiKey: KEY,
  })
  expect([typed.address.kind, typed.key.kind]).toEqual(['answered', 'accepted'])
  const wrong = { name: null, settings: toSettings(service.baseUrl), apiKey: 'of-somebody-else' }
  expect((await client.connections.testSettings(wrong)).key.kind).toBe('refused')
  expect(readConnections(workspace).connections).toEqual([])
  expect(readAllFiles(workspace)).not.toContain(KEY)

  const added = { name: 'my staging', settings: toSettings(service.baseUrl), label: 'main', apiKey: KEY }
  await client.connections.add(added)
  const test = (settings: ConnectionSettings) =>
    client.connections.testSettings({ name: 'my staging', settings })
  expect((await test(toSettings(service.baseUrl, { timeoutMs: 5_000 }))).key.kind).toBe('accepted')
  expect((await test(toSettings(stranger.baseUrl))).key.kind).toBe('unchecked')
  expect(stranger.requests).toHaveLength(1)
  expect(JSON.stringify(stranger.requests)).not.toContain(KEY)
})

it('asks outside the page before production settings are tested, saved or not', async () => {
  const service = await withSandbox({ apiKeys: [KEY] })
  const { client } = await openWindow(async () => false)
  const settings = toSettings(service.baseUrl, { isProduction: true })
  const test = (isProduction: boolean) =>
    toCode(
      client.connections.testSettings({ name: null, settings: { ...settings, isProduction }, apiKey: KEY }),
    )
  expect(await test(false)).toBe('done')
  expect(await test(true)).toContain('not confirmed')
  await client.connections.add({ name: 'live', settings, label: 'main', apiKey: KEY })
  // The address of a production connection is enough, even without the mark.
  expect(await test(false)).toContain('not confirmed')
})
