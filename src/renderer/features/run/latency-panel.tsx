import { useMemo } from 'react'
import { METRICS } from '../../../shared/load/metrics.ts'
import type { LatencySeries } from '../../../shared/run/results.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { LatencyDistribution } from '../../ui/charts/latency-distribution.tsx'
import { LatencyOverTime } from '../../ui/charts/latency-over-time.tsx'
import { PercentilesTable } from '../../ui/charts/percentiles-table.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import styles from './run.module.css'

type Series = keyof LatencySeries['bars']

/** How long the service takes: percentiles, and each latency over time and as a distribution. */
export function LatencyPanel(props: {
  percentiles: Percentiles | null
  /** From a request being sent to its callback being received; absent where there are no callbacks. */
  callbacks: Percentiles | null | undefined
  series: LatencySeries | null
}) {
  const { percentiles, callbacks, series } = props
  const rows: { name: Series; percentiles: Percentiles | null }[] = [
    { name: 'http_req_duration', percentiles },
    ...(callbacks === undefined ? [] : [{ name: 'callback_latency' as const, percentiles: callbacks }]),
  ]
  return (
    <Panel title="Latency">
      {percentiles === null && !callbacks ? (
        <p className={styles.quietInside}>Measured from the first answer on.</p>
      ) : (
        <div className={styles.latency}>
          <PercentilesTable series={rows} />
          {series !== null &&
            rows.map((row) => (
              <SeriesCharts key={row.name} name={row.name} percentiles={row.percentiles} series={series} />
            ))}
        </div>
      )}
    </Panel>
  )
}

function SeriesCharts(props: { name: Series; percentiles: Percentiles | null; series: LatencySeries }) {
  const { name, percentiles, series } = props
  const seconds = useMemo(
    () =>
      series.seconds.map(({ second, httpReqDurationMs, callbackLatencyMs }) => ({
        second,
        percentiles: name === 'http_req_duration' ? httpReqDurationMs : callbackLatencyMs,
      })),
    [series, name],
  )
  return (
    <section aria-label={name}>
      <h3 className={styles.chartTitle}>
        <code>{name}</code>: {METRICS[name].meaning}
      </h3>
      <div className={styles.charts}>
        <div>
          <h4 className={styles.chartTitle}>In each second</h4>
          <LatencyOverTime name={name} seconds={seconds} />
        </div>
        <div>
          <h4 className={styles.chartTitle}>Distribution</h4>
          <LatencyDistribution name={name} bars={series.bars[name]} percentiles={percentiles} />
        </div>
      </div>
    </section>
  )
}
