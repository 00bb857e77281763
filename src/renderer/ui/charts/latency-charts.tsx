import { Chip, Group, Stack } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useMemo, useState } from 'react'
import {
  type DistributionLayout,
  layOutDistribution,
  MARKS_HEIGHT,
} from '../../../shared/load/chart-scale.ts'
import { LATENCY_POINTS, noteFewMeasured } from '../../../shared/load/load-view.ts'
import {
  CHARTED_METRICS,
  isDetail,
  isTrend,
  METRIC_NAMES,
  METRICS,
  type TrendMetric,
} from '../../../shared/load/metrics.ts'
import {
  describeSlowest,
  formatAxisMs,
  formatCount,
  formatMs,
  formatShare,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import type { LatencyBar, Percentiles } from '../../../shared/run/run.ts'
import { formatClock } from '../format-time.ts'
import { Columns } from '../layout/screen.tsx'
import { type Column, Table } from '../table/table.tsx'
import styles from './charts.module.css'
import { BottomLabels, ChartCursor, LeftAxis, PERCENTILE_LINES, UprightLine } from './plot.tsx'
import { type LatencySecond, TimeChart, type TimeLimit, toChartSeconds } from './time-chart.tsx'

/** The drawn latencies; a person can add the phases of a request. */
export function useShownLatencies(): {
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
} {
  const [shown, onShown] = useState(CHARTED_METRICS)
  return { shown, onShown }
}

/** Percentiles of every measured latency; for the chosen ones, also course and distribution side by side. */
export function LatencyCharts(props: {
  series: readonly { metric: TrendMetric; percentiles: Percentiles | null }[]
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
  /** Null until loaded. */
  measured: {
    seconds: readonly { second: number; latencyMs: Partial<Record<TrendMetric, Percentiles>> }[]
    bars: Partial<Record<TrendMetric, readonly LatencyBar[]>>
  } | null
  /** The upper limits of latencies in thresholds. */
  limits?: Partial<Record<TrendMetric, TimeLimit[]>>
  /** Seconds whose latencies may include delays of this machine. */
  limited?: readonly number[]
}) {
  const { series, shown, measured, limits = {}, limited = [] } = props
  const drawn = series.filter(({ metric }) => !isDetail(metric))
  return (
    <Stack gap="md">
      <PercentilesTable series={series.map(({ metric, percentiles }) => ({ name: metric, percentiles }))} />
      {noteFewMeasured(
        series.map(({ metric, percentiles }) => ({ metric, count: percentiles?.count ?? Infinity })),
      ).map((note) => (
        <p key={note} className="small quiet">
          {note}
        </p>
      ))}
      {measured !== null && (
        <>
          {drawn.length > 1 && (
            <Chip.Group
              multiple
              value={[...shown]}
              onChange={(names) =>
                props.onShown(METRIC_NAMES.filter(isTrend).filter((metric) => names.includes(metric)))
              }
            >
              <Group gap="xs" role="group" aria-label="Latencies with charts">
                {drawn.map(({ metric }) => (
                  <Chip key={metric} value={metric} size="xs">
                    {metric}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          )}
          {drawn
            .filter(({ metric }) => shown.includes(metric))
            .map(({ metric, percentiles }) => (
              <SeriesCharts
                key={metric}
                metric={metric}
                percentiles={percentiles}
                seconds={measured.seconds}
                bars={measured.bars[metric] ?? []}
                limits={limits[metric] ?? []}
                limited={limited}
              />
            ))}
        </>
      )}
    </Stack>
  )
}

function SeriesCharts(props: {
  metric: TrendMetric
  percentiles: Percentiles | null
  seconds: readonly { second: number; latencyMs: Partial<Record<TrendMetric, Percentiles>> }[]
  bars: readonly LatencyBar[]
  limits: readonly TimeLimit[]
  limited: readonly number[]
}) {
  const { metric, percentiles, bars } = props
  const seconds = useMemo(
    () => props.seconds.map(({ second, latencyMs }) => ({ second, percentiles: latencyMs[metric] ?? null })),
    [props.seconds, metric],
  )
  return (
    <section aria-label={metric}>
      <h3 className="small mb-1 bold">
        <code>{metric}</code>: {METRICS[metric].meaning}
      </h3>
      <Columns least="26rem">
        <div>
          <h4 className="small mb-1 bold">In each second</h4>
          <LatencyOverTime name={metric} seconds={seconds} limits={props.limits} limited={props.limited} />
        </div>
        <div>
          <h4 className="small mb-1 bold">Distribution, on a logarithmic axis</h4>
          <LatencyDistribution name={metric} bars={bars} percentiles={percentiles} />
        </div>
      </Columns>
    </section>
  )
}

interface Series {
  name: string
  percentiles: Percentiles | null
}

const COLUMNS: readonly Column<Series>[] = [
  { title: 'Metric', className: styles.metric, cell: ({ name }) => name },
  ...LATENCY_POINTS.filter(([point]) => point !== 'mean').map(
    ([key, title]): Column<Series> => ({
      title,
      isNumber: true,
      cell: ({ percentiles }) => (percentiles === null ? '–' : formatMs(percentiles[key])),
    }),
  ),
  {
    title: 'samples',
    isNumber: true,
    cell: ({ percentiles }) => (percentiles === null ? '–' : formatCount(percentiles.count)),
  },
]

/** The percentiles of one or more latency series, a line for each. */
function PercentilesTable({ series }: { series: readonly Series[] }) {
  return (
    <Table
      look="plain"
      className={styles.percentiles}
      caption="Latency percentiles"
      rows={series}
      toKey={({ name }) => name}
      columns={COLUMNS}
    />
  )
}

/** p50, p95 and p99 of a latency in each second of sending, with pauses marked. */
function LatencyOverTime(props: {
  name: string
  seconds: readonly LatencySecond[]
  /** Upper limits in thresholds, milliseconds. */
  limits?: readonly TimeLimit[]
  /** Seconds whose latencies may include delays of this machine. */
  limited?: readonly number[]
}) {
  const { name, seconds, limits = [], limited = [] } = props
  const { points, pauses } = useMemo(() => toChartSeconds(seconds), [seconds])
  const at = useMemo(() => points.map((point) => point.at), [points])
  const lines = useMemo(
    () =>
      PERCENTILE_LINES.map(({ point, ...look }) => ({
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

const FRAME = { height: 250, left: 56, right: 12, top: MARKS_HEIGHT, bottom: 24, labelWidth: 64 }

/**
 * The number of answers by duration: bars of equal width on a logarithmic axis, with percentiles and maximum
 * marked. The bar at the pointer or the keyboard's cursor is described in figures.
 */
function LatencyDistribution(props: {
  /** The measured latency, such as `http_req_duration`. */
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
    <figure ref={ref} className={'min-w-0'}>
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
      <UprightLine x={x} from={labelY - 9} to={FRAME.height - FRAME.bottom} />
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
