import { createLinearScale, formatTick, toBarPosition } from '../../../../../shared/load/chart-scale.ts'
import type { LatencyBar } from '../../../../../shared/load/latency-meter.ts'
import {
  formatCount,
  formatFigure,
  formatMs,
  formatShare,
} from '../../../../../shared/messages/figure-text.ts'
import type { Percentiles } from '../../../../../shared/run/run.ts'
import { html, type Markup } from './markup.ts'

const WIDTH = 960
const HEIGHT = 260
const LEFT = 64
const RIGHT = 12
const TOP = 48
const BOTTOM = 30
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM

const MARKED = ['p50', 'p90', 'p99'] as const
const MARK_STEP = 13

/** Draws a distribution of latencies, every bar wider in milliseconds than the one before; percentiles marked. */
export function drawBarChart(
  title: string,
  bars: readonly LatencyBar[],
  percentiles: Percentiles | null,
): Markup {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return html`<p class="none">${title}: nothing was measured.</p>`
  const scale = createLinearScale(Math.max(...bars.map(({ count }) => count)))
  const width = PLOT_WIDTH / bars.length
  const x = (index: number) => LEFT + width * index
  const y = (count: number) => TOP + PLOT_HEIGHT * (1 - scale.toShare(count))
  const median = percentiles === null ? '' : `; half of them took at most ${formatMs(percentiles.p50)}`
  return html`<figure>
<figcaption><span class="title">${title}</span> <span class="unit">requests by milliseconds</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title} of ${formatCount(total)} requests${median}">
${scale.ticks.map(
  (
    tick,
  ) => html`<path class="grid" d="M${LEFT} ${round(y(tick))}H${WIDTH - RIGHT}"/><text class="tick end" x="${LEFT - 8}" y="${round(y(tick) + 4)}">${formatTick(tick)}</text>
`,
)}
${bars.map((bar, index) => drawBar(bar, total, { x: x(index), width, y: y(bar.count) }))}
${drawEdges(bars, x)}
${percentiles === null ? null : drawMarks(bars, percentiles, width)}
</svg>
</figure>`
}

function drawBar(
  { fromMs, upToMs, count }: LatencyBar,
  total: number,
  place: { x: number; width: number; y: number },
): Markup {
  const gap = place.width > 4 ? 1 : 0
  const height = TOP + PLOT_HEIGHT - place.y
  // Few are still some: a bar that is there is seen.
  const shown = count > 0 ? Math.max(1, height) : 0
  return html`<rect class="bar" x="${round(place.x + gap / 2)}" y="${round(TOP + PLOT_HEIGHT - shown)}" width="${round(place.width - gap)}" height="${round(shown)}"><title>${formatMs(fromMs)} to ${formatMs(upToMs)}: ${formatCount(count)} (${formatShare(count / total)})</title></rect>
`
}

function drawEdges(bars: readonly LatencyBar[], x: (index: number) => number): Markup[] {
  const every = Math.max(1, Math.ceil(bars.length / 12))
  return bars.flatMap(({ fromMs }, index) =>
    index % every === 0
      ? [
          html`<text class="tick middle" x="${round(x(index))}" y="${HEIGHT - 10}">${formatFigure(fromMs)}</text>`,
        ]
      : [],
  )
}

/** Each mark has a height of its own, so that labels never stand on each other. */
function drawMarks(bars: readonly LatencyBar[], percentiles: Percentiles, width: number): Markup[] {
  return MARKED.map((name, index) => {
    const at = LEFT + width * toBarPosition(bars, percentiles[name])
    const isRight = at > WIDTH - 160
    const baseline = 12 + index * MARK_STEP
    return html`<path class="mark" d="M${round(at)} ${baseline - 9}V${TOP + PLOT_HEIGHT}"/><text class="mark-label${isRight ? ' end' : ''}" x="${round(at + (isRight ? -4 : 4))}" y="${baseline}">${name} ${formatMs(percentiles[name])}</text>
`
  })
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
