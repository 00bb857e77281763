import { Chip, Group, Stack } from '@mantine/core'
import { useMemo, useState } from 'react'
import { isTrend, METRIC_NAMES, METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import type { LatencyBar, Percentiles } from '../../../shared/run/run.ts'
import { Columns } from '../layout/screen.tsx'
import { LatencyDistribution } from './latency-distribution.tsx'
import { LatencyOverTime } from './latency-over-time.tsx'
import { PercentilesTable } from './percentiles-table.tsx'
import type { TimeLimit } from './time-chart.tsx'

/** The latencies whose charts are shown unless others are chosen: from request to answer, and to callback. */
const FIRST_SHOWN: readonly TrendMetric[] = ['http_req_duration', 'response_time', 'callback_latency']

/** Which latencies are drawn; the parts of a request are added where a person asks for them. */
export function useShownLatencies(): {
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
} {
  const [shown, onShown] = useState(FIRST_SHOWN)
  return { shown, onShown }
}

/** Percentiles of every latency that was measured, and of the chosen ones course and distribution next to each other. */
export function LatencyCharts(props: {
  series: readonly { metric: TrendMetric; percentiles: Percentiles | null }[]
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
  /** Null until it was read. */
  measured: {
    seconds: readonly { second: number; latencyMs: Partial<Record<TrendMetric, Percentiles>> }[]
    bars: Partial<Record<TrendMetric, readonly LatencyBar[]>>
  } | null
  /** What thresholds allow of a latency. */
  limits?: Partial<Record<TrendMetric, TimeLimit[]>>
  /** Seconds in which this machine was the bottleneck. */
  limited?: readonly number[]
}) {
  const { series, shown, measured, limits = {}, limited = [] } = props
  return (
    <Stack gap="md">
      <PercentilesTable series={series.map(({ metric, percentiles }) => ({ name: metric, percentiles }))} />
      {measured !== null && (
        <>
          {series.length > 1 && (
            <Chip.Group
              multiple
              value={[...shown]}
              onChange={(names) =>
                props.onShown(METRIC_NAMES.filter(isTrend).filter((metric) => names.includes(metric)))
              }
            >
              <Group gap="xs" role="group" aria-label="Latencies with charts">
                {series.map(({ metric }) => (
                  <Chip key={metric} value={metric} size="xs">
                    {metric}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          )}
          {series
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
