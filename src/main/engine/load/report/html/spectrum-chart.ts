import { createValueScale, formatTick } from '../../../../../shared/load/chart-scale.ts'
import { formatMs } from '../../../../../shared/messages/figure-text.ts'
import type { SpectrumPoint } from './distribution.ts'
import { html, type Markup } from './markup.ts'

const WIDTH = 960
const HEIGHT = 260
const LEFT = 64
const RIGHT = 40
const TOP = 12
const BOTTOM = 30
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM

/** A latency's spectrum; its class name gives it colour and dashes. */
export interface SpectrumLine {
  label: string
  className: string
  points: readonly SpectrumPoint[]
}

/** Draws latencies by percentile, each further nine of 99.9… as wide as the one before: the tail is what one sees. */
export function drawSpectrumChart(lines: readonly SpectrumLine[], nines: number): Markup {
  const scale = createValueScale(lines.flatMap(({ points }) => points.map(({ ms }) => ms)))
  const x = (at: number) => LEFT + (PLOT_WIDTH * at) / nines
  const y = (ms: number) => TOP + PLOT_HEIGHT * (1 - scale.toShare(ms))
  const ticks = Array.from({ length: nines + 1 }, (_, i) => i)
  return html`<figure>
<figcaption><span class="title">Latency by percentile</span> <span class="unit">ms${scale.isLogarithmic ? ', powers of ten' : ''}</span>
<span class="legend">${lines.map(({ label, className }) => html`<span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line ${className}" d="M1 4H23"/></svg>${label}</span>`)}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Latency by percentile: ${lines.map(({ label, points }) => `${label} up to ${formatMs(points.at(-1)?.ms ?? 0)}`).join(', ')}">
${scale.ticks.map(
  (
    tick,
  ) => html`<path class="grid" d="M${LEFT} ${round(y(tick))}H${WIDTH - RIGHT}"/><text class="tick end" x="${LEFT - 8}" y="${round(y(tick) + 4)}">${formatTick(tick)}</text>
`,
)}
${ticks.map(
  (
    tick,
  ) => html`<path class="grid" d="M${round(x(tick))} ${TOP}V${TOP + PLOT_HEIGHT}"/><text class="tick middle" x="${round(x(tick))}" y="${HEIGHT - 10}">${formatNines(tick)}</text>
`,
)}
${lines.map(({ className, points }) => html`<path class="line ${className}" d="${points.map(({ nines: at, ms }, index) => `${index === 0 ? 'M' : 'L'}${round(x(at))} ${round(y(ms))}`).join('')}"/>`)}
</svg>
</figure>`
}

/** The percentile of so many nines: `0 %`, `90 %`, `99.9 %`. */
function formatNines(nines: number): string {
  return `${Number((100 * (1 - 10 ** -nines)).toFixed(Math.max(0, nines - 2)))} %`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
