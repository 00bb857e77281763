import { listPlanDifferences } from '../plan/plan-differences.ts'
import { createHistogram } from './latency-meter.ts'
import type { ComparedRun } from './load-comparison.ts'
import { TREND_METRICS } from './metrics.ts'

/** Several runs as one side of a comparison, with the latencies that all of them measured. */
export function poolRuns(runs: readonly ComparedRun[]): ComparedRun {
  const [first, ...others] = runs
  if (first === undefined) throw new Error('a side has at least one run')
  if (others.length === 0) return first
  const sum = (read: (run: ComparedRun) => number) => runs.reduce((total, run) => total + read(run), 0)
  const latencies: ComparedRun['latencies'] = {}
  for (const metric of TREND_METRICS) {
    const histories = runs.flatMap((run) => run.latencies[metric] ?? [])
    if (histories.length < runs.length) continue
    const total = createHistogram()
    for (const history of histories) total.add(history.total)
    latencies[metric] = { total, batches: histories.flatMap(({ batches }) => batches) }
  }
  return {
    label: `${runs.length} runs: ${runs.map(({ label }) => label).join(', ')}`,
    plan: first.plan,
    ownDifferences: others.flatMap(({ plan }) => listPlanDifferences(first.plan, plan)),
    state: runs.find(({ state }) => state !== 'whole')?.state ?? 'whole',
    durationS: sum(({ durationS }) => durationS),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    succeeded: sum(({ succeeded }) => succeeded),
    dropped: sum(({ dropped }) => dropped),
    missingCallbacks: sum(({ missingCallbacks }) => missingCallbacks),
    silence: runs.find(({ silence }) => silence !== undefined)?.silence,
    generatorLimited: runs.some(({ generatorLimited }) => generatorLimited),
    fromCache: sum(({ fromCache }) => fromCache),
    latencies,
    batches: runs.flatMap(({ batches }) => batches),
  }
}
