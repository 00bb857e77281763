import type { PlanConnection } from '../../shared/plan/connection.ts'
import { sendsKey } from '../../shared/plan/operation.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { type StoredConnection, toActiveVariable } from '../../shared/plan/stored-connection.ts'
import type { RunHandle, StartOptions } from '../engine/engine-interface.ts'
import { ApiKey, readApiKey, readProxyCredentials } from '../engine/secrets/bound-secret.ts'
import { pollFile, staysWithin, watchActiveKey } from '../engine/workspace/connection-secrets.ts'
import { followsActiveKey, readConnections } from '../engine/workspace/connections.ts'
import type { BridgeServices } from './bridge-context.ts'

/** The stored connection that a plan was made with, where the workspace has it. */
export function findStoredConnection(
  { engine }: Pick<BridgeServices, 'engine'>,
  { name }: PlanConnection,
): StoredConnection | null {
  if (name === undefined) return null
  return readConnections(engine.workspace).connections.find((one) => one.name === name) ?? null
}

/**
 * The variable that a run's key is read from, and the connection that the key belongs to; null where a person has to
 * enter the key, since nothing stored says that a key may go where the run goes.
 */
export function findStoredKey(
  services: Pick<BridgeServices, 'engine'>,
  connection: PlanConnection,
): { variable: string; owner: StoredConnection } | null {
  const owner = findStoredConnection(services, connection)
  if (owner === null || !followsActiveKey(owner, connection) || !staysWithin(owner, connection)) return null
  const variable = toActiveVariable(owner)
  return variable === null ? null : { variable, owner }
}

/**
 * What a run is started with: the key that was entered, else the sandbox's own where the run goes there, else the
 * active one of its stored connection, and that connection's proxy credentials. No variable is read because a plan or
 * a page names it. Throws `NO_API_KEY`, `BAD_PLAN`, and `SANDBOX_UNAVAILABLE` where a run of the sandbox would reach
 * another program.
 */
export async function findRunSecrets(
  services: BridgeServices,
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  typed: string | undefined,
): Promise<Pick<StartOptions, 'apiKey' | 'proxyCredentials'>> {
  const stored = findStoredConnection(services, connection)
  const proxyCredentials =
    connection.proxy?.credentialsEnv !== undefined && stored !== null && staysWithin(stored, connection)
      ? readProxyCredentials(services.env, stored)
      : null
  const proxy = proxyCredentials === null ? {} : { proxyCredentials }
  // An appeal is read without a key (docs/interface.md §5.6).
  if (!sendsKey(operation)) return proxy
  if (typed !== undefined) return { apiKey: ApiKey.create(typed, connection, 'that was typed in'), ...proxy }
  const own = await services.sandbox.findKey(connection.baseUrl)
  if (own !== null) return { apiKey: own, ...proxy }
  const key = findStoredKey(services, connection)
  return key === null ? proxy : { apiKey: readApiKey(services.env, key.variable, key.owner), ...proxy }
}

/**
 * Has a run follow its stored connection's active key, wherever that is switched, until the run ends. One that began
 * with a key of its own keeps it until then.
 */
export function followActiveKey(
  services: BridgeServices,
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  handle: RunHandle,
  hasOwnKey: boolean,
): void {
  const { engine, env, keySwitch } = services
  // An appeal is read without a key (docs/interface.md §5.6).
  if (!sendsKey(operation) || findStoredKey(services, connection) === null) return
  const stop = watchActiveKey({
    workspace: engine.workspace,
    connection,
    hasOwnKey,
    // A connection that was moved meanwhile has keys for another address.
    readVariable: (variable) =>
      findStoredKey(services, connection)?.variable === variable ? env[variable] : undefined,
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

/** Says that a stored connection's key may be another one now, so that what is sent next has it already. */
export interface KeySwitch {
  announce(): void
  /** Calls the listener at each announcement; returns the way to stop. */
  onSwitch(listener: () => void): () => void
}

/** Makes the switch of one process. */
export function createKeySwitch(): KeySwitch {
  const listeners = new Set<() => void>()
  return {
    announce() {
      for (const listener of listeners) listener()
    },
    onSwitch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
