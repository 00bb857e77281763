const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

type Unit = keyof typeof UNIT_MS

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/
const PART = /(\d+(?:\.\d+)?)(ms|h|m|s)/g
const ORDER: readonly Unit[] = ['h', 'm', 's', 'ms']

/**
 * Milliseconds of a duration as k6 and Go write it: `30s`, `1m30s`, `500ms`, `1.5h`; each unit at most once,
 * large ones first. Null for anything else, such as a number without a unit. Rounds fractions of a
 * millisecond.
 */
export function parseDurationMs(text: string): number | null {
  if (!DURATION.test(text)) return null
  let ms = 0
  let last = -1
  for (const [, amount, unit] of text.matchAll(PART)) {
    const at = ORDER.indexOf(unit as Unit)
    if (at <= last) return null
    last = at
    ms += Number(amount) * UNIT_MS[unit as Unit]
  }
  return Math.round(ms)
}

/** Whole milliseconds as {@link parseDurationMs} reads them: `90000` is `1m30s`, `0` is `0s`. */
export function formatDurationMs(ms: number): string {
  let rest = ms
  let text = ''
  for (const unit of ORDER) {
    const amount = Math.floor(rest / UNIT_MS[unit])
    rest -= amount * UNIT_MS[unit]
    if (amount > 0) text += `${amount}${unit}`
  }
  return text === '' ? '0s' : text
}

/** A chosen duration in exact words: `90000` is `1 min 30 s`, `0` is `0 s`. Takes whole milliseconds. */
export function formatSetDuration(ms: number): string {
  return formatDurationMs(ms).replaceAll(PART, (_, amount: string, unit: string, at: number) => {
    const digits = at > 0 && unit !== 'ms' ? amount.padStart(2, '0') : amount
    return `${at > 0 ? ' ' : ''}${digits} ${unit === 'm' ? 'min' : unit}`
  })
}
