import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { connectionSchema } from '../../shared/plan/connection.ts'
import { type Connections, toPlanConnection } from '../../shared/plan/stored-connection.ts'
import { applyConnection, changeConnections, readConnections } from '../engine/workspace/connections.ts'
import { bridge } from './implementer.ts'

const { connections } = bridge

/** The deployments that the workspace remembers. */
export const connectionsHandlers = connections.router({
  list: connections.list.handler(async ({ context: { engine, env } }) =>
    toEntries(readConnections(engine.workspace), env),
  ),
  use: connections.use.handler(async ({ context, input: { name, key } }) => {
    const { engine, env, keySwitch } = context
    const changed = changeConnections(engine.workspace, (known) => applyConnection(known, name, key))
    keySwitch.announce()
    return toEntries(changed, env)
  }),
})

function toEntries({ connections: stored, inUse }: Connections, env: NodeJS.ProcessEnv): ConnectionEntry[] {
  return stored.map((one) => ({
    name: one.name,
    isProduction: one.isProduction,
    isInUse: one.name === inUse,
    keys: one.keys.map((key) => ({ ...key, isSet: (env[key.env] ?? '') !== '' })),
    activeKey: one.activeKey,
    connection: connectionSchema.parse(toPlanConnection(one)),
  }))
}
