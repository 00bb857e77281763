import { formatDurationMs, parseDurationMs } from '../messages/duration.ts'
import { catchMistake, MistakeError, skipSpace, type TextMistake } from '../messages/text-mistake.ts'
import {
  IN_FLIGHT_MAX,
  isWholeConcurrency,
  isWholeRate,
  LOAD_MAX_MS,
  type LoadPace,
  RATE_MAX,
  type Stage,
  toTotalMs,
} from './load-pace.ts'

/** A pace of stages. */
export type StagesPace = Extract<LoadPace, { kind: 'stages' }>

/** Stages as text says them, or the first thing wrong with the text. */
export type StagesParse = { ok: true; pace: StagesPace } | { ok: false; mistake: TextMistake }

const EXAMPLE = '`50@30s,50..200@2m`'
const STAGE = /^(?:(?<from>[\d.]*?)(?<range>\.\.))?(?<to>\d+(?:\.\d+)?)@(?<duration>\S+)$/
const LEVEL = /^\d+(?:\.\d+)?$/

/**
 * Reads stages: `50@30s` holds 50 for 30 seconds, `50..200@2m` goes evenly from 50 to 200 in two minutes, `..200@2m`
 * does so from where the stage before ended (0 for the first); commas between them. Levels are requests a second, or
 * requests in flight after `concurrency:`; `rate:` may be said.
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
    if (stages.every((stage) => stage.from === 0 && stage.to === 0)) {
      throw new MistakeError(text, 0, 'at least one stage that sends something')
    }
    if (toTotalMs(stages) > LOAD_MAX_MS) {
      throw new MistakeError(text, 0, `stages of ${formatDurationMs(LOAD_MAX_MS)} in all at most`)
    }
    return { ok: true, pace: { kind: 'stages', of, stages } }
  })
}

/** The text that {@link parseStages} reads back. */
export function formatStages({ of, stages }: StagesPace): string {
  const texts = stages.map(({ from, to, durationMs }) => {
    const level = from === to ? String(to) : `${from}..${to}`
    return `${level}@${formatDurationMs(durationMs)}`
  })
  return `${of === 'concurrency' ? 'concurrency:' : ''}${texts.join(',')}`
}

function parseStage(text: string, at: number, part: string, before: number, of: StagesPace['of']): Stage {
  const groups = STAGE.exec(part)?.groups
  if (groups === undefined) throw new MistakeError(text, at, explainStage(part), part.length)
  const { from = '', range, to = '', duration = '' } = groups
  const durationAt = at + part.indexOf('@') + 1
  const durationMs = parseDurationMs(duration)
  if (durationMs === null || durationMs < 1 || durationMs > LOAD_MAX_MS) {
    const expected = `a duration such as 30s or 1m30s, at most ${formatDurationMs(LOAD_MAX_MS)}`
    throw new MistakeError(text, durationAt, expected, duration.length)
  }
  const toAt = at + (range === undefined ? 0 : from.length + range.length)
  const toLevel = parseLevel(text, toAt, to, of)
  if (range === undefined) return { from: toLevel, to: toLevel, durationMs }
  return { from: from === '' ? before : parseLevel(text, at, from, of), to: toLevel, durationMs }
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
