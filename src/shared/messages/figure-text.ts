// Created with the first figure: most threads load this module and format none.
let whole: Intl.NumberFormat | null = null
let tenths: Intl.NumberFormat | null = null

function formatWhole(value: number): string {
  whole ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
  return whole.format(value)
}

function formatTenths(value: number): string {
  tenths ??= new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return tenths.format(value)
}

/** A figure without floating-point noise in far decimals; never -0, which would read as negative. */
export function roundNoise(value: number): number {
  return Number(value.toFixed(12)) + 0
}

/** A count with thousands separated: `5,572`. */
export function formatCount(count: number): string {
  return formatWhole(count)
}

/** A count and its noun, singular or plural: `1 request`, `2 requests`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatWhole(count)} ${count === 1 ? noun : plural}`
}

/** The counts above zero, each with what it counts: `3 without a label`. */
export function listCounts(counts: readonly (readonly [count: number, what: string])[]): string[] {
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${formatWhole(count)} ${what}`)
}

/** About three digits: `0.42`, `8.31`, `56.2`, `1,204`; `0` only for exactly zero. */
export function formatFigure(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || size >= 99.95) return formatWhole(value)
  return size >= 9.995 ? formatTenths(value) : value.toFixed(2)
}

/** Milliseconds with three digits in a suitable unit: `0.42 ms`, `124 ms`, `1.20 s`. */
export function formatMs(ms: number): string {
  return Math.abs(ms) >= 1000 ? `${formatFigure(ms / 1000)} s` : `${formatFigure(ms)} ms`
}

/** Of fewer measurements, p99 is the slowest one. */
export const P99_LEAST = 100

/** The same of each percentile that is shown. */
const LEAST_MEASURED = [
  ['p99', P99_LEAST],
  ['p95', 20],
  ['p90', 10],
] as const

/** Says which percentiles so few measurements have as the slowest of them; null if none. */
export function sayFewMeasured(counts: readonly number[]): string | null {
  const few = LEAST_MEASURED.filter(([, least]) => counts.some((count) => count < least))
  if (few.length === 0) return null
  const [first, ...others] = few.map(([name, least]) => `${name} of fewer than ${least}`)
  const also =
    others.length === 0 ? '' : `, and so ${others.length === 1 ? 'is' : 'are'} ${others.join(' and ')}`
  return `${first} measurements is the slowest of them${also}.`
}

/** How long the slowest took: `99 of 100 within 80.0 ms`, or `all 5 within 95.0 ms` for under 100. */
export function describeSlowest({ count, p99, max }: { count: number; p99: number; max: number }): string {
  if (count >= P99_LEAST) return `99 of 100 within ${formatMs(p99)}`
  return count === 1 ? 'a single request' : `all ${count} within ${formatMs(max)}`
}

/** A latency on an axis, with as few digits as possible: `0`, `0.5 ms`, `50 ms`, `1.5 s`. */
export function formatAxisMs(ms: number): string {
  return ms === 0 ? '0' : dropZeros(formatMs(ms))
}

/** Drops zeros after the decimal point: `20 %` for `20.0 %`. */
export function dropZeros(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\s|$)/, (_, decimals: string) => (decimals === '.' ? '' : decimals))
}

/** A rate per second, without its unit: with one decimal below 100, else none. */
export function formatRate(perSecond: number): string {
  return Math.abs(perSecond) < 99.95 ? formatTenths(perSecond) : formatWhole(perSecond)
}

/**
 * A part of a whole, or a share from 0 to 1, in percent: `0 %`, `<0.1 %`, `12.3 %`, `>99.9 %`, `100 %`. Never
 * rounds to all or nothing.
 */
export function formatShare(part: number, all = 1): string {
  if (all <= 0 || part <= 0) return '0 %'
  if (part >= all) return '100 %'
  const percent = (part / all) * 100
  if (percent < 0.1) return '<0.1 %'
  if (percent > 99.9) return '>99.9 %'
  return `${formatTenths(percent)} %`
}

/** `512 B`, `1.5 kB`, `12.0 MB`, `505 kB`, in powers of 1000; never `1,000` of a unit. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 99.95 ? formatWhole(value) : formatTenths(value)} ${units[unit]}`
}

/** A span of time for people: `36 ms`, `26.1 s`, `3 min`, `3 min 05 s`, `2 h 04 min`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 0.9995) return `${formatWhole(ms)} ms`
  if (seconds < 59.95) return `${formatTenths(seconds)} s`
  const total = Math.round(seconds)
  const minutes = Math.floor(total / 60)
  if (minutes < 60) return `${minutes} min${formatRest(total % 60, 's')}`
  return `${formatWhole(Math.floor(minutes / 60))} h${formatRest(minutes % 60, 'min')}`
}

function formatRest(amount: number, unit: string): string {
  return amount === 0 ? '' : ` ${String(amount).padStart(2, '0')} ${unit}`
}

/** A span of time in whole seconds: `<1 s`, `42 s`, `3 min 05 s`, `2 h 07 min`, `3 d 4 h`. */
export function formatSpan(ms: number): string {
  if (ms < 1000) return '<1 s'
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (ms < 24 * 3_600_000) return formatDuration(ms)
  const hours = Math.round(ms / 3_600_000)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}
