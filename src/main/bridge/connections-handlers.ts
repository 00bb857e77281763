import type { ConnectionEntry, ConnectionSettings } from '../../shared/bridge/connections.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { TlsFile } from '../../shared/messages/service-messages.ts'
import { connectionSchema } from '../../shared/plan/connection.ts'
import { listHeaderReferences } from '../../shared/plan/request-headers.ts'
import {
  type ConnectionKey,
  type Connections,
  DEFAULT_KEY_LABEL,
  findActiveKey,
  type StoredConnection,
  storedConnectionSchema,
  toPlanConnection,
} from '../../shared/plan/stored-connection.ts'
import { ApiKey, readProxyCredentials } from '../engine/secrets/bound-secret.ts'
import { readHeaderValues } from '../engine/secrets/header-values.ts'
import { loadSystemAuthorities } from '../engine/secrets/system-authorities.ts'
import { readSecureContext } from '../engine/secrets/tls-files.ts'
import { findConnectionKey, keepTypedKey, listUnusedKeys } from '../engine/workspace/connection-secrets.ts'
import {
  addConnection,
  applyConnection,
  changeConnections,
  findConnection,
  readConnections,
  replaceUnlessChanged,
} from '../engine/workspace/connections.ts'
import type { BridgeServices, Handlers } from './bridge-context.ts'
import { findKeyState, toKeySources } from './run-key.ts'

/**
 * The stored deployments. A page can name no variable or file: its connections have only typed keys, which
 * are sent only where they were typed for and through the same proxy, which must not be on a production
 * server. Files are chosen by a person in a system dialog.
 */
export const connectionsHandlers: Handlers<'connections'> = {
  list: async ({ context }) => toEntries(context, readConnections(context.engine.workspace)),
  use: async ({ context, input: { name, key } }) =>
    change(context, (known) => applyConnection(known, name, key)),
  countSystemAuthorities: async () => (await loadSystemAuthorities()).length,
  findSystemRoute: async ({ context, input: { name } }) =>
    context.engine.scratchpad.findSystemRoute(find(context, name)),
  readStorage: ({ context }) => context.keyStore.describe(),
  listKeysLeft: async ({ context }) =>
    listUnusedKeys(readConnections(context.engine.workspace)).map(({ connection, label, place }) => ({
      connection,
      label,
      place,
    })),
  add: async ({ context, input: { name, settings, label, apiKey } }) => {
    const added = storedConnectionSchema.parse({
      ...applySettings({ name, keys: [{ label }], activeKey: label }, settings),
    })
    refuseProxy(context, settings)
    if (apiKey === undefined) return change(context, (known) => addConnection(known, added))
    const key = { label, text: apiKey }
    return announce(context, await keepTypedKey(toKeySources(context), added, key, addConnection))
  },
  change: async ({ context, input: { name, settings }, signal }) => {
    const stored = find(context, name)
    const changed = storedConnectionSchema.parse(applySettings(stored, settings))
    const isRerouted = changed.proxy !== undefined && changed.proxy.url !== stored.proxy?.url
    const isMoved =
      changed.baseUrl !== stored.baseUrl || changed.taskBaseUrl !== stored.taskBaseUrl || isRerouted
    if (isRerouted) refuseProxy(context, settings)
    const variable = stored.keys.find(({ env }) => env !== undefined)?.env
    if (isMoved && variable !== undefined) {
      throw new SluiceError({ id: 'address_of_variable', connection: name, variable })
    }
    const [reference] = listHeaderReferences(stored.headers)
    if (isMoved && reference !== undefined) {
      throw new SluiceError({ id: 'address_of_headers', connection: name, header: reference[0] })
    }
    if (stored.isProduction && (isMoved || !changed.isProduction)) {
      await context.productionGate.passConnection('unmark', stored, signal)
    }
    return change(context, (known) => replaceUnlessChanged(known, stored, changed))
  },
  remove: async ({ context, input: { name }, signal }) => {
    const stored = find(context, name)
    if (stored.isProduction) await context.productionGate.passConnection('unmark', stored, signal)
    return announce(context, await context.removedConnections.remove(toKeySources(context), stored))
  },
  restore: async ({ context, input: { name } }) =>
    announce(context, await context.removedConnections.restore(toKeySources(context), name)),
  setKey: async ({ context, input: { name, label, apiKey } }) => {
    const stored = find(context, name)
    const { env: variable } = stored.keys.find((one) => one.label === label) ?? {}
    // The variable takes precedence, so the text would have no effect.
    if (variable !== undefined && (context.env[variable] ?? '') !== '') {
      throw new SluiceError({ id: 'key_in_variable', label, variable })
    }
    const key = { label, text: apiKey }
    const store = (known: Connections, changed: StoredConnection) =>
      replaceUnlessChanged(known, stored, changed)
    return announce(context, await keepTypedKey(toKeySources(context), stored, key, store))
  },
  removeKey: async ({ context, input: { name, label } }) => {
    const { removedConnections } = context
    return announce(
      context,
      await removedConnections.removeKey(toKeySources(context), find(context, name), label),
    )
  },
  restoreKey: async ({ context, input: { name, label } }) =>
    announce(context, await context.removedConnections.restoreKey(toKeySources(context), name, label)),
  chooseFile: async ({ context, input: { name, file } }) => {
    const { desktop } = context.host
    if (desktop === null) throw new SluiceError({ id: 'connection_file_in_browser', connection: name })
    const stored = find(context, name)
    const choose = (what: TlsFile) => desktop.chooseConnectionFile(name, what)
    const chosen =
      file === 'authorities' ? await chooseAuthorities(choose) : await chooseClientCertificate(choose)
    if (chosen !== null) readSecureContext(chosen)
    return change(context, (known) =>
      chosen === null
        ? known
        : replaceUnlessChanged(known, stored, { ...stored, tls: { ...stored.tls, ...chosen } }),
    )
  },
  removeFile: async ({ context, input: { name, file }, signal }) => {
    const stored = find(context, name)
    if (stored.isProduction) await context.productionGate.passConnection('unmark', stored, signal)
    const { caFile, certFile, keyFile, ...others } = stored.tls ?? {}
    const kept =
      file === 'authorities'
        ? { ...(certFile !== undefined && { certFile }), ...(keyFile !== undefined && { keyFile }) }
        : { ...(caFile !== undefined && { caFile }) }
    const tls = { ...others, ...kept }
    const { tls: _before, ...rest } = stored
    const changed = Object.keys(tls).length === 0 ? rest : { ...rest, tls }
    return change(context, (known) => replaceUnlessChanged(known, stored, changed))
  },
  test: async ({ context, input: { name }, signal }) => {
    const stored = find(context, name)
    await context.productionGate.passConnection('test', stored, signal)
    const key = findActiveKey(stored)
    const found = key === null ? null : await findConnectionKey(toKeySources(context), stored, key)
    return context.engine.scratchpad.checkConnection(connectionSchema.parse(toPlanConnection(stored)), {
      apiKey: found?.apiKey ?? null,
      proxyCredentials: readProxyCredentials(context.env, stored),
      headerValues: readHeaderValues(context.env, stored),
    })
  },
  testSettings: async ({ context, input: { name, settings, apiKey }, signal }) => {
    const stored = name === null ? null : find(context, name)
    const drafted = storedConnectionSchema.parse(
      applySettings(
        stored ?? { name: DRAFT_NAME, keys: [{ label: DEFAULT_KEY_LABEL }], activeKey: DEFAULT_KEY_LABEL },
        settings,
      ),
    )
    refuseProxy(context, settings)
    await context.productionGate.passConnection('test', drafted, signal)
    const connection = connectionSchema.parse(toPlanConnection(drafted))
    // A stored connection's keys and passwords are sent only where it sends them.
    const owner = stored !== null && isSameWay(stored, drafted) ? stored : null
    const key = owner === null ? null : findActiveKey(owner)
    const found =
      owner === null || key === null ? null : await findConnectionKey(toKeySources(context), owner, key)
    return context.engine.scratchpad.checkConnection(connection, {
      apiKey:
        apiKey === undefined
          ? (found?.apiKey ?? null)
          : ApiKey.create(apiKey, connection, 'that was typed in'),
      proxyCredentials: owner === null ? null : readProxyCredentials(context.env, owner),
      headerValues: owner === null ? null : readHeaderValues(context.env, owner),
    })
  },
}

/** Name, in the question, of a connection that is tested before it is stored. */
const DRAFT_NAME = 'being added'

/** Whether two connections have the same addresses and the same proxy. */
function isSameWay(one: StoredConnection, other: StoredConnection): boolean {
  const toWay = (stored: StoredConnection) => {
    const { baseUrl, taskBaseUrl, proxy, systemProxy, resolve, unixSocket } = stored
    const others = [taskBaseUrl, proxy, systemProxy, resolve, unixSocket]
    return JSON.stringify([baseUrl, ...others.map((other) => other ?? null)])
  }
  return toWay(one) === toWay(other)
}

type ChooseFile = (what: TlsFile) => Promise<string | null>

async function chooseAuthorities(choose: ChooseFile) {
  const caFile = await choose('authorities')
  return caFile === null ? null : { caFile }
}

/** Both or neither: one is useless without the other. */
async function chooseClientCertificate(choose: ChooseFile) {
  const certFile = await choose('certificate')
  const keyFile = certFile === null ? null : await choose('key')
  return certFile === null || keyFile === null ? null : { certFile, keyFile }
}

function find({ engine }: BridgeServices, name: string): StoredConnection {
  return findConnection(readConnections(engine.workspace), name)
}

function change(
  services: BridgeServices,
  make: (known: Connections) => Connections,
): Promise<ConnectionEntry[]> {
  return announce(services, changeConnections(services.engine.workspace, make))
}

/** Makes runs check for a new key, and returns the list of the changed connections. */
async function announce(services: BridgeServices, changed: Connections): Promise<ConnectionEntry[]> {
  await services.keySwitch.announce()
  return toEntries(services, changed)
}

function refuseProxy({ productionGate }: BridgeServices, { proxy }: ConnectionSettings): void {
  if (proxy?.kind === 'named') productionGate.refuseProxy(proxy.url)
}

function applySettings<Known extends Partial<StoredConnection>>(
  known: Known,
  { baseUrl, taskBaseUrl, timeoutMs, isProduction, deliveredCodes, rewritesIds, proxy }: ConnectionSettings,
) {
  return {
    ...known,
    baseUrl,
    isProduction,
    taskBaseUrl: taskBaseUrl ?? undefined,
    timeoutMs: timeoutMs ?? undefined,
    ...(deliveredCodes !== undefined && { deliveredCodes }),
    ...(rewritesIds !== undefined && { rewritesIds: rewritesIds || undefined }),
    ...(proxy !== undefined && {
      proxy: proxy.kind === 'named' ? toProxy(known.proxy, proxy.url) : undefined,
      systemProxy: proxy.kind === 'none' ? false : undefined,
    }),
  }
}

/** Credentials belong to one proxy, and are not sent to another. */
function toProxy(known: StoredConnection['proxy'], url: string): StoredConnection['proxy'] {
  return known?.url === url ? known : { url }
}

function toEntries(
  services: BridgeServices,
  { connections: stored, inUse }: Connections,
): Promise<ConnectionEntry[]> {
  return Promise.all(
    stored.map(async (one) => ({
      name: one.name,
      isProduction: one.isProduction,
      isInUse: one.name === inUse,
      keys: await Promise.all(one.keys.map((key) => toKeyEntry(services, one, key))),
      activeKey: one.activeKey,
      connection: connectionSchema.parse(toPlanConnection(one)),
    })),
  )
}

async function toKeyEntry(services: BridgeServices, owner: StoredConnection, key: ConnectionKey) {
  const { label, env, typed } = key
  const isVariable = env !== undefined && (services.env[env] ?? '') !== ''
  return {
    label,
    ...(env !== undefined && { env }),
    ...(typed !== undefined && !isVariable && { place: typed.place }),
    state: await findKeyState(services, owner, key),
  }
}
