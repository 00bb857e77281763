import { useMemo, useState } from 'react'
import type uPlot from 'uplot'
import { formatAxisMs, formatMs, formatSpan } from '../../../shared/messages/figure-text.ts'
import { formatClock } from '../format-time.ts'
import styles from './charts.module.css'
import { createAxis, Legend, type LegendEntry, Plot, type PlotLook, type PlotOptions } from './plot.tsx'
import { type ChartPause, type LatencySecond, toChartSeconds } from './to-chart-seconds.ts'

const SERIES = [
  { label: 'p50', token: '--chart-1', dash: 'solid' },
  { label: 'p95', token: '--chart-2', dash: 'dashed' },
  { label: 'p99', token: '--chart-3', dash: 'dotted' },
] as const satisfies readonly LegendEntry[]

const DASHES: Record<(typeof SERIES)[number]['dash'], number[]> = {
  solid: [],
  dashed: [6, 4],
  dotted: [2, 3],
}

const SHORTEST_SECONDS = 5
const FEW_SECONDS = 120
const WHOLE_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600]

/** Room that one label of the time axis needs, pixels. */
const LABEL_PX = 60

function createOptions(pauses: readonly ChartPause[], onPoint: (index: number | null) => void): PlotOptions {
  return (look) => ({
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: (plot) => [0, Math.max(SHORTEST_SECONDS, plot.data[0].at(-1) ?? 0)] },
      y: { range: (_plot, _min, max) => [0, Math.max(0.1, (max ?? 1) * 1.1)] },
    },
    axes: [
      { ...createAxis(look, { format: formatClock, sizePx: 30 }), incrs: WHOLE_STEPS, space: LABEL_PX },
      createAxis(look, { format: formatAxisMs, sizePx: 64 }),
    ],
    series: [
      {},
      ...SERIES.map((series) => ({
        label: series.label,
        stroke: look.color(series.token),
        width: 1.5,
        dash: DASHES[series.dash],
        points: { show: (plot: uPlot) => plot.data[0].length < FEW_SECONDS, size: 4 },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [(plot: uPlot) => onPoint(plot.cursor.idx ?? null)],
      draw: [(plot: uPlot) => drawPauses(plot, pauses, look)],
    },
  })
}

function drawPauses(plot: uPlot, pauses: readonly ChartPause[], look: PlotLook): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = look.text
  ctx.fillStyle = look.text
  ctx.font = look.font
  ctx.setLineDash([3, 3])
  for (const { at, lengthS } of pauses) {
    const x = plot.valToPos(at - 0.5, 'x', true)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const text = `paused ${formatSpan(lengthS * 1000)}`
    const isRight = x + ctx.measureText(text).width + 8 > bbox.left + bbox.width
    ctx.textAlign = isRight ? 'right' : 'left'
    ctx.textBaseline = 'top'
    ctx.fillText(text, x + (isRight ? -4 : 4), bbox.top + 2)
  }
  ctx.restore()
}

/** p50, p95 and p99 of a latency in each second; the time is that of sending, with the pauses marked. */
export function LatencyOverTime(props: { name: string; seconds: readonly LatencySecond[] }) {
  const { name, seconds } = props
  const [index, setIndex] = useState<number | null>(null)
  const { points, pauses } = useMemo(() => toChartSeconds(seconds), [seconds])
  const pausesKey = JSON.stringify(pauses)
  const options = useMemo(() => createOptions(JSON.parse(pausesKey) as ChartPause[], setIndex), [pausesKey])
  const data = useMemo<uPlot.AlignedData>(() => {
    return [
      points.map(({ at }) => at),
      points.map(({ percentiles }) => percentiles?.p50 ?? null),
      points.map(({ percentiles }) => percentiles?.p95 ?? null),
      points.map(({ percentiles }) => percentiles?.p99 ?? null),
    ]
  }, [points])
  const last = seconds.findLast(({ percentiles }) => percentiles !== null)?.percentiles
  const now = last ? `; last second p50 ${formatMs(last.p50)}, p99 ${formatMs(last.p99)}` : ''
  const point = index === null ? undefined : points[index]
  const shown = point?.percentiles
  return (
    <figure>
      <Plot
        options={options}
        data={data}
        label={`${name} percentiles over ${formatSpan(((seconds.at(-1)?.second ?? -1) + 1) * 1000)}${now}`}
      />
      <div className={styles.under}>
        <Legend entries={SERIES} />
        <p className={styles.reading}>
          {point === undefined || shown === undefined || shown === null
            ? 'Point at a second for its figures'
            : `at ${formatClock(point.second)}: p50 ${formatMs(shown.p50)}, p95 ${formatMs(shown.p95)}, p99 ${formatMs(shown.p99)}, ${shown.count.toLocaleString('en')} measured`}
        </p>
      </div>
    </figure>
  )
}
