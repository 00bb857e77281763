import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRemovedConnections } from '../../../src/main/bridge/removed-connections.ts'
import { createKeyStore } from '../../../src/main/engine/secrets/key-store.ts'
import { readSystemAuthorities } from '../../../src/main/engine/secrets/system-authorities.ts'
import { findConnectionKey, keepTypedKey } from '../../../src/main/engine/workspace/connection-secrets.ts'
import {
  addConnection,
  changeConnections,
  readConnections,
} from '../../../src/main/engine/workspace/connections.ts'
import type { ConnectionSettings } from '../../../src/shared/bridge/connections.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { startFaultServer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createMemoryKeyring } from '../../helpers/memory-keyring.ts'
import { startProxy } from '../../helpers/proxy-server.ts'
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

/** Sends three rows to the connection and returns their final states. */
async function sendRows({ bridge, client }: Awaited<ReturnType<typeof openWindow>>, name: string) {
  const request = await createRequest(bridge.services, writeRows(3), '', {
    destination: { kind: 'stored', name },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await bridge.services.engine.runs.heldRun(runId)?.ended
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
  expect(added).toMatchObject({ isInUse: true, keys: [{ label: 'default', state: 'ready' }] })
  const { runId, rows } = await sendRows(window, 'staging')
  expect(rows.succeeded).toBe(3)
  expect(await client.runs.readAccess({ runId })).toMatchObject({ needsKey: false })
  expect(readAllFiles(workspace)).not.toContain(KEY)
  expect(received.join('\n')).not.toContain(KEY)
})

it('checks the address and the key with the service without sending content', async () => {
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
  expect(moved?.keys).toEqual([{ label: 'default', place: 'session', state: 'missing' }])
  expect((await client.connections.test({ name: 'staging' })).key).toEqual({ kind: 'unchecked' })
  expect(await toCode(sendRows(window, 'staging'))).toContain(`the API key for ${other.baseUrl} is missing`)
  await client.connections.remove({ name: 'staging' })
  await client.connections.add({ name: 'staging', settings, label: 'default' })
  expect((await client.connections.list())[0]?.keys).toEqual([{ label: 'default', state: 'missing' }])
  expect(authorizations.join()).not.toContain(KEY)
})

it('keeps an address whose headers come from variables', async () => {
  const { client, workspace } = await openWindow()
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: 'https://live.example',
    keys: [{ label: 'default' }],
    activeKey: 'default',
    headers: { 'X-Gateway': '${GATEWAY}' },
  })
  changeConnections(workspace, (known) => addConnection(known, live))
  const moved = client.connections.change({ name: 'live', settings: toSettings('https://other.example') })
  expect(await toCode(moved)).toContain('the value of its header X-Gateway comes from a variable')
  expect((await client.connections.list())[0]?.connection.baseUrl).toBe('https://live.example')
})

it('leaves the keys of variables to the owner of the variables', async () => {
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

it('takes the production mark off a connection only if a person confirms it outside the page', async () => {
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

it('restores a removed connection unchanged, with the keys that were typed for it', async () => {
  onlyInLongForm()
  const service = await withSandbox({ apiKeys: [KEY] })
  const window = await openWindow()
  const { client, workspace, received } = window
  const settings = toSettings(service.baseUrl, { isProduction: false, timeoutMs: 9_000 })
  await client.connections.add({ name: 'staging', settings, label: 'default', apiKey: KEY })
  await client.connections.add({ name: 'other', settings, label: 'default' })
  const before = await client.connections.list()
  expect(await client.connections.remove({ name: 'staging' })).toMatchObject([{ name: 'other' }])
  expect(await client.connections.restore({ name: 'staging' })).toEqual(before)
  expect((await sendRows(window, 'staging')).rows.succeeded).toBe(3)
  expect(await toCode(client.connections.restore({ name: 'staging' }))).toContain('cannot be restored')

  await client.connections.remove({ name: 'staging' })
  await client.connections.add({ name: 'staging', settings, label: 'default' })
  expect(await toCode(client.connections.restore({ name: 'staging' }))).toContain('already exists')
  expect((await client.connections.list())[1]?.keys).toEqual([{ label: 'default', state: 'missing' }])
  expect(readAllFiles(workspace)).not.toContain(KEY)
  expect(received.join('\n')).not.toContain(KEY)
})

it('restores one removed key at its old place, with what was typed for it', async () => {
  onlyInLongForm()
  const service = await withSandbox({ apiKeys: [KEY] })
  const window = await openWindow()
  const { client, workspace, received } = window
  await client.connections.add({ name: 'staging', settings: toSettings(service.baseUrl), label: 'old' })
  await client.connections.setKey({ name: 'staging', label: 'new', apiKey: KEY })
  await client.connections.setKey({ name: 'staging', label: 'spare', apiKey: 'another' })
  const before = await client.connections.use({ name: 'staging', key: 'new' })
  const removed = await client.connections.removeKey({ name: 'staging', label: 'new' })
  expect(removed).toMatchObject([{ activeKey: 'old', keys: [{ label: 'old' }, { label: 'spare' }] }])
  expect(await client.connections.restoreKey({ name: 'staging', label: 'new' })).toEqual(before)
  expect((await sendRows(window, 'staging')).rows.succeeded).toBe(3)
  const again = client.connections.restoreKey({ name: 'staging', label: 'new' })
  expect(await toCode(again)).toContain('the key new of staging cannot be restored')

  await client.connections.removeKey({ name: 'staging', label: 'new' })
  await client.connections.setKey({ name: 'staging', label: 'new', apiKey: 'third' })
  const taken = client.connections.restoreKey({ name: 'staging', label: 'new' })
  expect(await toCode(taken)).toContain('staging was changed by another window')
  expect(readAllFiles(workspace)).not.toContain(KEY)
  expect(received.join('\n')).not.toContain(KEY)
})

it('shows connections while the keyring waits to be unlocked, and asks it once', async () => {
  onlyInLongForm()
  const service = await withSandbox({ apiKeys: [KEY] })
  const keyring = createMemoryKeyring()
  const workspace = createTemporaryFolder()
  const { client: earlier } = await connectWindow(
    'message port',
    withBridge(workspace, undefined, keyring).services,
  )
  const settings = toSettings(service.baseUrl)
  await earlier.connections.add({ name: 'staging', settings, label: 'default', apiKey: KEY })

  const unlocked = Promise.withResolvers<void>()
  let reads = 0
  const get = async (name: string) => {
    reads += 1
    await unlocked.promise
    return keyring.get(name)
  }
  const bridge = withBridge(workspace, undefined, { ...keyring, get })
  const { client, received } = await connectWindow('message port', bridge.services)
  const seeKey = async () => (await client.connections.list())[0]?.keys[0]?.state
  expect(await seeKey()).toBe('asking')
  expect(await seeKey()).toBe('asking')
  const request = await createRequest(bridge.services, writeRows(3), '', {
    destination: { kind: 'stored', name: 'staging' },
  })
  const starting = client.runs.start({ request })
  unlocked.resolve()
  const { runId } = await starting
  await client.runs.awaitReady({ runId })
  expect(await client.runs.readAccess({ runId })).toMatchObject({ needsKey: false })
  expect(await seeKey()).toBe('ready')
  expect(reads).toBe(1)
  expect(received.join('\n')).not.toContain(KEY)

  keyring.trouble = 'the prompt was dismissed'
  const { client: later } = await connectWindow(
    'message port',
    withBridge(workspace, undefined, keyring).services,
  )
  expect((await later.connections.list())[0]?.keys[0]?.state).toBe('locked')
})

it('forgets the keys of a removed connection after ten minutes', async () => {
  const workspace = createTemporaryFolder()
  const keyStore = createKeyStore({ absence: 'tests keep keys for the session' })
  const sources = { workspace, env: {}, keyStore }
  const waits: { ms: number; end: () => void }[] = []
  const wait = (ms: number) => new Promise<void>((end) => waits.push({ ms, end }))
  const removed = createRemovedConnections({ now: () => 0, wait })
  const bare = storedConnectionSchema.parse({
    name: 'staging',
    baseUrl: 'https://api.example.com',
    keys: [{ label: 'default' }],
    activeKey: 'default',
  })
  const {
    connections: [stored = bare],
  } = await keepTypedKey(sources, bare, { label: 'default', text: KEY }, addConnection)
  const hasKey = async () => {
    const [one] = readConnections(workspace).connections
    const [key] = one?.keys ?? []
    return one !== undefined && key !== undefined && (await findConnectionKey(sources, one, key)) !== null
  }
  await removed.remove(sources, stored)
  const {
    connections: [restored = bare],
  } = await removed.restore(sources, 'staging')
  expect(await hasKey()).toBe(true)
  await removed.remove(sources, restored)
  expect(waits.map(({ ms }) => ms)).toEqual([600_000, 600_000])
  for (const { end } of waits) end()
  await Promise.resolve()
  await removed.restore(sources, 'staging')
  expect(await hasKey()).toBe(false)
})

it('switches a run to the key that is typed while it goes', async () => {
  onlyInLongForm()
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
  await bridge.services.engine.runs.heldRun(runId)?.ended
  expect((await client.runs.summarize({ runId })).rows.succeeded).toBe(3)
})

it('takes files only from a system dialog that names the connection', async () => {
  const { client, bridge } = await openWindow()
  const settings = toSettings('https://api.example.com', { deliveredCodes: ['HAVE_IT'] })
  await client.connections.add({ name: 'staging', settings, label: 'default', apiKey: KEY })
  const choose = (file: 'authorities' | 'client') => client.connections.chooseFile({ name: 'staging', file })
  expect(await toCode(choose('authorities'))).toContain('a browser cannot choose files of this machine')

  const folder = createTemporaryFolder()
  const [caFile, certFile, keyFile] = ['ca.pem', 'me.crt', 'me.key'].map((name) => join(folder, name))
  const { cert, key } = await createCertificate({ name: 'api.example.com' })
  for (const [file, text] of [
    [caFile, cert],
    [certFile, cert],
    [keyFile, key],
  ])
    writeFileSync(file ?? '', text ?? '')
  const asked: string[] = []
  // The first is not a certificate file.
  const answers = [keyFile, caFile, certFile, null, null, certFile, keyFile]
  bridge.host.attach({
    logFolder: '/logs',
    diagnosticsFolder: '/diagnostics',
    updates: null,
    openFolder: async () => '',
    collectDiagnostics: async () => {},
    chooseConnectionFile: async (connection, file) => {
      asked.push(`${file} of ${connection}`)
      return answers.shift() ?? null
    },
  })
  expect(await toCode(choose('authorities'))).toContain('me.key')
  expect((await client.connections.list())[0]?.connection.tls).toBeUndefined()
  const [trusting] = await choose('authorities')
  expect(trusting?.connection).toMatchObject({
    tls: { caFile },
    deliveredCodes: ['HAVE_IT'],
  })
  // The key was typed while another authority was trusted.
  expect(trusting?.keys).toMatchObject([{ state: 'missing' }])
  const [half] = await choose('client')
  expect(half?.connection.tls).toEqual({ caFile })
  await choose('client')
  const [both] = await choose('client')
  expect(both?.connection.tls).toEqual({ caFile, certFile, keyFile })
  expect(asked).toEqual([
    'authorities of staging',
    'authorities of staging',
    'certificate of staging',
    'key of staging',
    'certificate of staging',
    'certificate of staging',
    'key of staging',
  ])
  await client.connections.removeFile({ name: 'staging', file: 'authorities' })
  const [none] = await client.connections.removeFile({ name: 'staging', file: 'client' })
  expect(none?.connection.tls).toBeUndefined()
  expect(none?.keys).toMatchObject([{ state: 'ready' }])
})

it('sends through the proxy that the page names, but not through a production server', async () => {
  const production = await startFaultServer({ onRequest: (_request, wire) => wire.send(400, {}) })
  const service = await withSandbox({ apiKeys: [KEY] })
  const proxy = await startProxy()
  const window = await openWindow()
  const { client, bridge, workspace } = window
  const add = (name: string, baseUrl: string, more: Partial<ConnectionSettings> = {}) =>
    client.connections.add({ name, settings: toSettings(baseUrl, more), label: 'default', apiKey: KEY })
  const named = (url: string) => ({ proxy: { kind: 'named', url } }) as const
  await add('live', production.baseUrl, { isProduction: true })
  await add('shop', 'https://shop.example', { isProduction: true })
  const refused = 'cannot be the proxy: the production connection'
  expect(await toCode(add('sly', service.baseUrl, named(production.baseUrl)))).toContain(`${refused} live`)
  expect(await toCode(add('sly', service.baseUrl, named('http://shop.example:8080')))).toContain(
    `${refused} shop`,
  )
  await add('staging', service.baseUrl)
  const change = (more: Partial<ConnectionSettings>) =>
    client.connections.change({ name: 'staging', settings: toSettings(service.baseUrl, more) })
  expect(await toCode(change(named(production.baseUrl)))).toContain(refused)

  // The key was typed for a direct connection.
  const entries = await change(named(proxy.url))
  expect(entries.find(({ name }) => name === 'staging')).toMatchObject({
    connection: { proxy: { url: proxy.url } },
    keys: [{ state: 'missing' }],
  })
  await client.connections.setKey({ name: 'staging', label: 'default', apiKey: KEY })
  expect((await sendRows(window, 'staging')).rows.succeeded).toBe(3)
  expect(proxy.requests.length).toBeGreaterThanOrEqual(3)
  const direct = await change({ proxy: { kind: 'none' } })
  expect(direct.find(({ name }) => name === 'staging')?.connection).toMatchObject({ systemProxy: false })

  // However the proxy got into the file, a person is asked before anything is sent to it.
  changeConnections(workspace, (known) => ({
    ...known,
    connections: known.connections.map((one) =>
      one.name === 'staging' ? { ...one, proxy: { url: production.baseUrl } } : one,
    ),
  }))
  await client.connections.setKey({ name: 'staging', label: 'default', apiKey: KEY })
  expect(await toCode(sendRows(window, 'staging'))).toContain('not confirmed')
  expect(await toCode(client.connections.test({ name: 'staging' }))).toContain('not confirmed')
  expect(bridge.questions.map(({ kind }) => kind)).toEqual(['send', 'test'])
  expect(production.requests).toEqual([])
  const move = {
    name: 'live',
    settings: toSettings(production.baseUrl, { isProduction: true, ...named(proxy.url) }),
  }
  expect(await toCode(client.connections.change(move))).toContain('not confirmed')
})

it("keeps the system's authorities turned off when a file is removed, and counts the authorities", async () => {
  const { client, bridge } = await openWindow()
  const settings = toSettings('https://api.example.com')
  await client.connections.add({ name: 'staging', settings, label: 'default' })
  changeConnections(bridge.services.engine.workspace, (known) => ({
    ...known,
    connections: known.connections.map((one) => ({
      ...one,
      tls: { systemAuthorities: false, caFile: '/company/ca.pem' },
    })),
  }))
  const [narrowed] = await client.connections.removeFile({ name: 'staging', file: 'authorities' })
  expect(narrowed?.connection.tls).toEqual({ systemAuthorities: false })
  expect(await client.connections.countSystemAuthorities()).toBe(readSystemAuthorities().length)
})
