import { Group, Stack } from '@mantine/core'
import { formatCounted, listCounts } from '../../../shared/messages/figure-text.ts'
import { listLeftOut } from '../../../shared/run/item-state.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import { ActionButton } from '../controls.tsx'
import { ErrorNotice, Notice } from '../layout/screen.tsx'

/** What reading the source of a run came to that waits, and whether it is sent. */
export function WaitingRun(props: {
  rows: RowCounts
  /** Rows that were read before; null where there was no earlier run. */
  before: number | null
  isLoadTest: boolean
  busy: boolean
  error: unknown
  onGiveUp: () => void
  onOpen: () => void
  onSend: () => void
}) {
  const { rows, before } = props
  const { read, invalid, not_sent: sendable } = rows
  const left = listCounts(listLeftOut(rows).map(({ rows: count, note }) => [count, note]))
  const earlier = before === read ? ', as before' : `, ${formatCounted(before ?? 0, 'row')} before`
  return (
    <Stack gap="md">
      <Notice
        kind={sendable === 0 ? 'error' : invalid > 0 ? 'warning' : 'good'}
        title={`${formatCounted(read, 'row')} read and checked${before === null ? '' : earlier}`}
      >
        {invalid === 0
          ? `${left.length === 0 ? 'Every row' : `${left.join(', ')}; every other row`} can be sent. Nothing has been sent yet.`
          : `${formatCounted(invalid, 'row')} with errors will not be sent. Open the run to see why. Nothing has been sent yet.`}
      </Notice>
      {props.error !== null && <ErrorNotice error={props.error} />}
      <Group justify="flex-end" gap="xs">
        <ActionButton label="Do not send" onClick={props.onGiveUp} />
        <ActionButton label="Open the run first" onClick={props.onOpen} />
        <ActionButton
          label={props.isLoadTest ? 'Start the load test' : `Send ${formatCounted(sendable, 'row')}`}
          variant="filled"
          data-autofocus
          loading={props.busy}
          disabled={sendable === 0}
          onClick={props.onSend}
        />
      </Group>
    </Stack>
  )
}
