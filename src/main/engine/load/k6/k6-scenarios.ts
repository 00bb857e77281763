import { type Load, toMaxInFlight } from '../../../../shared/load/load.ts'
import { isOpen, LOAD_MAX_MS, type Stage, toPeak, toWarmupLevel } from '../../../../shared/load/load-pace.ts'
import { formatDurationMs } from '../../../../shared/messages/duration.ts'

/** A scenario of k6, as its options have it. */
export type K6Scenario = Readonly<Record<string, unknown>> & { executor: string }

/** What every scenario runs, by the script's name for it. */
const EXEC = 'submit'

/** Requests that one virtual user is set aside for, in part of a second: k6 makes more of them as it needs. */
const AHEAD_S = 0.25
const AHEAD_MIN = 10

/**
 * k6's scenarios of a load: the pace as `main`, after the warm-up as `warmup` where there is one. What k6 drops when
 * no virtual user is free, a plan may have waiting; everything else is the same. `timeoutMs` is the connection's.
 */
export function toK6Scenarios(load: Load, timeoutMs: number): Record<string, K6Scenario> {
  const main = {
    ...toMainScenario(load, timeoutMs),
    exec: EXEC,
    gracefulStop: formatDurationMs(load.gracefulStopMs),
  }
  if (load.warmupMs === 0) return { main }
  return {
    warmup: {
      ...toWarmupScenario(load, timeoutMs),
      exec: EXEC,
      gracefulStop: formatDurationMs(load.gracefulStopMs),
    },
    main: { ...main, startTime: toDuration(load.warmupMs) },
  }
}

function toMainScenario(load: Load, timeoutMs: number): K6Scenario {
  const { pace } = load
  const users = toUsers(load, timeoutMs)
  if (pace.kind === 'open') {
    const { ratePerSecond } = pace
    const duration = toDuration(load.durationMs ?? toArrivalsMs(load.requests ?? 1, ratePerSecond))
    return { executor: 'constant-arrival-rate', ...toRate(ratePerSecond), duration, ...users }
  }
  if (pace.kind === 'closed') {
    const { concurrency: vus } = pace
    return load.requests === undefined
      ? { executor: 'constant-vus', vus, duration: toDuration(load.durationMs ?? 0) }
      : {
          executor: 'shared-iterations',
          vus: Math.min(vus, load.requests),
          iterations: load.requests,
          maxDuration: formatDurationMs(LOAD_MAX_MS),
        }
  }
  const start = pace.stages[0]?.from ?? 0
  if (pace.of === 'concurrency') {
    return {
      executor: 'ramping-vus',
      startVUs: start,
      stages: toK6Stages(pace.stages, 1),
      gracefulRampDown: formatDurationMs(load.gracefulStopMs),
    }
  }
  const scale = toScale(pace.stages.flatMap(({ from, to }) => [from, to]))
  return {
    executor: 'ramping-arrival-rate',
    startRate: Math.round(start * scale),
    timeUnit: `${scale}s`,
    stages: toK6Stages(pace.stages, scale),
    ...users,
  }
}

function toWarmupScenario(load: Load, timeoutMs: number): K6Scenario {
  const level = toWarmupLevel(load.pace)
  const duration = toDuration(load.warmupMs)
  return isOpen(load.pace)
    ? { executor: 'constant-arrival-rate', ...toRate(level), duration, ...toUsers(load, timeoutMs) }
    : { executor: 'constant-vus', vus: level, duration }
}

/** Shortest scenario that k6 takes. */
const SHORTEST_MS = 1_000

function toDuration(ms: number): string {
  return formatDurationMs(Math.max(SHORTEST_MS, Math.round(ms)))
}

/**
 * How long that many arrivals take: k6 counts none, and the last one, due at the end itself, would be one too many,
 * so the end lies half-way between the last of them and the next.
 */
function toArrivalsMs(requests: number, ratePerSecond: number): number {
  return ((requests - 0.5) * 1000) / ratePerSecond
}

/** A stage of k6 begins where the one before ended; a jump is a stage of no time. */
function toK6Stages(stages: readonly Stage[], scale: number): { target: number; duration: string }[] {
  let level = stages[0]?.from
  return stages.flatMap(({ from, to, durationMs }) => {
    const jump = from === level ? [] : [{ target: Math.round(from * scale), duration: '0s' }]
    level = to
    return [...jump, { target: Math.round(to * scale), duration: formatDurationMs(durationMs) }]
  })
}

/** Rates of k6 are whole numbers in a unit of time. */
function toRate(ratePerSecond: number): { rate: number; timeUnit: string } {
  const scale = toScale([ratePerSecond])
  return { rate: Math.round(ratePerSecond * scale), timeUnit: `${scale}s` }
}

/** Seconds in which all of these rates are whole numbers; rates have at most three decimals. */
function toScale(rates: readonly number[]): number {
  const isWhole = (scale: number) =>
    rates.every((rate) => Math.abs(rate * scale - Math.round(rate * scale)) < 1e-6)
  return [1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500].find(isWhole) ?? 1000
}

function toUsers(load: Load, timeoutMs: number): { preAllocatedVUs: number; maxVUs: number } {
  const maxVUs = toMaxInFlight(load, timeoutMs)
  return {
    preAllocatedVUs: Math.min(maxVUs, AHEAD_MIN + Math.ceil(toPeak(load.pace) * AHEAD_S)),
    maxVUs,
  }
}
