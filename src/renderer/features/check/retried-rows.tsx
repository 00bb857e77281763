import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { addFix, type Fix } from '../../../shared/plan/fixes.ts'
import { sayRow, toRowNumber } from '../../../shared/plan/source-place.ts'
import { ask } from '../../bridge/client.ts'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './check.module.css'

const PAGE_ROWS = 20

/** The rows that a retry is going to send, each with the last answer to it, to be corrected one by one. */
export function RetriedRows(props: {
  runId: string
  /** How many there are. */
  rows: number
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
  onEdit: (row: number) => void
  /** Opens the request of a row, to be changed and sent once by hand. */
  onScratchpad: (row: number) => void
}) {
  const { runId, rows, fixes, onFixes, onEdit } = props
  const [offset, setOffset] = useState(0)
  const from = offset < rows ? offset : 0
  const page = useQuery(
    ask.results.page.queryOptions({
      input: { runId, filter: { state: 'pending' }, offset: from, limit: PAGE_ROWS },
      placeholderData: keepPreviousData,
    }),
  )
  const shown = page.data?.rows ?? []
  if (shown.length === 0) return null
  return (
    <Panel
      title="Rows of this retry"
      flush
      aside={
        <span className="inline-flex items-center gap-2">
          {rows <= PAGE_ROWS ? (
            formatCounted(rows, 'row')
          ) : (
            <>
              {formatCount(from + 1)} to {formatCount(from + shown.length)} of {formatCounted(rows, 'row')}
              <ActionButton
                label="Previous"
                small
                disabled={from === 0}
                onClick={() => setOffset(Math.max(0, from - PAGE_ROWS))}
              />
              <ActionButton
                label="Next"
                small
                disabled={from + PAGE_ROWS >= rows}
                onClick={() => setOffset(from + PAGE_ROWS)}
              />
            </>
          )}
        </span>
      }
    >
      <div className="overflow-auto">
        <Table
          look="dense"
          className={styles.examples}
          caption="Rows of this retry"
          rows={shown}
          toKey={({ row }) => row}
          columns={[
            {
              title: 'Row',
              isNumber: true,
              className: shown.some(({ place }) => place.file !== undefined) ? styles.fileRow : styles.row,
              cell: ({ row, place }) => <RowNumber record={row} place={place} />,
            },
            { title: 'Last answer', cell: (row) => <SafeText text={toAnswer(row)} max={160} /> },
            {
              title: 'Actions',
              isActions: true,
              className: styles.rowActions,
              cell: ({ row, place }) => (
                <>
                  <RowButton
                    label={`Edit row ${toRowNumber(place)}`}
                    name={`Edit row ${sayRow(place)}`}
                    isOutlined
                    onPress={() => onEdit(row)}
                  />{' '}
                  <RowButton
                    label="Leave out"
                    name={`Leave out row ${sayRow(place)}`}
                    isOutlined
                    onPress={() => onFixes(addFix(fixes, { kind: 'leave_out_row', record: row }))}
                  />{' '}
                  <RowButton
                    label="Scratchpad"
                    name={`Open row ${sayRow(place)} in Scratchpad`}
                    isOutlined
                    onPress={() => props.onScratchpad(row)}
                  />
                </>
              ),
            },
          ]}
        />
      </div>
    </Panel>
  )
}

function toAnswer(row: { status: number | null; errorCode: string | null; message: string | null }): string {
  const parts = [row.status, row.errorCode, row.message].filter((part) => part !== null && part !== '')
  return parts.length === 0 ? 'not sent yet' : parts.join(' ')
}
