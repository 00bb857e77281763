import {
  createLinearScale,
  createValueScale,
  formatTick,
  type Scale,
} from '../../../../../shared/load/chart-scale.ts'
import { html, type Markup, NOTHING } from './markup.ts'
import type { TimeBucket } from './time-buckets.ts'

/** A line of a chart; its class name gives it colour and dashes. */
interface ChartLine {
  label: string
  className: string
  /** One for each bucket; null breaks the line. */
  values: readonly (number | null)[]
}

/** A chart over time. */
export interface LineChart {
  title: string
  /** What a listener needs to know of it. */
  description: string
  unit: string
  /** `suiting`: powers of ten where values lie far apart. */
  scale: 'linear' | 'suiting'
  buckets: readonly TimeBucket[]
  lines: readonly ChartLine[]
  /** Writes a value with its unit, for what the pointer is on. */
  formatValue: (value: number) => string
}

const WIDTH = 960
const HEIGHT = 260
const LEFT = 64
const RIGHT = 12
const TOP = 12
const BOTTOM = 30
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM

/** Draws lines over time; seconds in which the generator was the limit are shaded. */
export function drawLineChart(chart: LineChart): Markup {
  const { buckets, lines } = chart
  const endS = buckets.at(-1)?.toS ?? 0
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null))
  if (endS === 0 || values.length === 0)
    return html`<p class="none">${chart.title}: nothing was measured.</p>`
  const scale = chart.scale === 'linear' ? createLinearScale(Math.max(...values)) : createValueScale(values)
  const x = (s: number) => LEFT + (PLOT_WIDTH * s) / endS
  const y = (value: number) => TOP + PLOT_HEIGHT * (1 - scale.toShare(value))
  return html`<figure>
<figcaption><span class="title">${chart.title}</span> <span class="unit">${chart.unit}${scale.isLogarithmic ? ', powers of ten' : ''}</span>
${drawLegend(chart)}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${chart.description}">
${drawGrid(scale, y)}${drawTimeAxis(endS, x)}${drawLimited(buckets, x)}
${lines.map((line) => html`<path class="line ${line.className}" d="${toPath(line, buckets, x, y)}"/>`)}
${drawPointerTexts(chart, x)}
</svg>
</figure>`
}

function drawLegend({ lines, buckets }: LineChart): Markup {
  const entries = lines.map(
    ({ label, className }) =>
      html`<span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line ${className}" d="M1 4H23"/></svg>${label}</span>`,
  )
  const limited = buckets.some((bucket) => bucket.seconds.some((second) => second.limited))
  return html`<span class="legend">${entries}${limited ? html`<span class="key"><svg viewBox="0 0 24 8" aria-hidden="true"><rect class="limited" width="24" height="8"/></svg>generator-limited</span>` : NOTHING}</span>`
}

function drawGrid(scale: Scale, y: (value: number) => number): Markup[] {
  return scale.ticks.map(
    (tick) =>
      html`<path class="grid" d="M${LEFT} ${round(y(tick))}H${WIDTH - RIGHT}"/><text class="tick end" x="${LEFT - 8}" y="${round(y(tick) + 4)}">${formatTick(tick)}</text>
`,
  )
}

function drawTimeAxis(endS: number, x: (s: number) => number): Markup[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]
  const step = steps.find((one) => endS / one <= 12) ?? 86_400
  const ticks = Array.from({ length: Math.floor(endS / step) + 1 }, (_, i) => i * step)
  return ticks.map(
    (s) =>
      html`<path class="grid" d="M${round(x(s))} ${TOP}V${TOP + PLOT_HEIGHT}"/><text class="tick middle" x="${round(x(s))}" y="${HEIGHT - 10}">${formatTime(s)}</text>
`,
  )
}

/** Neighbours are drawn as one, so that their edges do not show. */
function drawLimited(buckets: readonly TimeBucket[], x: (s: number) => number): Markup[] {
  const spans: { fromS: number; toS: number }[] = []
  for (const { fromS, toS, seconds } of buckets) {
    if (!seconds.some(({ limited }) => limited)) continue
    const last = spans.at(-1)
    if (last?.toS === fromS) last.toS = toS
    else spans.push({ fromS, toS })
  }
  return spans.map(
    ({ fromS, toS }) =>
      html`<rect class="limited" x="${round(x(fromS))}" y="${TOP}" width="${round(x(toS) - x(fromS))}" height="${PLOT_HEIGHT}"/>`,
  )
}

function toPath(
  { values }: ChartLine,
  buckets: readonly TimeBucket[],
  x: (s: number) => number,
  y: (value: number) => number,
): string {
  let path = ''
  let isOpen = false
  for (const [index, bucket] of buckets.entries()) {
    const value = values[index]
    if (value === null || value === undefined) {
      isOpen = false
      continue
    }
    const point = `${round(x((bucket.fromS + bucket.toS) / 2))} ${round(y(value))}`
    // A line of no length is drawn as a dot, thanks to its round ends.
    path += isOpen ? `L${point}` : `M${point}L${point}`
    isOpen = true
  }
  return path
}

/** Invisible strips whose titles a browser shows under the pointer. */
function drawPointerTexts({ buckets, lines, formatValue }: LineChart, x: (s: number) => number): Markup[] {
  return buckets.map(({ fromS, toS }, index) => {
    const texts = lines.flatMap(({ label, values }) => {
      const value = values[index]
      return value === null || value === undefined ? [] : [`${label} ${formatValue(value)}`]
    })
    const when = toS - fromS === 1 ? formatTime(fromS) : `${formatTime(fromS)} to ${formatTime(toS)}`
    return html`<rect class="strip" x="${round(x(fromS))}" y="${TOP}" width="${round(x(toS) - x(fromS))}" height="${PLOT_HEIGHT}"><title>${when}: ${texts.length === 0 ? 'nothing measured' : texts.join(', ')}</title></rect>
`
  })
}

/** Time since measuring began: `45 s`, `2:05`, `1:02:05`. */
function formatTime(s: number): string {
  if (s < 60) return `${s} s`
  const pad = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60]
  return hours === 0 ? `${minutes}:${pad(seconds)}` : `${hours}:${pad(minutes)}:${pad(seconds)}`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
