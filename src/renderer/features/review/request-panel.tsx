import { ActionIcon, Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import type { RequestReview } from '../../../shared/bridge/results.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { formatRowNumber } from '../../../shared/plan/source-place.ts'
import { maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import { WholeNumber } from '../../ui/controls.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { describePlace } from '../../ui/states/row-states.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './review.module.css'

/**
 * The exact request of any row, by the number of its record, as exports and commands have it; the key masked, and user
 * content until it is revealed.
 */
export function RequestPanel(props: {
  row: number
  rows: number
  /** Null until it is read. */
  request: RequestReview | null
  /** What the connection still lacks, so that there is no request to show; null where it is complete. */
  gap: string | null
  onRow: (row: number) => void
  /** Opens the request of the row, to be changed and sent once by hand. */
  onScratchpad: () => void
}) {
  const { row, rows, request, gap, onRow } = props
  return (
    <Panel
      title="Exact request"
      aside={
        <Button
          variant="default"
          size="compact-xs"
          disabled={gap !== null || request?.row !== row}
          onClick={props.onScratchpad}
        >
          Open in Scratchpad
        </Button>
      }
    >
      <div className={styles.record}>
        <ActionIcon aria-label="Previous record" disabled={row <= 1} onClick={() => onRow(row - 1)}>
          <IconChevronLeft size="1rem" />
        </ActionIcon>
        <span>Record</span>
        <WholeNumber
          aria-label="Record"
          size="xs"
          w="5rem"
          hideControls
          value={row}
          max={rows}
          onValue={onRow}
        />
        <span>of {formatCount(rows)}</span>
        <ActionIcon aria-label="Next record" disabled={row >= rows} onClick={() => onRow(row + 1)}>
          <IconChevronRight size="1rem" />
        </ActionIcon>
      </div>
      {gap !== null && <p className={styles.none}>The request is shown once the connection is complete.</p>}
      {gap === null && request !== null && <RequestText request={request} />}
    </Panel>
  )
}

function RequestText({ request }: { request: RequestReview }) {
  const shown = useContentShown()
  if (request.isInvalid) {
    return (
      <Notice kind="warning" title="This row is not sent">
        <ul>
          {request.problems.map((problem) => (
            <li key={`${problem.code} ${problem.field ?? ''}`}>
              <SafeText text={`${problem.field ?? 'row'}: ${sayExpected(problem, 'window')}`} />
            </li>
          ))}
        </ul>
      </Notice>
    )
  }
  return (
    <div className={styles.request}>
      <table className={styles.headers}>
        <tbody>
          <tr>
            <th scope="row">row</th>
            <td>
              {formatRowNumber(request.row, request.place)}, {describePlace(request.row, request.place)}
            </td>
          </tr>
          <tr>
            <th scope="row">{request.method}</th>
            <td>
              <SafeText text={request.url} max={2_000} lines />
            </td>
          </tr>
          {request.headers.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <SafeText text={value} max={200} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {request.body === null ? (
        <p className={styles.none}>no body</p>
      ) : (
        <LongText text={prettyJson(shown ? request.body : maskJson(request.body))} label="Request body" />
      )}
    </div>
  )
}
