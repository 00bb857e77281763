import type { LatencySeries } from '../../../shared/results.ts'
import type { Percentiles } from '../../../shared/run.ts'
import { LatencyHistogram } from '../../ui/charts/latency-histogram.tsx'
import { LatencyOverTime } from '../../ui/charts/latency-over-time.tsx'
import { PercentilesTable } from '../../ui/charts/percentiles-table.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './run.module.css'

/** How long the service takes: percentiles, the whole distribution, and how it went over time. */
export function LatencyPanel(props: {
  percentiles: Percentiles | null
  /** From a request being sent to its callback being received; absent where there are no callbacks. */
  callbacks: Percentiles | null | undefined
  series: LatencySeries | null
}) {
  const { percentiles, callbacks, series } = props
  const rows = [{ name: 'http_req_duration', percentiles }]
  if (callbacks !== undefined) rows.push({ name: 'callback_latency', percentiles: callbacks })
  return (
    <Panel
      title="Latency"
      aside={
        callbacks === undefined
          ? 'http_req_duration: first byte sent to last byte received'
          : 'callback_latency: request sent to callback received'
      }
    >
      {percentiles === null ? (
        <p className={styles.quietInside}>Measured from the first answer on.</p>
      ) : (
        <div className={styles.latency}>
          <PercentilesTable series={rows} />
          {series !== null && (
            <div className={styles.charts}>
              <div>
                <h3 className={styles.chartTitle}>Percentiles in each second</h3>
                <LatencyOverTime seconds={series.seconds} />
              </div>
              <div>
                <h3 className={styles.chartTitle}>Answers by latency; under each bar, how long at most</h3>
                <LatencyHistogram histogram={series.histogram} percentiles={percentiles} />
              </div>
            </div>
          )}
        </div>
      )}
    </Panel>
  )
}
