import { LATENCY_POINTS } from '../../../shared/load/load-view.ts'
import { formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import type { Percentiles } from '../../../shared/run/run.ts'
import { type Column, Table } from '../table/table.tsx'
import styles from './charts.module.css'

interface Series {
  name: string
  percentiles: Percentiles | null
}

const COLUMNS: readonly Column<Series>[] = [
  { title: 'Metric', className: styles.metric, cell: ({ name }) => name },
  ...LATENCY_POINTS.filter(([point]) => point !== 'mean').map(
    ([key, title]): Column<Series> => ({
      ...{ title, isNumber: true },
      cell: ({ percentiles }) => (percentiles === null ? '–' : formatMs(percentiles[key])),
    }),
  ),
  {
    ...{ title: 'answers', isNumber: true },
    cell: ({ percentiles }) => (percentiles === null ? '–' : formatCount(percentiles.count)),
  },
]

/** The percentiles of one or more latency series, a line for each. */
export function PercentilesTable({ series }: { series: readonly Series[] }) {
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
