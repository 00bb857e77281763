import { Group, Modal, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import type { UnreadableRun } from '../../../shared/lookback/run-list.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { bridge } from '../../bridge/client.ts'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/screen.tsx'
import { forgetTick } from '../../ui/runs/run-selection.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './runs.module.css'

/** Damaged runs that are listed at first. */
const UNREADABLE_SHOWN = 3

/** Runs that are there and cannot be shown: why, and the way to be rid of them. */
export function UnreadableRuns(props: {
  runs: readonly UnreadableRun[]
  onDelete: (run: UnreadableRun) => void
}) {
  const [isAll, setIsAll] = useState(false)
  const shown = isAll ? props.runs : props.runs.slice(0, UNREADABLE_SHOWN)
  const left = props.runs.length - shown.length
  return (
    <Notice
      kind="warning"
      title={`${formatCounted(props.runs.length, 'run')} cannot be read: the journal is damaged`}
      {...(left > 0 && {
        actions: <ActionButton label={`Show ${left} more`} small onClick={() => setIsAll(true)} />,
      })}
    >
      <ul className={`stack gap-1 ${styles.unreadable}`}>
        {shown.map((run) => (
          <li key={run.runId} className="row justify-between gap-3">
            <span>
              <code>{run.runId}</code>: <SafeText text={run.message} max={300} lines />
            </span>
            <RowButton
              label="Delete…"
              name={`Delete ${run.runId}`}
              isOutlined
              onPress={() => props.onDelete(run)}
            />
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** Says what goes for good with a run, and asks once more; a baseline is not deleted. */
export function DeleteDialog({ entry, onClose }: { entry: RunEntry; onClose: () => void }) {
  const { summary: run, figures, baselines } = entry
  const isNoted = run.note !== undefined || (run.tags ?? []).length > 0
  const lost = [
    formatCounted(run.rows.read, 'row'),
    ...(run.retries.length > 0 ? [formatCounted(run.retries.length, 'retry', 'retries')] : []),
    ...(isNoted ? ['tags', 'note'] : []),
    'every request and answer',
  ]
  const isBaseline = baselines.length > 0
  return (
    <DeletionDialog runId={run.run_id} isBlocked={isBaseline} onClose={onClose}>
      {isBaseline ? (
        <Notice kind="warning" title="Later runs are compared with this one">
          It is the baseline {baselines.map((name) => `“${name}”`).join(', ')}. To delete it, make another run
          the baseline or remove the baseline.
        </Notice>
      ) : (
        <>
          <p>
            This deletes{' '}
            <strong>
              <SafeText text={run.name} max={80} />
            </strong>{' '}
            ({formatBytes(figures.sizeBytes)}) for good: {lost.join(', ')}, and all verdicts.
          </p>
          <p>The service keeps what it received. Your spreadsheet and exported files are not touched.</p>
        </>
      )}
    </DeletionDialog>
  )
}

/** The same for a run whose journal cannot be read. */
export function DeleteUnreadable({ run, onClose }: { run: UnreadableRun; onClose: () => void }) {
  return (
    <DeletionDialog runId={run.runId} onClose={onClose}>
      <p>
        This deletes <code>{run.runId}</code> for good, with whatever its damaged journal still holds. Keep it
        if the file may be repaired or restored from a backup.
      </p>
    </DeletionDialog>
  )
}

function DeletionDialog(props: {
  runId: string
  isBlocked?: boolean
  onClose: () => void
  children: ReactNode
}) {
  const { runId, onClose } = props
  const remove = useMutation({
    mutationFn: async () => {
      await bridge.runs.deleteRun({ runId })
      forgetTick(runId)
      onClose()
    },
  })
  return (
    <Modal opened onClose={onClose} title="Delete the run">
      <Stack gap="md">
        {props.children}
        {remove.error !== null && <ErrorNotice error={remove.error} />}
        <Group justify="flex-end" gap="xs">
          <ActionButton label={props.isBlocked ? 'Close' : 'Cancel'} data-autofocus onClick={onClose} />
          {!props.isBlocked && (
            <ActionButton
              label="Delete"
              variant="filled"
              color="danger"
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            />
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
