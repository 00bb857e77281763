import type { LoadOverview } from '../../../shared/bridge/load.ts'
import { BarTable } from '../../ui/charts/bar-table.tsx'
import { formatCount, formatMs, formatQuantity } from '../../ui/format-number.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { StateLabel } from '../../ui/states/state-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { Sentence } from '../../ui/text/sentence.tsx'
import styles from './load.module.css'

/** Requests by the status and the error code they got. */
export function StatusesPanel({ statuses }: Pick<LoadOverview, 'statuses'>) {
  return (
    <Panel title="Answers by status">
      {statuses.length === 0 ? (
        <p className={styles.quietInside}>None yet.</p>
      ) : (
        <BarTable
          caption="Requests by status"
          bars={statuses.map(({ status, errorCode, requests }) => ({
            id: `${status} ${errorCode}`,
            name: <SafeText text={nameStatus(status, errorCode)} max={80} />,
            rows: requests,
          }))}
        />
      )}
    </Panel>
  )
}

/** Requests that did not succeed, grouped by how, each with when. */
export function LoadErrorsPanel({ errors }: Pick<LoadOverview, 'errors'>) {
  const requests = errors.reduce((sum, group) => sum + group.requests, 0)
  return (
    <Panel title="Errors" aside={requests === 0 ? 'none' : formatQuantity(requests, 'request')} flush>
      {errors.length === 0 ? (
        <p className={styles.quiet}>Requests that do not succeed are grouped here by cause.</p>
      ) : (
        <ul className={styles.errors}>
          {errors.map((group) => (
            <li key={`${group.outcome} ${group.status} ${group.errorCode} ${group.message}`}>
              <div className={styles.errorHead}>
                <StateLabel state={group.outcome} />
                <strong>
                  <SafeText text={nameStatus(group.status, group.errorCode)} max={80} />
                </strong>
                <span className={styles.errorCount}>{formatCount(group.requests)}</span>
              </div>
              <p>
                <Sentence text={group.message} />
              </p>
              <p className={styles.quietInside}>{describeWhen(group)}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** Requests by model and by size of their content, where the source has more than one. */
export function GroupsPanel({ groups }: Pick<LoadOverview, 'groups'>) {
  return (
    <Panel title="By model and size" flush scrolls>
      <table className={styles.table}>
        <caption className="visually-hidden">Requests by model and size of content</caption>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" className={styles.number}>
              Requests
            </th>
            <th scope="col" className={styles.number}>
              Did not succeed
            </th>
            <th scope="col" className={styles.number}>
              p50
            </th>
            <th scope="col" className={styles.number}>
              p99
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ by, label, requests, failed, httpReqDurationMs }) => (
            <tr key={`${by} ${label}`}>
              <th scope="row">
                {by} <SafeText text={label} max={60} />
              </th>
              <td className={styles.number}>{formatCount(requests)}</td>
              <td className={styles.number}>{formatCount(failed)}</td>
              <td className={styles.number}>
                {httpReqDurationMs === null ? '–' : formatMs(httpReqDurationMs.p50)}
              </td>
              <td className={styles.number}>
                {httpReqDurationMs === null ? '–' : formatMs(httpReqDurationMs.p99)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function nameStatus(status: number | null, errorCode: string | null): string {
  const parts = [status === null ? null : String(status), errorCode].filter((part) => part !== null)
  return parts.length === 0 ? 'no answer' : parts.join(' ')
}

function describeWhen({ firstSecond, lastSecond }: LoadOverview['errors'][number]): string {
  const [first, last] = [Math.floor(firstSecond), Math.floor(lastSecond)]
  return first === last ? `in second ${first}` : `from second ${first} to second ${last}`
}
