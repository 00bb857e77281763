import type { RunRequest } from '../../shared/bridge/runs.ts'
import { isEmpty } from '../../shared/mapping/check-mapping.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { PlanConnectionInput } from '../../shared/plan/connection.ts'
import { type Plan, planSchema } from '../../shared/plan/plan.ts'
import { toPlanConnection } from '../../shared/plan/stored-connection.ts'
import { findConnection, readConnections } from '../engine/workspace/connections.ts'
import type { BridgeServices } from './bridge-context.ts'

/**
 * The plan that a page's request comes to: files by their handles, connections by their names. What the page cannot
 * name, such as variables, TLS files, proxies and the receiver's host, is the stored connection's or the default.
 * Throws `BAD_SOURCE`, `CONNECTION_NOT_FOUND`, `SANDBOX_UNAVAILABLE` or `BAD_USAGE`.
 */
export async function toPlan(services: BridgeServices, request: RunRequest): Promise<Plan> {
  const { sources, productionGate } = services
  const { destination, timeoutMs, source, callback, load, ...rest } = request
  const { sourceId, ...reading } = source
  const { path, name } = sources.find(sourceId)
  productionGate.refuseAddress(callback?.url)
  productionGate.refuseAddress(source.media?.kind === 'host' ? source.media.url : undefined)
  if (destination.kind === 'sandbox') refuseOwnCallbacks(request)
  const connection = await toConnection(services, destination)
  return planSchema.parse({
    ...rest,
    name,
    connection: { ...connection, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    source: { ...reading, path },
    ...(callback === undefined ? {} : { callback }),
    ...(load === undefined ? {} : { load }),
  })
}

async function toConnection(
  { engine, sandbox }: BridgeServices,
  destination: RunRequest['destination'],
): Promise<PlanConnectionInput> {
  if (destination.kind === 'stored') {
    return toPlanConnection(findConnection(readConnections(engine.workspace), destination.name))
  }
  const { kind: _kind, ...addresses } =
    destination.kind === 'sandbox'
      ? { kind: 'sandbox', baseUrl: await sandbox.start({ keep: true }) }
      : destination
  return { ...addresses, keyFrom: 'window' }
}

/** The sandbox posts to any address that a row names, and the window promises that nothing leaves this machine. */
function refuseOwnCallbacks({ mapping }: RunRequest): void {
  if (isEmpty(mapping['callback_url'])) return
  throw new SluiceError({ id: 'sandbox_callbacks_elsewhere' })
}
