import { SluiceError } from '../messages/errors.ts'
import { formatCounted } from '../messages/figure-text.ts'
import type { Plan } from '../plan/plan.ts'
import type { RunSummary } from '../run/run.ts'
import { formatLevel } from './capacity-level.ts'
import { type CapacityPlan, toProbePace } from './capacity-plan.ts'
import { type CapacityOutcome, type CapacityProbe, judgeProbe } from './capacity-report.ts'
import { chooseNextStep } from './capacity-search.ts'
import type { Load } from './load.ts'

export type LoadPlan = Plan & { load: Load }

/** How a search ended; `unsent` is the first probe if none of its rows could be sent. */
export type SearchEnd = CapacityOutcome | { unsent: RunSummary }

/** The effects that a search needs from its caller. */
export interface SearchSteps {
  /** Runs one load test at that level, to its end. */
  send(probe: Plan, level: number): Promise<RunSummary>
  onJudged(probe: CapacityProbe, number: number): void | Promise<void>
  /** Waits `ms` milliseconds, or until the search is interrupted. */
  pause(ms: number): Promise<void>
  isInterrupted(): boolean
  nowMs(): number
}

/** Sends probes in turn, each chosen by earlier results, until the search ends (docs/load-tests.md §11). */
export async function findCapacity(
  plan: LoadPlan,
  capacity: CapacityPlan,
  { send, onJudged, pause, isInterrupted, nowMs }: SearchSteps,
): Promise<SearchEnd> {
  const probes: CapacityProbe[] = []
  const startedMs = nowMs()
  const end = (how: CapacityOutcome['end'], error: string | null = null): CapacityOutcome => ({
    end: how,
    error,
    probes,
    elapsedMs: nowMs() - startedMs,
  })
  try {
    for (;;) {
      const step = chooseNextStep(capacity, probes, nowMs() - startedMs)
      if (step.kind === 'end') return end(step.end)
      if (probes.length > 0) await pause(capacity.coolDownMs)
      if (isInterrupted()) return end('interrupted')
      const { level } = step
      const name = `${plan.name}, probe ${probes.length + 1} at ${formatLevel(capacity.unit, level)}`
      const summary = await send(
        {
          ...plan,
          name,
          load: {
            ...plan.load,
            pace: toProbePace(capacity, level),
            // The first probe has already checked this for the others.
            ...(probes.length > 0 && { firstRequest: 'skip' as const }),
          },
        },
        level,
      )
      const isCrossed = summary.thresholds?.some(({ ok }) => !ok) === true
      if (summary.state === 'interrupted') return end('interrupted')
      if (probes.length === 0 && summary.requests.sent === 0) return { unsent: summary }
      if (summary.state === 'stopped' && !isCrossed) return end('broken_off', summary.stop_reason)
      const judged = judgeProbe(level, summary)
      probes.push(judged)
      await onJudged(judged, probes.length)
      if (probes.length === 1 && isSilent(summary)) return end('broken_off', saySilent(summary))
    }
  } catch (error) {
    // Measurements are kept and shown; without a finished probe, the error alone is the result.
    if (!(error instanceof SluiceError) || probes.length === 0) throw error
    return end('broken_off', error.message)
  }
}

/**
 * Whether a service answered neither the first request nor any of a probe and its warm-up, so that less load
 * would not help.
 */
function isSilent({ load }: RunSummary): boolean {
  if (load?.first_request?.status !== null || (load.warmup_answered ?? 0) > 0) return false
  return load.statuses.every(({ status }) => status === null)
}

function saySilent({ requests }: RunSummary): string {
  return `The service answered neither the first request nor any of the ${formatCounted(requests.sent, 'request')} of the first probe. Check that it is up, then search again.`
}
