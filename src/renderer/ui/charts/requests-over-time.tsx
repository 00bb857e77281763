import { useMemo } from 'react'
import { dropZeros, formatRate, formatSpan } from '../../../shared/messages/figure-text.ts'
import { formatClock } from '../format-time.ts'
import { type RequestSecond, TimeChart, type TimeLine, toRequestSeconds } from './time-chart.tsx'

const LINES = [
  { label: 'scheduled', of: 'scheduled', token: '--text-2', dash: 'dotted' },
  { label: 'sent', of: 'sent', token: '--chart-1', dash: 'solid' },
  { label: 'succeeded', of: 'succeeded', token: '--state-succeeded', dash: 'dashed' },
  { label: 'did not succeed', of: 'unsuccessful', token: '--state-failed', dash: 'solid' },
] as const

const formatAxisRate = (rate: number) => dropZeros(formatRate(rate))

/** Requests in each second: due, sent, succeeded and failed. */
export function RequestsOverTime(props: {
  seconds: readonly RequestSecond[]
  /** Seconds whose latencies may include delays of this machine. */
  limited?: readonly number[]
}) {
  const { seconds, limited = [] } = props
  const { points, pauses } = useMemo(() => toRequestSeconds(seconds), [seconds])
  const at = useMemo(() => points.map((point) => point.at), [points])
  const lines = useMemo<TimeLine[]>(
    () =>
      LINES.map(({ of, ...look }) => ({ ...look, values: points.map((point) => point[of]) })).filter(
        ({ values }) => values.some((value) => value !== null),
      ),
    [points],
  )
  return (
    <TimeChart
      label={`Requests per second over ${formatSpan(((seconds.at(-1)?.second ?? -1) + 1) * 1000)}`}
      points="Seconds of requests"
      at={at}
      lines={lines}
      formatAxis={formatAxisRate}
      describe={(index) => {
        const point = points[index]
        const figures = LINES.flatMap(({ label, of }) => {
          const value = point?.[of] ?? null
          return value === null ? [] : [`${label} ${formatRate(value)}/s`]
        })
        if (point === undefined || figures.length === 0) return 'nothing was sent'
        return `at ${formatClock(point.second)}: ${figures.join(', ')}`
      }}
      pauses={pauses}
      limited={points.flatMap((point) => (limited.includes(point.second) ? [point.at] : []))}
    />
  )
}
