import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  addConnection,
  applyConnection,
  changeConnections,
  findConnectionInUse,
  readConnections,
  removeUnlessChanged,
  replaceConnection,
  toConnectionsFile,
} from '../../../../src/main/engine/workspace/connections.ts'
import { takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import {
  type StoredConnection,
  storedConnectionSchema,
} from '../../../../src/shared/plan/stored-connection.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

function createConnection(name: string, changes: Partial<StoredConnection> = {}): StoredConnection {
  return storedConnectionSchema.parse({
    name,
    baseUrl: `https://${name}.example.com`,
    keys: [
      { label: 'first', env: 'FIRST_KEY' },
      { label: 'second', env: 'SECOND_KEY' },
    ],
    activeKey: 'first',
    ...changes,
  })
}

describe('the connections of a workspace', () => {
  it('are none before the first is stored', () => {
    const workspace = createTemporaryFolder()
    expect(readConnections(workspace)).toEqual({ version: 1, inUse: null, connections: [], keysToRemove: [] })
    expect(readdirSync(workspace)).toEqual([])
  })

  it('are read back as stored, from a file that only its owner may read', () => {
    const workspace = join(createTemporaryFolder(), 'new')
    const staging = createConnection('staging', { isProduction: true, timeoutMs: 5_000 })
    changeConnections(workspace, (connections) => addConnection(connections, staging))
    expect(readConnections(workspace)).toEqual({
      version: 1,
      inUse: 'staging',
      connections: [staging],
      keysToRemove: [],
    })
    if (process.platform !== 'win32') {
      expect(statSync(toConnectionsFile(workspace)).mode & 0o777).toBe(0o600)
    }
  })

  it('are replaced as a whole, and a refused change leaves them unchanged', () => {
    const workspace = createTemporaryFolder()
    changeConnections(workspace, (connections) => addConnection(connections, createConnection('one')))
    const before = readFileSync(toConnectionsFile(workspace), 'utf8')
    const again = () =>
      changeConnections(workspace, (connections) => addConnection(connections, createConnection('one')))
    expect(again).toThrow('connection `one` already exists')
    expect(readFileSync(toConnectionsFile(workspace), 'utf8')).toBe(before)
    expect(readdirSync(workspace).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('are refused while another process changes them', () => {
    const workspace = createTemporaryFolder()
    changeConnections(workspace, (connections) => connections)
    const file = toConnectionsFile(workspace)
    const lease = takeLease(file, file)
    expect(() => changeConnections(workspace, (connections) => connections)).toThrow(
      'another process is changing',
    )
    lease.release()
  })

  it('put the first one in use, and none once that is removed', () => {
    const one = createConnection('one')
    const two = createConnection('two')
    const both = addConnection(
      addConnection({ version: 1, inUse: null, connections: [], keysToRemove: [] }, one),
      two,
    )
    expect(findConnectionInUse(both)?.name).toBe('one')
    expect(removeUnlessChanged(both, two).inUse).toBe('one')
    expect(findConnectionInUse(removeUnlessChanged(both, one))).toBe(null)
  })

  it('switch use and key together', () => {
    const both = addConnection(
      addConnection({ version: 1, inUse: null, connections: [], keysToRemove: [] }, createConnection('one')),
      createConnection('two'),
    )
    expect(applyConnection(both, 'two')).toMatchObject({
      inUse: 'two',
      connections: [{}, { activeKey: 'first' }],
    })
    expect(applyConnection(both, 'two', 'second')).toMatchObject({
      inUse: 'two',
      connections: [{ activeKey: 'first' }, { activeKey: 'second' }],
    })
  })

  it('suggest similar names if a connection or a key does not exist', () => {
    const one = addConnection(
      { version: 1, inUse: null, connections: [], keysToRemove: [] },
      createConnection('staging'),
    )
    expect(() => removeUnlessChanged(one, createConnection('stagign'))).toThrow('did you mean staging?')
    expect(() => replaceConnection(one, createConnection('other'))).toThrow(
      'connection `other` does not exist',
    )
    expect(() => applyConnection(one, 'staging', 'secnd')).toThrow('did you mean second?')
  })

  it.each([
    ['that is no JSON', '{', /does not contain valid connections/],
    [
      'without an active key',
      JSON.stringify(toDocument({ activeKey: 'third' })),
      /connections\.0\.activeKey: must be/,
    ],
    [
      'with a password in an address',
      JSON.stringify(toDocument({ baseUrl: 'https://me:hunter2@x.com' })),
      /baseUrl/,
    ],
    ['of another version', '{"version":2,"inUse":null,"connections":[]}', /version/],
  ])('of a file %s are refused with the place, repeating no value', (_what, text, message) => {
    const workspace = createTemporaryFolder()
    writeFileSync(toConnectionsFile(workspace), text)
    expect(() => readConnections(workspace)).toThrow(message)
    expect(() => readConnections(workspace)).not.toThrow('hunter2')
  })

  it('are reported as unusable if the file is a folder', () => {
    const workspace = createTemporaryFolder()
    mkdirSync(toConnectionsFile(workspace))
    expect(() => readConnections(workspace)).toThrow('cannot read')
    expect(existsSync(toConnectionsFile(workspace))).toBe(true)
  })
})

function toDocument(changes: Partial<StoredConnection>): unknown {
  return { version: 1, inUse: null, connections: [{ ...createConnection('one'), ...changes }] }
}
