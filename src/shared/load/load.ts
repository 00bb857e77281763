import { z } from 'zod'
import { formatSetDuration } from '../messages/duration.ts'
import { formatCount, formatCounted } from '../messages/figure-text.ts'
import { LOAD_OPTIONS } from '../options/load-options.ts'
import { type PlanOption, readOption, toShape } from '../options/option.ts'
import {
  type ArrivalSchedule,
  type ConcurrencySchedule,
  createArrivalSchedule,
  createConcurrencySchedule,
} from './arrival-schedule.ts'
import {
  createStageFinder,
  IN_FLIGHT_MAX,
  isOpen,
  LOAD_MAX_MS,
  type LoadPace,
  STAGES_COUNTED,
  toPeak,
  toStages,
} from './load-pace.ts'
import { parseThreshold } from './threshold-parser.ts'
import { findUnknownStage, listRowTags, ROW_TAGS_MAX } from './threshold-tags.ts'
import { formatThreshold } from './thresholds.ts'

const fieldsSchema = z.object(toShape(LOAD_OPTIONS))

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
  if (isOpen(pace) && load.maxInFlight !== undefined && load.maxInFlight < load.workers) {
    wrong.push({ path: 'workers', message: 'must not exceed the number of requests in flight' })
  }
  // A thread without a place in flight would never send its share of the requests.
  if (pace.kind === 'closed' && requests !== undefined && pace.concurrency < load.workers) {
    wrong.push({ path: 'workers', message: 'must not exceed the number of requests in flight' })
  }
  wrong.push(...listUnusableTags(load))
  const circumstances: readonly string[] = [
    isOpen(pace) ? 'open' : 'closed',
    ...(load.httpVersion === '2' ? ['http2'] : []),
    ...(load.order === 'source' ? [] : ['drawn', load.order]),
  ]
  for (const [name, option] of Object.entries<PlanOption>(LOAD_OPTIONS)) {
    const path = name as keyof Load
    const { needs } = option
    if (needs === undefined || circumstances.includes(needs.circumstance)) continue
    if (load[path] !== readOption(name, option).otherwise) wrong.push({ path, message: needs.otherwise })
  }
  return wrong
}

/** Threshold tags that no request of the load can have, or that are too many. */
function listUnusableTags({ pace, thresholds }: Load): Contradiction[] {
  const stages = pace.kind === 'stages' ? pace.stages.map(({ name }) => name) : []
  // Mistakes in an expression itself are reported elsewhere.
  const tags = thresholds.flatMap(({ expression }) => {
    const parsed = parseThreshold(expression)
    return parsed.ok ? [parsed.parsed.tags] : []
  })
  const hasStage = tags.flat().find(({ name }) => name === 'stage') ?? null
  // Figures of further stages are not kept, so such a threshold would see nothing.
  const unknown = stages.length > STAGES_COUNTED ? hasStage : findUnknownStage(tags.flat(), stages)
  const named = stages.flatMap((name, index) => [String(index), ...(name === undefined ? [] : [name])])
  const message =
    stages.length === 0
      ? 'the tag `stage` needs a pace of stages'
      : stages.length > STAGES_COUNTED
        ? `the tag \`stage\` needs at most ${STAGES_COUNTED} stages, found ${stages.length}`
        : `no stage is called \`${unknown?.value}\`; they are ${named.join(', ')}`
  const rowTags = listRowTags(tags).length
  return [
    ...(unknown === null ? [] : [{ path: 'thresholds' as const, message }]),
    ...(rowTags > ROW_TAGS_MAX
      ? [
          {
            path: 'thresholds' as const,
            message: `must name at most ${ROW_TAGS_MAX} values of columns, found ${rowTags}`,
          },
        ]
      : []),
  ]
}

/**
 * Most requests in flight at once (docs/load-tests.md §2). For an open pace: the plan's limit, or else the
 * highest rate times the timeout, at most {@link IN_FLIGHT_MAX}. For a closed pace: its highest level.
 */
export function toMaxInFlight({ pace, maxInFlight }: Load, timeoutMs: number): number {
  if (!isOpen(pace)) return toPeak(pace)
  return maxInFlight ?? Math.min(IN_FLIGHT_MAX, Math.max(1, Math.ceil((toPeak(pace) * timeoutMs) / 1000)))
}

/** When the requests of an open pace are due. */
export function toArrivalSchedule({ pace, durationMs, requests }: Load): ArrivalSchedule {
  return createArrivalSchedule(toStages(pace, durationMs ?? LOAD_MAX_MS), { limit: requests ?? Infinity })
}

/**
 * A function that gives a request's stage, from 0: with a rate, by when its number in the load was due; else
 * by when it was sent, milliseconds since measuring began. Null if the pace has no stages, or too many.
 */
export function createStageOf(load: Load): ((sequence: number, sentMs: number) => number) | null {
  const toStage = createStageFinder(load.pace)
  if (toStage === null || !isOpen(load.pace)) return toStage && ((_sequence, sentMs) => toStage(sentMs))
  const schedule = toArrivalSchedule(load)
  // A request due exactly at a stage's end belongs to the next stage.
  return (sequence) => toStage(schedule.dueMs(sequence) + 1e-6)
}

/** How many requests of a closed pace are in flight over time; without a duration, as for the longest. */
export function toConcurrencySchedule({ pace, durationMs }: Load): ConcurrencySchedule {
  return createConcurrencySchedule(toStages(pace, durationMs ?? LOAD_MAX_MS))
}

/** How long the measured part lasts; null if a closed pace ends with a number of requests. */
export function toMeasuredMs(load: Load): number | null {
  if (isOpen(load.pace)) return toArrivalSchedule(load).durationMs
  return load.requests === undefined ? toConcurrencySchedule(load).durationMs : null
}

/** Requests that the measured part sends; null if a closed pace ends after a time. */
export function toPlannedRequests(load: Load): number | null {
  return isOpen(load.pace) ? toArrivalSchedule(load).total : (load.requests ?? null)
}

/** What a load does, a phrase for each chosen setting, the pace first. `timeoutMs` is the connection's. */
export function describeLoad(load: Load, timeoutMs: number): string[] {
  const { pace, warmupMs, thinkTime, thresholds } = load
  const cap = formatCount(toMaxInFlight(load, timeoutMs))
  return [
    `${describePace(pace)}${describeEnd(load)}`,
    ...(warmupMs > 0 ? [`after a warm-up of ${formatSetDuration(warmupMs)}`] : []),
    ...(isOpen(pace)
      ? [`at most ${cap} in flight, ${load.whenFull === 'drop' ? 'dropping' : 'waiting'} when full`]
      : []),
    ...describeOrder(load),
    ...(thinkTime === undefined ? [] : [`think time ${describeThinkTime(thinkTime)}`]),
    ...listPhrases(load),
    `graceful stop ${formatSetDuration(load.gracefulStopMs)}`,
    ...(thresholds.length === 0 ? [] : [`thresholds ${thresholds.map(formatThreshold).join('; ')}`]),
  ]
}

/** Which rows are sent, unless in the order of the source. */
function describeOrder({ order, seed, weight }: Load): string[] {
  if (order === 'source') return []
  const by = weight === undefined ? '' : ` by the weights of ${weight}`
  return [`rows ${order === 'shuffled' ? 'shuffled' : `at random${by}`}, seed ${seed}`]
}

/** Phrases from the table of options about their values. */
function listPhrases(load: Load): string[] {
  return Object.entries<PlanOption>(LOAD_OPTIONS).flatMap(([name, { phrase }]) => {
    const value = load[name as keyof Load]
    return value === undefined ? [] : (phrase?.(value as never) ?? [])
  })
}

/** A pace: `open, 200 requests a second`. */
export function describePace(pace: LoadPace): string {
  if (pace.kind === 'closed') return `closed, ${formatCounted(pace.concurrency, 'request')} in flight`
  if (pace.kind === 'open') return `open, ${describeRate(pace.ratePerSecond)}`
  const parts = pace.stages.map(({ from, to, durationMs, name }) => {
    const level = (value: number) => (pace.of === 'rate' ? String(value) : formatCount(value))
    const levels = from === to ? level(to) : `${level(from)} to ${level(to)}`
    return `${levels} for ${formatSetDuration(durationMs)}${name === undefined ? '' : ` (${name})`}`
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
