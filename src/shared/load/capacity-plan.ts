import { z } from 'zod'
import { CAPACITY_OPTIONS, MAX_FACTOR } from '../options/capacity-options.ts'
import { toShape } from '../options/option.ts'
import type { CapacitySettings } from './capacity-search.ts'
import type { Load } from './load.ts'
import { IN_FLIGHT_MAX, isOpen, isWholeRate, type LoadPace, RATE_MAX, toPeak } from './load-pace.ts'
import { METRIC_KINDS } from './metrics.ts'
import type { Threshold } from './thresholds.ts'

/** What each probe of a capacity search is by default (docs/load-tests.md §11). Times are milliseconds. */
export const PROBE_DEFAULTS = { warmupMs: 10_000, measuredMs: 30_000 } as const

const REPEATS = 3
const RESOLUTION = 0.05

export const capacityBoundsSchema = z.object(toShape(CAPACITY_OPTIONS))

export type CapacityBounds = z.infer<typeof capacityBoundsSchema>

/** Why a load test cannot be the probe of a search. */
export type CapacityMistake = 'stages' | 'requests' | 'no_threshold' | 'max_below_start' | 'max_not_a_level'

/** What a capacity search needs besides the plan. */
export interface CapacityPlan extends CapacitySettings {
  /** Pause after each probe, milliseconds. */
  coolDownMs: number
}

/** Share of failed requests that a capacity tolerates if no threshold is about them. */
const DEFAULT_FAILED = 'http_req_failed:rate<0.01'

/**
 * The thresholds for probes: at a rate, latencies without a metric mean `response_time`, and at most 1 % of
 * requests may fail unless a threshold says otherwise.
 */
export function toCapacityThresholds(load: Load): Threshold[] {
  const trends = METRIC_KINDS.trend.aggregations
  const thresholds = load.thresholds.map((threshold) => {
    const isBare = trends.some((name) => new RegExp(`^${name}\\b`).test(threshold.expression))
    return isBare && isOpen(load.pace)
      ? { ...threshold, expression: `response_time:${threshold.expression}` }
      : threshold
  })
  if (thresholds.some(({ expression }) => /^(http_req_failed|rate)\b(?!\s*\{)/.test(expression)))
    return thresholds
  return [...thresholds, { expression: DEFAULT_FAILED, abortOnFail: false, delayAbortEvalMs: 0 }]
}

export function toProbePace({ unit }: Pick<CapacitySettings, 'unit'>, level: number): LoadPace {
  return unit === 'rate' ? { kind: 'open', ratePerSecond: level } : { kind: 'closed', concurrency: level }
}

/** A search within these bounds that sends the load test at other levels as its probes; or what is wrong. */
export function planCapacity(
  load: Load,
  { max: asked, maxProbes, maxTimeMs, coolDownMs }: CapacityBounds,
): { ok: true; plan: CapacityPlan } | { ok: false; mistake: CapacityMistake } {
  const { pace, requests, durationMs = 0, thresholds, warmupMs } = load
  if (pace.kind === 'stages') return { ok: false, mistake: 'stages' }
  if (requests !== undefined) return { ok: false, mistake: 'requests' }
  if (thresholds.length === 0) return { ok: false, mistake: 'no_threshold' }
  const start = toPeak(pace)
  const unit = isOpen(pace) ? 'rate' : 'concurrency'
  const highest = unit === 'rate' ? RATE_MAX : IN_FLIGHT_MAX
  const max = asked ?? Math.min(highest, Math.round(start * MAX_FACTOR * 1000) / 1000)
  if (max < start) return { ok: false, mistake: 'max_below_start' }
  const isLevel = unit === 'rate' ? isWholeRate(max) : Number.isInteger(max)
  if (max > highest || !isLevel) return { ok: false, mistake: 'max_not_a_level' }
  return {
    ok: true,
    plan: {
      unit,
      start,
      max,
      resolution: RESOLUTION,
      repeats: REPEATS,
      maxProbes,
      maxTimeMs,
      coolDownMs,
      probeMs: warmupMs + durationMs + coolDownMs,
    },
  }
}
