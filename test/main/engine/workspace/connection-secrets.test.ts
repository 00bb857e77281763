import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ApiKey } from '../../../../src/main/engine/secrets/bound-secret.ts'
import { createKeyStore } from '../../../../src/main/engine/secrets/key-store.ts'
import {
  findConnectionKey,
  watchActiveKey,
} from '../../../../src/main/engine/workspace/connection-secrets.ts'
import {
  addConnection,
  applyConnection,
  changeConnections,
  findConnection,
  removeUnlessChanged,
  replaceConnection,
  toConnectionsFile,
} from '../../../../src/main/engine/workspace/connections.ts'
import { connectionSchema } from '../../../../src/shared/plan/connection.ts'
import { storedConnectionSchema, toPlanConnection } from '../../../../src/shared/plan/stored-connection.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** A stored connection with three keys, and a run that follows it; `look` is what the watch would call. */
function followConnection(changes: { apiKeyEnv?: string } = {}) {
  const workspace = createTemporaryFolder()
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: 'https://api.example.com',
    keys: ['one', 'two', 'three'].map((label) => ({ label, env: `KEY_${label.toUpperCase()}` })),
    activeKey: 'one',
  })
  changeConnections(workspace, (connections) => addConnection(connections, stored))
  const said: string[] = []
  const keys: string[] = []
  const sources: string[] = []
  const environment: Record<string, string> = { KEY_ONE: 'secret-1', KEY_TWO: 'secret-2' }
  const watched: { file: string; look: () => Promise<void> }[] = []
  let isStopped = false
  const stop = watchActiveKey({
    workspace,
    connection: connectionSchema.parse({ ...toPlanConnection(stored), ...changes }),
    findKey: (owner, key) =>
      findConnectionKey(
        { workspace, env: environment, keyStore: createKeyStore({ absence: 'none' }) },
        owner,
        key,
      ),
    setApiKey: (key) => {
      keys.push(key.toHeader(new URL(stored.baseUrl)))
      sources.push(key.source)
    },
    say: (text) => said.push(text),
    watch: (file, look) => {
      watched.push({ file, look })
      return () => {
        isStopped = true
      }
    },
  })
  const apply = (label: string) => {
    changeConnections(workspace, (connections) => applyConnection(connections, 'live', label))
    return watched[0]?.look()
  }
  return { workspace, said, keys, sources, environment, watched, stop, apply, isStopped: () => isStopped }
}

describe('a run of a stored connection', () => {
  it('sends with the key that another process switches to, and back', async () => {
    const run = followConnection()
    expect(run.watched[0]?.file).toBe(toConnectionsFile(run.workspace))
    await run.apply('two')
    await run.apply('one')
    await run.watched[0]?.look()
    expect(run.keys).toEqual(['token secret-2', 'token secret-1'])
    expect(run.sources).toEqual(['KEY_TWO', 'KEY_ONE'].map((name) => `in the environment variable ${name}`))
    expect(run.said).toEqual([
      'Sending with the key two of connection live from now on.',
      'Sending with the key one of connection live from now on.',
    ])
  })

  it('keeps its key if the variable of the new one is not set, and says so once', async () => {
    const run = followConnection()
    await run.apply('three')
    await run.watched[0]?.look()
    expect(run.keys).toEqual([])
    expect(run.said).toEqual([
      'Connection live was switched to the key three, but KEY_THREE is not set in this process; continuing with the previous key.',
    ])
    await run.apply('two')
    expect(run.keys).toEqual(['token secret-2'])
  })

  it('keeps its key if no header can carry the new one, the file is damaged, or the connection is gone', async () => {
    const run = followConnection()
    run.environment['KEY_TWO'] = 'bad key'
    await run.apply('two')
    changeConnections(run.workspace, (connections) =>
      removeUnlessChanged(connections, findConnection(connections, 'live')),
    )
    await run.watched[0]?.look()
    writeFileSync(toConnectionsFile(run.workspace), '{')
    await run.watched[0]?.look()
    expect(run.keys).toEqual([])
    expect(run.said).toHaveLength(3)
    expect(run.said.join('\n')).not.toMatch(/secret|bad key/)
  })

  it('keeps its key if the connection has another address by now', async () => {
    const run = followConnection()
    changeConnections(run.workspace, (connections) => {
      const [live] = connections.connections
      if (live === undefined) throw new Error('the connection is missing')
      return replaceConnection(connections, { ...live, baseUrl: 'https://elsewhere.example.com' })
    })
    await run.apply('two')
    expect(run.keys).toEqual([])
    expect(run.said).toEqual([
      'the API key belongs to https://elsewhere.example.com and is not sent to https://api.example.com; continuing with the previous key.',
    ])
  })

  it('follows nothing if its variable was chosen for this run only', () => {
    const run = followConnection({ apiKeyEnv: 'MY_OWN' })
    expect(run.watched).toEqual([])
    run.stop()
  })

  it('stops watching on request', () => {
    const run = followConnection()
    run.stop()
    expect(run.isStopped()).toBe(true)
  })

  it('notices with the real watch that the file was replaced', async () => {
    const workspace = createTemporaryFolder()
    const stored = storedConnectionSchema.parse({
      name: 'live',
      baseUrl: 'https://api.example.com',
      keys: ['one', 'two'].map((label) => ({ label, env: label })),
      activeKey: 'one',
    })
    changeConnections(workspace, (connections) => addConnection(connections, stored))
    const switched = Promise.withResolvers<ApiKey>()
    const stop = watchActiveKey({
      workspace,
      connection: connectionSchema.parse(toPlanConnection(stored)),
      findKey: (owner, key) =>
        findConnectionKey(
          { workspace, env: { two: 'value-of-two' }, keyStore: createKeyStore({ absence: 'none' }) },
          owner,
          key,
        ),
      setApiKey: switched.resolve,
      say: () => {},
    })
    changeConnections(workspace, (connections) => applyConnection(connections, 'live', 'two'))
    expect((await switched.promise).toHeader(new URL(stored.baseUrl))).toBe('token value-of-two')
    stop()
  })
})
