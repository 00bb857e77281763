// Made with the first figure: most threads load this and format none.
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

/** A count with thousands separated: `5,572`. */
export function formatCount(count: number): string {
  return formatWhole(count)
}

/** A count and its noun, in the right number: `1 request`, `2 requests`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatWhole(count)} ${count === 1 ? noun : plural}`
}

/** About three figures: `0.42`, `8.31`, `56.2`, `1,204`; `0` is nothing at all. */
export function formatFigure(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || size >= 99.95) return formatWhole(value)
  return size >= 9.995 ? formatTenths(value) : value.toFixed(2)
}

/** Milliseconds in three figures with the unit that suits: `0.42 ms`, `124 ms`, `1.20 s`. */
export function formatMs(ms: number): string {
  return Math.abs(ms) >= 1000 ? `${formatFigure(ms / 1000)} s` : `${formatFigure(ms)} ms`
}

/** A share from 0 to 1 in percent that says 0 or 100 only where it is: `<0.1 %`, `12.3 %`, `>99.9 %`. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent === 0 || percent === 100) return `${percent} %`
  if (percent > 0 && percent < 0.1) return '<0.1 %'
  if (percent > 99.9 && percent < 100) return '>99.9 %'
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
