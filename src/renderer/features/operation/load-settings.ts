import { type Load, loadSchema } from '../../../shared/load/load.ts'
import {
  IN_FLIGHT_MAX,
  isWholeRate,
  LOAD_MAX_MS,
  parseStages,
  RATE_MAX,
} from '../../../shared/load/load-pace.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import { parseDurationMs } from '../../../shared/messages/duration.ts'
import type { TextMistake } from '../../../shared/messages/text-mistake.ts'

/** A load test as it is typed. */
export interface LoadSettings {
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
  /** Most in flight of an open pace; null for as many as its rate and the time-out come to. */
  maxInFlight: number | null
  whenFull: 'wait' | 'drop'
  /** One a line, as `parseThreshold` reads them. */
  thresholds: string
}

/** What a load test starts with unless the person says otherwise. */
export const DEFAULT_LOAD: LoadSettings = {
  pace: 'closed',
  concurrency: 10,
  ratePerSecond: 50,
  stages: '10@30s, 10..50@1m, 50@1m',
  endsBy: 'duration',
  duration: '1m',
  requests: 1_000,
  warmup: '5s',
  maxInFlight: null,
  whenFull: 'wait',
  thresholds: '',
}

/** Fields that can be wrong, and how each is. */
export type LoadMistakes = Partial<Record<'rate' | 'stages' | 'duration' | 'warmup' | 'thresholds', string>>

const WARMUP_MAX_MS = 3_600_000

/** Whether requests are due on a schedule, so that there is a cap on those in flight. */
export function hasSchedule({ pace, stages }: LoadSettings): boolean {
  if (pace !== 'stages') return pace === 'open'
  const parsed = parseStages(stages)
  return !parsed.ok || parsed.pace.of === 'rate'
}

/** What is wrong with what was typed, by field; fields that the pace has no use for are never wrong. */
export function findLoadMistakes(settings: LoadSettings): LoadMistakes {
  const { pace, ratePerSecond, endsBy, duration, warmup } = settings
  const mistakes: LoadMistakes = {}
  if (pace === 'open' && !(ratePerSecond > 0 && ratePerSecond <= RATE_MAX && isWholeRate(ratePerSecond))) {
    mistakes.rate = `Expected more than 0 and at most ${RATE_MAX} a second, with at most three decimals.`
  }
  if (pace === 'stages') {
    const parsed = parseStages(settings.stages)
    if (!parsed.ok) mistakes.stages = `At ${describeMistake(parsed.mistake)}`
  } else if (endsBy === 'duration' && !isDuration(duration, 1, LOAD_MAX_MS)) {
    mistakes.duration = 'Expected a duration such as 60s or 2m30s, at most a week.'
  }
  if (!isDuration(warmup === '' ? '0s' : warmup, 0, WARMUP_MAX_MS)) {
    mistakes.warmup = 'Expected a duration such as 10s, at most an hour; 0s for none.'
  }
  const thresholds = listThresholds(settings).flatMap(({ line, text }) => {
    const parsed = parseThreshold(text)
    return parsed.ok ? [] : [`Line ${line}, ${describeMistake(parsed.mistake)}`]
  })
  if (thresholds.length > 0) mistakes.thresholds = thresholds.join('\n')
  return mistakes
}

/** The load that a plan has; null while something typed is wrong. */
export function toPlanLoad(settings: LoadSettings): Load | null {
  if (Object.keys(findLoadMistakes(settings)).length > 0) return null
  const { endsBy, duration, requests, warmup, maxInFlight, whenFull } = settings
  const ends =
    settings.pace === 'stages'
      ? {}
      : endsBy === 'duration'
        ? { durationMs: parseDurationMs(duration.trim()) }
        : { requests }
  const parsed = loadSchema.safeParse({
    pace: toPace(settings),
    ...ends,
    warmupMs: parseDurationMs(warmup.trim()) ?? 0,
    ...(hasSchedule(settings) && { whenFull, ...(maxInFlight !== null && { maxInFlight }) }),
    thresholds: listThresholds(settings).map(({ text }) => text),
  })
  return parsed.data ?? null
}

/** What a load test still lacks before it can be prepared, or null. */
export function findLoadGap(settings: LoadSettings): string | null {
  const [field] = Object.keys(findLoadMistakes(settings))
  if (field !== undefined) return `Correct the ${field} of the load test`
  return toPlanLoad(settings) === null ? 'Correct the pace of the load test' : null
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
  const ms = parseDurationMs(text.trim())
  return ms !== null && ms >= leastMs && ms <= mostMs
}

function describeMistake({ at, expected, found }: TextMistake): string {
  return `character ${at}: expected ${expected}, found ${found}`
}
