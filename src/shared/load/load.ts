import { z } from 'zod'
import { formatSetDuration } from '../messages/duration.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'
import {
  type ArrivalSchedule,
  type ConcurrencySchedule,
  createArrivalSchedule,
  createConcurrencySchedule,
} from './arrival-schedule.ts'
import {
  IN_FLIGHT_MAX,
  isOpen,
  LOAD_MAX_MS,
  type LoadPace,
  loadPaceSchema,
  toPeak,
  toStages,
} from './load-pace.ts'
import { formatThreshold, thresholdSchema } from './thresholds.ts'

/** Whole requests that are kept as a sample unless the plan says otherwise. */
export const SAMPLE_SIZE_DEFAULT = 1_000

/** Requests that did not succeed and are kept whole unless the plan says otherwise; all of them are counted. */
export const ERROR_LIMIT_DEFAULT = 1_000

/** How long requests in flight may take to end once the load is over, unless the plan says otherwise (as in k6). */
export const GRACEFUL_STOP_MS = 30_000

/** Most requests that can be kept whole. */
export const KEPT_MAX = 100_000

const thinkTimeSchema = z
  .object({
    minMs: z.int().min(0).max(3_600_000),
    maxMs: z.int().min(0).max(3_600_000),
  })
  .refine(({ minMs, maxMs }) => minMs <= maxMs, { error: 'minMs must not be above maxMs', path: ['minMs'] })

const fieldsSchema = z.object({
  pace: loadPaceSchema,
  /** Measured time of a closed or open pace; stages have durations of their own. */
  durationMs: z.int().min(1).max(LOAD_MAX_MS).optional(),
  /** Requests to send, instead of a duration. */
  requests: z.int().min(1).max(1_000_000_000).optional(),
  /** Sent before, at the level the load begins with; left out of every figure. */
  warmupMs: z.int().min(0).max(3_600_000).default(0),
  /** Pause between an answer and the next request of a closed pace, random within a range. */
  thinkTime: thinkTimeSchema.optional(),
  /** How long requests in flight may take to end once the load is over; then they are given up as unknown. */
  gracefulStopMs: z.int().min(0).max(3_600_000).default(GRACEFUL_STOP_MS),
  /** Most requests of an open pace in flight; see {@link toMaxInFlight}. */
  maxInFlight: z.int().min(1).max(IN_FLIGHT_MAX).optional(),
  /** What happens to a due request that finds {@link toMaxInFlight} of them in flight. */
  whenFull: z.enum(['wait', 'drop']).default('wait'),
  thresholds: z.array(thresholdSchema).default([]),
  /** Requests that are kept whole, drawn evenly from all of them. */
  sampleSize: z.int().min(0).max(KEPT_MAX).default(SAMPLE_SIZE_DEFAULT),
  /** Requests that did not succeed and are kept whole, the first ones. */
  errorLimit: z.int().min(0).max(KEPT_MAX).default(ERROR_LIMIT_DEFAULT),
  httpVersion: z.enum(['1.1', '2']).default('1.1'),
  /** Most HTTP/2 connections of each worker (default: as many as the service's limit of streams asks for). */
  http2Connections: z.int().min(1).max(IN_FLIGHT_MAX).optional(),
  /** Threads that send. */
  workers: z.int().min(1).max(64).default(1),
})

/** What a plan says about its load test (docs/load-tests.md). */
export const loadSchema = fieldsSchema.superRefine((load, context) => {
  for (const { path, message } of listContradictions(load)) {
    context.addIssue({ code: 'custom', path: [path], message })
  }
})

export type Load = z.infer<typeof fieldsSchema>

/** A load as a person writes it, defaults left out. */
export type LoadInput = z.input<typeof fieldsSchema>

type Contradiction = { path: keyof Load; message: string }

function listContradictions(load: Load): Contradiction[] {
  const { pace, durationMs, requests } = load
  const wrong: Contradiction[] = []
  if (pace.kind === 'stages') {
    const message = 'stages say themselves how long they last'
    if (durationMs !== undefined) wrong.push({ path: 'durationMs', message })
    if (requests !== undefined) wrong.push({ path: 'requests', message })
  } else if ((durationMs === undefined) === (requests === undefined)) {
    wrong.push({ path: 'durationMs', message: 'expected either a duration or a number of requests' })
  }
  if (load.http2Connections !== undefined && load.httpVersion !== '2') {
    wrong.push({ path: 'http2Connections', message: 'only HTTP/2 shares connections' })
  }
  if (isOpen(pace)) {
    const message = 'a think time belongs to a closed pace; an open one has its schedule'
    if (load.thinkTime !== undefined) wrong.push({ path: 'thinkTime', message })
    if (load.maxInFlight !== undefined && load.maxInFlight < load.workers) {
      wrong.push({ path: 'workers', message: 'must not exceed the number of requests in flight' })
    }
  } else {
    const message = 'belongs to an open pace; a closed one has its own number in flight'
    if (load.maxInFlight !== undefined) wrong.push({ path: 'maxInFlight', message })
    if (load.whenFull === 'drop') wrong.push({ path: 'whenFull', message })
  }
  return wrong
}

/**
 * Most requests in flight at once: of an open pace what the plan says, otherwise its highest rate times the timeout, at
 * most {@link IN_FLIGHT_MAX} (docs/load-tests.md §2); of a closed pace its own number.
 */
export function toMaxInFlight({ pace, maxInFlight }: Load, timeoutMs: number): number {
  if (!isOpen(pace)) return toPeak(pace)
  return maxInFlight ?? Math.min(IN_FLIGHT_MAX, Math.max(1, Math.ceil((toPeak(pace) * timeoutMs) / 1000)))
}

/** When the requests of an open pace are due. */
export function toArrivalSchedule({ pace, durationMs, requests }: Load): ArrivalSchedule {
  return createArrivalSchedule(toStages(pace, durationMs ?? LOAD_MAX_MS), { limit: requests ?? Infinity })
}

/** How many requests of a closed pace are in flight; until its last one where it ends with a number of requests. */
export function toConcurrencySchedule({ pace, durationMs }: Load): ConcurrencySchedule {
  return createConcurrencySchedule(toStages(pace, durationMs ?? LOAD_MAX_MS))
}

/** How long the measured part lasts; null where a closed pace ends with a number of requests. */
export function toMeasuredMs(load: Load): number | null {
  if (isOpen(load.pace)) return toArrivalSchedule(load).durationMs
  return load.requests === undefined ? toConcurrencySchedule(load).durationMs : null
}

/** Requests that the measured part sends; null where a closed pace lasts for a time. */
export function toPlannedRequests(load: Load): number | null {
  return isOpen(load.pace) ? toArrivalSchedule(load).total : (load.requests ?? null)
}

/** What a load does, a phrase for each thing that a person chose, the pace first. `timeoutMs` is the connection's. */
export function describeLoad(load: Load, timeoutMs: number): string[] {
  const { pace, warmupMs, thinkTime, thresholds } = load
  const cap = formatCount(toMaxInFlight(load, timeoutMs))
  return [
    `${describePace(pace)}${describeEnd(load)}`,
    ...(warmupMs > 0 ? [`after a warm-up of ${formatSetDuration(warmupMs)}`] : []),
    ...(isOpen(pace)
      ? [`at most ${cap} in flight, ${load.whenFull === 'drop' ? 'dropping' : 'waiting'} when full`]
      : []),
    ...(thinkTime === undefined ? [] : [`think time ${describeThinkTime(thinkTime)}`]),
    `HTTP/${load.httpVersion}`,
    ...(load.http2Connections === undefined
      ? []
      : [`at most ${formatCounted(load.http2Connections, 'HTTP/2 connection')} per worker`]),
    ...(load.workers > 1 ? [`${load.workers} sending threads`] : []),
    `graceful stop ${formatSetDuration(load.gracefulStopMs)}`,
    ...(thresholds.length === 0 ? [] : [`thresholds ${thresholds.map(formatThreshold).join('; ')}`]),
  ]
}

/** A pace: `open, 200 requests a second`. */
export function describePace(pace: LoadPace): string {
  if (pace.kind === 'closed') return `closed, ${formatCounted(pace.concurrency, 'request')} in flight`
  if (pace.kind === 'open') return `open, ${describeRate(pace.ratePerSecond)}`
  const parts = pace.stages.map(({ from, to, durationMs }) => {
    const level = (value: number) => (pace.of === 'rate' ? String(value) : formatCount(value))
    const levels = from === to ? level(to) : `${level(from)} to ${level(to)}`
    return `${levels} for ${formatSetDuration(durationMs)}`
  })
  const unit = pace.of === 'rate' ? 'open, requests a second' : 'closed, requests in flight'
  return `${unit}: ${parts.join(', ')}`
}

function describeRate(ratePerSecond: number): string {
  return `${ratePerSecond.toLocaleString('en-US')} ${ratePerSecond === 1 ? 'request' : 'requests'} a second`
}

function describeEnd(load: Load): string {
  if (load.pace.kind === 'stages') {
    const planned = toPlannedRequests(load)
    return planned === null ? '' : ` (${formatCounted(planned, 'request')})`
  }
  if (load.requests !== undefined) return `, ${formatCounted(load.requests, 'request')} in total`
  return load.durationMs === undefined ? '' : ` for ${formatSetDuration(load.durationMs)}`
}

function describeThinkTime({ minMs, maxMs }: NonNullable<Load['thinkTime']>): string {
  return minMs === maxMs
    ? formatSetDuration(minMs)
    : `${formatSetDuration(minMs)} to ${formatSetDuration(maxMs)}`
}
