import { LATENCY_POINTS } from '../../../shared/load/load-view.ts'
import { formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import styles from './charts.module.css'

const COLUMNS = LATENCY_POINTS.filter(([point]) => point !== 'mean')

/** The percentiles of one or more latency series, a line for each. */
export function PercentilesTable({
  series,
}: {
  series: { name: string; percentiles: Percentiles | null }[]
}) {
  return (
    <table className={styles.percentiles}>
      <caption className="visually-hidden">Latency percentiles</caption>
      <thead>
        <tr>
          <th scope="col">Metric</th>
          {COLUMNS.map(([key, title]) => (
            <th key={key} scope="col">
              {title}
            </th>
          ))}
          <th scope="col">answers</th>
        </tr>
      </thead>
      <tbody>
        {series.map(({ name, percentiles }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {COLUMNS.map(([key]) => (
              <td key={key}>{percentiles === null ? '–' : formatMs(percentiles[key])}</td>
            ))}
            <td>{percentiles === null ? '–' : formatCount(percentiles.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
