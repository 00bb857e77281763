import { useMemo } from 'react'
import type { LoadOverview } from '../../../shared/bridge/results.ts'
import { listLatencies } from '../../../shared/load/load-view.ts'
import { isTrend, METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import { parseThreshold } from '../../../shared/load/threshold-parser.ts'
import type { ThresholdResult } from '../../../shared/load/thresholds.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { LatencyCharts } from '../../ui/charts/latency-charts.tsx'
import { RequestsOverTime } from '../../ui/charts/requests-over-time.tsx'
import type { TimeLimit } from '../../ui/charts/time-chart.tsx'
import { Panel } from '../../ui/layout/screen.tsx'

/** Every latency that was measured, with its course and its distribution where the report has them. */
export function LoadLatencyPanel(props: {
  latencyMs: Partial<Record<TrendMetric, Percentiles | null>>
  thresholds: readonly ThresholdResult[]
  report: LoadOverview | null
  shown: readonly TrendMetric[]
  onShown: (shown: readonly TrendMetric[]) => void
}) {
  const { latencyMs, thresholds, report } = props
  const series = listLatencies(latencyMs)
  const limits = useMemo(() => toLimits(thresholds), [thresholds])
  const limited = useMemo(() => listLimited(report), [report])
  return (
    <Panel
      title="Latency"
      aside={
        latencyMs.response_time
          ? `response_time: ${METRICS.response_time.meaning}`
          : `http_req_duration: ${METRICS.http_req_duration.meaning}`
      }
    >
      {series.length === 0 ? (
        <p className="quiet">Measured from the first answer after the warm-up on.</p>
      ) : (
        <LatencyCharts
          series={series}
          shown={props.shown}
          onShown={props.onShown}
          measured={report}
          limits={limits}
          limited={limited}
        />
      )}
    </Panel>
  )
}

/** How much was due, sent and answered over time. */
export function LoadRequestsPanel({ report }: { report: LoadOverview }) {
  const seconds = useMemo(
    () =>
      report.seconds.map(({ second, scheduled, counts, dropped }) => ({
        ...{ second, scheduled, sent: counts.sent, succeeded: counts.succeeded },
        unsuccessful: counts.rejected + counts.failed + counts.unknown + dropped,
      })),
    [report.seconds],
  )
  const limited = useMemo(() => listLimited(report), [report])
  return (
    <Panel
      title="Requests per second"
      aside={limited.length > 0 ? 'shaded: this machine was the bottleneck' : undefined}
    >
      {seconds.length === 0 ? (
        <p className="quiet">Counted from the first measured second on.</p>
      ) : (
        <RequestsOverTime seconds={seconds} limited={limited} />
      )}
    </Panel>
  )
}

function listLimited(report: LoadOverview | null): number[] {
  return (report?.seconds ?? []).flatMap(({ second, limited }) => (limited ? [second] : []))
}

function toLimits(thresholds: readonly ThresholdResult[]): Partial<Record<TrendMetric, TimeLimit[]>> {
  const limits: Partial<Record<TrendMetric, TimeLimit[]>> = {}
  for (const { expression } of thresholds) {
    // k6 knows expressions that Sluice does not.
    const read = parseThreshold(expression)
    if (!read.ok) continue
    const { metric, operator, limit } = read.parsed
    if (!isTrend(metric) || !operator.startsWith('<')) continue
    limits[metric] = [...(limits[metric] ?? []), { label: expression, value: limit }]
  }
  return limits
}
