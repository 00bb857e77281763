import { existsSync } from 'node:fs'
import { describeSourceChange, findPostIds, renewPostIds } from '../../shared/lookback/run-again.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { type Operation, sendsKey } from '../../shared/operations/operations.ts'
import { type Plan, planSchema } from '../../shared/plan/plan.ts'
import { listSourcePaths, nameSource } from '../../shared/plan/source-paths.ts'
import { isLoadRun, type RunSummary } from '../../shared/run/run.ts'
import { readRetention, writeRetention } from '../engine/workspace/retention-settings.ts'
import type { BridgeContext, Handlers } from './bridge-context.ts'
import { findStoredConnection, findStoredKey, lacksKey } from './run-key.ts'
import { refuseOwnCallbacks, refuseProduction, startHeld, toConnection } from './runs-handlers.ts'

export const historyHandlers: Handlers<'history'> = {
  annotate: async ({ context: { engine, liveRuns }, input: { runId, change } }) => {
    await engine.runs.annotateRun(runId, change)
    liveRuns.noteChange()
  },
  readRetention: async ({ context }) => readRetention(context.engine.workspace),
  storeRetention: async ({ context: { engine, liveRuns }, input }) => {
    writeRetention(engine.workspace, input)
    liveRuns.noteChange()
  },
  findPrunable: ({ context, input }) => context.engine.runs.findPrunable(input),
  prune: async ({ context: { engine, liveRuns }, input: { runIds, retention } }) => {
    const shown = new Set(runIds)
    const { runs } = await engine.runs.findPrunable(retention)
    const chosen = runs.map((run) => run.run_id).filter((runId) => shown.has(runId))
    try {
      const busy = await engine.runs.deleteRuns(chosen)
      return { deleted: chosen.length - busy.length, busy }
    } finally {
      // Some runs may be deleted although another could not be.
      liveRuns.noteChange()
    }
  },
  planAgain: async ({ context, input }) => {
    const { run, plan, source } = await readEarlier(context, input)
    const { connection, operation } = plan
    const change = await context.engine.runs.findSourceChange(run.run_id, plan.source)
    const stored = findStoredConnection(context, connection)
    const key = findStoredKey(context, connection)
    const isSandbox = await context.sandbox.isOwnAddress(connection.baseUrl)
    const isKeyed = sendsKey(operation)
    return {
      runId: run.run_id,
      name: run.name,
      isLoadTest: isLoadRun(run),
      baseUrl: connection.baseUrl,
      taskBaseUrl: connection.taskBaseUrl ?? null,
      connectionName: stored?.name ?? null,
      isSandbox,
      sendsKey: isKeyed,
      needsKey: isKeyed && !isSandbox && (await lacksKey(context, key)),
      source: {
        name: source,
        change: change.kind,
        description: describeSourceChange(run.run_id, source, change),
      },
      postIds: findPostIds(plan, await context.engine.results.readColumns(run.run_id)),
      legacy: hasLegacyChoice(operation) ? operation.legacy : null,
      rows: run.rows.read,
    }
  },
  runAgain: async ({ context, input }) => {
    const { destination, keepPostIds, legacy, name, apiKey } = input
    const { run, plan: earlier } = await readEarlier(context, input)
    const missing = listSourcePaths(earlier.source).find((path) => !existsSync(path))
    if (missing !== undefined) {
      throw new SluiceError({ id: 'again_source_missing', source: missing, runId: run.run_id })
    }
    const columns = await context.engine.results.readColumns(run.run_id)
    const change = await context.engine.runs.findSourceChange(run.run_id, earlier.source)
    // Running again sends all rows again, including those sent before.
    const { accept: _codes, accepted, onlyNew: _skips, ...unaccepted } = earlier
    // What was accepted for one source does not apply to another.
    const kept = change.kind === 'same' && accepted !== undefined ? { ...unaccepted, accepted } : unaccepted
    const renewed = keepPostIds ? kept : renewPostIds(kept, columns)
    const isSandbox = await context.sandbox.isOwnAddress(earlier.connection.baseUrl)
    // The sandbox's address may have changed.
    const place = destination ?? (isSandbox ? { kind: 'sandbox' as const } : null)
    if (place?.kind === 'sandbox') refuseOwnCallbacks(renewed)
    const plan = planSchema.parse({
      ...renewed,
      ...(legacy !== undefined &&
        hasLegacyChoice(renewed.operation) && { operation: { ...renewed.operation, legacy } }),
      name: name ?? run.name,
      connection: place === null ? renewed.connection : await toConnection(context, place),
    })
    refuseProduction(context, plan)
    return startHeld(context, plan, apiKey)
  },
}

/** Only v1 has a short and a long form of task answers (docs/interface.md §4.1). */
function hasLegacyChoice(operation: Operation): operation is Extract<Operation, { kind: 'task' }> {
  return operation.kind === 'task' && operation.api === 'v1'
}

/**
 * The plan to run again, with its source, and the run that it comes from. A retry sends only part of the
 * source; running again sends all of it. Throws `RUN_NOT_FOUND` and `BAD_SOURCE`.
 */
async function readEarlier(
  { engine, sources }: BridgeContext,
  { runId, sourceId }: { runId: string; sourceId?: string },
): Promise<{ run: RunSummary; plan: Plan; source: string }> {
  const named = await engine.runs.summarizeRun(runId)
  const run = named.whole_run === null ? named : await engine.runs.summarizeRun(named.whole_run.run_id)
  const plan = await engine.runs.readPlanAgain(run.run_id)
  if (sourceId === undefined) return { run, plan, source: nameSource(plan.source) }
  const { name, ...paths } = sources.find(sourceId)
  const { more: _more, ...reading } = plan.source
  return { run, plan: { ...plan, source: { ...reading, ...paths } }, source: name }
}
