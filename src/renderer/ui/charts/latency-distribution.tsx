import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import {
  type DistributionLayout,
  layOutDistribution,
  MARKS_HEIGHT,
} from '../../../shared/load/chart-scale.ts'
import { describeSlowest, formatCount, formatMs, formatShare } from '../../../shared/messages/figure-text.ts'
import type { LatencyBar, Percentiles } from '../../../shared/run/run.ts'
import { BottomLabels, LeftAxis } from './axes.tsx'
import { ChartCursor } from './chart-cursor.tsx'
import styles from './charts.module.css'

/** Sizes in pixels. */
const FRAME = { height: 250, left: 56, right: 12, top: MARKS_HEIGHT, bottom: 24, labelWidth: 64 }

/**
 * How many answers took how long: bars of even width on a logarithmic axis, percentiles and maximum marked. The bar
 * under the pointer or the keyboard is described in figures.
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
  const layout = layOutDistribution(bars, percentiles, { ...FRAME, width })
  const words = percentiles
    ? `half of the answers within ${formatMs(percentiles.p50)}, ${describeSlowest(percentiles)}`
    : `${formatCount(total)} answers`
  const pick = (event: PointerEvent) => {
    const from = event.currentTarget.getBoundingClientRect().left
    setPicked(toIndex((event.clientX - from - FRAME.left) / layout.step, bars.length))
  }
  const bar = picked === null ? undefined : bars[Math.min(picked, bars.length - 1)]
  const reading =
    bar === undefined
      ? `${formatCount(total)} measured; point at a bar for its figures`
      : describeBar(bars, bar)
  return (
    <figure ref={ref} className={`min-w-0 ${styles.distribution}`}>
      <div className="relative">
        <svg
          width="100%"
          height={FRAME.height}
          role="img"
          aria-label={`Distribution of ${name}: ${words}`}
          onPointerMove={pick}
          onPointerLeave={() => setPicked(null)}
        >
          <LeftAxis ticks={layout.grid} left={FRAME.left} right={width - FRAME.right} />
          {layout.bars.map(({ bar: one, ...rect }) => (
            <rect key={one.fromMs} className={one === bar ? styles.pickedBar : styles.bar} {...rect} />
          ))}
          {layout.ticks.map(({ x }) => (
            <line
              key={x}
              stroke="var(--chart-grid)"
              x1={x}
              x2={x}
              y1={FRAME.height - FRAME.bottom}
              y2={FRAME.height - FRAME.bottom + 5}
            />
          ))}
          <BottomLabels
            labels={layout.ticks.map(({ x, ms }) => ({ x, label: formatAxisTick(ms) }))}
            y={FRAME.height - 6}
          />
          <Marks marks={layout.marks} />
        </svg>
        <ChartCursor
          label={`Bars of ${name}`}
          count={bars.length}
          index={picked}
          text={reading}
          onIndex={setPicked}
        />
      </div>
      <figcaption className={styles.reading}>{reading}</figcaption>
    </figure>
  )
}

function toIndex(position: number, count: number): number | null {
  const index = Math.floor(position)
  return index < 0 || index >= count ? null : index
}

/** `12.0 ms to 13.1 ms: 400 answers (3.2 %); 78.0 % took at most 13.1 ms`. */
function describeBar(bars: readonly LatencyBar[], bar: LatencyBar): string {
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  const upTo = bars.reduce((sum, { count, upToMs }) => (upToMs <= bar.upToMs ? sum + count : sum), 0)
  return `${formatMs(bar.fromMs)} to ${formatMs(bar.upToMs)}: ${formatCount(bar.count)} (${formatShare(bar.count, total)}); ${formatShare(upTo, total)} took at most ${formatMs(bar.upToMs)}`
}

/** A round value with its unit: `5 ms`, `0.2 ms`, `2 s`. */
function formatAxisTick(ms: number): string {
  return ms >= 1_000 ? `${Number((ms / 1_000).toPrecision(4))} s` : `${Number(ms.toPrecision(4))} ms`
}

function Marks({ marks }: Pick<DistributionLayout, 'marks'>) {
  return marks.map(({ x, name, ms, labelY, isLabelLeft }) => (
    <g key={name}>
      <line
        stroke="var(--text-2)"
        strokeDasharray="3 3"
        x1={x}
        x2={x}
        y1={labelY - 9}
        y2={FRAME.height - FRAME.bottom}
      />
      <text
        className={styles.markLabel}
        textAnchor={isLabelLeft ? 'end' : 'start'}
        x={x + (isLabelLeft ? -4 : 4)}
        y={labelY}
      >
        {name} {formatMs(ms)}
      </text>
    </g>
  ))
}
