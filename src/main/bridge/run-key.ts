import type { PlanConnection } from '../../shared/connection.ts'
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

/** The variable that a run's key is read from: that of its stored connection's active key, or its plan's own. */
export function findKeyVariable(
  services: Pick<BridgeServices, 'engine'>,
  connection: PlanConnection,
): string {
  const stored = findStoredConnection(services, connection)
  const active = stored !== null && followsActiveKey(stored, connection) ? toActiveVariable(stored) : null
  return active ?? connection.apiKeyEnv
}

/**
 * The key a run is started with: the one typed in, else the sandbox's own where the run goes there, else that of its
 * stored connection's active key, else none, so that the engine reads the environment.
 */
export async function findRunKey(
  services: BridgeServices,
  { connection }: Pick<Plan, 'connection'>,
  typed: string | undefined,
): Promise<{ apiKey?: string }> {
  const own = typed ?? (await services.sandbox.findKey(connection.baseUrl))
  if (own !== null) return { apiKey: own }
  const variable = findKeyVariable(services, connection)
  const apiKey = variable === connection.apiKeyEnv ? '' : (services.env[variable] ?? '')
  return apiKey === '' ? {} : { apiKey }
}

/** Has a run follow its stored connection's active key, wherever that is switched, until the run ends. */
export function followActiveKey(
  { engine, env, keySwitch }: BridgeServices,
  { connection, operation }: Pick<Plan, 'connection' | 'operation'>,
  handle: RunHandle,
): void {
  // An appeal is read without a key (interface §5.6).
  if (operation.kind === 'appeal-status') return
  const stop = watchActiveKey({
    workspace: engine.workspace,
    connection,
    readVariable: (variable) => env[variable],
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
