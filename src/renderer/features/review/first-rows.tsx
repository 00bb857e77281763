import type { PageRow } from '../../../shared/bridge/results.ts'
import { formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameAnswer } from '../../../shared/messages/name-code.ts'
import { subjectOf } from '../../../shared/operations/operations.ts'
import { countSettled } from '../../../shared/run/counts.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { AnswerLabel } from '../../ui/states/answers.tsx'
import { RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './review.module.css'

/** That the service rejected every row that was sent to try; null where it did not, or has yet to answer. */
export function findRefusedTrial(rows: RowCounts): string | null {
  const { rejected, awaiting } = rows
  if (rejected === 0 || awaiting > 0 || rejected < countSettled(rows)) return null
  return `The service rejected ${rejected === 1 ? 'the first row' : `all of the first ${formatCount(rejected)} rows`}`
}

/** The outcome of the first rows that were sent to try. */
export function FirstRows({ operation, rows }: { operation: string; rows: readonly PageRow[] }) {
  const { outcome } = subjectOf(operation)
  return (
    <Panel title="The first rows, as the service answered" flush scrolls>
      <Table
        look="dense"
        className={styles.first}
        rows={rows}
        toKey={({ row }) => row}
        columns={[
          {
            title: 'Row',
            isNumber: true,
            cell: ({ row, place }) => <RowNumber record={row} place={place} />,
          },
          { title: 'State', cell: ({ state, attempts }) => <StateLabel state={state} attempts={attempts} /> },
          { title: outcome, cell: (row) => <RowOutcome operation={operation} row={row} /> },
          {
            title: 'Answer',
            cell: (row) => <SafeText text={nameAnswer(row.status, row.errorCode ?? row.message)} max={80} />,
          },
          {
            title: 'Latency',
            isNumber: true,
            cell: ({ durationMs }) => (durationMs === null ? '–' : formatMs(durationMs)),
          },
        ]}
      />
    </Panel>
  )
}

function RowOutcome({ operation, row }: { operation: string; row: PageRow }) {
  // Only a row that the service judged can have triggered no rule.
  const none = <span className="quiet">{row.state === 'succeeded' ? 'none' : '–'}</span>
  if (operation !== 'task') {
    if (row.answer !== null) return <AnswerLabel answer={row.answer} />
    return row.customIndexItemId === null ? none : <SafeText text={row.customIndexItemId} max={60} />
  }
  if (row.triggeredRules.length === 0) return none
  return <SafeText text={row.triggeredRules.map((rule) => rule.ruleName).join(', ')} max={80} />
}
