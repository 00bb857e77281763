import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { planCapacity, toCapacityThresholds } from '../../src/shared/load/capacity-plan.ts'
import { type CapacityReport, toCapacityReport } from '../../src/shared/load/capacity-report.ts'
import { findCapacity } from '../../src/shared/load/find-capacity.ts'
import type { LoadInput } from '../../src/shared/load/load.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine, withFolder, writeSource } from '../lib/workspace.ts'

/** The parent's request. */
export interface CapacityBenchTask {
  url: string
  load: LoadInput
  coolDownMs: number
}

const task = JSON.parse(process.argv[2] ?? '') as CapacityBenchTask
reportToParent(await search(task))

function search({ url, load, coolDownMs }: CapacityBenchTask): Promise<CapacityReport> {
  return withFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    writeSource(path, 1_000)
    const engine = createBenchEngine(folder)
    const { load: asked, ...parsed } = planSchema.parse({
      connection: { baseUrl: url },
      source: { path },
      operation: { kind: 'task' },
      retry: { limit: 0 },
      load,
    })
    if (asked === undefined) throw new Error('a search probes load tests')
    const plan = { ...parsed, load: { ...asked, thresholds: toCapacityThresholds(asked) } }
    const planned = planCapacity(plan.load, { maxProbes: 25, maxTimeMs: 3_600_000, coolDownMs })
    if (!planned.ok) throw new Error(planned.mistake)
    const outcome = await findCapacity(plan, planned.plan, {
      send: async (probe) => {
        const apiKey = ApiKey.create('key', probe.connection, 'of the benchmark')
        return await (await engine.runs.startRun(probe, { apiKey })).ended
      },
      onJudged: () => undefined,
      pause: async (ms) => {
        await setTimeout(ms)
      },
      isInterrupted: () => false,
      nowMs: () => performance.now(),
    })
    await engine.close()
    if ('unsent' in outcome) throw new Error('nothing was sent')
    return toCapacityReport(plan, planned.plan, outcome)
  })
}
