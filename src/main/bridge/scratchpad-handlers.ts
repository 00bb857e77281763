import type { ScratchDestination } from '../../shared/bridge/scratchpad.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { OPERATIONS } from '../../shared/operations/operations.ts'
import { connectionSchema, type PlanConnection } from '../../shared/plan/connection.ts'
import { formatRow } from '../../shared/plan/source-place.ts'
import { isJsonObject } from '../../shared/service/json-object.ts'
import { SCRATCH_TEXT_MAX } from '../../shared/service/scratchpad.ts'
import type { BridgeContext, Handlers } from './bridge-context.ts'
import { findRunSecrets, findStoredConnection } from './run-key.ts'
import { toConnection } from './runs-handlers.ts'

/** Single manual requests; pages cannot name an address, key or variable for them. */
export const scratchpadHandlers: Handlers<'scratchpad'> = {
  check: async ({ context, input: { endpoint, text } }) => context.engine.scratchpad.check(endpoint, text),
  fromRow: async ({ context, input: { runId, row } }) => {
    const { engine } = context
    const [detail, { operation, connection }] = await Promise.all([
      engine.results.readRow(runId, row),
      engine.runs.readPlan(runId),
    ])
    const { namedBy, single } = OPERATIONS[operation.kind]
    // A GET has no body; its subject, such as an appeal, is in the address.
    const id = decodeURIComponent(new URL(detail.requestUrl).pathname.split('/').at(-1) ?? '')
    const text = detail.requestBody ?? detail.unsentBody ?? JSON.stringify({ [namedBy[0]]: id })
    if (text.length > SCRATCH_TEXT_MAX) {
      throw new SluiceError({ id: 'scratch_row_too_long', row: formatRow(detail.result.place) })
    }
    return {
      endpoint: single.of(operation),
      text: await engine.scratchpad.withoutOwnCallback(text),
      destination: await findDestination(context, connection),
    }
  },
  send: async ({ context, input, signal }) => {
    const { destination, endpoint, text, callbackUrl } = input
    const { engine, productionGate } = context
    productionGate.refuseAddress(callbackUrl)
    if (destination.kind === 'sandbox' && namesCallback(text)) {
      throw new SluiceError({ id: 'sandbox_callbacks_elsewhere' })
    }
    const connection = connectionSchema.parse(await toConnection(context, destination))
    await productionGate.passRequest({ connection, operation: endpoint.kind }, signal)
    const secrets = await findRunSecrets(context, { connection, operation: endpoint }, undefined)
    const request = { connection, endpoint, text, ...(callbackUrl !== undefined && { callbackUrl }) }
    return engine.scratchpad.send(request, secrets)
  },
  takeCallback: ({ context, input: { id } }) => context.engine.scratchpad.takeCallback(id),
}

/** The sandbox posts to any address in a request; the window promises that nothing leaves this machine. */
function namesCallback(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) && body['callback_url'] !== undefined
  } catch {
    return false
  }
}

async function findDestination(
  context: BridgeContext,
  connection: PlanConnection,
): Promise<ScratchDestination | null> {
  if (await context.sandbox.isOwnAddress(connection.baseUrl)) return { kind: 'sandbox' }
  const stored = findStoredConnection(context, connection)
  return stored === null ? null : { kind: 'stored', name: stored.name }
}
