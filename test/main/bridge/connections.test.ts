import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../../src/main/engine/workspace/connections.ts'
import type { ConnectionSettings } from '../../../src/shared/bridge/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

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
  const bridge = withBridge(workspace, answer)
  const { client, received } = await connectWindow('message port', bridge.services)
  return { workspace, bridge, client, received }
}

const toCode = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.message ?? String(error),
  )

/** Sends three rows to the connection and gives the states that they ended in. */
async function sendRows({ bridge, client }: Awaited<ReturnType<typeof openWindow>>, name: string) {
  const request = await createRequest(bridge.services, writeRows(3), '', {
    destination: { kind: 'stored', name },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await bridge.services.engine.heldRun(runId)?.ended
  return { runId, rows: (await client.runs.summarize({ runId })).rows }
}

function readAllFiles(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

it('sends with a key that was typed once, which is in no file and never comes back to the page', async () => {
  const service = await withSandbox({ apiKeys: [KEY] })
  const window = await openWindow()
  const { client, workspace, received } = window
  const [added] = await client.connections.add({
    name: 'staging',
    settings: toSettings(service.baseUrl),
    label: 'default',
    apiKey: ` ${KEY}\n`,
  })
  expect(added).toMatchObject({ isInUse: true, keys: [{ label: 'default', isSet: true }] })
  const { runId, rows } = await sendRows(window, 'staging')
  expect(rows.succeeded).toBe(3)
  expect(await client.runs.readAccess({ runId })).toMatchObject({ needsKey: false })
  expect(readAllFiles(workspace)).not.toContain(KEY)
  expect(received.join('\n')).not.toContain(KEY)
})

it('asks the service about the address and the key, and sends no content for it', async () => {
  const paths: string[] = []
  const service = await startFaultServer({
    onRequest: ({ path, body }, wire) => {
      paths.push(`${path.replace(/[^/]{36}$/, 'ID')} ${body}`)
      wire.send(400, { error: true, status: 400, error_code: 'PARAM_REQUIRED', message: 'watchlist' })
    },
  })
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const { client } = await openWindow()
  const add = (name: string, baseUrl: string, apiKey?: string) =>
    client.connections.add({
      name,
      settings: toSettings(baseUrl),
      label: 'default',
      ...(apiKey !== undefined && { apiKey }),
    })
  await add('watched', service.baseUrl, KEY)
  expect((await client.connections.test({ name: 'watched' })).key.kind).toBe('accepted')
  expect(paths).toEqual(['/api/v1/appeals/status/ID ', '/api/v1/watchlist/update {}'])

  await add('right', sandbox.baseUrl, KEY)
  expect(await client.connections.test({ name: 'right' })).toMatchObject({
    address: { kind: 'answered', status: 400 },
    key: { kind: 'accepted', status: 400, errorCode: 'PARAM_REQUIRED' },
  })
  await add('wrong', sandbox.baseUrl, 'another-key')
  expect((await client.connections.test({ name: 'wrong' })).key).toMatchObject({
    kind: 'refused',
    errorCode: 'INVALID_API_KEY',
  })
  await add('without', sandbox.baseUrl)
  expect((await client.connections.test({ name: 'without' })).key).toEqual({ kind: 'unchecked' })
  await add('nowhere', 'http://127.0.0.1:1', KEY)
  expect(await client.connections.test({ name: 'nowhere' })).toMatchObject({
    address: { kind: 'unreachable' },
    key: { kind: 'unchecked' },
  })
})

it('sends a typed key to no other address, whatever the page changes', async () => {
  const service = await withSandbox({ apiKeys: [KEY] })
  const authorizations: unknown[] = []
  const other = await startFaultServer({
    onRequest: ({ headers }, wire) => {
      authorizations.push(JSON.stringify(headers))
      wire.send(400, {})
    },
  })
  const window = await openWindow()
  const { client } = window
  const settings = toSettings(service.baseUrl)
  await client.connections.add({ name: 'staging', settings, label: 'default', apiKey: KEY })
  const [moved] = await client.connections.change({ name: 'staging', settings: toSettings(other.baseUrl) })
  expect(moved?.keys).toEqual([{ label: 'default', isSet: false }])
  expect((await client.connections.test({ name: 'staging' })).key).toEqual({ kind: 'unchecked' })
  expect(await toCode(sendRows(window, 'staging'))).toContain(`the API key for ${other.baseUrl} is missing`)
  await client.connections.remove({ name: 'staging' })
  await client.connections.add({ name: 'staging', settings, label: 'default' })
  expect((await client.connections.list())[0]?.keys).toEqual([{ label: 'default', isSet: false }])
  expect(authorizations.join()).not.toContain(KEY)
})

it('leaves keys of variables to whoever sets those', async () => {
  vi.stubEnv('BRIDGE_LIVE_KEY', KEY)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const { client, workspace } = await openWindow()
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: 'https://live.example',
    keys: [{ label: 'default', env: 'BRIDGE_LIVE_KEY' }],
    activeKey: 'default',
  })
  changeConnections(workspace, (known) => addConnection(known, live))
  const moved = client.connections.change({ name: 'live', settings: toSettings('https://other.example') })
  expect(await toCode(moved)).toContain('its key is in the environment variable BRIDGE_LIVE_KEY')
  const retyped = client.connections.setKey({ name: 'live', label: 'default', apiKey: 'x' })
  expect(await toCode(retyped)).toContain(
    'the key default cannot be changed here: it comes from the environment variable',
  )
  const only = client.connections.removeKey({ name: 'live', label: 'default' })
  expect(await toCode(only)).toContain('the key default cannot be removed: it is the only key of live')
})

it('takes the production mark from no connection unless a person says so outside of the page', async () => {
  let says = false
  const { client, bridge } = await openWindow(async () => says)
  const settings = toSettings('https://live.example', { isProduction: true })
  await client.connections.add({ name: 'live', settings, label: 'default' })
  const unmark = { name: 'live', settings: { ...settings, isProduction: false } }
  const move = { name: 'live', settings: { ...settings, baseUrl: 'https://moved.example' } }
  const declined = 'the production prompt was not confirmed; live was neither contacted nor changed'
  expect(await toCode(client.connections.change(unmark))).toBe(declined)
  expect(await toCode(client.connections.change(move))).toBe(declined)
  expect(await toCode(client.connections.remove({ name: 'live' }))).toBe(declined)
  expect(await toCode(client.connections.test({ name: 'live' }))).toBe(declined)
  expect(await client.connections.list()).toMatchObject([{ isProduction: true }])
  expect(bridge.questions.map(({ kind }) => kind)).toEqual(['unmark', 'unmark', 'unmark', 'test'])
  says = true
  expect(await client.connections.change(unmark)).toMatchObject([{ isProduction: false }])
  expect(await client.connections.remove({ name: 'live' })).toEqual([])
})

it('has a run follow the key that is typed while it goes', async () => {
  const service = await withSandbox({ apiKeys: [KEY] })
  const window = await openWindow()
  const { client, bridge } = window
  const settings = toSettings(service.baseUrl)
  await client.connections.add({ name: 'staging', settings, label: 'old', apiKey: 'not-any-more' })
  const request = await createRequest(bridge.services, writeRows(3), '', {
    destination: { kind: 'stored', name: 'staging' },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.connections.setKey({ name: 'staging', label: 'old', apiKey: KEY })
  await client.runs.begin({ runId })
  await bridge.services.engine.heldRun(runId)?.ended
  expect((await client.runs.summarize({ runId })).rows.succeeded).toBe(3)
})
