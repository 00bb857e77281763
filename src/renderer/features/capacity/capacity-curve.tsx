import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import type { CapacityReport } from '../../../shared/load/capacity-report.ts'
import { type CapacityUnit, formatLevel } from '../../../shared/load/capacity-view.ts'
import {
  createLinearScale,
  createValueScale,
  formatTick,
  type Scale,
} from '../../../shared/load/chart-scale.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import { formatMs, formatRate, formatShare } from '../../../shared/messages/figure-text.ts'
import { BottomLabels, LeftAxis } from '../../ui/charts/axes.tsx'
import { ChartCursor } from '../../ui/charts/chart-cursor.tsx'
import { Legend, PERCENTILE_LINES, toDashArray } from '../../ui/charts/plot.tsx'
import styles from './capacity.module.css'

/** Sizes in pixels. */
const FRAME = { height: 300, left: 64, right: 24, top: 16, bottom: 40 }

type Point = CapacityReport['curve'][number]

/** Latency over load: the medians of each level's probes, which levels held, and where the capacity lies. */
export function CapacityCurve({ report, unit }: { report: CapacityReport; unit: CapacityUnit }) {
  const { ref, width } = useElementSize()
  const [picked, setPicked] = useState<number | null>(null)
  const { curve, interval } = report
  if (curve.length === 0) return <p className="quiet">Drawn from the first finished probe on.</p>
  const shaded =
    interval.low === null || interval.high === null ? null : { low: interval.low, high: interval.high }
  const limits = listLimits(report)
  const x = createLinearScale(Math.max(...curve.map(({ level }) => level)))
  const measured = curve.flatMap(({ latency_ms }) =>
    latency_ms === null ? [] : PERCENTILE_LINES.map(({ point }) => latency_ms[point]),
  )
  const y = createValueScale([...measured, ...limits.map(({ limit }) => limit)])
  const toX = (level: number) => FRAME.left + Math.max(1, width - FRAME.left - FRAME.right) * x.toShare(level)
  const toY = (ms: number) => FRAME.top + (FRAME.height - FRAME.top - FRAME.bottom) * (1 - y.toShare(ms))
  const pick = (event: PointerEvent) => {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const distances = curve.map(({ level }) => Math.abs(toX(level) - at))
    setPicked(distances.indexOf(Math.min(...distances)))
  }
  const point = picked === null ? undefined : curve[Math.min(picked, curve.length - 1)]
  const reading =
    point === undefined ? 'Point at a level for its figures' : describePoint(point, unit, report.latency)
  return (
    <figure ref={ref} className={`min-w-0 ${styles.curve}`}>
      <div className="relative">
        <svg
          width="100%"
          height={FRAME.height}
          role="img"
          aria-label={`${report.latency} by ${unit === 'rate' ? 'rate' : 'concurrency'}: ${curve.map((one) => describePoint(one, unit, report.latency)).join('; ')}`}
          onPointerMove={pick}
          onPointerLeave={() => setPicked(null)}
        >
          {shaded !== null && (
            <rect
              fill="var(--chart-limited)"
              x={toX(shaded.low)}
              width={Math.max(2, toX(shaded.high) - toX(shaded.low))}
              y={FRAME.top}
              height={FRAME.height - FRAME.top - FRAME.bottom}
            />
          )}
          <Axes x={x} y={y} toX={toX} toY={toY} width={width} unit={unit} />
          {point !== undefined && (
            <line
              stroke="var(--text-2)"
              strokeDasharray="3 3"
              x1={toX(point.level)}
              x2={toX(point.level)}
              y1={FRAME.top}
              y2={FRAME.height - FRAME.bottom}
            />
          )}
          {limits.map(({ expression, limit }) => (
            <g key={expression} className={styles.limit}>
              <line
                x1={FRAME.left}
                x2={Math.max(FRAME.left, width - FRAME.right)}
                y1={toY(limit)}
                y2={toY(limit)}
              />
              <text textAnchor="end" x={width - FRAME.right} y={toY(limit) - 4}>
                {expression}
              </text>
            </g>
          ))}
          {PERCENTILE_LINES.map(({ point: of, token, dash }) => (
            <polyline
              key={of}
              fill="none"
              strokeWidth={2}
              stroke={`var(${token})`}
              strokeDasharray={toDashArray(dash)}
              points={curve
                .flatMap(({ level, latency_ms }) =>
                  latency_ms === null ? [] : [`${toX(level)},${toY(latency_ms[of])}`],
                )
                .join(' ')}
            />
          ))}
          {curve.map((one) => (
            <LevelMark key={one.level} point={one} toX={toX} toY={toY} />
          ))}
        </svg>
        <ChartCursor
          label="Levels that were probed"
          count={curve.length}
          index={picked}
          text={reading}
          onIndex={setPicked}
        />
      </div>
      <div className={`flex flex-wrap justify-between mt-2 ${styles.under}`}>
        <Legend entries={PERCENTILE_LINES} />
        <p className="quiet">● held, ✕ failed{shaded !== null && '; shaded: the capacity lies in here'}</p>
      </div>
      <figcaption className={`quiet text-sm ${styles.reading}`}>{reading}</figcaption>
    </figure>
  )
}

/** What thresholds allow of the latency that is drawn. */
function listLimits({ thresholds, latency }: CapacityReport): { expression: string; limit: number }[] {
  return thresholds.flatMap((expression) => {
    const read = parseThreshold(expression)
    if (!read.ok || read.parsed.metric !== latency || !read.parsed.operator.startsWith('<')) return []
    return [{ expression, limit: read.parsed.limit }]
  })
}

/** `at 320/s: held 3 of 3, p50 12 ms, p95 80 ms, p99 140 ms, 0 % unsuccessful, 318/s succeeded`. */
function describePoint(point: Point, unit: CapacityUnit, latency: string): string {
  const { level, held, failed, latency_ms: ms, failed_share: share, succeeded_per_s: rate } = point
  return [
    `at ${formatLevel(unit, level)}: held ${held} of ${held + failed}`,
    ...(ms === null
      ? [`no ${latency}`]
      : [`p50 ${formatMs(ms.p50)}`, `p95 ${formatMs(ms.p95)}`, `p99 ${formatMs(ms.p99)}`]),
    ...(share === null ? [] : [`${formatShare(share)} unsuccessful`]),
    `${formatRate(rate)}/s succeeded`,
  ].join(', ')
}

/** Whether a level held, in form and colour, at its p99. */
function LevelMark(props: { point: Point; toX: (level: number) => number; toY: (ms: number) => number }) {
  const { level, held, failed, latency_ms } = props.point
  const x = props.toX(level)
  const y = latency_ms === null ? FRAME.top : props.toY(latency_ms.p99)
  return held > failed ? (
    <circle fill="var(--state-succeeded)" cx={x} cy={y} r={5} />
  ) : (
    <path
      fill="none"
      stroke="var(--state-failed)"
      strokeWidth={2.5}
      d={`M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}`}
    />
  )
}

function Axes(props: {
  x: Scale
  y: Scale
  toX: (level: number) => number
  toY: (ms: number) => number
  width: number
  unit: CapacityUnit
}) {
  const { x, y, toX, toY, width } = props
  // There are no halves of a request in flight.
  const levels = props.unit === 'rate' ? x.ticks : x.ticks.filter(Number.isInteger)
  return (
    <g aria-hidden>
      <LeftAxis
        ticks={y.ticks.map((tick) => ({
          y: toY(tick),
          label: tick >= 1000 ? `${formatTick(tick / 1000)} s` : `${formatTick(tick)} ms`,
        }))}
        left={FRAME.left}
        right={width - FRAME.right}
        gap={8}
      />
      <BottomLabels
        labels={levels.map((tick) => ({ x: toX(tick), label: formatTick(tick) }))}
        y={FRAME.height - FRAME.bottom + 18}
      />
      <BottomLabels
        labels={[
          {
            x: (FRAME.left + width - FRAME.right) / 2,
            label: props.unit === 'rate' ? 'requests per second' : 'requests in flight',
          },
        ]}
        y={FRAME.height - 6}
      />
    </g>
  )
}
