import type { PageRow } from '../../../shared/bridge/results.ts'
import { formatCount, formatMs } from '../../ui/format-number.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { StateLabel } from '../../ui/states/state-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './review.module.css'

/** What became of the first rows that were sent to try. */
export function FirstRows({ rows }: { rows: readonly PageRow[] }) {
  return (
    <Panel title="The first rows, as the service answered" flush scrolls>
      <table className={styles.first}>
        <thead>
          <tr>
            <th scope="col" className={styles.number}>
              Row
            </th>
            <th scope="col">State</th>
            <th scope="col">Triggered rules</th>
            <th scope="col">Answer</th>
            <th scope="col" className={styles.number}>
              Latency
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.row}>
              <th scope="row" className={styles.number}>
                {formatCount(row.row)}
              </th>
              <td>
                <StateLabel state={row.state} />
              </td>
              <td>
                {row.triggeredRules.length === 0 ? (
                  <span className={styles.none}>none</span>
                ) : (
                  <SafeText text={row.triggeredRules.map((rule) => rule.ruleName).join(', ')} max={80} />
                )}
              </td>
              <td>
                <SafeText
                  text={[row.status, row.errorCode ?? row.message].filter(Boolean).join(' ')}
                  max={80}
                />
              </td>
              <td className={styles.number}>{row.durationMs === null ? '–' : formatMs(row.durationMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
