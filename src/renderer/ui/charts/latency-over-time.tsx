import { useMemo } from 'react'
import { formatAxisMs, formatCount, formatMs, formatSpan } from '../../../shared/messages/figure-text.ts'
import { formatClock } from '../format-time.ts'
import { TimeChart, type TimeLimit } from './time-chart.tsx'
import { type LatencySecond, toChartSeconds } from './to-chart-seconds.ts'

const LINES = [
  { label: 'p50', point: 'p50', token: '--chart-1', dash: 'solid' },
  { label: 'p95', point: 'p95', token: '--chart-2', dash: 'dashed' },
  { label: 'p99', point: 'p99', token: '--chart-3', dash: 'dotted' },
] as const

/** p50, p95 and p99 of a latency in each second; the time is that of sending, with the pauses marked. */
export function LatencyOverTime(props: {
  name: string
  seconds: readonly LatencySecond[]
  /** What thresholds allow, milliseconds. */
  limits?: readonly TimeLimit[]
  /** Seconds in which this machine was the bottleneck. */
  limited?: readonly number[]
}) {
  const { name, seconds, limits = [], limited = [] } = props
  const { points, pauses } = useMemo(() => toChartSeconds(seconds), [seconds])
  const at = useMemo(() => points.map((point) => point.at), [points])
  const lines = useMemo(
    () =>
      LINES.map(({ point, ...look }) => ({
        ...look,
        values: points.map(({ percentiles }) => percentiles?.[point] ?? null),
      })),
    [points],
  )
  const last = seconds.findLast(({ percentiles }) => percentiles !== null)?.percentiles
  const now = last ? `; last second p50 ${formatMs(last.p50)}, p99 ${formatMs(last.p99)}` : ''
  return (
    <TimeChart
      label={`${name} percentiles over ${formatSpan(((seconds.at(-1)?.second ?? -1) + 1) * 1000)}${now}`}
      points={`Seconds of ${name}`}
      at={at}
      lines={lines}
      formatAxis={formatAxisMs}
      describe={(index) => {
        const point = points[index]
        const shown = point?.percentiles
        if (point === undefined || shown === undefined || shown === null) return 'nothing was measured'
        return `at ${formatClock(point.second)}: p50 ${formatMs(shown.p50)}, p95 ${formatMs(shown.p95)}, p99 ${formatMs(shown.p99)}, ${formatCount(shown.count)} measured`
      }}
      pauses={pauses}
      limits={limits}
      limited={points.flatMap((point) => (limited.includes(point.second) ? [point.at] : []))}
    />
  )
}
