import type { ReactNode } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { Table } from '../table/table.tsx'
import styles from './charts.module.css'

export interface RankedBar {
  id: string
  name: ReactNode
  rows: number
}

/** Items ranked by rows: name, bar in proportion to the first, count. `onPick` makes each name a button. */
export function BarTable(props: { caption: string; bars: RankedBar[]; onPick?: (id: string) => void }) {
  const most = Math.max(1, ...props.bars.map((bar) => bar.rows))
  return (
    <Table
      look="plain"
      className={styles.bars}
      caption={props.caption}
      hasNoHead
      rows={props.bars}
      toKey={({ id }) => id}
      columns={[
        {
          className: styles.name,
          cell: ({ id, name }) =>
            props.onPick ? (
              <button
                type="button"
                className={`bare max-w-full overflow-hidden ellipsis ${styles.pick}`}
                onClick={() => props.onPick?.(id)}
              >
                {name}
              </button>
            ) : (
              name
            ),
        },
        {
          cell: ({ rows }) => (
            <div className={`bg-sunken ${styles.track}`} aria-hidden>
              <span className={`block h-full ${styles.fill}`} style={{ width: `${(rows / most) * 100}%` }} />
            </div>
          ),
        },
        { isNumber: true, width: '4.5rem', cell: ({ rows }) => formatCount(rows) },
      ]}
    />
  )
}
