import { z } from 'zod'
import { formatDurationMs, parseDurationMs } from '../messages/duration.ts'
import { catchMistake, MistakeError, skipSpace, type TextMistake } from '../messages/text-mistake.ts'

export const IN_FLIGHT_MAX = 10_000

/** Highest rate that a plan may ask for, requests a second. */
export const RATE_MAX = 1_000_000

/** Most stages whose requests are counted apart. */
export const STAGES_COUNTED = 100

/** Longest load, its warm-up included: a week, in milliseconds. */
export const LOAD_MAX_MS = 7 * 24 * 3_600_000

/** Step between rates, requests a second; keeps schedules exact up to {@link RATE_MAX}. */
const RATE_STEP = 0.001

export function toTotalMs(stages: readonly { durationMs: number }[]): number {
  return stages.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

/** Whether a level is a valid number of requests in flight. */
function isWholeConcurrency(level: number): boolean {
  return Number.isInteger(level) && level <= IN_FLIGHT_MAX
}

/** Whether a rate has at most three decimals. */
export function isWholeRate(rate: number): boolean {
  const thousandths = rate / RATE_STEP
  return Math.abs(thousandths - Math.round(thousandths)) < 1e-6
}

const rateSchema = z
  .number()
  .positive()
  .max(RATE_MAX)
  .refine(isWholeRate, { error: 'must have at most three decimals' })

const STAGE_NAME = /^[A-Za-z][\w-]*$/

const levelSchema = z.number().min(0).max(RATE_MAX)

const stageSchema = z.object({
  from: levelSchema,
  to: levelSchema,
  durationMs: z.int().min(1).max(LOAD_MAX_MS),
  name: z
    .string()
    .regex(STAGE_NAME, { error: 'must begin with a letter, followed by letters, digits, - and _' })
    .exactOptional(),
})

/** One stage: a constant level, or an even change between two levels. */
export type Stage = z.infer<typeof stageSchema>

const stagesSchema = z
  .object({
    kind: z.literal('stages'),
    /** The unit of the levels: requests a second, or requests in flight. */
    of: z.enum(['rate', 'concurrency']),
    stages: z.array(stageSchema).min(1),
  })
  .superRefine(({ of, stages }, context) => {
    const isLevel = of === 'rate' ? isWholeRate : isWholeConcurrency
    const expected =
      of === 'rate'
        ? 'levels must have at most three decimals'
        : `levels must be whole requests in flight, at most ${IN_FLIGHT_MAX}`
    const wrong = stages.findIndex(({ from, to }) => !isLevel(from) || !isLevel(to))
    if (wrong !== -1) context.addIssue({ code: 'custom', path: ['stages', wrong], message: expected })
    if (stages.every(({ from, to }) => from === 0 && to === 0)) {
      context.addIssue({
        code: 'custom',
        path: ['stages'],
        message: 'at least one stage must send something',
      })
    }
    const names = stages.flatMap(({ name }) => name ?? [])
    const repeated = names.find((name, index) => names.indexOf(name) !== index)
    if (repeated !== undefined) {
      const message = `two stages must not have the same name, ${repeated}`
      context.addIssue({ code: 'custom', path: ['stages'], message })
    }
    if (toTotalMs(stages) > LOAD_MAX_MS) {
      const message = 'all stages together must not last longer than a week'
      context.addIssue({ code: 'custom', path: ['stages'], message })
    }
  })

/** How fast a load is sent (docs/load-tests.md §2). */
export const loadPaceSchema = z.discriminatedUnion('kind', [
  /** `concurrency` requests in flight; the next is sent when one returns. */
  z.object({ kind: z.literal('closed'), concurrency: z.int().min(1).max(IN_FLIGHT_MAX) }),
  /** `ratePerSecond` requests due each second on an absolute schedule. */
  z.object({ kind: z.literal('open'), ratePerSecond: rateSchema }),
  stagesSchema,
])

export type LoadPace = z.infer<typeof loadPaceSchema>

/** Whether requests are due on a schedule, regardless of whether the service keeps up. */
export function isOpen(pace: LoadPace): boolean {
  return pace.kind === 'open' || (pace.kind === 'stages' && pace.of === 'rate')
}

/** The pace as stages; `durationMs` is for a pace without stages of its own. */
export function toStages(pace: LoadPace, durationMs: number): readonly Stage[] {
  if (pace.kind === 'stages') return pace.stages
  const level = pace.kind === 'open' ? pace.ratePerSecond : pace.concurrency
  return [{ from: level, to: level, durationMs }]
}

/**
 * Returns a function from time, milliseconds since measuring began, to the stage's number, from 0; after the
 * end it is the last stage. Null if the pace has no stages, or more than {@link STAGES_COUNTED}.
 */
export function createStageFinder(pace: LoadPace): ((ms: number) => number) | null {
  if (pace.kind !== 'stages' || pace.stages.length > STAGES_COUNTED) return null
  let sum = 0
  const ends = pace.stages.map(({ durationMs }) => {
    sum += durationMs
    return sum
  })
  const last = ends.length - 1
  let at = 0
  return (ms) => {
    // Most requests belong to the same stage as the one before.
    if (ms < (ends[at - 1] ?? Number.NEGATIVE_INFINITY)) at = 0
    while (at < last && ms >= (ends[at] ?? 0)) at += 1
    return at
  }
}

/** The highest level of a pace: requests a second, or requests in flight. */
export function toPeak(pace: LoadPace): number {
  if (pace.kind === 'open') return pace.ratePerSecond
  if (pace.kind === 'closed') return pace.concurrency
  return Math.max(...pace.stages.flatMap(({ from, to }) => [from, to]))
}

/** The level of a warm-up: the load's first level above zero. */
export function toWarmupLevel(pace: LoadPace): number {
  if (pace.kind !== 'stages') return toPeak(pace)
  return pace.stages.flatMap(({ from, to }) => [from, to]).find((level) => level > 0) ?? 0
}

export type StagesPace = Extract<LoadPace, { kind: 'stages' }>

/** Parsed stages, or the first mistake in the text. */
export type StagesParse = { ok: true; pace: StagesPace } | { ok: false; mistake: TextMistake }

const EXAMPLE = '`50@30s,50..200@2m`'
const STAGE = /^(?:(?<from>[\d.]*?)(?<range>\.\.))?(?<to>\d+(?:\.\d+)?)@(?<duration>\S+)(?:\s+(?<name>\S+))?$/
const LEVEL = /^\d+(?:\.\d+)?$/

/**
 * Reads stages: `50@30s` holds 50 for 30 seconds, `50..200@2m` changes evenly from 50 to 200 in two minutes,
 * `..200@2m` does so from the level where the stage before ended (0 for the first). Commas separate stages.
 * Levels are requests a second, optionally after `rate:`, or requests in flight after `concurrency:`. A name
 * may follow a stage: `50@30s base`.
 */
export function parseStages(text: string): StagesParse {
  return catchMistake<StagesParse>(() => {
    const unit = /^\s*(rate|concurrency)\s*:/.exec(text)
    const of = unit?.[1] === 'concurrency' ? 'concurrency' : 'rate'
    const stages: Stage[] = []
    let from = unit?.[0].length ?? 0
    for (const part of text.slice(from).split(',')) {
      const at = skipSpace(text, from)
      stages.push(parseStage(text, at, part.trim(), stages.at(-1)?.to ?? 0, of))
      from += part.length + 1
    }
    const names = stages.flatMap(({ name }) => name ?? [])
    const repeated = names.find((name, index) => names.indexOf(name) !== index)
    if (repeated !== undefined) {
      throw new MistakeError(text, text.lastIndexOf(repeated), 'another name for each stage', repeated.length)
    }
    if (stages.every((stage) => stage.from === 0 && stage.to === 0)) {
      throw new MistakeError(text, 0, 'at least one stage that sends something')
    }
    if (toTotalMs(stages) > LOAD_MAX_MS) {
      throw new MistakeError(text, 0, `stages of ${formatDurationMs(LOAD_MAX_MS)} in all at most`)
    }
    return { ok: true, pace: { kind: 'stages', of, stages } }
  })
}

function parseStage(text: string, at: number, part: string, before: number, of: StagesPace['of']): Stage {
  const groups = STAGE.exec(part)?.groups
  if (groups === undefined) throw new MistakeError(text, at, explainStage(part), part.length)
  const { from = '', range, to = '', duration = '', name } = groups
  if (name !== undefined && !STAGE_NAME.test(name)) {
    const expected = 'a name of letters, digits, - and _ that begins with a letter'
    throw new MistakeError(text, at + part.lastIndexOf(name), expected, name.length)
  }
  const named = name === undefined ? {} : { name }
  const durationAt = at + part.indexOf('@') + 1
  const durationMs = parseDurationMs(duration)
  if (durationMs === null || durationMs < 1 || durationMs > LOAD_MAX_MS) {
    const expected = `a duration such as 30s or 1m30s, at most ${formatDurationMs(LOAD_MAX_MS)}`
    throw new MistakeError(text, durationAt, expected, duration.length)
  }
  const toAt = at + (range === undefined ? 0 : from.length + range.length)
  const toLevel = parseLevel(text, toAt, to, of)
  if (range === undefined) return { from: toLevel, to: toLevel, durationMs, ...named }
  return { from: from === '' ? before : parseLevel(text, at, from, of), to: toLevel, durationMs, ...named }
}

function parseLevel(text: string, at: number, level: string, of: StagesPace['of']): number {
  const value = LEVEL.test(level) ? Number(level) : Number.NaN
  const isRate = of === 'rate'
  const isValid = isRate ? value <= RATE_MAX && isWholeRate(value) : isWholeConcurrency(value)
  if (isValid) return value
  const expected = isRate
    ? `requests a second, at most ${RATE_MAX} and with at most three decimals`
    : `a whole number of requests in flight, at most ${IN_FLIGHT_MAX}`
  throw new MistakeError(text, at, expected, level.length)
}

function explainStage(part: string): string {
  if (LEVEL.test(part)) return `a duration after the level, as in \`${part}@30s\``
  return `stages such as ${EXAMPLE}: a level or a range of levels, \`@\`, a duration`
}
