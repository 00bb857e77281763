import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from './parse-values.ts'

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/
const AGO = /^\d.*[a-z]$/

/** Parser of `--since`: the start of a date in local time, a time, or a duration before now. Unix milliseconds. */
export function parseSince(text: string): number {
  return parseMoment(text, 0)
}

/** Parser of `--until`: the end of a date in local time, a time, or a duration before now. Unix milliseconds. */
export function parseUntil(text: string): number {
  return parseMoment(text, 1)
}

/** A date stands for its start, or for that of the day `daysLater`. */
function parseMoment(text: string, daysLater: number): number {
  const trimmed = text.trim()
  const date = DATE.exec(trimmed)
  if (date !== null) {
    const [year = 0, month = 0, day = 0] = date.slice(1).map(Number)
    const isReal = new Date(year, month - 1, day).getDate() === day && month >= 1 && month <= 12
    if (isReal) return new Date(year, month - 1, day + daysLater).getTime()
  } else if (TIME.test(trimmed)) {
    const ms = Date.parse(trimmed.replace(' ', 'T'))
    if (!Number.isNaN(ms)) return ms
  } else if (AGO.test(trimmed)) return Date.now() - parseDurationMs(trimmed)
  throw new InvalidArgumentError(
    `expected a date such as 2026-11-21, a time such as 2026-11-21T09:30, or a duration such as 7d, found \`${text}\`.`,
  )
}
