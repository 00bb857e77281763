import { InvalidArgumentError } from 'commander'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a duration with its unit: `500ms`, `30s`, `1.5m`, `1h`, `2d`. The unit is never assumed. */
export function parseDurationMs(text: string): number {
  const match = /^(\d+\.?\d*|\.\d+)\s*(ms|s|m|min|h|d)$/.exec(text.trim())
  const unitMs = UNIT_MS[match?.[2] ?? '']
  if (match === null || unitMs === undefined) {
    const lacksUnit = /^\d+$/.test(text.trim())
    const advice = lacksUnit ? ` Say which unit: \`${text.trim()}s\` or \`${text.trim()}ms\`?` : ''
    throw new InvalidArgumentError(`expected a duration such as 30s or 500ms, found \`${text}\`.${advice}`)
  }
  return Math.round(Number(match[1]) * unitMs)
}

/** Parser of a duration from 1 ms to `longest`, which is a duration as a person writes it. */
export function createDurationParser(longest: string): (text: string) => number {
  const longestMs = parseDurationMs(longest)
  return (text) => {
    const durationMs = parseDurationMs(text)
    if (durationMs < 1 || durationMs > longestMs) {
      throw new InvalidArgumentError(`expected a duration from 1ms to ${longest}, found \`${text}\`.`)
    }
    return durationMs
  }
}

/** Parser of `--timeout`: a duration from 1 ms to 1 hour. */
export const parseTimeoutMs = createDurationParser('1h')
