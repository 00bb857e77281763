import { Button, Group, Modal, Stack } from '@mantine/core'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'

function describeRetries({ retries }: RunSummary): string {
  return retries.length === 0 ? '' : `, and so do its ${formatCounted(retries.length, 'retry', 'retries')}`
}

/** Asks once more before a run's journal goes for good. */
export function DeleteDialog(props: {
  run: RunSummary
  busy: boolean
  onConfirm: () => void
  onClose: () => void
}) {
  const { run } = props
  return (
    <Modal opened onClose={props.onClose} title="Delete the run" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <p>
          <strong>
            <SafeText text={run.name} max={80} />
          </strong>
          : its journal with {formatCounted(run.rows.read, 'row')}, every request and every answer goes for
          good{describeRetries(run)}. What the service has stays there. Your spreadsheet is not touched.
        </p>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={props.onClose}>
            Keep it
          </Button>
          <Button color="danger" loading={props.busy} onClick={props.onConfirm}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
