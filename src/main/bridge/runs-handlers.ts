import { basename } from 'node:path'
import type { ResumeOptions } from '../engine/engine-interface.ts'
import type { BridgeContext } from './bridge-context.ts'
import { bridge } from './implementer.ts'
import { findRunKey } from './run-key.ts'
import { watchAllHandler, watchHandler } from './watch-handlers.ts'

const { runs } = bridge

/** What a window that takes a run up again says about it. */
interface TakeUp {
  runId: string
  onUnknown: 'resend' | 'skip'
  apiKey?: string
  hold?: boolean
}

async function toResumeOptions(context: BridgeContext, wish: TakeUp): Promise<ResumeOptions> {
  const { connection } = await context.engine.readPlan(wish.runId)
  const key = await findRunKey(context, connection.baseUrl, wish.apiKey)
  return { ...key, onUnknown: wish.onUnknown, hold: wish.hold ?? false, whenBurning: 'pause' }
}

/** Ends a run that is held and has sent nothing, so that it can be deleted; leaves every other run alone. */
async function endUnsent({ liveRuns }: BridgeContext, runId: string): Promise<void> {
  const handle = liveRuns.find(runId)
  if (handle === null || (handle.snapshot()?.requests.sent ?? 0) > 0) return
  handle.stop()
  await handle.ended.catch(() => {})
}

/** Runs: start, steer, look back. */
export const runsHandlers = runs.router({
  list: runs.list.handler(async ({ context: { engine, liveRuns } }) => {
    const summaries = await engine.listRuns()
    return summaries.map((summary) => ({ summary, isHeld: liveRuns.find(summary.run_id) !== null }))
  }),
  summarize: runs.summarize.handler(({ context, input }) => context.engine.summarizeRun(input.runId)),
  readPlan: runs.readPlan.handler(({ context, input }) => context.engine.readPlan(input.runId)),
  start: runs.start.handler(async ({ context, input: { plan, apiKey } }) => {
    context.host.checkSourcePath(plan.source.path)
    const key = await findRunKey(context, plan.connection.baseUrl, apiKey)
    // Named after its source, as the command line does.
    const named = { ...plan, name: plan.name ?? basename(plan.source.path) }
    const handle = await context.engine.startRun(named, { ...key, hold: true, whenBurning: 'pause' })
    context.liveRuns.add(handle)
    return { runId: handle.runId }
  }),
  awaitReady: runs.awaitReady.handler(async ({ context, input }) => {
    await context.liveRuns.require(input.runId).ready
    return {}
  }),
  begin: runs.begin.handler(async ({ context, input: { runId, ...options } }) => {
    context.liveRuns.require(runId).begin(options)
    return {}
  }),
  pause: runs.pause.handler(async ({ context, input }) => {
    context.liveRuns.require(input.runId).pause()
    return {}
  }),
  resume: runs.resume.handler(async ({ context, input }) => {
    context.liveRuns.require(input.runId).resume()
    return {}
  }),
  stop: runs.stop.handler(async ({ context, input }) => {
    context.liveRuns.require(input.runId).stop()
    return {}
  }),
  setConcurrency: runs.setConcurrency.handler(async ({ context, input: { runId, concurrency } }) => {
    context.liveRuns.require(runId).setConcurrency(concurrency)
    return {}
  }),
  resumeRun: runs.resumeRun.handler(async ({ context, input }) => {
    const handle = await context.engine.resumeRun(input.runId, await toResumeOptions(context, input))
    context.liveRuns.add(handle)
    return { runId: handle.runId }
  }),
  retryRun: runs.retryRun.handler(async ({ context, input }) => {
    const handle = await context.engine.retryRun(input.runId, await toResumeOptions(context, input))
    context.liveRuns.add(handle)
    return { runId: handle.runId }
  }),
  deleteRun: runs.deleteRun.handler(async ({ context, input }) => {
    await endUnsent(context, input.runId)
    await context.engine.deleteRun(input.runId)
    context.liveRuns.noteChange()
    return {}
  }),
  watch: watchHandler,
  watchAll: watchAllHandler,
})
