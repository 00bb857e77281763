import { InvalidArgumentError } from 'commander'
import { parseDurationMs as parseCompound } from '../../../shared/messages/duration.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a duration with its unit: `500ms`, `30s`, `1m30s`, `1.5h`, `2d`. The unit is never assumed. */
export function parseDurationMs(text: string): number {
  const compoundMs = parseCompound(text.trim())
  if (compoundMs !== null) return compoundMs
  const match = /^(\d+\.?\d*|\.\d+)\s*(ms|s|m|min|h|d)$/.exec(text.trim())
  const unitMs = UNIT_MS[match?.[2] ?? '']
  if (match === null || unitMs === undefined) {
    const lacksUnit = /^\d+$/.test(text.trim())
    const advice = lacksUnit ? ` Add a unit: \`${text.trim()}s\` or \`${text.trim()}ms\`.` : ''
    throw new InvalidArgumentError(`expected a duration such as 30s or 500ms, found \`${text}\`.${advice}`)
  }
  return Math.round(Number(match[1]) * unitMs)
}

/** Parser of a duration from 1 ms, or from nothing, to `longest`, which is a duration as a person writes it. */
export function createDurationParser(
  longest: string,
  { allowsZero = false }: { allowsZero?: boolean } = {},
): (text: string) => number {
  const longestMs = parseDurationMs(longest)
  const shortest = allowsZero ? '0s' : '1ms'
  return (text) => {
    const durationMs = parseDurationMs(text)
    if (durationMs < parseDurationMs(shortest) || durationMs > longestMs) {
      throw new InvalidArgumentError(`expected a duration from ${shortest} to ${longest}, found \`${text}\`.`)
    }
    return durationMs
  }
}

/** Parser of `--timeout`: a duration from 1 ms to 1 hour. */
export const parseTimeoutMs = createDurationParser('1h')
