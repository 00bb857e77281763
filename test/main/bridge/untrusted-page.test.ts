import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ApiKey } from '../../../src/main/engine/secrets/bound-secret.ts'
import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { planSchema } from '../../../src/shared/plan/plan.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { writeRows } from './plans.ts'

/** A call outside the contract, as a compromised page makes it. */
type AnyCall = (input: unknown) => Promise<unknown>

async function takeOver() {
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const call = (path: string, input?: unknown): Promise<unknown> => {
    const [group = '', name = ''] = path.split('.')
    const found = (client as unknown as Record<string, Record<string, AnyCall>>)[group]?.[name]
    if (found === undefined) throw new Error(`there is no ${path}`)
    return found(input)
  }
  return { bridge, client: client as BridgeClient, call }
}

async function withListener() {
  const requests: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    requests.push(request.headers)
    request.resume().on('end', () => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}`, requests }
}

it('overwrites only files that a save dialog named', async () => {
  const { bridge, call } = await takeOver()
  const file = join(createTemporaryFolder(), 'accounts.csv')
  writeFileSync(file, 'do not touch')
  const source = { path: writeRows(1) }
  const { baseUrl } = (await call('sandbox.start')) as { baseUrl: string }
  const plan = planSchema.parse({ connection: { baseUrl }, source, operation: { kind: 'task' } })
  const apiKey = ApiKey.create('any', plan.connection, 'of the test')
  const started = await bridge.services.engine.runs.startRun(plan, { apiKey, hold: true })
  await started.ready
  await call('exports.create', { runId: started.runId, format: 'csv', file }).catch(() => {})
  expect(readFileSync(file, 'utf8')).toBe('do not touch')
})

it('shows only files that a dialog, drop or upload named', async () => {
  const { bridge, call } = await takeOver()
  const path = writeRows(2)
  await expect(call('source.preview', { source: { path } })).rejects.toThrow()
  await expect(call('source.preview', { source: { sourceId: path } })).rejects.toThrow()
  const { sourceId } = await bridge.services.sources.add(writeRows(1))
  await expect(call('source.preview', { source: { sourceId, more: [path] } })).rejects.toThrow()
  await expect(call('source.unite', { sourceIds: [sourceId, path] })).rejects.toThrow()
})

it('sends no variable to an address that the page names', async () => {
  vi.stubEnv('STRANGERS_SECRET', 'worth-a-lot')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { call } = await takeOver()
  const { baseUrl, requests } = await withListener()
  const source = { path: writeRows(1) }
  const start = {
    connection: { baseUrl, apiKeyEnv: 'STRANGERS_SECRET' },
    source,
    operation: { kind: 'task' },
  }
  const started = (await call('runs.start', { plan: start }).catch(() => null)) as { runId: string } | null
  if (started !== null) {
    await call('runs.awaitReady', started)
    await call('runs.begin', { ...started, limit: 1 })
    await vi.waitUntil(() => requests.length > 0, { timeout: 5_000 })
  }
  expect(JSON.stringify(requests)).not.toContain('worth-a-lot')
})

it('sends no single request to an address, or with a variable, that the page names', async () => {
  vi.stubEnv('STRANGERS_SECRET', 'worth-a-lot')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { call } = await takeOver()
  const { baseUrl, requests } = await withListener()
  const endpoint = { kind: 'task', api: 'v1', mode: 'sync', legacy: false }
  const text = '{"text_data":"hello","user_id":"u","post_id":"p"}'
  for (const input of [
    { destination: { kind: 'service', baseUrl }, endpoint, text, apiKey: 'k' },
    { destination: { kind: 'stored', name: 'nobody' }, connection: { baseUrl }, endpoint, text },
    { destination: { kind: 'sandbox', baseUrl }, endpoint, text },
    { destination: { kind: 'sandbox' }, baseUrl, apiKeyEnv: 'STRANGERS_SECRET', endpoint, text },
    { destination: { kind: 'sandbox' }, endpoint: { ...endpoint, url: baseUrl }, text },
    { destination: { kind: 'sandbox' }, endpoint: { kind: 'index-add', mode: 'sync', indexId: '..' }, text },
  ]) {
    await expect(call('scratchpad.send', input)).rejects.toThrow('invalid request')
  }
  expect(requests).toEqual([])
})

it('opens no listener outside this machine for a page', async () => {
  const { bridge, call } = await takeOver()
  const start = {
    connection: { baseUrl: 'http://127.0.0.1:9' },
    source: { path: writeRows(1) },
    operation: { kind: 'task', mode: 'async' },
    callback: { host: '0.0.0.0' },
  }
  await call('runs.start', { plan: start, apiKey: 'k' }).catch(() => {})
  expect((await bridge.services.engine.receiver.status())?.baseUrl ?? 'http://127.0.0.1').not.toContain(
    '0.0.0.0',
  )
})

it('does not reveal whether a file exists that the page names as a certificate', async () => {
  const { call } = await takeOver()
  const here = writeRows(1)
  const nowhere = join(createTemporaryFolder(), 'nothing.pem')
  const ask = (caFile: string) =>
    call('runs.start', {
      plan: {
        connection: { baseUrl: 'https://127.0.0.1:9', tls: { caFile } },
        source: { path: here },
        operation: { kind: 'task' },
      },
      apiKey: 'k',
    }).catch((error: Error) => error.message.replaceAll(caFile, 'FILE'))
  expect(existsSync(nowhere)).toBe(false)
  const [one, other] = [await ask(here), await ask(nowhere)]
  expect(one).toBe(other)
  expect(one).toMatch(/invalid request/)
})
