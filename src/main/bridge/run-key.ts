import type { KeyState } from '../../shared/bridge/connections.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { sendsKey } from '../../shared/operations/operations.ts'
import type { PlanConnection } from '../../shared/plan/connection.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import {
  type ConnectionKey,
  findActiveKey,
  type StoredConnection,
} from '../../shared/plan/stored-connection.ts'
import type { Engine } from '../engine/engine.ts'
import type { RunHandle, StartOptions } from '../engine/engine-interface.ts'
import { ApiKey, readApiKey, readProxyCredentials } from '../engine/secrets/bound-secret.ts'
import { readHeaderValues } from '../engine/secrets/header-values.ts'
import type { KeyStore } from '../engine/secrets/key-store.ts'
import {
  findConnectionKey,
  hasHeadersOf,
  type KeySources,
  pollFile,
  staysWithin,
  watchActiveKey,
} from '../engine/workspace/connection-secrets.ts'
import { followsActiveKey, readConnections } from '../engine/workspace/connections.ts'
import type { SandboxHost } from './sandbox-host.ts'

interface KeyServices {
  readonly engine: Pick<Engine, 'workspace'>
  readonly env: NodeJS.ProcessEnv
  readonly keyStore: KeyStore
}

/** The stored connection of a plan, if the workspace has it. */
export function findStoredConnection(
  { engine }: Pick<KeyServices, 'engine'>,
  { name }: PlanConnection,
): StoredConnection | null {
  if (name === undefined) return null
  return readConnections(engine.workspace).connections.find((one) => one.name === name) ?? null
}

/**
 * The active key of a run's stored connection, and that connection; null if nothing stored allows sending a
 * key there, so that a person must type one.
 */
export function findStoredKey(
  services: Pick<KeyServices, 'engine'>,
  connection: PlanConnection,
): { key: ConnectionKey; owner: StoredConnection } | null {
  const owner = findStoredConnection(services, connection)
  if (owner === null || !followsActiveKey(owner, connection) || !staysWithin(owner, connection)) return null
  const key = findActiveKey(owner)
  return key === null ? null : { key, owner }
}

/** Where to find the keys of stored connections. */
export function toKeySources({ engine, env, keyStore }: KeyServices): KeySources {
  return { workspace: engine.workspace, env, keyStore }
}

/** How long a screen waits for the key store before it shows that it is still waiting, milliseconds. */
const ANSWER_WITHIN_MS = 300

/** The state of a stored connection's key for a screen; a variable may hold an unusable key. */
export async function findKeyState(
  services: KeyServices,
  owner: StoredConnection,
  key: ConnectionKey,
): Promise<KeyState> {
  if (key.env !== undefined && (services.env[key.env] ?? '') !== '') return 'ready'
  const late = Promise.withResolvers<KeyState>()
  const timer = setTimeout(() => late.resolve('asking'), ANSWER_WITHIN_MS)
  try {
    const found = findConnectionKey(toKeySources(services), owner, key)
    return await Promise.race([found.then((one) => (one === null ? 'missing' : 'ready')), late.promise])
  } catch (error) {
    // The reason is shown when the key is needed.
    if (error instanceof SluiceError) return 'locked'
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a person must type a key before anything can be sent; `stored` is null if no key is stored. */
export async function lacksKey(
  services: KeyServices,
  stored: { owner: StoredConnection; key: ConnectionKey } | null,
): Promise<boolean> {
  if (stored === null) return true
  const state = await findKeyState(services, stored.owner, stored.key)
  return state === 'missing' || state === 'locked'
}

/**
 * The secrets to start a run with: the typed key, else the sandbox's own for a run of the sandbox, else the
 * active key of its stored connection; and that connection's proxy credentials. No variable is read merely
 * because a plan or page names it. Throws `NO_API_KEY`, `BAD_PLAN`, and `SANDBOX_UNAVAILABLE` if a sandbox
 * run would reach another program.
 */
export async function findRunSecrets(
  services: KeyServices & { readonly sandbox: Pick<SandboxHost, 'findKey'> },
  { connection, operation }: Pick<Plan, 'connection'> & { operation: { kind: string } },
  typed: string | undefined,
): Promise<Pick<StartOptions, 'apiKey' | 'proxyCredentials' | 'headerValues'>> {
  const stored = findStoredConnection(services, connection)
  const proxyCredentials =
    connection.proxy?.credentialsEnv !== undefined && stored !== null && staysWithin(stored, connection)
      ? readProxyCredentials(services.env, stored)
      : null
  const headerValues =
    stored !== null && staysWithin(stored, connection) && hasHeadersOf(stored, connection)
      ? readHeaderValues(services.env, connection)
      : null
  const proxy = {
    ...(proxyCredentials === null ? {} : { proxyCredentials }),
    ...(headerValues === null ? {} : { headerValues }),
  }
  // An appeal is read without a key (docs/interface.md §5.6).
  if (!sendsKey(operation)) return proxy
  if (typed !== undefined) return { apiKey: ApiKey.create(typed, connection, 'that was typed in'), ...proxy }
  const own = await services.sandbox.findKey(connection.baseUrl)
  if (own !== null) return { apiKey: own, ...proxy }
  const known = findStoredKey(services, connection)
  if (known === null) return proxy
  const found = await findConnectionKey(toKeySources(services), known.owner, known.key)
  if (found !== null) return { apiKey: found.apiKey, ...proxy }
  const { env: variable } = known.key
  // The engine asks for a typed key that is missing.
  return variable === undefined
    ? proxy
    : { apiKey: readApiKey(services.env, variable, known.owner), ...proxy }
}

/**
 * Makes a run follow its stored connection's active key, wherever it is switched, until the run ends. A run
 * with a key of its own keeps it until then.
 */
export function followActiveKey(
  services: KeyServices & { readonly keySwitch: KeySwitch },
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  handle: RunHandle,
  hasOwnKey: boolean,
): void {
  const { engine, keySwitch } = services
  // An appeal is read without a key (docs/interface.md §5.6).
  if (!sendsKey(operation) || findStoredKey(services, connection) === null) return
  const stop = watchActiveKey({
    workspace: engine.workspace,
    connection,
    hasOwnKey,
    // The keys of a connection moved meanwhile belong to another address.
    findKey: async (owner, key) =>
      findStoredKey(services, connection) === null
        ? null
        : findConnectionKey(toKeySources(services), owner, key),
    setApiKey: handle.setApiKey,
    say: () => {},
    watch: (file, onChange) => {
      const stopLooking = pollFile(file, onChange)
      const stopListening = keySwitch.onSwitch(onChange)
      return () => {
        stopLooking()
        stopListening()
      }
    },
  })
  handle.ended.then(stop, stop)
}

export function createKeySwitch() {
  const listeners = new Set<() => Promise<void>>()
  return {
    /** Resolves when all runs of this process have the key. */
    async announce(): Promise<void> {
      await Promise.all([...listeners].map((listener) => listener()))
    },
    /** Calls the listener at each announcement; returns a function that removes the listener. */
    onSwitch(listener: () => Promise<void>): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Announces that a stored connection's key may have changed, so that the next request has the new one. */
export interface KeySwitch extends ReturnType<typeof createKeySwitch> {}
