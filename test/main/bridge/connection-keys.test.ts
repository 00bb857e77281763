import { expect, it } from 'vitest'
import { createKeyStore, NoLastingStore } from '../../../src/main/engine/secrets/key-store.ts'
import { findConnectionKey, removeUnusedKeys } from '../../../src/main/engine/workspace/connection-secrets.ts'
import { readConnections, toConnectionsFile } from '../../../src/main/engine/workspace/connections.ts'
import { takeLease } from '../../../src/main/engine/workspace/lease.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { createMemoryKeyring, type MemoryKeyring } from '../../helpers/memory-keyring.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from '../cli/run-in-process.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

const BASE_URL = 'https://api.example.com'
const SETTINGS = { baseUrl: BASE_URL, taskBaseUrl: null, timeoutMs: null, isProduction: false }
const BUSY = 'another process is changing'

const openWindow = async (workspace: string, keyring: MemoryKeyring) => {
  const { client } = await connectWindow('message port', withBridge(workspace, undefined, keyring).services)
  return client.connections
}

/** A workspace with the connection `staging`, whose key `default` is in the keyring. */
async function createWorkspace() {
  const workspace = createTemporaryFolder()
  const keyring = createMemoryKeyring()
  const window = await openWindow(workspace, keyring)
  await window.add({ name: 'staging', settings: SETTINGS, label: 'default', apiKey: 'first' })
  return { workspace, keyring, window }
}

/** The keys that a process starting now would send, by connection and label. */
async function readKeys(workspace: string, keyring: MemoryKeyring): Promise<Record<string, string | null>> {
  const sources = { workspace, env: {}, keyStore: createKeyStore(keyring) }
  const found: Record<string, string | null> = {}
  for (const owner of readConnections(workspace).connections) {
    for (const key of owner.keys) {
      const one = await findConnectionKey(sources, owner, key)
      found[`${owner.name}/${key.label}`] = one?.apiKey.toHeader(new URL(BASE_URL)) ?? null
    }
  }
  return found
}

const toMessage = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => parseBridgeError(error)?.message ?? String(error),
  )

/** Makes the call while another process holds the lock on the connections. */
async function whileBusy(workspace: string, call: () => PromiseLike<unknown>): Promise<string> {
  const file = toConnectionsFile(workspace)
  const lease = takeLease(file, file)
  try {
    return await toMessage(call())
  } finally {
    lease.release()
  }
}

it.each(['add', 'replace', 'remove', 'removeKey'] as const)(
  'changes neither keyring nor connection if the file is busy (%s)',
  async (kind) => {
    const { workspace, keyring, window } = await createWorkspace()
    await window.setKey({ name: 'staging', label: 'second', apiKey: 'other' })
    const key = { name: 'staging', label: 'default' }
    const calls = {
      add: () => window.add({ name: 'new', settings: SETTINGS, label: 'default', apiKey: 'new' }),
      replace: () => window.setKey({ ...key, apiKey: 'new' }),
      remove: () => window.remove({ name: 'staging' }),
      removeKey: () => window.removeKey(key),
    }
    expect(await whileBusy(workspace, calls[kind])).toContain(BUSY)
    expect(await readKeys(workspace, keyring)).toEqual({
      'staging/default': 'token first',
      'staging/second': 'token other',
    })
    expect(keyring.entries.size).toBe(2)
  },
)

it.each(['remove staging', 'key staging --forget', 'key staging'])(
  'keeps the key if the command line finds the file busy (connection %s)',
  async (args) => {
    const { workspace, keyring } = await createWorkspace()
    let stderr = ''
    await whileBusy(workspace, async () => {
      const options = { workspace, lastingKeys: keyring, stdin: 'new' }
      stderr = (await runInProcess(['connection', ...args.split(' ')], options)).stderr
    })
    expect(stderr).toContain(BUSY)
    expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token first' })
    expect(keyring.entries.size).toBe(1)
  },
)

it('restores a connection whose restoring failed while the file was busy', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  await window.remove({ name: 'staging' })
  expect(keyring.entries.size).toBe(0)
  expect(await whileBusy(workspace, () => window.restore({ name: 'staging' }))).toContain(BUSY)
  expect(keyring.entries.size).toBe(0)
  await window.restore({ name: 'staging' })
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token first' })
})

it.each(['replaces', 'removes'] as const)(
  'keeps the key that was stored first if another process %s it at the same time',
  async (what) => {
    const { workspace, keyring } = await createWorkspace()
    const isAsked = Promise.withResolvers<void>()
    const isUnlocked = Promise.withResolvers<void>()
    const unlock = () => {
      isAsked.resolve()
      return isUnlocked.promise
    }
    const waiting = await openWindow(workspace, {
      ...keyring,
      get: (name) => unlock().then(() => keyring.get(name)),
      set: (name, secret) => unlock().then(() => keyring.set(name, secret)),
    })
    const calls = {
      replaces: () => waiting.setKey({ name: 'staging', label: 'default', apiKey: 'late' }),
      removes: () => waiting.remove({ name: 'staging' }),
    }
    const refused = toMessage(calls[what]())
    await isAsked.promise
    const typed = await runInProcess(['connection', 'key', 'staging'], {
      workspace,
      lastingKeys: keyring,
      stdin: 'early',
    })
    expect(typed).toMatchObject({ code: 0, stderr: '' })
    isUnlocked.resolve()
    expect(await refused).toContain('staging was changed by another window')
    expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token early' })
    expect(keyring.entries.size).toBe(1)
  },
)

it('does not remove a connection on the command line if its key is replaced while the keyring is being unlocked', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  const get = async (name: string) => {
    await window.setKey({ name: 'staging', label: 'default', apiKey: 'newer' })
    return keyring.get(name)
  }
  const lastingKeys = { ...keyring, get }
  const refused = await runInProcess(['connection', 'remove', 'staging'], { workspace, lastingKeys })
  expect(refused.stderr).toContain('staging was changed by another window')
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token newer' })
})

it('does not remove a connection whose keys the keyring fails to delete', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  keyring.trouble = 'the prompt was dismissed'
  const refused = 'could not be removed from the keyring: the prompt was dismissed'
  expect(await toMessage(window.remove({ name: 'staging' }))).toContain(refused)
  keyring.trouble = null
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token first' })
  await window.remove({ name: 'staging' })
  expect(keyring.entries.size).toBe(0)
})

it('removes a key left in an unresponsive keyring with the next change of a key', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  keyring.remove = async () => {
    throw new Error('the keyring was locked meanwhile')
  }
  await window.remove({ name: 'staging' })
  expect(readConnections(workspace)).toMatchObject({
    connections: [],
    keysToRemove: [{ connection: 'staging', label: 'default', place: 'keyring' }],
  })
  await window.restore({ name: 'staging' })
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token first' })

  keyring.remove = async (name) => void keyring.entries.delete(name)
  await window.setKey({ name: 'staging', label: 'default', apiKey: 'second' })
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token second' })
  expect(keyring.entries.size).toBe(1)
  expect(readConnections(workspace).keysToRemove).toEqual([])
})

it('says in the window which keys an unresponsive keyring still has', async () => {
  const { keyring, window } = await createWorkspace()
  expect(await window.listKeysLeft()).toEqual([])
  keyring.remove = async () => {
    throw new Error('the keyring was locked meanwhile')
  }
  await window.remove({ name: 'staging' })
  expect(await window.listKeysLeft()).toEqual([{ connection: 'staging', label: 'default', place: 'keyring' }])
  keyring.remove = async (name) => void keyring.entries.delete(name)
  await window.add({ name: 'other', settings: SETTINGS, label: 'default', apiKey: 'other' })
  expect(await window.listKeysLeft()).toEqual([])
})

it('removes a key from the keyring if its process ended before it wrote the connection', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  const isKept = Promise.withResolvers<void>()
  const ended = await openWindow(workspace, {
    ...keyring,
    set: async (name, secret) => {
      keyring.entries.set(name, secret)
      isKept.resolve()
      await new Promise(() => {})
    },
  })
  void toMessage(ended.setKey({ name: 'staging', label: 'default', apiKey: 'orphan' }))
  await isKept.promise
  const sources = { workspace, keyStore: createKeyStore(keyring) }
  await removeUnusedKeys(sources)
  // That process may still be about to write it.
  expect(keyring.entries.size).toBe(2)
  expect(await window.listKeysLeft()).toEqual([])
  await removeUnusedKeys(sources, Date.now() + 11 * 60_000)
  expect(keyring.entries.size).toBe(1)
  expect(readConnections(workspace).keysToRemove).toEqual([])
  expect(await readKeys(workspace, keyring)).toEqual({ 'staging/default': 'token first' })
})

it('forgets a key that could not be stored, once it has left the keyring', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  const waiting = await openWindow(workspace, {
    ...keyring,
    set: async (name, secret) => {
      await window.change({ name: 'staging', settings: { ...SETTINGS, timeoutMs: 5_000 } })
      return keyring.set(name, secret)
    },
  })
  const refused = toMessage(waiting.setKey({ name: 'staging', label: 'default', apiKey: 'late' }))
  expect(await refused).toContain('staging was changed by another window')
  expect(readConnections(workspace).keysToRemove).toEqual([])
  expect(keyring.entries.size).toBe(1)
})

it('waits only once for an unresponsive keyring, however many keys are left in it', async () => {
  const { workspace, keyring, window } = await createWorkspace()
  await window.setKey({ name: 'staging', label: 'second', apiKey: 'other' })
  const asked: ((reason: Error) => void)[] = []
  keyring.remove = () =>
    new Promise((_, reject) => {
      asked.push(reject)
      if (asked.length === 2) for (const fallSilent of asked) fallSilent(new Error('no answer'))
    })
  await window.remove({ name: 'staging' })
  expect(readConnections(workspace).keysToRemove.map(({ label }) => label)).toEqual(['default', 'second'])
})

it('has the desktop app remove the key of a connection that the command line removed', async () => {
  const workspace = createTemporaryFolder()
  const keyring = createMemoryKeyring()
  const profile: MemoryKeyring = { ...createMemoryKeyring(), place: 'profile' }
  const window = await openWindow(workspace, profile)
  await window.add({ name: 'staging', settings: SETTINGS, label: 'default', apiKey: 'first' })
  const removed = await runInProcess(['connection', 'remove', 'staging'], { workspace, lastingKeys: keyring })
  expect(removed).toMatchObject({ code: 0, stdout: 'Removed staging. No connection is now in use.\n' })
  expect(removed.stderr).toContain('The desktop app still keeps the key default of staging.')
  expect(profile.entries.size).toBe(1)

  const isRemoved = Promise.withResolvers<void>()
  await openWindow(workspace, {
    ...profile,
    remove: async (name) => {
      profile.entries.delete(name)
      isRemoved.resolve()
    },
  })
  await isRemoved.promise
  expect(profile.entries.size).toBe(0)
})

it('removes a connection without a keyring, and its key once there is one', async () => {
  const { workspace, keyring } = await createWorkspace()
  const none = async () => {
    throw new NoLastingStore('no keyring answers')
  }
  const lastingKeys = { ...keyring, check: none, get: none, set: none, remove: none }
  const removed = await runInProcess(['connection', 'remove', 'staging'], { workspace, lastingKeys })
  expect(removed).toMatchObject({ code: 0 })
  expect(removed.stderr).toContain('The key default of staging is still in the keyring')
  await runInProcess(['connection', 'add', 'other', '--base-url', BASE_URL], {
    workspace,
    lastingKeys: keyring,
  })
  await runInProcess(['connection', 'key', 'other'], { workspace, lastingKeys: keyring, stdin: 'other' })
  expect([...keyring.entries.keys()].join()).toMatch(/^other\/default in /)
  expect(readConnections(workspace).keysToRemove).toEqual([])
})

it('does not offer the key of a connection whose address changed to a run that was started before', async () => {
  const { services } = withBridge(undefined, undefined, createMemoryKeyring())
  const { client } = await connectWindow('message port', services)
  await client.connections.add({ name: 'staging', settings: SETTINGS, label: 'default', apiKey: 'first' })
  const request = await createRequest(services, writeRows(1), '', {
    destination: { kind: 'stored', name: 'staging' },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  const readAccess = () => client.runs.readAccess({ runId })
  expect(await readAccess()).toMatchObject({ keyConnection: 'staging', needsKey: false })
  const moved = { ...SETTINGS, baseUrl: 'https://other.example.com' }
  await client.connections.change({ name: 'staging', settings: moved })
  expect(await readAccess()).toMatchObject({
    connectionName: 'staging',
    keyConnection: null,
    needsKey: true,
  })
})
