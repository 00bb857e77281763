import { formatCount } from '../../../shared/messages/figure-text.ts'
import { adviseInWindow } from '../../../shared/messages/outcome-advice.ts'
import { isProblemCode, PROBLEM_MESSAGES } from '../../../shared/messages/problem-messages.ts'
import type { ErrorGroup } from '../../../shared/run/run.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { StateLabel } from '../../ui/states/state-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { Sentence } from '../../ui/text/sentence.tsx'
import styles from './run.module.css'

/** Rows that ended in an error, grouped by how, most first, each with what to do. */
export function ErrorsPanel(props: {
  errors: readonly ErrorGroup[]
  operation: string
  onPick?: (group: ErrorGroup) => void
}) {
  const { errors, onPick } = props
  // What the check has said already comes after what the service said.
  const ordered = errors.toSorted((a, b) => Number(a.outcome === 'invalid') - Number(b.outcome === 'invalid'))
  const rows = errors.reduce((sum, group) => sum + group.rows, 0)
  return (
    <Panel title="Errors" aside={rows === 0 ? 'none' : `${formatCount(rows)} rows`} flush>
      {errors.length === 0 ? (
        <p className={styles.quiet}>Rows that do not succeed are grouped here by cause, with what to do.</p>
      ) : (
        <ul className={styles.errors}>
          {ordered.map((group) => (
            <li key={`${group.outcome} ${group.status} ${group.error_code} ${group.message}`}>
              <div className={styles.errorHead}>
                <StateLabel state={group.outcome} />
                <strong className={styles.errorName}>
                  {onPick ? (
                    <button type="button" className={styles.link} onClick={() => onPick(group)}>
                      <SafeText text={toName(group)} max={80} />
                    </button>
                  ) : (
                    <SafeText text={toName(group)} max={80} />
                  )}
                </strong>
                <span className={styles.errorRows}>{formatCount(group.rows)}</span>
              </div>
              <p className={styles.errorMessage}>
                <Sentence text={group.message} />
              </p>
              <p className={styles.advice}>{adviseInWindow(group, props.operation)}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function toName(group: ErrorGroup): string {
  if (group.error_code !== null && isProblemCode(group.error_code))
    return PROBLEM_MESSAGES[group.error_code].title
  const parts = [group.status === null ? null : String(group.status), group.error_code]
  const name = parts.filter((part) => part !== null).join(' ')
  return name === '' ? 'no answer' : name
}
