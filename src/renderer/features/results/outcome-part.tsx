import { formatMs } from '../../../shared/messages/figure-text.ts'
import { adviseInWindow } from '../../../shared/messages/outcome-advice.ts'
import type { RowDetail, RowState } from '../../../shared/run/results.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { AnswerLabel } from '../../ui/states/answer-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** The outcome of a row: its error and what to do, or the rules it triggered and its scores where they are known. */
export function OutcomePart({ operation, detail }: { operation: string; detail: RowDetail }) {
  const { result, problems, classScores } = detail
  return (
    <>
      <ErrorNotice detail={detail} operation={operation} />
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
            {operation === 'task' && (
              <Fact name="Triggered rules">
                {result.triggeredRules.length === 0
                  ? 'none'
                  : result.triggeredRules.map((rule) => (
                      <span key={rule.ruleId} className={styles.rule}>
                        <SafeText text={rule.ruleName} max={80} />
                      </span>
                    ))}
              </Fact>
            )}
            {result.answer !== null && (
              <Fact name={operation === 'appeal-status' ? 'Appeal' : 'Term'}>
                <AnswerLabel answer={result.answer} />
              </Fact>
            )}
            {result.state === 'succeeded' && result.message !== null && (
              <Fact name="In words">
                <SafeText text={result.message} max={500} />
              </Fact>
            )}
            {result.customIndexItemId !== null && (
              <Fact name="custom_index_item_id">
                <SafeText text={result.customIndexItemId} />
              </Fact>
            )}
            {classScores.length > 0 && (
              <Fact name="Scores">
                {classScores.map((score) => (
                  <span key={score.className} className={styles.score}>
                    <SafeText text={score.className} max={40} /> {score.score}
                  </span>
                ))}
              </Fact>
            )}
            {result.callbackLatencyMs !== null && (
              <Fact name="Callback latency">{formatMs(result.callbackLatencyMs)}</Fact>
            )}
            {hasTasks(operation) && (
              <Fact name="task_id">{result.taskId === null ? '–' : <SafeText text={result.taskId} />}</Fact>
            )}
            {operation === 'task' && (
              <Fact name="post_id">{result.postId === null ? '–' : <SafeText text={result.postId} />}</Fact>
            )}
          </tbody>
        </table>
      </section>
    </>
  )
}

/** Watchlists and appeals are answered without a task. */
function hasTasks(operation: string): boolean {
  return operation === 'task' || operation.startsWith('index-')
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{children}</td>
    </tr>
  )
}

function ErrorNotice({ detail, operation }: { detail: RowDetail; operation: string }) {
  const { state, status, errorCode, message } = detail.result
  if (state !== 'rejected' && state !== 'failed' && state !== 'unknown' && state !== 'overdue') return null
  const title = [status, errorCode].filter((part) => part !== null).join(' ')
  return (
    <Notice kind={state === 'failed' ? 'error' : 'warning'} title={<SafeText text={toTitle(state, title)} />}>
      {message !== null && (
        <p>
          <SafeText text={message} max={500} lines />
        </p>
      )}
      <p>{adviseInWindow({ outcome: state, status, error_code: errorCode }, operation)}</p>
    </Notice>
  )
}

function toTitle(state: RowState, answer: string): string {
  if (state === 'overdue') return 'overdue, no callback in time'
  return answer === '' ? `${state}, no answer` : answer
}
