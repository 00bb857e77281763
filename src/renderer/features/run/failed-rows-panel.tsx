import { Button } from '@mantine/core'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { toColumnIndex, toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { findOperation, subjectOf } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { RowFilter } from '../../../shared/run/row-filters.ts'
import { askRequest } from '../../bridge/asked-request.ts'
import { ask } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { ServiceMessage } from '../../ui/content/service-message.tsx'
import { ContentSwitch, isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { Sentence } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

/** Rows listed here; the results have all. */
const LISTED_MAX = 50

const LIVE_EVERY_MS = 2_000

export function hasFailedRows(operation: string): boolean {
  const { noun } = subjectOf(operation)
  return noun === 'term' || noun === 'item'
}

/** The terms or items that the service did not accept, each with the reason. */
export function FailedRowsPanel(props: {
  runId: string
  operation: string
  live: boolean
  onResults: (filter: RowFilter) => void
}) {
  const { runId, live } = props
  const { noun } = subjectOf(props.operation)
  const fields = findOperation(props.operation)?.namedBy ?? []
  // A term fails by its answer, an item with its request.
  const filter: RowFilter = noun === 'term' ? { answer: 'failed' } : { unsuccessful: true }
  const unsuccessful = useLiveRuns((known) => {
    const rows = known.snapshots[runId]?.rows
    return rows === undefined ? 0 : rows.rejected + rows.failed + rows.unknown
  })
  const shown = useContentShown()
  const isNeeded = unsuccessful > 0
  const plan = useQuery(ask.runs.readPlan.queryOptions({ input: isNeeded ? { runId } : skipToken })).data
  const columns = useQuery(ask.results.columns.queryOptions({ input: isNeeded ? { runId } : skipToken })).data
  const page = useQuery(
    ask.results.page.queryOptions({
      input: !isNeeded ? skipToken : { runId, filter, offset: 0, limit: LISTED_MAX },
      placeholderData: keepPreviousData,
      refetchInterval: live ? LIVE_EVERY_MS : false,
    }),
  )
  const { rows = [], total = 0 } = page.data ?? {}
  if (page.error !== null) return <ErrorNotice error={page.error} onRetry={page.refetch} />
  if (rows.length === 0 || plan === undefined || columns === undefined) return null
  const named = findNamedColumn(plan, columns, fields)
  const hasContent = rows.some(({ cells }) => isFieldContent(named.field, cells[named.index] ?? ''))
  return (
    <Panel title={`Failed ${noun}s`} aside={formatCounted(total, noun)} flush scrolls>
      <Table
        className={styles.failed}
        caption={`Failed ${noun}s with their reasons`}
        rows={rows}
        toKey={({ row }) => row}
        columns={[
          { title: 'Row', cell: ({ row, place }) => <RowNumber record={row} place={place} /> },
          {
            title: noun === 'term' ? 'Term' : 'Item',
            cell: ({ cells, cellLengths }) => {
              const text = cells[named.index] ?? ''
              return (
                <MaskedText
                  text={text}
                  length={cellLengths[named.index] ?? text.length}
                  revealed={shown || !isFieldContent(named.field, text)}
                  max={80}
                />
              )
            },
          },
          { title: 'State', cell: ({ state }) => <StateLabel state={state} /> },
          {
            title: 'Reason',
            className: styles.reason,
            cell: ({ row, status, errorCode, message }) => (
              <ServiceMessage
                message={message ?? [status ?? 'no answer', errorCode].filter(Boolean).join(' ')}
                request={message === null || status === null ? null : askRequest(runId, { row })}
              >
                {(text) => <Sentence text={text} />}
              </ServiceMessage>
            ),
          },
        ]}
      />
      <div className={`row justify-between gap-3 p-3-4 ${styles.failedFoot}`}>
        {hasContent && <ContentSwitch />}
        <Button size="xs" onClick={() => props.onResults(filter)}>
          {total > rows.length ? `View all ${formatCount(total)}` : 'View in the results'}
        </Button>
      </div>
    </Panel>
  )
}

/** The column that identifies a term or item, and the field that it fills; -1 if there is none. */
function findNamedColumn(
  plan: Plan,
  columns: readonly string[],
  fields: readonly string[],
): { index: number; field: string | undefined } {
  const filled = toWholeMapping(plan, columns)
  for (const field of fields) {
    const source = filled[field]
    if (source?.kind === 'column') {
      return { index: toColumnIndex(columns, source), field }
    }
  }
  return { index: -1, field: undefined }
}
