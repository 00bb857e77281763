import { DEFAULT_INDEX, DEFAULT_WATCHLIST } from '../sandbox/rules/defaults.ts'
import { bridge } from './implementer.ts'
import { SAMPLE_FILE } from './sample-file.ts'

/** The embedded service. */
export const sandboxHandlers = bridge.sandbox.router({
  describe: bridge.sandbox.describe.handler(async () => ({
    indexId: DEFAULT_INDEX,
    watchlist: DEFAULT_WATCHLIST,
  })),
  start: bridge.sandbox.start.handler(async ({ context: { engine, liveRuns, sandbox, sources } }) => {
    const runIds = liveRuns.snapshots().map(({ runId }) => runId)
    const plans = await Promise.all(runIds.map((runId) => engine.readPlan(runId).catch(() => null)))
    const isUsed = plans.some((plan) => plan !== null && plan.connection.baseUrl === sandbox.baseUrl())
    return {
      baseUrl: await sandbox.start({ keep: isUsed }),
      sample: await sources.add(SAMPLE_FILE),
    }
  }),
  stop: bridge.sandbox.stop.handler(async ({ context }) => {
    await context.sandbox.stop()
    return {}
  }),
})
