import { z } from 'zod'
import {
  type CapacityBounds,
  capacityBoundsSchema,
  PROBE_DEFAULTS,
  planCapacity,
} from '../../../shared/load/capacity-plan.ts'
import { type Load, loadSchema } from '../../../shared/load/load.ts'
import {
  IN_FLIGHT_MAX,
  isWholeRate,
  LOAD_MAX_MS,
  parseStages,
  RATE_MAX,
} from '../../../shared/load/load-pace.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import { formatDurationMs, parseDurationMs } from '../../../shared/messages/duration.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import type { TextMistake } from '../../../shared/messages/text-mistake.ts'
import { CAPACITY_OPTIONS } from '../../../shared/options/capacity-options.ts'
import { LOAD_OPTIONS, type LoadCircumstance } from '../../../shared/options/load-options.ts'
import { nameOption, readTyped, toTypedShape } from '../../ui/options/typed-options.ts'

const searchSettingsSchema = z.object({
  ...toTypedShape(CAPACITY_OPTIONS),
  warmup: z.string().default(formatDurationMs(PROBE_DEFAULTS.warmupMs)),
  measured: z.string().default(formatDurationMs(PROBE_DEFAULTS.measuredMs)),
  /** Highest level of a search; null for 64 times the first. */
  max: z.number().nullable().default(null),
})

/** A load test as typed, with initial values; `parseDurationMs` reads the durations. */
export const loadSettingsSchema = z.object({
  ...toTypedShape(LOAD_OPTIONS),
  /** `measure`: one load. `capacity`: one after another, until a threshold fails. */
  goal: z.enum(['measure', 'capacity']).default('measure'),
  pace: z.enum(['closed', 'open', 'stages']).default('closed'),
  /** Requests in flight of a closed pace. */
  concurrency: z.int().min(1).default(10),
  /** Requests a second of an open pace. */
  ratePerSecond: z.number().default(50),
  stages: z.string().default('0..50@1m, 50@2m, 50..0@30s'),
  /** What ends a pace without stages. */
  endsBy: z.enum(['duration', 'requests']).default('duration'),
  duration: z.string().default('1m'),
  requests: z.int().min(1).default(1_000),
  /** Pause of a closed pace before the next request, random between these two; empty for none. */
  thinkFrom: z.string().default(''),
  thinkTo: z.string().default(''),
  retries: z.int().min(0).default(0),
  /** One per line, for `parseThreshold`. */
  thresholds: z.string().default(''),
  search: searchSettingsSchema.prefault({}),
})

export type LoadSettings = z.infer<typeof loadSettingsSchema>

export type SearchSettings = LoadSettings['search']

export const DEFAULT_LOAD: LoadSettings = loadSettingsSchema.parse({})

/** Mistakes in fields, by the fields' names in sentences. */
export type LoadMistakes = Partial<Record<string, string>>

const HOUR_MS = 3_600_000

/** Whether requests are due on a schedule, so that their number in flight has a limit. */
export function hasSchedule({ pace, stages }: Pick<LoadSettings, 'pace' | 'stages'>): boolean {
  if (pace !== 'stages') return pace === 'open'
  const parsed = parseStages(stages)
  return !parsed.ok || parsed.pace.of === 'rate'
}

/** The circumstances that options may require. */
export function listCircumstances(settings: LoadSettings): LoadCircumstance[] {
  return [
    hasSchedule(settings) ? 'open' : 'closed',
    ...(settings.httpVersion === '2' ? ['http2' as const] : []),
    ...(settings.order === 'source' ? [] : ['drawn' as const]),
    ...(settings.order === 'random' ? ['random' as const] : []),
  ]
}

/** The typed options of the table; each probe of a search has its own warm-up. */
function readOptions(settings: LoadSettings): ReturnType<typeof readTyped> {
  const { goal, warmupMs, search } = settings
  return readTyped(
    LOAD_OPTIONS,
    { ...settings, warmupMs: goal === 'capacity' ? search.warmup : warmupMs },
    listCircumstances(settings),
  )
}

/** Mistakes in typed fields; fields that have no effect are never wrong. */
export function findLoadMistakes(settings: LoadSettings): LoadMistakes {
  const { goal, pace, ratePerSecond, endsBy, duration } = settings
  const mistakes: LoadMistakes = {}
  if (pace === 'open' && !(ratePerSecond > 0 && ratePerSecond <= RATE_MAX && isWholeRate(ratePerSecond))) {
    mistakes['rate'] = `Expected more than 0 and at most ${RATE_MAX} a second, with at most three decimals.`
  }
  if (pace === 'stages') {
    const parsed = parseStages(settings.stages)
    if (!parsed.ok) mistakes['stages'] = `At ${describeMistake(parsed.mistake)}`
  } else if (goal === 'measure' && endsBy === 'duration' && !isDuration(duration)) {
    mistakes['duration'] = 'Expected a duration such as 60s or 2m30s, at most a week.'
  }
  Object.assign(mistakes, readOptions(settings).mistakes)
  if (!hasSchedule(settings)) {
    const think = readThinkTime(settings)
    if (think !== null && 'mistake' in think) mistakes['think time'] = think.mistake
  }
  const isCounted = goal === 'measure' && pace === 'closed' && endsBy === 'requests'
  const inFlight = hasSchedule(settings) ? settings.maxInFlight : isCounted ? settings.concurrency : null
  if (inFlight !== null && inFlight < settings.workers) {
    const threads = nameOption(LOAD_OPTIONS.workers)
    mistakes[threads] = `Expected at most as many as requests in flight, ${inFlight}.`
  }
  const thresholds = listThresholds(settings).flatMap(({ line, text }) => {
    const parsed = parseThreshold(text)
    return parsed.ok ? [] : [`Line ${line}, ${describeMistake(parsed.mistake)}`]
  })
  if (thresholds.length > 0) mistakes['thresholds'] = thresholds.join('\n')
  return goal === 'capacity' ? { ...mistakes, ...findSearchMistakes(settings) } : mistakes
}

function findSearchMistakes(settings: LoadSettings): LoadMistakes {
  const { measured, max } = settings.search
  const mistakes: LoadMistakes = {}
  if (!isDuration(measured)) {
    mistakes['probe duration'] = 'Expected a duration such as 30s or 1m.'
  }
  Object.assign(mistakes, readTyped(CAPACITY_OPTIONS, settings.search).mistakes)
  const start = hasSchedule(settings) ? settings.ratePerSecond : settings.concurrency
  const most = hasSchedule(settings) ? RATE_MAX : IN_FLIGHT_MAX
  if (max !== null && max > most) mistakes['highest level'] = `Expected at most ${formatCount(most)}.`
  if (max !== null && max < start) mistakes['highest level'] = `Expected at least the first level, ${start}.`
  if (listThresholds(settings).length === 0) {
    mistakes['thresholds'] = 'Add at least one: a search ends at the level where a threshold fails.'
  }
  return mistakes
}

/** The typed think time in milliseconds; null for none, or what is wrong with it. */
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

/** The load for a plan; null while a field is wrong. */
export function toPlanLoad(settings: LoadSettings): Load | null {
  if (Object.keys(findLoadMistakes(settings)).length > 0) return null
  const { goal, pace, endsBy, duration, requests, search } = settings
  const ends =
    pace === 'stages'
      ? {}
      : goal === 'capacity'
        ? { durationMs: parseDurationMs(search.measured.trim()) }
        : endsBy === 'duration'
          ? { durationMs: parseDurationMs(duration.trim()) }
          : { requests }
  const thinkTime = hasSchedule(settings) ? null : readThinkTime(settings)
  const parsed = loadSchema.safeParse({
    ...readOptions(settings).values,
    pace: toPace(settings),
    ...ends,
    ...(thinkTime !== null && { thinkTime }),
    thresholds: listThresholds(settings).map(({ text }) => text),
  })
  return parsed.data ?? null
}

/** The limits of a capacity search; null if none is asked for, or a field is wrong. */
export function toCapacityBounds(settings: LoadSettings): CapacityBounds | null {
  const load = toPlanLoad(settings)
  if (settings.goal !== 'capacity' || load === null) return null
  const { max } = settings.search
  const { data: bounds } = capacityBoundsSchema.safeParse({
    ...readTyped(CAPACITY_OPTIONS, settings.search).values,
    ...(max !== null && { max }),
  })
  return bounds !== undefined && planCapacity(load, bounds).ok ? bounds : null
}

/** What is missing before a load test can be prepared; null if nothing. */
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

function isDuration(text: string): boolean {
  const ms = parseDurationMs(text.trim())
  return ms !== null && ms >= 1 && ms <= LOAD_MAX_MS
}

/** Where and how a typed text is wrong. */
export function describeMistake({ at, expected, found }: TextMistake): string {
  return `character ${at}: expected ${expected}, found ${found}`
}
