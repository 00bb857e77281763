import { statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { PLAN_FORMAT } from '../../shared/bridge/plans.ts'
import { formatCounted } from '../../shared/messages/figure-text.ts'
import { sendsKey } from '../../shared/operations/operations.ts'
import { type Plan, planSchema } from '../../shared/plan/plan.ts'
import { toPlanConnection } from '../../shared/plan/stored-connection.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import { staysWithin } from '../engine/workspace/connection-secrets.ts'
import { readConnections } from '../engine/workspace/connections.ts'
import { requireSource, toPlanPath, writePlanFile } from '../engine/workspace/plan-file.ts'
import type { BridgeServices, Handlers } from './bridge-context.ts'
import { withNames } from './opened-plans.ts'
import { toExportName } from './results-handlers.ts'
import { findStoredKey, lacksKey } from './run-key.ts'
import { refuseOwnCallbacks, refuseProduction, startHeld, toConnection } from './runs-handlers.ts'
import { toUploadsFolder } from './sources.ts'

export const plansHandlers: Handlers<'plans'> = {
  describe: async ({ context, input: { planId } }) => {
    const { file, plan: written } = findReadable(context, planId)
    const { plan, isSandbox, leftOut } = await toOwnPlan(context, written)
    const key = findStoredKey(context, plan.connection)
    return {
      file: basename(file),
      name: plan.name ?? basename(file),
      operation: plan.operation,
      load: plan.load ?? null,
      source: toPlanPath(dirname(file), plan.source.path),
      baseUrl: plan.connection.baseUrl,
      taskBaseUrl: plan.connection.taskBaseUrl ?? null,
      connectionName: plan.connection.name ?? null,
      isSandbox,
      needsKey: sendsKey(plan.operation) && !isSandbox && (await lacksKey(context, key)),
      leftOut,
    }
  },
  start: async ({ context, input: { planId, apiKey } }) => {
    const { plan: written } = findReadable(context, planId)
    const { plan, isSandbox } = await toOwnPlan(context, written)
    if (isSandbox) refuseOwnCallbacks(plan)
    refuseProduction(context, plan)
    return startHeld(context, plan, apiKey)
  },
  save: async ({ context: { engine, host }, input: { runId, targetId } }) => {
    const written = await engine.runs.readPlan(runId)
    const summary = await engine.runs.summarizeRun(runId)
    const { plan, notes } = toSaved(engine.workspace, written, summary)
    const format = PLAN_FORMAT
    const { name } = summary
    const place = await host.placeExport({ targetId, format, name: toExportName(name, runId, format) })
    writePlanFile(place.file, plan, { isMoved: host.platform === 'browser', notes })
    const { size } = statSync(place.file)
    return { saved: await place.publish({ file: place.file, rows: 0, sizeBytes: size }), notes }
  },
}

/**
 * A run's plan in the form for a file. An uploaded file vanishes with the window, so the plan names it as a
 * file next to itself; and a plan has a whole source, not some of its rows.
 */
function toSaved(
  workspace: string,
  plan: Plan,
  { run_id: runId, parent_run_id: parent, rows }: RunSummary,
): { plan: Plan; notes: string[] } {
  const { path } = plan.source
  const name = basename(path)
  const isUpload = path.startsWith(join(toUploadsFolder(workspace), sep))
  const notes = [
    ...(isUpload
      ? [`The source is named without a folder: keep ${name} next to this file, or change source.path.`]
      : []),
    ...(parent === null
      ? []
      : [
          `Run ${runId} was a retry of ${formatCounted(rows.read, 'row')}, but a plan sends every row of its source. To send only those rows, export that run and use the export as the source.`,
        ]),
  ]
  return { plan: isUpload ? { ...plan, source: { ...plan.source, path: name } } : plan, notes }
}

/** A plan whose source exists. Throws the plan's error, and `BAD_SOURCE`. */
function findReadable({ plans }: BridgeServices, planId: string): { file: string; plan: Plan } {
  const found = plans.find(planId)
  try {
    requireSource(found.file, found.plan)
    return found
  } catch (error) {
    throw withNames(error, found.file)
  }
}

/**
 * The plan as the window sends it. Variables, certificates and proxy come from the stored connection that it
 * keeps to, or are left out: a plan may come from anybody, and a typed key must reach the address that was
 * shown. The workspace decides where the receiver listens.
 */
async function toOwnPlan(
  services: BridgeServices,
  written: Plan,
): Promise<{ plan: Plan; isSandbox: boolean; leftOut: string[] }> {
  // The window asks again whatever the plan accepts, since the rows may be others.
  const { accept: _codes, accepted: _causes, ...unaccepted } = written
  const { connection } = written
  const { host: _host, port, ...callback } = written.callback
  const isSandbox = await services.sandbox.isOwnAddress(connection.baseUrl)
  const stored = readConnections(services.engine.workspace).connections.find(
    (one) => one.name === (connection.name ?? one.name) && staysWithin(one, connection),
  )
  const { baseUrl, taskBaseUrl, timeoutMs, deliveredCodes, tls, proxy } = connection
  const { headers, resolve, unixSocket } = connection
  const own = { baseUrl, ...(taskBaseUrl !== undefined && { taskBaseUrl }), timeoutMs, deliveredCodes }
  const plan = planSchema.parse({
    ...unaccepted,
    connection: isSandbox
      ? await toConnection(services, { kind: 'sandbox' })
      : stored === undefined
        ? { ...own, keyFrom: 'window' }
        : { ...toPlanConnection(stored), ...own },
    callback,
  })
  const leftOut = [
    ...(stored === undefined && tls !== undefined ? ['the certificates'] : []),
    ...(stored === undefined && proxy !== undefined ? ['the proxy'] : []),
    ...(headers !== undefined && JSON.stringify(headers) !== JSON.stringify(stored?.headers)
      ? ['the headers']
      : []),
    ...(stored === undefined && (resolve ?? unixSocket) !== undefined ? ['the address to connect to'] : []),
    ...(written.callback.host === plan.callback.host && port === undefined
      ? []
      : ['where callbacks are received']),
  ]
  return { plan, isSandbox, leftOut }
}
