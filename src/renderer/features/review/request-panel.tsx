import { ActionIcon, Stack } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import type { RequestReview } from '../../../shared/bridge/results.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { nameRow, toRowAndRecord, toRowNumber } from '../../../shared/plan/source-place.ts'
import { bridge } from '../../bridge/client.ts'
import { maskJson, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, TextField } from '../../ui/controls.tsx'
import { Notice, Panel } from '../../ui/layout/screen.tsx'
import { describePlace } from '../../ui/states/row-states.tsx'
import { FactTable } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './review.module.css'

/** The exact request of any row, by its number; the key masked, and user content until it is revealed. */
export function RequestPanel(props: {
  runId: string
  record: number
  rows: number
  /** Null until it is read. */
  request: RequestReview | null
  /** What the connection still lacks, so that there is no request to show; null where it is complete. */
  gap: string | null
  onRecord: (record: number) => void
  /** Opens the request of the row, to be changed and sent once by hand. */
  onScratchpad: () => void
}) {
  const { record, rows, request, gap, onRecord } = props
  const isRead = request?.row === record
  return (
    <Panel
      title="Exact request"
      aside={
        <ActionButton
          label="Open in Scratchpad"
          small
          disabled={gap !== null || !isRead}
          onClick={props.onScratchpad}
        />
      }
    >
      <div className="row gap-1 mb-3 quiet nowrap">
        <ActionIcon aria-label="Previous row" disabled={record <= 1} onClick={() => onRecord(record - 1)}>
          <IconChevronLeft size="1rem" />
        </ActionIcon>
        <span>Row</span>
        <RowField
          key={record}
          runId={props.runId}
          shown={isRead ? nameRow(toRowAndRecord(request.row, request.place)) : ''}
          onRecord={onRecord}
        />
        <ActionIcon aria-label="Next row" disabled={record >= rows} onClick={() => onRecord(record + 1)}>
          <IconChevronRight size="1rem" />
        </ActionIcon>
      </div>
      {gap !== null && <p className="quiet">The request is shown once the connection is complete.</p>}
      {gap === null && request !== null && <RequestText request={request} />}
    </Panel>
  )
}

/** Takes the number of a row as its spreadsheet shows it. */
function RowField(props: { runId: string; shown: string; onRecord: (record: number) => void }) {
  const { shown } = props
  const [typed, setTyped] = useState<string | null>(null)
  const find = useMutation({
    mutationFn: (row: string) => bridge.review.findRow({ runId: props.runId, row }),
    onSuccess: (record) => {
      setTyped(null)
      props.onRecord(record)
    },
  })
  const go = () => {
    if (typed !== null && typed.trim() !== shown) find.mutate(typed)
  }
  return (
    <TextField
      aria-label="Row"
      size="xs"
      w={shown.includes(':') ? '12rem' : '5rem'}
      value={typed ?? shown}
      error={find.error === null ? undefined : toShownError(find.error).message}
      onValue={(next) => {
        find.reset()
        setTyped(next)
      }}
      onBlur={go}
      onKeyDown={(event) => {
        if (event.key === 'Enter') go()
      }}
    />
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
    <Stack gap="xs">
      <FactTable
        look="plain"
        className={styles.headers}
        facts={[
          ['row', `${toRowNumber(request.place)}, ${describePlace(request.row, request.place)}`],
          [request.method, <SafeText key="url" text={request.url} max={2_000} lines />],
          ...request.headers.map(
            ([name, value]) => [name, <SafeText key={name} text={value} max={200} />] as const,
          ),
        ]}
      />
      {request.body === null ? (
        <p className="quiet">no body</p>
      ) : (
        <LongText text={prettyJson(shown ? request.body : maskJson(request.body))} label="Request body" />
      )}
    </Stack>
  )
}
