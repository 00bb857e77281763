import { formatSetDuration } from '../messages/duration.ts'
import { formatCounted } from '../messages/figure-text.ts'
import { type CapacityUnit, formatLevel, formatLongLevel } from './capacity-level.ts'
import type { CapacityPlan } from './capacity-plan.ts'
import type { CapacityProbe, CapacityReport } from './capacity-report.ts'
import { toCapacityEstimate } from './capacity-search.ts'
import type { Load } from './load.ts'

/** Remedies name options in a terminal and fields in the window. */
type Audience = 'terminal' | 'window'

/** What a search means for everyone who uses the service. */
export const CAPACITY_WARNING =
  'Overloads the service on purpose: doubles the load until a threshold fails, then narrows it down. Everyone who uses this deployment may get slow answers and errors.'

/** What a search is about to do, a phrase each. */
export function describeCapacityPlan(
  { unit, start, max, maxProbes, maxTimeMs, coolDownMs }: CapacityPlan,
  { warmupMs, durationMs = 0 }: Load,
): { probes: string; atMost: string } {
  const warmup = warmupMs === 0 ? '' : ` after ${formatSetDuration(warmupMs)} of warm-up`
  return {
    probes: `${formatSetDuration(durationMs)} each${warmup}, ${formatSetDuration(coolDownMs)} apart, from ${formatLongLevel(unit, start)}`,
    atMost: `${formatLongLevel(unit, max)}, ${formatCounted(maxProbes, 'probe')}, ${formatSetDuration(maxTimeMs)}`,
  }
}

export interface CapacityView {
  unit: CapacityUnit
  /** `320 requests per second`, `at least 64 requests in flight`, `unknown`. */
  answer: string
  /** Where probes agreed, and what was answered when more was asked; empty if unknown. */
  interval: string
  /** Why there is no exact answer, with what to do; null if there is one. */
  end: string | null
  /** The lowest level that failed; null if none did. */
  failure: CapacityProbe | null
}

/** What a search found, for every surface. */
export function toCapacityView(report: CapacityReport, audience: Audience): CapacityView {
  const unit = report.unit === 'requests_per_second' ? 'rate' : 'concurrency'
  const { capacity, end, interval, probes } = report
  const isDone = end === 'found'
  const { low } = toCapacityEstimate(probes)
  const held = low === null ? null : `All probes up to ${formatLevel(unit, low)} held.`
  const failed =
    interval.high === null ? null : `All probes from ${formatLevel(unit, interval.high)} on failed.`
  const answered =
    low === null || interval.low === null || interval.low === low
      ? null
      : `Where more was asked, the service answered ${formatLevel(unit, interval.low)} at least.`
  return {
    unit,
    answer: capacity === null ? 'unknown' : `${isDone ? '' : 'at least '}${formatLongLevel(unit, capacity)}`,
    interval: [held, failed, answered].filter((sentence) => sentence !== null).join(' '),
    end: isDone ? null : describeEnd(report, unit, audience),
    failure:
      probes
        .filter(({ verdict }) => verdict === 'failed')
        .toSorted((one, other) => one.level - other.level)[0] ?? null,
  }
}

function describeEnd(
  { end, error, probes, settings }: CapacityReport,
  unit: CapacityUnit,
  audience: Audience,
): string {
  const last = probes.at(-1)
  const most = probes.some(({ verdict }) => verdict === 'held') ? 'Most' : 'All'
  const at = last === undefined ? '' : ` at ${formatLevel(unit, last.level)}`
  const say = (option: string, field: string) => (audience === 'terminal' ? option : field)
  switch (end) {
    case 'found':
      return ''
    case 'max_held':
      return `The highest level allowed held: ${formatLevel(unit, settings.max)}. To search further, raise ${say('--max-level', 'the highest level')}.`
    case 'none_held':
      return `${most} probes failed at every level. To begin lower, use a smaller ${say('--rate or --concurrency', 'first level')}.`
    case 'generator_limited':
      return `Ended because delays of this machine may have decided the probes${at}, twice: they say nothing about the service. Try ${say('--workers', 'more sending threads')}, or a machine with less to do.`
    case 'probe_limit':
      return `Ended after ${formatCounted(settings.max_probes, 'probe')}. To search further, raise ${say('--max-probes', 'the number of probes')}.`
    case 'time_limit':
      return `Ended because another probe would exceed ${formatSetDuration(settings.max_time_ms)}. To search further, raise ${say('--max-time', 'the longest time')}.`
    case 'interrupted':
      return 'Interrupted. A search cannot be resumed; the probes that finished are kept.'
    case 'broken_off':
      return `Ended by an error: ${error ?? 'unknown'}`
  }
}
