import { formatCount, formatShare } from '../../../shared/messages/figure-text.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import { toStateCounts } from './row-counts.ts'
import { STATE_LOOKS, TO_BE_REPEATED } from './state-looks.ts'
import styles from './states.module.css'

/** A run's rows as one bar of states, in proportion; the numbers stand in {@link CountsTable} next to it. */
export function CountsBar({ rows, label }: { rows: RowCounts; label: string }) {
  const all = Math.max(1, rows.read)
  const done = rows.read - rows.not_sent - rows.awaiting
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={rows.read}
      aria-valuenow={done}
      aria-valuetext={`${formatCount(done)} of ${formatCount(rows.read)} rows, ${formatShare(done, rows.read)}`}
    >
      {toStateCounts(rows).map(({ state, rows: count }) =>
        count === 0 || state === 'pending' ? null : (
          <span
            key={state}
            className={styles.segment}
            style={{ width: `${(count / all) * 100}%`, background: STATE_LOOKS[state].color }}
          />
        ),
      )}
    </div>
  )
}

/** A run's rows by state: icon, word, count and share; states without rows are left out, except the first and the last. */
export function CountsTable({ rows, toRepeat }: { rows: RowCounts; toRepeat: number }) {
  const states = toStateCounts({ ...rows, not_sent: rows.not_sent - toRepeat })
    .filter(({ state, rows: count }) => count > 0 || state === 'succeeded' || state === 'pending')
    .map(({ state, rows: count }) => ({ key: state as string, look: STATE_LOOKS[state], count }))
  const shown =
    toRepeat === 0 ? states : [...states, { key: 'to_repeat', look: TO_BE_REPEATED, count: toRepeat }]
  return (
    <table className={styles.counts}>
      <caption className="visually-hidden">Rows by state</caption>
      <tbody>
        {shown.map(({ key, look, count }) => {
          const Icon = look.icon
          return (
            <tr key={key} title={look.meaning} data-state={key}>
              <th scope="row">
                <span className={styles.label} style={{ color: look.color }}>
                  <Icon size="1.1em" stroke={2} aria-hidden />
                  {look.word}
                </span>
              </th>
              <td data-count={count}>{formatCount(count)}</td>
              <td className={styles.share}>{formatShare(count, rows.read)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
