import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { ListQuery } from '../../shared/bridge/lists.ts'
import type { LedgerQuery, LedgerService } from '../../shared/lookback/ledger.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { Engine } from '../engine/engine.ts'
import { readConnections } from '../engine/workspace/connections.ts'
import { toLedgerSourcesFolder } from '../engine/workspace/workspace-files.ts'
import type { Handlers } from './bridge-context.ts'
import { toExportName } from './results-handlers.ts'

export const listsHandlers: Handlers<'lists'> = {
  read: async ({ context: { engine }, input: { offset, limit, ...query } }) => {
    await engine.runs.settleLate()
    const read = (service: LedgerQuery['service']) =>
      engine.lookback.readLedger({ ...query, service }, { offset, limit })
    if (query.service !== null) return read(toAsked(query.service))
    try {
      return await read({})
    } catch (error) {
      const services = error instanceof SluiceError ? toServices(error) : null
      if (services === null) throw error
      const chosen = chooseService(engine, services)
      return chosen === null ? null : read(toAsked(chosen))
    }
  },
  export: async ({ context: { engine, host }, input }) => {
    const { format, targetId, ...query } = input
    await engine.runs.settleLate()
    const place = await host.placeExport({
      targetId,
      format,
      name: toExportName(query.list ?? '', query.of, format),
    })
    return place.publish(await engine.lookback.exportLedger(toLedgerQuery(query), place.file))
  },
  toSource: async ({ context: { engine, sources, sandbox }, input: query }) => {
    await engine.runs.settleLate()
    const folder = toLedgerSourcesFolder(engine.workspace)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // A draft may still read the file from an earlier call.
    const own = mkdtempSync(join(folder, 'list-'))
    const file = join(own, toExportName(query.list ?? '', query.of, 'csv'))
    await engine.lookback.exportLedger(toLedgerQuery(query), file)
    const isSandbox = await sandbox.isOwnAddress(query.service.base_url)
    return { ...(await sources.add(file)), isSandbox }
  },
}

/** The possible services of a ledger if none was chosen; null for any other error. */
function toServices({ said }: SluiceError): readonly LedgerService[] | null {
  return said.id === 'ledger_of_several' || said.id === 'ledger_without_runs' ? said.services : null
}

/** The service of the connection in use, else the one used last; null without any. */
function chooseService(engine: Engine, services: readonly LedgerService[]): LedgerService | null {
  const { inUse } = readConnections(engine.workspace)
  const ofConnection = services.find(({ connections }) => inUse !== null && connections.includes(inUse))
  return ofConnection ?? services.at(-1) ?? null
}

function toLedgerQuery({ service, ...others }: ListQuery): LedgerQuery {
  return { ...others, service: toAsked(service) }
}

/** A service in the form in which ledgers are queried. */
function toAsked({
  base_url: baseUrl,
  connections,
  api_key_env: apiKeyEnv,
}: LedgerService): LedgerQuery['service'] {
  const [connection] = connections
  return { baseUrl, ...(connection === undefined ? { apiKeyEnv } : { connection }) }
}
