import { formatMs } from '../../../shared/messages/figure-text.ts'
import type { AttemptDetail } from '../../../shared/run/results.ts'
import { formatTimestamp } from '../../ui/format-time.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** Every try of a row: when, how it ended, and where its time went. */
export function AttemptsTable({ attempts }: { attempts: readonly AttemptDetail[] }) {
  return (
    <section>
      <h3>Tries</h3>
      {attempts.length === 0 ? (
        <p className={styles.muted}>Nothing was sent for this row.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.wide} tabIndex={0} aria-label="Table of tries">
          <table className={styles.facts}>
            <thead>
              <tr>
                <th scope="col">#</th>
                <th scope="col">Sent</th>
                <th scope="col">Ended</th>
                <th scope="col">Connect</th>
                <th scope="col">TLS</th>
                <th scope="col">Waiting</th>
                <th scope="col">Duration</th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((attempt) => (
                <tr key={attempt.number}>
                  <td>{attempt.number}</td>
                  <td>{formatTimestamp(attempt.sentAt)}</td>
                  <td>
                    {attempt.outcome} {attempt.status ?? ''}{' '}
                    <SafeText text={attempt.errorCode ?? attempt.message ?? ''} max={80} />
                  </td>
                  <td>{toTime(attempt.connectMs)}</td>
                  <td>{toTime(attempt.tlsMs)}</td>
                  <td>{toTime(attempt.waitingMs)}</td>
                  <td>{toTime(attempt.durationMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  )
}

function toTime(ms: number | null): string {
  return ms === null ? '–' : formatMs(ms)
}
