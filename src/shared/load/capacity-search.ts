import type { CapacityUnit } from './capacity-level.ts'

/** Where a capacity search begins, and its bounds (docs/load-tests.md §11). */
export interface CapacitySettings {
  unit: CapacityUnit
  /** Level of the first probe. */
  start: number
  /** Highest level that is ever sent. */
  max: number
  /** Bisecting ends when the bounds differ by at most this share of the lower one. */
  resolution: number
  /** Probes at each bound before the search ends. */
  repeats: number
  maxProbes: number
  /** Longest time for all probes and pauses, milliseconds. */
  maxTimeMs: number
  /** Duration of one more probe and its pause, milliseconds. */
  probeMs: number
}

/** How a probe ended; a `void` probe says nothing about the service, since the generator was limited. */
export type ProbeVerdict = 'held' | 'failed' | 'void'

export interface ProbeResult {
  level: number
  verdict: ProbeVerdict
}

/**
 * Why a search ends by itself. `found`: the bounds are close and were repeated. `max_held`: the highest
 * allowed level held. `none_held`: not even the lowest level did. `generator_limited`: two probes in a row at
 * one level were void.
 */
export type CapacityEnd =
  | 'found'
  | 'max_held'
  | 'none_held'
  | 'generator_limited'
  | 'probe_limit'
  | 'time_limit'

export type CapacityStep = { kind: 'probe'; level: number } | { kind: 'end'; end: CapacityEnd }

/** Lowest level of a search, as a share of its start. */
const LOWEST_SHARE = 1 / 64

/** Lowest rate that is probed, requests a second. */
const RATE_MIN = 0.1

/**
 * The next step of a search, given all of its probes in order: doubles from the start until a level fails (or
 * halves, if the start fails), bisects between the two, then repeats both bounds. A level holds or fails by
 * most of its probes, so a repetition that contradicts the first result moves the bound, and the search
 * continues from there.
 */
export function chooseNextStep(
  settings: CapacitySettings,
  probes: readonly ProbeResult[],
  elapsedMs: number,
): CapacityStep {
  const [last, before] = [probes.at(-1), probes.at(-2)]
  const wasVoidTwice = last?.verdict === 'void' && before?.verdict === 'void' && last.level === before.level
  if (wasVoidTwice) return { kind: 'end', end: 'generator_limited' }
  const step = last?.verdict === 'void' ? toProbe(last.level) : chooseLevel(settings, probes)
  if (step.kind === 'end') return step
  if (probes.length >= settings.maxProbes) return { kind: 'end', end: 'probe_limit' }
  if (elapsedMs + settings.probeMs > settings.maxTimeMs) return { kind: 'end', end: 'time_limit' }
  return step
}

function toProbe(level: number): CapacityStep {
  return { kind: 'probe', level }
}

function chooseLevel(settings: CapacitySettings, probes: readonly ProbeResult[]): CapacityStep {
  const { unit, start, max, resolution, repeats } = settings
  const levels = countLevels(probes)
  if (levels.length === 0) return toProbe(start)
  const undecided = levels.find(({ held, failed }) => held === failed)
  if (undecided !== undefined) return toProbe(undecided.level)
  const { lower, upper } = findBounds(levels)
  if (upper === null) {
    const reached = lower?.level ?? start
    if (reached < max) return toProbe(Math.min(max, roundLevel(reached * 2, unit)))
    return lower !== null && lower.held + lower.failed < repeats
      ? toProbe(lower.level)
      : { kind: 'end', end: 'max_held' }
  }
  if (lower === null) {
    const least = unit === 'concurrency' ? 1 : RATE_MIN
    const halved = roundLevel(upper.level / 2, unit)
    const isTooLow = halved < least || halved < start * LOWEST_SHARE || halved >= upper.level
    if (!isTooLow) return toProbe(halved)
    return upper.held + upper.failed < repeats ? toProbe(upper.level) : { kind: 'end', end: 'none_held' }
  }
  const middle = roundLevel((lower.level + upper.level) / 2, unit)
  const isClose = upper.level - lower.level <= lower.level * resolution * (1 + 1e-9)
  if (!isClose && middle > lower.level && middle < upper.level) return toProbe(middle)
  const short = [lower, upper].find(({ held, failed }) => held + failed < repeats)
  return short === undefined ? { kind: 'end', end: 'found' } : toProbe(short.level)
}

/**
 * Rounds a rate to three digits and at most three decimals, and a number in flight down to a whole number.
 */
function roundLevel(level: number, unit: CapacityUnit): number {
  if (unit === 'concurrency') return Math.floor(level)
  return Math.round(Number(level.toPrecision(3)) * 1000) / 1000
}

/** A level and how many of its probes held and failed. */
interface CapacityLevel {
  level: number
  held: number
  failed: number
}

/** The levels with probes that were not void, lowest first. */
function countLevels(probes: readonly ProbeResult[]): CapacityLevel[] {
  const levels = new Map<number, CapacityLevel>()
  for (const { level, verdict } of probes) {
    if (verdict === 'void') continue
    const counted = levels.get(level) ?? { level, held: 0, failed: 0 }
    counted[verdict] += 1
    levels.set(level, counted)
  }
  return [...levels.values()].sort((one, other) => one.level - other.level)
}

/** The lowest level that failed, and the highest below it that held, each by most of its probes. */
function findBounds(levels: readonly CapacityLevel[]) {
  const upper = levels.find(({ held, failed }) => failed > held) ?? null
  const lower =
    levels.findLast(
      ({ level, held, failed }) => held > failed && level < (upper?.level ?? Number.POSITIVE_INFINITY),
    ) ?? null
  return { lower, upper }
}

/** What a search found, so far or in the end. */
export interface CapacityEstimate {
  /** The highest level, below all failed levels, at which most probes held; null if there is none. */
  capacity: number | null
  /**
   * From the highest level at and below which no probe failed, to the lowest level at and above which none
   * held. Null if no such level was probed.
   */
  low: number | null
  high: number | null
}

/** The capacity that the probes show, and the range in which they disagree about it or are missing. */
export function toCapacityEstimate(probes: readonly ProbeResult[]): CapacityEstimate {
  const levels = countLevels(probes)
  const firstFailure = levels.find(({ failed }) => failed > 0)?.level ?? Number.POSITIVE_INFINITY
  const lastSuccess = levels.findLast(({ held }) => held > 0)?.level ?? 0
  return {
    capacity: findBounds(levels).lower?.level ?? null,
    low: levels.findLast(({ level }) => level < firstFailure)?.level ?? null,
    high: levels.find(({ level }) => level > lastSuccess)?.level ?? null,
  }
}
