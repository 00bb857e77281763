import { useMemo } from 'react'
import { listLatencies } from '../../../shared/load/load-view.ts'
import type { TrendMetric } from '../../../shared/load/metrics.ts'
import type { LatencySeries } from '../../../shared/run/results.ts'
import type { Percentiles, RunSummary } from '../../../shared/run/run.ts'
import { LatencyCharts } from '../../ui/charts/latency-charts.tsx'
import { RequestsOverTime } from '../../ui/charts/requests-over-time.tsx'
import { Panel } from '../../ui/layout/screen.tsx'

/** How long the service takes: percentiles, and each latency over time and as a distribution. */
export function LatencyPanel(props: {
  /** Newest percentiles of http_req_duration; those of the others are in `measured`. */
  newest: Percentiles | null
  measured: RunSummary['latency_ms']
  series: LatencySeries | null
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
}) {
  const { newest, measured, series } = props
  const latencies = listLatencies({ ...measured, ...(newest !== null && { http_req_duration: newest }) })
  return (
    <Panel title="Latency">
      {latencies.length === 0 ? (
        <p className="quiet">Measured from the first answer on.</p>
      ) : (
        <LatencyCharts series={latencies} shown={props.shown} onShown={props.onShown} measured={series} />
      )}
    </Panel>
  )
}

/** How much is sent, and what happens to it, over time. */
export function RequestsPanel({ series }: { series: LatencySeries | null }) {
  const seconds = useMemo(
    () =>
      series?.seconds.map(({ second, sent, succeeded, rejected, failed, unknown }) => ({
        ...{ second, sent, succeeded, scheduled: null },
        unsuccessful: rejected + failed + unknown,
      })) ?? [],
    [series],
  )
  return (
    <Panel title="Requests per second">
      {seconds.length === 0 ? (
        <p className="quiet">Counted from the first answer on.</p>
      ) : (
        <RequestsOverTime seconds={seconds} />
      )}
    </Panel>
  )
}
