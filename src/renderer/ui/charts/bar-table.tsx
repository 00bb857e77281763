import type { ReactNode } from 'react'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import styles from './charts.module.css'

/** One ranked thing and its number of rows. */
export interface RankedBar {
  id: string
  name: ReactNode
  rows: number
}

/** Things ranked by rows: name, bar in proportion to the first, count. `onPick` makes each name a button. */
export function BarTable(props: { caption: string; bars: RankedBar[]; onPick?: (id: string) => void }) {
  const most = Math.max(1, ...props.bars.map((bar) => bar.rows))
  return (
    <table className={styles.bars}>
      <caption className="visually-hidden">{props.caption}</caption>
      <tbody>
        {props.bars.map((bar) => (
          <tr key={bar.id}>
            <th scope="row" className={styles.name}>
              {props.onPick ? (
                <button type="button" className={styles.pick} onClick={() => props.onPick?.(bar.id)}>
                  {bar.name}
                </button>
              ) : (
                bar.name
              )}
            </th>
            <td>
              <div className={styles.track} aria-hidden>
                <span className={styles.fill} style={{ width: `${(bar.rows / most) * 100}%` }} />
              </div>
            </td>
            <td className={styles.number}>{formatCount(bar.rows)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
