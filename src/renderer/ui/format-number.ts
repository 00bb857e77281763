export { formatBytes } from '../../shared/messages/figure-text.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** `12,345`. */
export function formatCount(count: number): string {
  return whole.format(count)
}

/** `1 row`, `12,345 rows`; `plural` where it is not the singular with an s. */
export function formatQuantity(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`
}

/** Share of a whole: `0 %`, `<0.1 %`, `12.3 %`, `>99.9 %`, `100 %`; never rounds to all or nothing. */
export function formatShare(part: number, all: number): string {
  if (all <= 0 || part <= 0) return '0 %'
  if (part >= all) return '100 %'
  const percent = (part / all) * 100
  if (percent < 0.1) return '<0.1 %'
  if (percent > 99.9) return '>99.9 %'
  return `${tenths.format(percent)} %`
}

/** Requests a second: one decimal below 100, none from there. */
export function formatRate(perSecond: number): string {
  return perSecond < 100 ? tenths.format(perSecond) : whole.format(perSecond)
}

/** A latency on an axis, where nothing is simply `0`. */
export function formatAxisMs(ms: number): string {
  return ms === 0 ? '0' : formatMs(ms)
}

/** Three figures with a unit: `0.42 ms`, `8.31 ms`, `124 ms`, `1.20 s`, `12.5 s`. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${toFigures(ms / 1000)} s`
  return `${toFigures(ms)} ms`
}

function toFigures(value: number): string {
  if (value >= 99.95) return whole.format(value)
  if (value >= 9.995) return tenths.format(value)
  return value.toFixed(2)
}
