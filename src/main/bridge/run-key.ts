import type { PlanConnection } from '../../shared/connection.ts'
import { SluiceError } from '../../shared/errors.ts'
import type { Plan } from '../../shared/plan.ts'
import { type StoredConnection, toActiveVariable } from '../../shared/stored-connection.ts'
import { readConnections } from '../engine/connections/connections-file.ts'
import { followsActiveKey } from '../engine/connections/edit-connections.ts'
import { lookNowAndThen, watchActiveKey } from '../engine/connections/watch-active-key.ts'
import type { RunHandle } from '../engine/engine-interface.ts'
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
 * The variable that a run's key is read from: that of its stored connection's active key, or the one that was named on
 * the command line. Null where no variable may be read for it: its address was typed into a window, or is no longer
 * that of its stored connection.
 */
export function findKeyVariable(
  services: Pick<BridgeServices, 'engine'>,
  connection: PlanConnection,
): string | null {
  if (connection.keyFrom === 'window') return null
  const stored = findStoredConnection(services, connection)
  if (stored === null) return connection.apiKeyEnv
  if (!isAt(stored, connection)) return null
  return followsActiveKey(stored, connection) ? toActiveVariable(stored) : connection.apiKeyEnv
}

/**
 * The key a run is started with: the one typed in, else the sandbox's own where the run goes there, else that of
 * {@link findKeyVariable}; nothing for operations that carry none. Throws `NO_API_KEY`.
 */
export async function findRunKey(
  services: BridgeServices,
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  typed: string | undefined,
): Promise<{ apiKey?: string }> {
  // An appeal is read without a key (interface §5.6).
  if (operation.kind === 'appeal-status') return {}
  const own = typed ?? (await services.sandbox.findKey(connection.baseUrl))
  if (own !== null) return { apiKey: own }
  const variable = findKeyVariable(services, connection)
  const apiKey = variable === null ? '' : (services.env[variable] ?? '')
  if (apiKey !== '') return { apiKey }
  throw new SluiceError({
    code: 'NO_API_KEY',
    message:
      variable === null
        ? `no API key for ${connection.baseUrl}`
        : `no API key for ${connection.baseUrl}: the environment variable ${variable} is not set`,
    hint: 'Type the key. To have it read from a variable, store a connection with: sluice connection add',
  })
}

/** Has a run follow its stored connection's active key, wherever that is switched, until the run ends. */
export function followActiveKey(
  services: BridgeServices,
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  handle: RunHandle,
): void {
  const { engine, env, keySwitch } = services
  // An appeal is read without a key (interface §5.6).
  if (operation.kind === 'appeal-status' || findKeyVariable(services, connection) === null) return
  const stop = watchActiveKey({
    workspace: engine.workspace,
    connection,
    // A connection that was moved meanwhile has keys for another address.
    readVariable: (variable) =>
      findKeyVariable(services, connection) === variable ? env[variable] : undefined,
    setApiKey: (apiKey, variable) => handle.setApiKey(apiKey, variable),
    say: () => {},
    watch: (file, onChange) => {
      const stopLooking = lookNowAndThen(file, onChange)
      const stopListening = keySwitch.onSwitch(onChange)
      return () => {
        stopLooking()
        stopListening()
      }
    },
  })
  handle.ended.then(stop, stop)
}

function isAt(stored: StoredConnection, { baseUrl, taskBaseUrl }: PlanConnection): boolean {
  return stored.baseUrl === baseUrl && stored.taskBaseUrl === taskBaseUrl
}
