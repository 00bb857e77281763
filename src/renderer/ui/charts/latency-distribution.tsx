import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { type DistributionLayout, layOutDistribution } from '../../../shared/load/chart-scale.ts'
import { formatCount, formatMs, formatShare } from '../../../shared/messages/figure-text.ts'
import type { LatencyBar, Percentiles } from '../../../shared/run/run.ts'
import styles from './charts.module.css'

/** Sizes in pixels. */
const FRAME = { height: 190, left: 56, right: 8, top: 44, bottom: 22, labelWidth: 72 }

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
  const layout = layOutDistribution(bars, percentiles, { ...FRAME, width })
  const words = percentiles
    ? `half of the answers within ${formatMs(percentiles.p50)}, 99 of 100 within ${formatMs(percentiles.p99)}`
    : `${formatCount(total)} answers`
  const pick = (event: PointerEvent) => {
    const from = event.currentTarget.getBoundingClientRect().left
    setPicked(toIndex((event.clientX - from - FRAME.left) / layout.step, bars.length))
  }
  const bar = picked === null ? undefined : bars[picked]
  return (
    <figure ref={ref} className={styles.distribution}>
      <svg
        width="100%"
        height={FRAME.height}
        role="img"
        aria-label={`Distribution of ${name}: ${words}`}
        onPointerMove={pick}
        onPointerLeave={() => setPicked(null)}
      >
        {layout.grid.map(({ y, label }) => (
          <g key={label}>
            <line
              className={styles.gridLine}
              x1={FRAME.left}
              x2={Math.max(FRAME.left, width - FRAME.right)}
              y1={y}
              y2={y}
            />
            <text className={styles.tick} textAnchor="end" x={FRAME.left - 6} y={y + 4}>
              {label}
            </text>
          </g>
        ))}
        {layout.bars.map(({ bar: one, ...rect }) => (
          <rect key={one.fromMs} className={one === bar ? styles.pickedBar : styles.bar} {...rect} />
        ))}
        {layout.edges.map(({ x, ms }) => (
          <text key={ms} className={styles.tick} textAnchor="middle" x={x} y={FRAME.height - 6}>
            {formatMs(ms)}
          </text>
        ))}
        <Marks marks={layout.marks} />
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

function Marks({ marks }: Pick<DistributionLayout, 'marks'>) {
  return marks.map(({ x, name, ms, labelY, isLabelLeft }) => (
    <g key={name}>
      <line className={styles.mark} x1={x} x2={x} y1={labelY - 9} y2={FRAME.height - FRAME.bottom} />
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
