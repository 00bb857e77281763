import {
  createLinearScale,
  createValueScale,
  formatTick,
  layOutDistribution,
  MARKS_HEIGHT,
  type Scale,
} from '../../../shared/load/chart-scale.ts'
import { formatCount, formatMs, formatShare } from '../../../shared/messages/figure-text.ts'
import type { LatencyBar, Percentiles } from '../../../shared/run/run.ts'
import type { LineChart, SpectrumPoint, TimeBucket } from './chart-series.ts'
import { html, type Markup, NOTHING } from './markup.ts'

const WIDTH = 960
const HEIGHT = 260
const LEFT = 64
const TOP = 12
const BOTTOM = 30
const BASE = HEIGHT - BOTTOM

/** A titled picture with a legend; `description` is for screen readers. */
function drawFigure(
  { title, unit, description }: { title: string; unit: string; description: string },
  keys: readonly Markup[],
  picture: readonly Markup[],
): Markup {
  return html`<figure>
<figcaption><span class="title">${title}</span> <span class="unit">${unit}</span>
${keys.length === 0 ? NOTHING : html`<span class="legend">${keys}</span>`}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
${picture}
</svg>
</figure>
`
}

function drawKey(label: string, symbol: Markup): Markup {
  return html`<span class="key"><svg viewBox="0 0 24 8" aria-hidden="true">${symbol}</svg>${label}</span>`
}

function drawLineKey(label: string, className: string): Markup {
  return drawKey(label, html`<path class="line ${className}" d="M1 4H23"/>`)
}

/** Lines across with labels at the left. */
function drawLevels(levels: readonly { y: number; label: string }[], right: number): Markup[] {
  return levels.map(
    ({ y, label }) =>
      html`<path class="grid" d="M${LEFT} ${round(y)}H${WIDTH - right}"/><text class="tick end" x="${LEFT - 8}" y="${round(y + 4)}">${label}</text>
`,
  )
}

/** Lines down with labels under them. */
function drawColumns(columns: readonly { x: number; label: string }[]): Markup[] {
  return columns.map(
    ({ x, label }) =>
      html`<path class="grid" d="M${round(x)} ${TOP}V${BASE}"/><text class="tick middle" x="${round(x)}" y="${HEIGHT - 10}">${label}</text>
`,
  )
}

function toLevels({ ticks, toShare }: Scale): { y: number; label: string }[] {
  return ticks.map((tick) => ({ y: TOP + (BASE - TOP) * (1 - toShare(tick)), label: formatTick(tick) }))
}

const LINE_RIGHT = 12
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]

/** Draws lines over time; seconds in which this machine was the limit are shaded. */
export function drawLineChart(chart: LineChart): Markup {
  const { buckets, lines, title, unit, description } = chart
  const endS = buckets.at(-1)?.toS ?? 0
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null))
  if (endS === 0 || values.length === 0) return html`<p class="none">${title}: nothing was measured.</p>`
  const scale = chart.scale === 'linear' ? createLinearScale(Math.max(...values)) : createValueScale(values)
  const x = (s: number) => LEFT + ((WIDTH - LEFT - LINE_RIGHT) * s) / endS
  const y = (value: number) => TOP + (BASE - TOP) * (1 - scale.toShare(value))
  const step = TIME_STEPS.find((one) => endS / one <= 12) ?? 86_400
  const times = Array.from({ length: Math.floor(endS / step) + 1 }, (_, i) => i * step)
  const limited = listLimited(buckets)
  const drawSpan = (className: string, { fromS, toS }: Span, content: Markup) =>
    html`<rect class="${className}" x="${round(x(fromS))}" y="${TOP}" width="${round(x(toS) - x(fromS))}" height="${BASE - TOP}">${content}</rect>
`
  return drawFigure(
    { title, unit: `${unit}${scale.isLogarithmic ? ', powers of ten' : ''}`, description },
    [
      ...lines.map(({ label, className }) => drawLineKey(label, className)),
      ...(limited.length === 0
        ? []
        : [drawKey('generator-limited', html`<rect class="limited" width="24" height="8"/>`)]),
    ],
    [
      ...drawLevels(toLevels(scale), LINE_RIGHT),
      ...drawColumns(times.map((s) => ({ x: x(s), label: formatTime(s) }))),
      ...limited.map((span) => drawSpan('limited', span, NOTHING)),
      ...lines.map((line) => {
        const points = buckets.map(({ fromS, toS }, index) => {
          const value = line.values[index] ?? null
          return value === null ? null : `${round(x((fromS + toS) / 2))} ${round(y(value))}`
        })
        return html`<path class="line ${line.className}" d="${toPath(points)}"/>
`
      }),
      // Invisible strips whose titles a browser shows under the pointer.
      ...buckets.map((bucket, index) =>
        drawSpan('strip', bucket, html`<title>${describeBucket(chart, bucket, index)}</title>`),
      ),
    ],
  )
}

interface Span {
  fromS: number
  toS: number
}

/** Merges neighbours into one span, so that their edges do not show. */
function listLimited(buckets: readonly TimeBucket[]): Span[] {
  const spans: Span[] = []
  for (const { fromS, toS, seconds } of buckets) {
    if (!seconds.some(({ limited }) => limited)) continue
    const last = spans.at(-1)
    if (last?.toS === fromS) last.toS = toS
    else spans.push({ fromS, toS })
  }
  return spans
}

/** A line through points; null breaks it. */
function toPath(points: readonly (string | null)[]): string {
  return points
    .flatMap((point, index) => {
      if (point === null) return []
      // A line of no length is drawn as a dot, thanks to its round ends.
      return [(points[index - 1] ?? null) === null ? `M${point}L${point}` : `L${point}`]
    })
    .join('')
}

function describeBucket(
  { lines, formatValue }: LineChart,
  { fromS, toS }: TimeBucket,
  index: number,
): string {
  const texts = lines.flatMap(({ label, values }) => {
    const value = values[index] ?? null
    return value === null ? [] : [`${label} ${formatValue(value)}`]
  })
  const when = toS - fromS === 1 ? formatTime(fromS) : `${formatTime(fromS)} to ${formatTime(toS)}`
  return `${when}: ${texts.length === 0 ? 'nothing measured' : texts.join(', ')}`
}

/** Time since measuring began: `45 s`, `2:05`, `1:02:05`. */
function formatTime(s: number): string {
  if (s < 60) return `${s} s`
  const pad = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60]
  return hours === 0 ? `${minutes}:${pad(seconds)}` : `${hours}:${pad(minutes)}:${pad(seconds)}`
}

/** Draws a distribution of latencies with percentiles marked. */
export function drawDistribution(
  title: string,
  bars: readonly LatencyBar[],
  percentiles: Percentiles | null,
): Markup {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return html`<p class="none">${title}: nothing was measured.</p>`
  const frame = {
    width: WIDTH,
    height: HEIGHT,
    left: LEFT,
    right: LINE_RIGHT,
    top: MARKS_HEIGHT,
    bottom: BOTTOM,
  }
  const layout = layOutDistribution(bars, percentiles, { ...frame, labelWidth: 75 })
  const median = percentiles === null ? '' : `; half of them took at most ${formatMs(percentiles.p50)}`
  const description = `${title} of ${formatCount(total)} requests${median}`
  return drawFigure(
    { title, unit: 'requests by milliseconds', description },
    [],
    [
      ...drawLevels(layout.grid, LINE_RIGHT),
      ...layout.bars.map(
        ({ bar: { fromMs, upToMs, count }, x, y, width, height }) =>
          html`<rect class="bar" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"><title>${formatMs(fromMs)} to ${formatMs(upToMs)}: ${formatCount(count)} (${formatShare(count / total)})</title></rect>
`,
      ),
      ...layout.ticks.map(
        ({
          x,
          ms,
        }) => html`<path class="grid" d="M${round(x)} ${BASE}v5"/><text class="tick middle" x="${round(x)}" y="${HEIGHT - 10}">${formatTick(ms)}</text>
`,
      ),
      ...layout.marks.map(
        ({ x, name, ms, labelY, isLabelLeft }) =>
          html`<path class="mark" d="M${round(x)} ${labelY - 9}V${BASE}"/><text class="mark-label${isLabelLeft ? ' end' : ''}" x="${round(x + (isLabelLeft ? -4 : 4))}" y="${labelY}">${name} ${formatMs(ms)}</text>
`,
      ),
    ],
  )
}

/** A share of a whole as a bar of that length; `tone` names its colour. */
export function drawShareBar(share: number, tone: string): Markup {
  const width = share > 0 ? Math.max(1, round(120 * Math.min(1, share))) : 0
  return html`<svg class="share" viewBox="0 0 120 10" preserveAspectRatio="none" aria-hidden="true"><rect class="rest" width="120" height="10"/><rect class="part ${tone}" width="${width}" height="10"/></svg>`
}

/** A latency's spectrum; its class name gives it colour and dashes. */
export interface SpectrumLine {
  label: string
  className: string
  points: readonly SpectrumPoint[]
}

const SPECTRUM_RIGHT = 40

/** Draws latencies by percentile, each further nine of 99.9… as wide as the last, so that the tail shows. */
export function drawSpectrum(lines: readonly SpectrumLine[], nines: number): Markup {
  const scale = createValueScale(lines.flatMap(({ points }) => points.map(({ ms }) => ms)))
  const x = (at: number) => LEFT + ((WIDTH - LEFT - SPECTRUM_RIGHT) * at) / nines
  const y = (ms: number) => TOP + (BASE - TOP) * (1 - scale.toShare(ms))
  const title = 'Latency by percentile'
  const tops = lines.map(({ label, points }) => `${label} up to ${formatMs(points.at(-1)?.ms ?? 0)}`)
  return drawFigure(
    {
      title,
      unit: `ms${scale.isLogarithmic ? ', powers of ten' : ''}`,
      description: `${title}: ${tops.join(', ')}`,
    },
    lines.map(({ label, className }) => drawLineKey(label, className)),
    [
      ...drawLevels(toLevels(scale), SPECTRUM_RIGHT),
      ...drawColumns(Array.from({ length: nines + 1 }, (_, i) => ({ x: x(i), label: formatNines(i) }))),
      ...lines.map(
        ({ className, points }) =>
          html`<path class="line ${className}" d="${toPath(points.map(({ nines: at, ms }) => `${round(x(at))} ${round(y(ms))}`))}"/>
`,
      ),
    ],
  )
}

/** The percentile with this many nines: `0 %`, `90 %`, `99.9 %`. */
function formatNines(nines: number): string {
  return `${Number((100 * (1 - 10 ** -nines)).toFixed(Math.max(0, nines - 2)))} %`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
