import type { RunRequest } from '../../shared/bridge/runs.ts'
import type { Baseline } from '../../shared/lookback/baseline.ts'
import { isEmpty } from '../../shared/mapping/check-mapping.ts'
import { listNeeded } from '../../shared/messages/accept-messages.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { findNeeds } from '../../shared/messages/problem-traits.ts'
import { sendsKey, toRowsPerItem } from '../../shared/operations/operations.ts'
import type { PlanConnectionInput } from '../../shared/plan/connection.ts'
import { type Plan, planSchema } from '../../shared/plan/plan.ts'
import { findProduction } from '../../shared/plan/production-service.ts'
import { toPlanConnection } from '../../shared/plan/stored-connection.ts'
import type { AcceptCode } from '../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../shared/run/problem.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import type { Engine } from '../engine/engine.ts'
import type { ResumeOptions, RunHandle } from '../engine/engine-interface.ts'
import { ApiKey } from '../engine/secrets/bound-secret.ts'
import { findConnection, readConnections } from '../engine/workspace/connections.ts'
import type { BridgeContext, BridgeServices, Handlers } from './bridge-context.ts'
import { findRunSecrets, findStoredConnection, findStoredKey, followActiveKey, lacksKey } from './run-key.ts'
import { describeSending } from './sending-sheet.ts'
import { watchRun, watchRuns } from './watch-handlers.ts'

export const runsHandlers: Handlers<'runs'> = {
  list: async ({ context: { engine, liveRuns }, input: query }) => {
    // Usually no callback is late, and one look at the workspace answers both.
    const settling = engine.runs.settleLate().catch((error: unknown) => {
      // An unreadable inbox must not hide runs; the callbacks screen reports it.
      if (error instanceof SluiceError && error.code === 'WORKSPACE_UNUSABLE') return false
      throw error
    })
    settling.catch(() => {})
    const listed = await engine.runs.listRunsSoFar(query)
    // While journals are still being read, the page does not wait for this and asks again.
    const page = listed.unread === 0 && (await settling) ? await engine.runs.listRunsSoFar(query) : listed
    const { runs: summaries, figures, ...others } = page
    const baselines = readBaselinesOrNone(engine)
    const entries = summaries.map((summary, at) => ({
      summary,
      isHeld: liveRuns.find(summary.run_id) !== null,
      figures: figures[at] ?? { sizeBytes: 0, courseMs: [] },
      baselines: findBaselineNames(baselines, summary),
    }))
    return { entries, ...others }
  },
  summarize: async ({ context: { engine }, input: { runId } }) => {
    await engine.runs.settleLate(runId)
    return engine.runs.summarizeRun(runId)
  },
  readPlan: ({ context, input }) => context.engine.runs.readPlan(input.runId),
  start: async ({ context, input: { request, apiKey } }) =>
    startHeld(context, await toPlan(context, request), apiKey),
  awaitReady: async ({ context, input }) => {
    await context.liveRuns.require(input.runId).ready
  },
  begin: async ({ context, input: { runId, ...options }, signal }) => {
    const accept = await confirm(context, runId, options, signal)
    const [held, plan] = [context.liveRuns.require(runId), context.liveRuns.requirePlan(runId)]
    const handle = await context.engine.runs.beginRun(runId, { ...options, accept })
    if (handle !== held) holdRun(context, plan, handle, ofTypedKeys.has(held))
    begun.set(handle, options.limit === undefined || !isHeldOrTrial(handle) ? 'all' : 'trial')
    return { runId: handle.runId }
  },
  pause: ({ context, input }) => context.liveRuns.require(input.runId).pause(),
  resume: async ({ context, input: { runId, ...options }, signal }) => {
    // The rows of a paused run have already been accepted.
    refuse(await findOpen(context, runId, []))
    await confirm(context, runId, {}, signal)
    const handle = context.liveRuns.require(runId)
    handle.resume(options)
    // A trial that was paused goes on as one.
    if (begun.get(handle) !== 'trial') begun.set(handle, 'all')
  },
  stop: ({ context, input }) => context.liveRuns.require(input.runId).stop(),
  setConcurrency: ({ context, input: { runId, concurrency } }) =>
    context.liveRuns.require(runId).setConcurrency(concurrency),
  setApiKey: async ({ context, input: { runId, apiKey } }) => {
    const handle = context.liveRuns.require(runId)
    const { connection } = await context.engine.runs.readPlan(runId)
    handle.setApiKey(ApiKey.create(apiKey, connection, 'that was typed in'))
  },
  readAccess: async ({ context, input }) => {
    const { connection, operation } = await context.engine.runs.readPlan(input.runId)
    const stored = findStoredConnection(context, connection)
    const key = findStoredKey(context, connection)
    const isSandbox = await context.sandbox.isOwnAddress(connection.baseUrl)
    const isAnonymous = !sendsKey(operation)
    return {
      connectionName: stored?.name ?? null,
      keyConnection: key?.owner.name ?? null,
      isProduction:
        findProduction(readConnections(context.engine.workspace).connections, connection) !== null,
      needsKey: !isSandbox && !isAnonymous && (await lacksKey(context, key)),
      canChangeKey: !isSandbox && !isAnonymous,
    }
  },
  matchKeys: async ({ context: { engine }, input: { runId, apiKeys } }) => {
    const { connection } = await engine.runs.readPlan(runId)
    const keys = apiKeys.map((apiKey) => ApiKey.create(apiKey, connection, 'that was typed in'))
    return { matches: await Promise.all(keys.map((key) => engine.runs.wasSentWith(runId, key))) }
  },
  resumeRun: ({ context, input, signal }) => continueRun(context, input, 'resumeRun', signal),
  retryRun: ({ context, input, signal }) => continueRun(context, input, 'retryRun', signal),
  correctRun: async ({ context, input: { runId, apiKey, ...correction } }) => {
    const { fixes: _earlier, ...rest } = await context.engine.runs.readPlan(runId)
    const plan = { ...rest, fixes: correction.fixes }
    const secrets = await findRunSecrets(context, plan, apiKey)
    const options = { ...secrets, ...correction, hold: true, whenFailing: 'pause' } as const
    const handle = await context.engine.runs.retryRun(runId, options)
    holdRun(context, plan, handle, apiKey !== undefined)
    return { runId: handle.runId }
  },
  deleteRun: async ({ context, input }) => {
    await refuseBaseline(context, input.runId)
    await endUnsent(context, input.runId)
    await context.engine.runs.deleteRun(input.runId)
    context.liveRuns.noteChange()
  },
  drop: async ({ context: { engine, liveRuns }, input: { runId } }) => {
    const handle = liveRuns.find(runId)
    // The window may not know that all of it was begun, such as after a lost connection.
    if (handle !== null && !isHeldOrTrial(handle)) return
    handle?.stop()
    await handle?.ended.catch(() => {})
    const { requests, rows } = await engine.runs.summarizeRun(runId)
    if (requests.sent + rows.unknown > 0) return
    await engine.runs.deleteRun(runId)
    liveRuns.noteChange()
  },
  watch: watchRun,
  watchAll: watchRuns,
}

interface ContinueRun {
  runId: string
  onUnknown: 'resend' | 'skip'
  resendIndexAdds?: boolean
  apiKey?: string
  accept?: AcceptCode[]
  hold?: boolean
}

type ContinueMethod = 'resumeRun' | 'retryRun'

async function continueRun(
  context: BridgeContext,
  request: ContinueRun,
  how: ContinueMethod,
  signal: AbortSignal | undefined,
): Promise<{ runId: string }> {
  const { productionGate } = context
  const plan = await context.engine.runs.readPlan(request.runId)
  const { runId } = request
  // What is sent is known only once the journal is open, so a held run is asked about here, too.
  const accept = await acceptOpen(context, runId, request.accept, (listNotes) =>
    productionGate.passOnce({ runId, plan, rows: null, listNotes }, signal),
  )
  const secrets = await findRunSecrets(context, plan, request.apiKey)
  const options = {
    ...secrets,
    onUnknown: request.onUnknown,
    resendIndexAdds: request.resendIndexAdds ?? false,
    hold: request.hold ?? false,
    endsWithTrial: how === 'resumeRun',
    accept,
    whenFailing: 'pause',
  } satisfies ResumeOptions
  const handle = await context.engine.runs[how](request.runId, options)
  productionGate.admit(handle.runId, plan)
  holdRun(context, plan, handle, request.apiKey !== undefined)
  return { runId: handle.runId }
}

/** The list of baselines reports why it cannot be read; here it counts as empty. */
function readBaselinesOrNone(engine: Engine): Baseline[] {
  try {
    return engine.lookback.readBaselines()
  } catch {
    return []
  }
}

function findBaselineNames(
  baselines: readonly Baseline[],
  { run_id, retries }: Pick<RunSummary, 'run_id' | 'retries'>,
): string[] {
  const ids = new Set([run_id, ...retries.map((retry) => retry.run_id)])
  return baselines.filter((one) => ids.has(one.run_id)).map(({ name }) => name)
}

/** Later runs are compared with a baseline, so lists cannot delete it. Throws `BAD_USAGE`. */
async function refuseBaseline({ engine }: BridgeServices, runId: string): Promise<void> {
  const baselines = engine.lookback.readBaselines()
  if (baselines.length === 0) return
  // Damaged journals can be deleted, too.
  const summary = await engine.runs.summarizeRun(runId).catch(() => ({ run_id: runId, retries: [] }))
  const names = findBaselineNames(baselines, summary)
  if (names.length > 0) throw new SluiceError({ id: 'run_is_baseline', runId, names })
}

/** Starts a run, which waits for `runs.begin`. `apiKey` is a typed key, if any. */
export async function startHeld(context: BridgeServices, plan: Plan, apiKey: string | undefined) {
  const secrets = await findRunSecrets(context, plan, apiKey)
  const isForgetful = await context.sandbox.isOwnAddress(plan.connection.baseUrl)
  const options = { ...secrets, isForgetful, hold: true, whenFailing: 'pause' } as const
  const handle = await context.engine.runs.startRun(plan, options)
  holdRun(context, plan, handle, apiKey !== undefined)
  return { runId: handle.runId }
}

/** Runs with a typed key, which they keep whatever their connection's active key is. */
const ofTypedKeys = new WeakSet<RunHandle>()

/** What windows let runs send, which snapshots may show only later; others are held or send everything. */
const begun = new WeakMap<RunHandle, 'trial' | 'all'>()

function isHeldOrTrial(handle: RunHandle): boolean {
  const phase = handle.snapshot()?.phase ?? 'intake'
  return begun.get(handle) === 'trial' || (!begun.has(handle) && (phase === 'intake' || phase === 'ready'))
}

/** Keeps a newly started run for all windows. */
export function holdRun(context: BridgeServices, plan: Plan, handle: RunHandle, isKeyTyped: boolean): void {
  if (isKeyTyped) ofTypedKeys.add(handle)
  context.liveRuns.add(handle, plan)
  const forget = () => context.productionGate.forget(handle.runId)
  handle.ended.then(forget, forget)
  followActiveKey(context, plan, handle, isKeyTyped)
}

/** Warnings of a run that must be accepted and are missing in `accept`. */
async function findOpen(
  { engine }: BridgeContext,
  runId: string,
  accept: readonly AcceptCode[],
): Promise<ProblemGroup[]> {
  const open = await engine.results.readOpenWarnings(runId)
  return open.filter((group) => !accept.some((code) => code === findNeeds(group)))
}

/** Whatever a page says, no row is sent with unaccepted warnings. Throws `NOT_CONFIRMED`. */
function refuse(groups: readonly ProblemGroup[]): void {
  if (groups.length > 0) throw new SluiceError({ id: 'warnings_unaccepted', groups })
}

/**
 * Asks all necessary questions before a run is sent. What a page accepts counts as accepted; a person who is
 * asked about production also sees all warnings, and accepts them with the same answer. Returns what is
 * accepted. Throws `NOT_CONFIRMED`.
 */
async function acceptOpen(
  context: BridgeContext,
  runId: string,
  accept: readonly AcceptCode[] = [],
  ask: (listNotes: () => Promise<string[]>, isAlways: boolean) => Promise<boolean>,
): Promise<AcceptCode[]> {
  const open = await findOpen(context, runId, accept)
  const wasAsked = await ask(() => describeSending(context.engine, runId), open.length > 0)
  if (!wasAsked) refuse(open)
  return [...new Set([...accept, ...listNeeded(open)])]
}

/** Asks about a held run like {@link acceptOpen}: about all of it, or about `limit` items. */
function confirm(
  context: BridgeContext,
  runId: string,
  { limit, accept }: { limit?: number; accept?: readonly AcceptCode[] },
  signal: AbortSignal | undefined,
): Promise<AcceptCode[]> {
  const { liveRuns, productionGate } = context
  const plan = liveRuns.requirePlan(runId)
  const left = liveRuns.require(runId).snapshot()?.rows.not_sent ?? null
  const rows = limit === undefined ? left : Math.min(limit * toRowsPerItem(plan.operation), left ?? Infinity)
  return acceptOpen(context, runId, accept, async (listNotes, isAlways) => {
    const sending = { runId, plan, rows, listNotes }
    const wasAsked = await (isAlways
      ? productionGate.passOnce(sending, signal)
      : productionGate.pass(sending, signal))
    if (limit === undefined) productionGate.admit(runId, plan)
    return wasAsked
  })
}

/** Ends a held run that has sent nothing, so that it can be deleted; leaves all others alone. */
async function endUnsent({ liveRuns }: BridgeContext, runId: string): Promise<void> {
  const handle = liveRuns.find(runId)
  if (handle === null || (handle.snapshot()?.requests.sent ?? 0) > 0) return
  handle.stop()
  await handle.ended.catch(() => {})
}

/**
 * The plan for a page's request: files by their handles, connections by their names. What the page cannot
 * name, such as variables, TLS files, proxies and the receiver's host, comes from the stored connection or
 * the defaults. Throws `BAD_SOURCE`, `CONNECTION_NOT_FOUND`, `SANDBOX_UNAVAILABLE` or `BAD_USAGE`.
 */
export async function toPlan(services: BridgeServices, request: RunRequest): Promise<Plan> {
  const { destination, timeoutMs, source, callback, load, ...rest } = request
  const { sourceId, ...reading } = source
  const { name, ...paths } = services.sources.find(sourceId)
  refuseProduction(services, request)
  if (destination.kind === 'sandbox') refuseOwnCallbacks(request)
  const connection = await toConnection(services, destination)
  return planSchema.parse({
    ...rest,
    name,
    connection: { ...connection, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    source: { ...reading, ...paths },
    ...(callback === undefined ? {} : { callback }),
    ...(load === undefined ? {} : { load }),
  })
}

/** The connection for a page's destination. Throws `CONNECTION_NOT_FOUND` and `SANDBOX_UNAVAILABLE`. */
export async function toConnection(
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

/** Callbacks and media must come to this machine, wherever the rows go. Throws `BAD_USAGE`. */
export function refuseProduction(
  { productionGate }: BridgeServices,
  { callback, source: { media } }: Plan | RunRequest,
): void {
  productionGate.refuseAddress(callback?.url)
  productionGate.refuseAddress(media?.kind === 'host' ? media.url : undefined)
}

/** The sandbox posts to any address in a row, but the window promises that nothing leaves this machine. */
export function refuseOwnCallbacks({ mapping }: Pick<RunRequest, 'mapping'>): void {
  if (isEmpty(mapping['callback_url'])) return
  throw new SluiceError({ id: 'sandbox_callbacks_elsewhere' })
}
