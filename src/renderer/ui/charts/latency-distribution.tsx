import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { createLinearScale, formatTick, toBarPosition } from '../../../shared/load/chart-scale.ts'
import type { LatencyBar } from '../../../shared/load/latency-meter.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { formatCount, formatMs, formatShare } from '../format-number.ts'
import styles from './charts.module.css'

const HEIGHT = 190
const LEFT = 56
const RIGHT = 8
const TOP = 44
const BOTTOM = 22
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM

/** Room that one label under the bars needs, pixels. */
const LABEL_PX = 72

const MARKED = ['p50', 'p95', 'p99'] as const

/**
 * How many answers took how long: bars of even width on a logarithmic axis, the percentiles marked. The bar
 * under the pointer is told in figures.
 */
export function LatencyDistribution(props: {
  /** What was measured, such as `http_req_duration`. */
  name: string
  bars: readonly LatencyBar[]
  percentiles: Percentiles | null
}) {
  const { name, bars, percentiles } = props
  const { ref, width } = useElementSize()
  const [picked, setPicked] = useState<number | null>(null)
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return <p className={styles.none}>Nothing was measured yet.</p>
  const plotWidth = Math.max(1, width - LEFT - RIGHT)
  const step = plotWidth / bars.length
  const words = percentiles
    ? `half of the answers within ${formatMs(percentiles.p50)}, 99 of 100 within ${formatMs(percentiles.p99)}`
    : `${formatCount(total)} answers`
  const pick = (event: PointerEvent) => {
    const from = event.currentTarget.getBoundingClientRect().left
    setPicked(toIndex((event.clientX - from - LEFT) / step, bars.length))
  }
  const bar = picked === null ? undefined : bars[picked]
  return (
    <figure ref={ref} className={styles.distribution}>
      <svg
        width="100%"
        height={HEIGHT}
        role="img"
        aria-label={`Distribution of ${name}: ${words}`}
        onPointerMove={pick}
        onPointerLeave={() => setPicked(null)}
      >
        <Counts bars={bars} width={width} />
        {bars.map((one, index) => (
          <Bar
            key={one.fromMs}
            bar={one}
            bars={bars}
            x={LEFT + step * index}
            step={step}
            isPicked={index === picked}
          />
        ))}
        <Edges bars={bars} step={step} />
        {percentiles !== null && <Marks bars={bars} percentiles={percentiles} step={step} width={width} />}
      </svg>
      <figcaption className={styles.reading}>
        {bar === undefined
          ? `${formatCount(total)} measured; point at a bar for its figures`
          : `${formatMs(bar.fromMs)} to ${formatMs(bar.upToMs)}: ${formatCount(bar.count)} (${formatShare(bar.count, total)})`}
      </figcaption>
    </figure>
  )
}

function toIndex(position: number, count: number): number | null {
  const index = Math.floor(position)
  return index < 0 || index >= count ? null : index
}

function toScale(bars: readonly LatencyBar[]) {
  const scale = createLinearScale(Math.max(...bars.map(({ count }) => count)))
  return { ...scale, toY: (count: number) => TOP + PLOT_HEIGHT * (1 - scale.toShare(count)) }
}

function Counts({ bars, width }: { bars: readonly LatencyBar[]; width: number }) {
  const { ticks, toY } = toScale(bars)
  // Counts are whole: no line stands between two of them.
  return ticks.filter(Number.isInteger).map((tick) => (
    <g key={tick}>
      <line
        className={styles.gridLine}
        x1={LEFT}
        x2={Math.max(LEFT, width - RIGHT)}
        y1={toY(tick)}
        y2={toY(tick)}
      />
      <text className={styles.tick} textAnchor="end" x={LEFT - 6} y={toY(tick) + 4}>
        {formatTick(tick)}
      </text>
    </g>
  ))
}

function Bar(props: {
  bar: LatencyBar
  bars: readonly LatencyBar[]
  x: number
  step: number
  isPicked: boolean
}) {
  const { bar, bars, x, step, isPicked } = props
  if (bar.count === 0) return null
  const gap = step > 4 ? 1 : 0
  // Few are still some: a bar that is there is seen.
  const height = Math.max(1, TOP + PLOT_HEIGHT - toScale(bars).toY(bar.count))
  return (
    <rect
      className={isPicked ? styles.pickedBar : styles.bar}
      x={x + gap / 2}
      y={TOP + PLOT_HEIGHT - height}
      width={Math.max(1, step - gap)}
      height={height}
    />
  )
}

function Edges({ bars, step }: { bars: readonly LatencyBar[]; step: number }) {
  const every = Math.max(1, Math.ceil(LABEL_PX / step))
  return bars.flatMap(({ fromMs }, index) =>
    index % every === 0
      ? [
          <text
            key={fromMs}
            className={styles.tick}
            textAnchor="middle"
            x={LEFT + step * index}
            y={HEIGHT - 6}
          >
            {formatMs(fromMs)}
          </text>,
        ]
      : [],
  )
}

/** Each mark has a height of its own, so that labels never stand on each other. */
function Marks(props: {
  bars: readonly LatencyBar[]
  percentiles: Percentiles
  step: number
  width: number
}) {
  const { bars, percentiles, step, width } = props
  return MARKED.map((name, index) => {
    const x = LEFT + step * toBarPosition(bars, percentiles[name])
    const isRight = x > width - 120
    const y = 11 + index * 13
    return (
      <g key={name}>
        <line className={styles.mark} x1={x} x2={x} y1={y - 9} y2={TOP + PLOT_HEIGHT} />
        <text
          className={styles.markLabel}
          textAnchor={isRight ? 'end' : 'start'}
          x={x + (isRight ? -4 : 4)}
          y={y}
        >
          {name} {formatMs(percentiles[name])}
        </text>
      </g>
    )
  })
}
