export { formatBytes } from '../../../shared/messages/figure-text.ts'

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const twoDecimals = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A count with thousands separated: `5,572`. */
export function formatCount(count: number): string {
  return whole.format(count)
}

/** A count and its noun, in the right number: `1 row`, `2 rows`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`
}

/** A share in percent that says 0 or 100 only where it is: `<0.1 %`, `12.3 %`, `>99.9 %`. */
export function formatShare(part: number, whole_: number): string {
  if (whole_ === 0) return '0 %'
  const percent = (part / whole_) * 100
  if (percent === 0 || percent === 100) return `${percent} %`
  if (percent < 0.1) return '<0.1 %'
  if (percent > 99.9) return '>99.9 %'
  return `${oneDecimal.format(percent)} %`
}

/** Milliseconds without their unit, with about three significant digits: `0.84`, `12.3`, `1,204`. */
export function formatMs(ms: number): string {
  if (ms < 10) return twoDecimals.format(ms)
  return ms < 100 ? oneDecimal.format(ms) : whole.format(ms)
}

/** A rate per second, without its unit. */
export function formatRate(perSecond: number): string {
  return perSecond < 10 ? oneDecimal.format(perSecond) : whole.format(perSecond)
}

/** A span of time as a person says it: `36 ms`, `26.1 s`, `3 min 05 s`, `2 h 04 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 0.9995) return `${whole.format(ms)} ms`
  if (seconds < 59.95) return `${oneDecimal.format(seconds)} s`
  const total = Math.round(seconds)
  const minutes = Math.floor(total / 60)
  if (minutes < 60) return `${minutes} min ${String(total % 60).padStart(2, '0')} s`
  return `${whole.format(Math.floor(minutes / 60))} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** A time to wait, in whole seconds, never 0: `1 s`, `12 s`, `3 min 05 s`. */
export function formatTimeLeft(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
}
