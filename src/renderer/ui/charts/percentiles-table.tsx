import type { Percentiles } from '../../../shared/run/run.ts'
import { formatCount, formatMs } from '../format-number.ts'
import styles from './charts.module.css'

const COLUMNS = [
  ['min', 'min'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99_9', 'p99.9'],
  ['max', 'max'],
] as const satisfies readonly [keyof Percentiles, string][]

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
          <th scope="col">Latency</th>
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
