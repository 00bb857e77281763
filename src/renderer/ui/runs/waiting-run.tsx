import { Group, Stack } from '@mantine/core'
import { formatCounted, listCounts } from '../../../shared/messages/figure-text.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import { listLeftOut } from '../../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ActionButton } from '../controls.tsx'
import { ErrorNotice, Notice } from '../layout/screen.tsx'
import { BeforeSending, useAcceptance } from '../problems/before-sending.tsx'
import { SentBeforeNote } from '../problems/sent-before.tsx'
import { toGuess } from './read-as-line.tsx'

const MAIN = { variant: 'filled', 'data-autofocus': true }

/** The result of reading a waiting run's source, with a button that sends it. */
export function WaitingRun(props: {
  waiting: {
    run: RunSummary
    problems: readonly ProblemGroup[]
    /** Warnings that must be accepted before the rows are sent. */
    open: readonly ProblemGroup[]
  }
  isProduction: boolean
  /** Number of rows in the earlier run; null if there was none. */
  before: number | null
  isLoadTest: boolean
  busy: boolean
  error: unknown
  /** Whether it may have been sent, since the answer was lost. */
  isUnclear: boolean
  onGiveUp: () => void
  onOpen: () => void
  onSend: (accept: AcceptCode[]) => void
}) {
  const { waiting, before } = props
  const { run, problems, open } = waiting
  const { rows } = run
  const acceptance = useAcceptance(open, props.isProduction)
  const { read, invalid, not_sent: sendable } = rows
  const left = listCounts(listLeftOut(rows).map(({ rows: count, note }) => [count, note]))
  const earlier = before === read ? ', as before' : `, ${formatCounted(before ?? 0, 'row')} before`
  const unsent = props.isUnclear ? '' : ' Nothing has been sent yet.'
  const openRun = (
    <ActionButton
      label={props.isUnclear ? 'Open the run' : 'Open the run first'}
      {...(props.isUnclear && MAIN)}
      onClick={props.onOpen}
    />
  )
  const send = (
    <ActionButton
      label={props.isLoadTest ? 'Start the load test' : `Send ${formatCounted(sendable, 'row')}`}
      {...(!props.isUnclear && MAIN)}
      loading={props.busy}
      disabled={sendable === 0 || acceptance.blocked !== undefined}
      title={acceptance.blocked}
      onClick={() => props.onSend(acceptance.accepted)}
    />
  )
  return (
    <Stack gap="md">
      <Notice
        kind={sendable === 0 ? 'error' : invalid > 0 ? 'warning' : 'good'}
        title={`${formatCounted(read, 'row')} read and checked${before === null ? '' : earlier}`}
      >
        {invalid === 0
          ? `${left.length === 0 ? 'Every row' : `${left.join(', ')}; every other row`} can be sent.${unsent}`
          : `${formatCounted(invalid, 'row')} with errors will not be sent. Open the run to see why.${unsent}`}
      </Notice>
      <BeforeSending
        acceptance={acceptance}
        rows={sendable}
        groups={problems}
        guess={toGuess(run)}
        sentBefore={run.sent_before === undefined ? null : <SentBeforeNote summary={run} />}
      />
      {props.error !== null && <ErrorNotice error={props.error} />}
      {props.isUnclear && (
        <Notice kind="warning" title="The rows may have been sent">
          No answer came to the request to send them. Open the run to see.
        </Notice>
      )}
      <Group justify="flex-end" gap="xs">
        <ActionButton label={props.isUnclear ? 'Close' : 'Do not send'} onClick={props.onGiveUp} />
        {/* The main button keeps its place, and with it the focus. */}
        {props.isUnclear ? send : openRun}
        {props.isUnclear ? openRun : send}
      </Group>
    </Stack>
  )
}
