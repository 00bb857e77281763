import { useMemo } from 'react'
import type { LoadOverview } from '../../../shared/bridge/results.ts'
import type { LoadChartSecond } from '../../../shared/load/load-report.ts'
import { listLatencies } from '../../../shared/load/load-view.ts'
import { METRICS, type TrendMetric } from '../../../shared/load/metrics.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { LatencyDistribution } from '../../ui/charts/latency-distribution.tsx'
import { LatencyOverTime } from '../../ui/charts/latency-over-time.tsx'
import { PercentilesTable } from '../../ui/charts/percentiles-table.tsx'
import type { LatencySecond } from '../../ui/charts/to-chart-seconds.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import styles from './load.module.css'

/** Every latency that was measured, and over time and as a distribution where the report has them. */
export function LoadLatencyPanel(props: {
  latencyMs: Partial<Record<TrendMetric, Percentiles | null>>
  report: LoadOverview | null
}) {
  const { latencyMs, report } = props
  const series = listLatencies(latencyMs).map(({ metric, percentiles }) => ({ name: metric, percentiles }))
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
        <p className={styles.quietInside}>Measured from the first answer after the warm-up on.</p>
      ) : (
        <div className={styles.progress}>
          <PercentilesTable series={series} />
          {report !== null && <Charts report={report} />}
        </div>
      )}
    </Panel>
  )
}

function Charts({ report }: { report: LoadOverview }) {
  const { seconds, bars, latencyMs } = report
  const durations = useMemo(() => toLatencySeconds(seconds, 'http_req_duration'), [seconds])
  const responses = useMemo(() => toLatencySeconds(seconds, 'response_time'), [seconds])
  return (
    <div className={styles.charts}>
      <div>
        <h3 className={styles.chartTitle}>http_req_duration in each second</h3>
        <LatencyOverTime seconds={durations} name="http_req_duration" />
      </div>
      {latencyMs.response_time !== undefined && (
        <div>
          <h3 className={styles.chartTitle}>response_time in each second, including the wait to be sent</h3>
          <LatencyOverTime seconds={responses} name="response_time" />
        </div>
      )}
      <div>
        <h3 className={styles.chartTitle}>Distribution of http_req_duration</h3>
        <LatencyDistribution
          name="http_req_duration"
          bars={bars}
          percentiles={latencyMs.http_req_duration ?? null}
        />
      </div>
    </div>
  )
}

function toLatencySeconds(
  seconds: readonly LoadChartSecond[],
  series: keyof LoadChartSecond['latencyMs'],
): LatencySecond[] {
  return seconds.map(({ second, latencyMs }) => ({ second, percentiles: latencyMs[series] ?? null }))
}
