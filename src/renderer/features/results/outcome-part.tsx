import type { RowDetail } from '../../../shared/results.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { adviceForError } from '../../ui/states/error-advice.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** What became of a row: its error and what to do, or the rules it triggered and its scores where they are known. */
export function OutcomePart({ detail }: { detail: RowDetail }) {
  const { result, problems, classScores } = detail
  return (
    <>
      <ErrorNotice detail={detail} />
      {problems.length > 0 && (
        <section>
          <h3>Problems</h3>
          <ul>
            {problems.map((problem) => (
              <li key={`${problem.code} ${problem.field ?? ''} ${problem.message}`}>
                <strong>{problem.severity}</strong>{' '}
                <SafeText text={`${problem.field ?? 'row'}: ${problem.message}`} max={200} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>Outcome</h3>
        <table className={styles.facts}>
          <tbody>
            <Fact name="Triggered rules">
              {result.triggeredRules.length === 0
                ? 'none'
                : result.triggeredRules.map((rule) => (
                    <span key={rule.ruleId} className={styles.rule}>
                      <SafeText text={rule.ruleName} max={80} />
                    </span>
                  ))}
            </Fact>
            {classScores.length > 0 && (
              <Fact name="Scores">
                {classScores.map((score) => (
                  <span key={score.className} className={styles.score}>
                    <SafeText text={score.className} max={40} /> {score.score}
                  </span>
                ))}
              </Fact>
            )}
            <Fact name="task_id">{result.taskId === null ? '–' : <SafeText text={result.taskId} />}</Fact>
            <Fact name="post_id">{result.postId === null ? '–' : <SafeText text={result.postId} />}</Fact>
          </tbody>
        </table>
      </section>
    </>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{children}</td>
    </tr>
  )
}

function ErrorNotice({ detail }: { detail: RowDetail }) {
  const { state, status, errorCode, message } = detail.result
  if (state !== 'rejected' && state !== 'failed' && state !== 'unknown') return null
  const title = [status, errorCode].filter((part) => part !== null).join(' ')
  return (
    <Notice
      kind={state === 'failed' ? 'error' : 'warning'}
      title={<SafeText text={title === '' ? `${state}, no answer` : title} />}
    >
      {message !== null && (
        <p>
          <SafeText text={message} max={500} lines />
        </p>
      )}
      <p>{adviceForError({ outcome: state, status, error_code: errorCode })}</p>
    </Notice>
  )
}
