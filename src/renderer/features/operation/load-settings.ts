import {
  CAPACITY_DEFAULTS,
  type CapacityBounds,
  capacityBoundsSchema,
  planCapacity,
} from '../../../shared/load/capacity-plan.ts'
import {
  ERROR_LIMIT_DEFAULT,
  GRACEFUL_STOP_MS,
  type Load,
  loadSchema,
  SAMPLE_SIZE_DEFAULT,
} from '../../../shared/load/load.ts'
import {
  IN_FLIGHT_MAX,
  isWholeRate,
  LOAD_MAX_MS,
  parseStages,
  RATE_MAX,
} from '../../../shared/load/load-pace.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import type { TextMistake } from '../../../shared/messages/text-mistake.ts'

/** A load test as it is typed; durations as `parseDurationMs` reads them. */
export interface LoadSettings {
  /** `measure`: one load. `capacity`: one after another, until a threshold fails. */
  goal: 'measure' | 'capacity'
  pace: 'closed' | 'open' | 'stages'
  /** Requests in flight of a closed pace. */
  concurrency: number
  /** Requests a second of an open pace. */
  ratePerSecond: number
  /** As `parseStages` reads it. */
  stages: string
  /** What ends a pace that is not stages. */
  endsBy: 'duration' | 'requests'
  duration: string
  requests: number
  warmup: string
  gracefulStop: string
  /** Pause of a closed pace before the next request, random between the two; empty for none. */
  thinkFrom: string
  thinkTo: string
  /** Most in flight of an open pace; null for as many as its rate and the time-out come to. */
  maxInFlight: number | null
  whenFull: 'wait' | 'drop'
  httpVersion: '1.1' | '2'
  /** Most HTTP/2 connections of each sending thread; null for as many as needed. */
  http2Connections: number | null
  workers: number
  retries: number
  sampleSize: number
  errorLimit: number
  /** One a line, as `parseThreshold` reads them. */
  thresholds: string
  search: SearchSettings
}

/** What a capacity search is bounded by, as it is typed. */
export interface SearchSettings {
  /** Of each probe. */
  warmup: string
  measured: string
  coolDown: string
  /** Highest level to send; null for 64 times the first. */
  max: number | null
  maxProbes: number
  maxTime: string
}

const SEARCH_DEFAULTS = capacityBoundsSchema.parse({})

/** What a load test starts with unless the person says otherwise. */
export const DEFAULT_LOAD: LoadSettings = {
  goal: 'measure',
  pace: 'closed',
  concurrency: 10,
  ratePerSecond: 50,
  stages: '0..50@1m, 50@2m, 50..0@30s',
  endsBy: 'duration',
  duration: '1m',
  requests: 1_000,
  warmup: '5s',
  gracefulStop: formatDurationMs(GRACEFUL_STOP_MS),
  thinkFrom: '',
  thinkTo: '',
  maxInFlight: null,
  whenFull: 'wait',
  httpVersion: '1.1',
  http2Connections: null,
  workers: 1,
  retries: 0,
  sampleSize: SAMPLE_SIZE_DEFAULT,
  errorLimit: ERROR_LIMIT_DEFAULT,
  thresholds: '',
  search: {
    warmup: formatDurationMs(CAPACITY_DEFAULTS.warmupMs),
    measured: formatDurationMs(CAPACITY_DEFAULTS.measuredMs),
    coolDown: formatDurationMs(SEARCH_DEFAULTS.coolDownMs),
    max: null,
    maxProbes: SEARCH_DEFAULTS.maxProbes,
    maxTime: formatDurationMs(SEARCH_DEFAULTS.maxTimeMs),
  },
}

/** Fields that can be wrong, by their names in sentences, and how each is. */
export type LoadMistakes = Partial<
  Record<
    | 'rate'
    | 'stages'
    | 'duration'
    | 'warm-up'
    | 'graceful stop'
    | 'think time'
    | 'thresholds'
    | 'sending threads'
    | 'probe duration'
    | 'pause between probes'
    | 'highest level'
    | 'longest time',
    string
  >
>

const HOUR_MS = 3_600_000

/** Whether requests are due on a schedule, so that there is a cap on those in flight. */
export function hasSchedule({ pace, stages }: Pick<LoadSettings, 'pace' | 'stages'>): boolean {
  if (pace !== 'stages') return pace === 'open'
  const parsed = parseStages(stages)
  return !parsed.ok || parsed.pace.of === 'rate'
}

/** What is wrong with what was typed, by field; fields that are of no use here are never wrong. */
export function findLoadMistakes(settings: LoadSettings): LoadMistakes {
  const { goal, pace, ratePerSecond, endsBy, duration, warmup, gracefulStop } = settings
  const mistakes: LoadMistakes = {}
  if (pace === 'open' && !(ratePerSecond > 0 && ratePerSecond <= RATE_MAX && isWholeRate(ratePerSecond))) {
    mistakes.rate = `Expected more than 0 and at most ${RATE_MAX} a second, with at most three decimals.`
  }
  if (pace === 'stages') {
    const parsed = parseStages(settings.stages)
    if (!parsed.ok) mistakes.stages = `At ${describeMistake(parsed.mistake)}`
  } else if (goal === 'measure' && endsBy === 'duration' && !isDuration(duration, 1, LOAD_MAX_MS)) {
    mistakes.duration = 'Expected a duration such as 60s or 2m30s, at most a week.'
  }
  if (!isDuration(goal === 'capacity' ? settings.search.warmup : warmup, 0, HOUR_MS)) {
    mistakes['warm-up'] = 'Expected a duration such as 10s, at most an hour; 0s for none.'
  }
  if (!isDuration(gracefulStop, 0, HOUR_MS)) {
    mistakes['graceful stop'] = 'Expected a duration such as 30s, at most an hour; 0s gives up at once.'
  }
  if (!hasSchedule(settings)) {
    const think = readThinkTime(settings)
    if (think !== null && 'mistake' in think) mistakes['think time'] = think.mistake
  } else if (settings.maxInFlight !== null && settings.maxInFlight < settings.workers) {
    mistakes['sending threads'] = `Expected at most as many as requests in flight, ${settings.maxInFlight}.`
  }
  const thresholds = listThresholds(settings).flatMap(({ line, text }) => {
    const parsed = parseThreshold(text)
    return parsed.ok ? [] : [`Line ${line}, ${describeMistake(parsed.mistake)}`]
  })
  if (thresholds.length > 0) mistakes.thresholds = thresholds.join('\n')
  return goal === 'capacity' ? { ...mistakes, ...findSearchMistakes(settings) } : mistakes
}

function findSearchMistakes(settings: LoadSettings): LoadMistakes {
  const { measured, coolDown, max, maxTime } = settings.search
  const mistakes: LoadMistakes = {}
  if (!isDuration(measured, 1, LOAD_MAX_MS)) {
    mistakes['probe duration'] = 'Expected a duration such as 30s or 1m.'
  }
  if (!isDuration(coolDown, 0, HOUR_MS)) {
    mistakes['pause between probes'] = 'Expected a duration such as 5s, at most an hour; 0s for none.'
  }
  if (!isDuration(maxTime, 1, LOAD_MAX_MS)) {
    mistakes['longest time'] = 'Expected a duration such as 1h, at most a week.'
  }
  const start = hasSchedule(settings) ? settings.ratePerSecond : settings.concurrency
  if (max !== null && max < start) mistakes['highest level'] = `Expected at least the first level, ${start}.`
  if (listThresholds(settings).length === 0) {
    mistakes.thresholds = 'Add at least one: a search ends at the level where a threshold fails.'
  }
  return mistakes
}

/** The think time that was typed, in milliseconds; null for none, or what is wrong with it. */
function readThinkTime({
  thinkFrom,
  thinkTo,
}: LoadSettings): { minMs: number; maxMs: number } | { mistake: string } | null {
  if (thinkFrom.trim() === '' && thinkTo.trim() === '') return null
  const minMs = parseDurationMs(thinkFrom.trim() === '' ? '0s' : thinkFrom.trim())
  const maxMs = thinkTo.trim() === '' ? minMs : parseDurationMs(thinkTo.trim())
  if (minMs === null || maxMs === null || maxMs > HOUR_MS) {
    return { mistake: 'Expected durations such as 500ms and 2s, at most an hour.' }
  }
  if (minMs > maxMs) return { mistake: 'Expected the shorter duration first.' }
  return { minMs, maxMs }
}

/** The load that a plan has; null while something typed is wrong. */
export function toPlanLoad(settings: LoadSettings): Load | null {
  if (Object.keys(findLoadMistakes(settings)).length > 0) return null
  const { goal, pace, endsBy, duration, requests, warmup, maxInFlight, whenFull, search } = settings
  const ends =
    pace === 'stages'
      ? {}
      : goal === 'capacity'
        ? { durationMs: parseDurationMs(search.measured.trim()) }
        : endsBy === 'duration'
          ? { durationMs: parseDurationMs(duration.trim()) }
          : { requests }
  const isScheduled = hasSchedule(settings)
  const thinkTime = isScheduled ? null : readThinkTime(settings)
  const parsed = loadSchema.safeParse({
    pace: toPace(settings),
    ...ends,
    warmupMs: parseDurationMs((goal === 'capacity' ? search.warmup : warmup).trim()) ?? 0,
    gracefulStopMs: parseDurationMs(settings.gracefulStop.trim()) ?? GRACEFUL_STOP_MS,
    ...(thinkTime !== null && { thinkTime }),
    ...(isScheduled && { whenFull, ...(maxInFlight !== null && { maxInFlight }) }),
    httpVersion: settings.httpVersion,
    ...(settings.httpVersion === '2' &&
      settings.http2Connections !== null && { http2Connections: settings.http2Connections }),
    workers: settings.workers,
    sampleSize: settings.sampleSize,
    errorLimit: settings.errorLimit,
    thresholds: listThresholds(settings).map(({ text }) => text),
  })
  return parsed.data ?? null
}

/** What a capacity search is bounded by; null where none is asked for, or something typed is wrong. */
export function toCapacityBounds(settings: LoadSettings): CapacityBounds | null {
  const load = toPlanLoad(settings)
  if (settings.goal !== 'capacity' || load === null) return null
  const { max, maxProbes, maxTime, coolDown } = settings.search
  const bounds = {
    ...(max !== null && { max }),
    maxProbes,
    maxTimeMs: parseDurationMs(maxTime.trim()) ?? SEARCH_DEFAULTS.maxTimeMs,
    coolDownMs: parseDurationMs(coolDown.trim()) ?? SEARCH_DEFAULTS.coolDownMs,
  }
  return planCapacity(load, bounds).ok ? bounds : null
}

/** What a load test still lacks before it can be prepared, or null. */
export function findLoadGap(settings: LoadSettings): string | null {
  const [field] = Object.keys(findLoadMistakes(settings))
  if (field === 'thresholds' && listThresholds(settings).length === 0) return 'Add a threshold to search by'
  if (field !== undefined) return `Correct the ${field} of the load test`
  const isReady =
    toPlanLoad(settings) !== null && (settings.goal === 'measure' || toCapacityBounds(settings) !== null)
  return isReady ? null : 'Correct the load of the load test'
}

function toPace({ pace, concurrency, ratePerSecond, stages }: LoadSettings): Load['pace'] | null {
  if (pace === 'closed') return { kind: 'closed', concurrency: Math.min(concurrency, IN_FLIGHT_MAX) }
  if (pace === 'open') return { kind: 'open', ratePerSecond }
  const parsed = parseStages(stages)
  return parsed.ok ? parsed.pace : null
}

function listThresholds({ thresholds }: LoadSettings): { line: number; text: string }[] {
  return thresholds
    .split('\n')
    .map((line, index) => ({ line: index + 1, text: line.trim() }))
    .filter(({ text }) => text !== '')
}

function isDuration(text: string, leastMs: number, mostMs: number): boolean {
  const trimmed = text.trim()
  const ms = trimmed === '' && leastMs === 0 ? 0 : parseDurationMs(trimmed)
  return ms !== null && ms >= leastMs && ms <= mostMs
}

/** Where a typed text is wrong, and how. */
export function describeMistake({ at, expected, found }: TextMistake): string {
  return `character ${at}: expected ${expected}, found ${found}`
}
