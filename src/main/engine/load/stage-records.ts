import { type Load, toArrivalSchedule } from '../../../shared/load/load.ts'
import { isOpen, STAGES_COUNTED } from '../../../shared/load/load-pace.ts'
import type { LoadStage } from '../../../shared/load/load-report.ts'
import { STAGE_METRICS, type StagedRequests } from './tagged-requests.ts'

/** The measured stages of a load; empty if its pace has none, or too many. */
export function toStageRecords(
  load: Load,
  staged: StagedRequests,
  measuredMs: number,
): { stages?: LoadStage[] } {
  const { pace } = load
  if (pace.kind !== 'stages' || pace.stages.length > STAGES_COUNTED) return {}
  const schedule = isOpen(pace) ? toArrivalSchedule(load) : null
  let startMs = 0
  const stages = pace.stages.map(({ from, to, durationMs, name }, number): LoadStage => {
    const { sums, latency } = staged.of(number)
    const endMs = Math.min(startMs + durationMs, measuredMs)
    // What is due exactly at the end of a stage belongs to the next one.
    const countDue = (ms: number) => schedule?.countDue(ms - 1e-6) ?? 0
    const scheduled = schedule === null ? null : Math.max(0, countDue(endMs) - countDue(startMs))
    const ranMs = Math.max(0, endMs - startMs)
    startMs += durationMs
    return {
      number,
      from,
      to,
      ranMs,
      scheduled,
      ...(name !== undefined && { name }),
      requests: sums.all.requests,
      failed: sums.all.failed,
      latencyMs: Object.fromEntries(
        STAGE_METRICS.flatMap((metric) => {
          const percentiles = latency.percentiles(metric)
          return percentiles === null ? [] : [[metric, percentiles]]
        }),
      ),
    }
  })
  return { stages }
}
