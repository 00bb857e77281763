import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { createLinearScale, createTightScale, formatTick } from '../../../shared/load/chart-scale.ts'
import type { OverlaidLatency } from '../../../shared/load/latency-overlay.ts'
import { formatAxisMs, formatMs, formatShare } from '../../../shared/messages/figure-text.ts'
import styles from './charts.module.css'
import {
  BottomLabels,
  ChartFoot,
  LeftAxis,
  type LegendEntry,
  placePlot,
  toDashArray,
  UprightLine,
} from './plot.tsx'

/** One run of the chart: its legend and its measurements; null if there are none. */
export interface OverlaidSeries extends LegendEntry {
  /** Its name in the reading below the chart. */
  letter: string
  latency: OverlaidLatency | null
}

/** Colours and dashes for the greatest number of compared runs. */
export const RUN_LINES: readonly Required<Pick<LegendEntry, 'token' | 'dash'>>[] = [
  { token: '--chart-1', dash: 'solid' },
  { token: '--chart-2', dash: 'dashed' },
  { token: '--chart-3', dash: 'dotted' },
  { token: '--chart-4', dash: 'solid' },
  { token: '--chart-5', dash: 'dashed' },
  { token: '--chart-6', dash: 'dotted' },
  { token: '--chart-7', dash: 'solid' },
  { token: '--chart-8', dash: 'dashed' },
]

const FRAME = { height: 260, left: 64, right: 16, top: 12, bottom: 26 }

/** How the latencies are drawn: by percentile, or as the number of answers by duration. */
export type OverlayKind = 'curve' | 'distribution'

/** The layout of a chart: lines, axes, and readings at a position. */
interface OverlayLayout {
  lines: { path: string; token: string; dash: NonNullable<LegendEntry['dash']> }[]
  x: { at: number; label: string }[]
  y: { at: number; label: string }[]
  /** The reading at a share of the width, in words; null if there is none. */
  read(share: number): { at: number; text: string } | null
}

/** The latencies of several runs in one chart, with their values under the pointer. */
export function LatencyOverlayChart(props: {
  /** The measured latency, such as `http_req_duration`. */
  name: string
  kind: OverlayKind
  series: readonly OverlaidSeries[]
}) {
  const { name, kind, series } = props
  const { ref, width } = useElementSize()
  const [share, setShare] = useState<number | null>(null)
  const layout = kind === 'curve' ? layOutCurves(series) : layOutDistributions(series)
  if (layout === null) return <p className={styles.none}>Nothing was measured that can be drawn.</p>
  const plot = placePlot(FRAME, width)
  const { x: toX, y: toY } = plot
  const point = (event: PointerEvent) => {
    const from = event.currentTarget.getBoundingClientRect().left + FRAME.left
    const at = (event.clientX - from) / plot.width
    setShare(at < 0 || at > 1 ? null : at)
  }
  const reading = share === null ? null : layout.read(share)
  return (
    <figure ref={ref} className={'min-w-0'}>
      <svg
        width="100%"
        height={FRAME.height}
        role="img"
        aria-label={`${kind === 'curve' ? 'Percentiles' : 'Distribution'} of ${name} of ${series.length} runs; the table has the figures`}
        onPointerMove={point}
        onPointerLeave={() => setShare(null)}
      >
        <LeftAxis
          ticks={layout.y.map(({ at, label }) => ({ y: toY(at), label }))}
          left={toX(0)}
          right={toX(1)}
        />
        {layout.x.map(({ at }) => (
          <line key={at} stroke="var(--chart-grid)" x1={toX(at)} x2={toX(at)} y1={toY(0)} y2={toY(1)} />
        ))}
        <BottomLabels
          labels={layout.x.map(({ at, label }) => ({
            x: toX(at),
            label,
            ...(at < 0.02 ? { anchor: 'start' } : at > 0.96 && { anchor: 'end' }),
          }))}
          y={FRAME.height - 8}
        />
        <g transform={`translate(${FRAME.left} ${FRAME.top}) scale(${plot.width} ${plot.base - FRAME.top})`}>
          {layout.lines.map(({ path, token, dash }) => (
            <path
              key={token}
              d={path}
              fill="none"
              stroke={`var(${token})`}
              strokeWidth="2"
              strokeDasharray={toDashArray(dash)}
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </g>
        {reading !== null && <UprightLine x={toX(reading.at)} from={toY(0)} to={toY(1)} />}
      </svg>
      <ChartFoot
        entries={series.filter(({ latency }) => latency !== null)}
        reading={reading?.text ?? 'Point at the chart for its values'}
      />
    </figure>
  )
}

const MARKED_PERCENTILES = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999]

/** Horizontal position of a percentile: each further nine takes the same room. */
function toDecades(percentile: number): number {
  return -Math.log10(1 - percentile / 100)
}

/** Latencies by percentile, on a logarithmic axis of milliseconds; null if nothing was measured. */
export function layOutCurves(series: readonly OverlaidSeries[]): OverlayLayout | null {
  const known = series.flatMap((one) => (one.latency === null ? [] : [{ ...one, curve: one.latency.curve }]))
  const points = known.flatMap(({ curve }) => curve)
  if (points.length === 0) return null
  const all = points.map(({ ms }) => ms)
  const scale = createTightScale(Math.min(...all), Math.max(...all))
  const end = Math.max(...points.map(({ percentile }) => toDecades(percentile)), 1)
  return {
    lines: known.map(({ curve, token, dash = 'solid' }) => ({
      path: toPath(curve.map(({ percentile, ms }) => [toDecades(percentile) / end, scale.toShare(ms)])),
      token,
      dash,
    })),
    x: MARKED_PERCENTILES.filter((percentile) => toDecades(percentile) <= end).map((percentile) => ({
      at: toDecades(percentile) / end,
      label: percentile === 0 ? 'fastest' : `p${percentile}`,
    })),
    y: scale.ticks.map((tick) => ({ at: scale.toShare(tick), label: formatAxisMs(tick) })),
    read(share) {
      const percentile = 100 * (1 - 10 ** (-share * end))
      const name = percentile < 99 ? percentile.toFixed(1) : Number(percentile.toPrecision(6))
      const values = known.flatMap(({ letter, curve }) => {
        const ms = curve.find((point) => point.percentile >= percentile)?.ms
        return ms === undefined ? [] : [`${letter} ${formatMs(ms)}`]
      })
      return values.length === 0 ? null : { at: share, text: `p${name}: ${values.join(', ')}` }
    },
  }
}

/** The share of answers by duration, on a logarithmic axis of milliseconds; null if nothing was measured. */
export function layOutDistributions(series: readonly OverlaidSeries[]): OverlayLayout | null {
  const known = series.flatMap((one) =>
    one.latency === null || one.latency.bars.length === 0
      ? []
      : [
          {
            ...one,
            bars: one.latency.bars,
            total: one.latency.bars.reduce((sum, { count }) => sum + count, 0),
          },
        ],
  )
  const [first] = known
  const edges = first?.bars
  const [low, high] = [edges?.[0]?.fromMs, edges?.at(-1)?.upToMs]
  if (edges === undefined || low === undefined || high === undefined) return null
  const x = createTightScale(low, high)
  const y = createLinearScale(
    Math.max(...known.flatMap(({ bars, total }) => bars.map(({ count }) => (100 * count) / total))),
  )
  return {
    lines: known.map(({ bars, total, token, dash = 'solid' }) => ({
      path: toPath([
        [x.toShare(low), 0],
        ...bars.flatMap(({ fromMs, upToMs, count }): [number, number][] => {
          const at = y.toShare((100 * count) / total)
          return [
            [x.toShare(fromMs), at],
            [x.toShare(upToMs), at],
          ]
        }),
        [x.toShare(high), 0],
      ]),
      token,
      dash,
    })),
    x: x.ticks.map((tick) => ({ at: x.toShare(tick), label: formatAxisMs(tick) })),
    y: y.ticks.map((tick) => ({ at: y.toShare(tick), label: `${formatTick(tick)} %` })),
    read(share) {
      const index = edges.findIndex(({ upToMs }) => share <= x.toShare(upToMs))
      const edge = edges[index]
      if (edge === undefined) return null
      const values = known.map(
        ({ letter, bars, total }) => `${letter} ${formatShare(bars[index]?.count ?? 0, total)}`,
      )
      return { at: share, text: `${formatMs(edge.fromMs)} to ${formatMs(edge.upToMs)}: ${values.join(', ')}` }
    },
  }
}

/** An SVG path through points from 0 to 1, in a unit square. */
function toPath(places: readonly (readonly [x: number, y: number])[]): string {
  return places
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(5)} ${(1 - y).toFixed(5)}`)
    .join('')
}
