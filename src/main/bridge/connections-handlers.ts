import type { ConnectionEntry, ConnectionSettings } from '../../shared/bridge/connections.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { connectionSchema } from '../../shared/plan/connection.ts'
import {
  type Connections,
  findActiveKey,
  type StoredConnection,
  storedConnectionSchema,
  toPlanConnection,
} from '../../shared/plan/stored-connection.ts'
import { readProxyCredentials } from '../engine/secrets/bound-secret.ts'
import { findConnectionKey, keepTypedKey } from '../engine/workspace/connection-secrets.ts'
import {
  addConnection,
  applyConnection,
  changeConnections,
  findConnection,
  findKey,
  readConnections,
  removeConnection,
  replaceConnection,
} from '../engine/workspace/connections.ts'
import { type BridgeServices, bridge } from './bridge-context.ts'
import { hasKey, toKeySources } from './run-key.ts'

const { connections } = bridge

/**
 * The deployments that the workspace remembers. No page names a variable, a file or a proxy here: what it adds has typed
 * keys alone, which go where they were typed for.
 */
export const connectionsHandlers = connections.router({
  list: connections.list.handler(async ({ context }) =>
    toEntries(context, readConnections(context.engine.workspace)),
  ),
  use: connections.use.handler(async ({ context, input: { name, key } }) =>
    change(context, (known) => applyConnection(known, name, key)),
  ),
  add: connections.add.handler(async ({ context, input: { name, settings, label, apiKey } }) => {
    const added = storedConnectionSchema.parse({
      ...applySettings({ name, keys: [{ label }], activeKey: label }, settings),
    })
    const keySources = toKeySources(context)
    return change(context, (known) => {
      const changed = addConnection(known, added)
      if (apiKey !== undefined) keepTypedKey(keySources, added, label, apiKey)
      return changed
    })
  }),
  change: connections.change.handler(async ({ context, input: { name, settings }, signal }) => {
    const stored = find(context, name)
    const changed = storedConnectionSchema.parse(applySettings(stored, settings))
    const isMoved = changed.baseUrl !== stored.baseUrl || changed.taskBaseUrl !== stored.taskBaseUrl
    const variable = stored.keys.find(({ env }) => env !== undefined)?.env
    if (isMoved && variable !== undefined) {
      throw new SluiceError({ id: 'address_of_variable', connection: name, variable })
    }
    if (stored.isProduction && (isMoved || !changed.isProduction)) {
      await context.productionGate.passConnection('unmark', stored, signal)
    }
    return change(context, (known) => replaceUnlessChanged(known, stored, changed))
  }),
  remove: connections.remove.handler(async ({ context, input: { name }, signal }) => {
    const stored = find(context, name)
    if (stored.isProduction) await context.productionGate.passConnection('unmark', stored, signal)
    const { keyStore, engine } = context
    const entries = change(context, (known) => removeConnection(known, name))
    for (const { label } of stored.keys)
      keyStore.remove({ workspace: engine.workspace, connection: name, label })
    return entries
  }),
  setKey: connections.setKey.handler(async ({ context, input: { name, label, apiKey } }) => {
    const keySources = toKeySources(context)
    return change(context, (known) => {
      const stored = findConnection(known, name)
      const key = stored.keys.find((one) => one.label === label)
      if (key?.env !== undefined) throw new SluiceError({ id: 'key_in_variable', label, variable: key.env })
      keepTypedKey(keySources, stored, label, apiKey)
      return key === undefined
        ? replaceConnection(known, { ...stored, keys: [...stored.keys, { label }] })
        : known
    })
  }),
  removeKey: connections.removeKey.handler(async ({ context, input: { name, label } }) => {
    const { keyStore, engine } = context
    const entries = change(context, (known) => {
      const stored = findConnection(known, name)
      findKey(stored, label)
      const keys = stored.keys.filter((key) => key.label !== label)
      const [first] = keys
      if (first === undefined) throw new SluiceError({ id: 'last_key', label, connection: name })
      const activeKey = stored.activeKey === label ? first.label : stored.activeKey
      return replaceConnection(known, { ...stored, keys, activeKey })
    })
    keyStore.remove({ workspace: engine.workspace, connection: name, label })
    return entries
  }),
  test: connections.test.handler(async ({ context, input: { name }, signal }) => {
    const stored = find(context, name)
    await context.productionGate.passConnection('test', stored, signal)
    const key = findActiveKey(stored)
    const found = key === null ? null : findConnectionKey(toKeySources(context), stored, key)
    return context.engine.checkConnection(connectionSchema.parse(toPlanConnection(stored)), {
      apiKey: found?.apiKey ?? null,
      proxyCredentials: readProxyCredentials(context.env, stored),
    })
  }),
})

function find({ engine }: BridgeServices, name: string): StoredConnection {
  return findConnection(readConnections(engine.workspace), name)
}

/** Changes the connections, lets runs know that their key may be another one, and gives the list. */
function change(services: BridgeServices, make: (known: Connections) => Connections): ConnectionEntry[] {
  const changed = changeConnections(services.engine.workspace, make)
  services.keySwitch.announce()
  return toEntries(services, changed)
}

/** A person agreed to a change of the connection as it was; it must not have become another one meanwhile. */
function replaceUnlessChanged(
  known: Connections,
  was: StoredConnection,
  changed: StoredConnection,
): Connections {
  const now = findConnection(known, was.name)
  if (JSON.stringify(now) !== JSON.stringify(was)) {
    throw new SluiceError({ id: 'connection_changed_meanwhile', connection: was.name })
  }
  return replaceConnection(known, changed)
}

function applySettings<Known extends Partial<StoredConnection>>(
  known: Known,
  { baseUrl, taskBaseUrl, timeoutMs, isProduction }: ConnectionSettings,
) {
  return {
    ...known,
    baseUrl,
    isProduction,
    taskBaseUrl: taskBaseUrl ?? undefined,
    timeoutMs: timeoutMs ?? undefined,
  }
}

function toEntries(services: BridgeServices, { connections: stored, inUse }: Connections): ConnectionEntry[] {
  return stored.map((one) => ({
    name: one.name,
    isProduction: one.isProduction,
    isInUse: one.name === inUse,
    keys: one.keys.map((key) => ({ ...key, isSet: hasKey(services, one, key) })),
    activeKey: one.activeKey,
    connection: connectionSchema.parse(toPlanConnection(one)),
  }))
}
