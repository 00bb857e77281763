import { Group, Modal, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import {
  isRetaining,
  NO_RETENTION,
  type PrunableRuns,
  type Retention,
} from '../../../shared/lookback/retention.ts'
import type { UnreadableRun } from '../../../shared/lookback/run-list.ts'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, NumberField, RowButton, ScrollRegion } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Notice } from '../../ui/layout/screen.tsx'
import { forgetTick } from '../../ui/runs/run-selection.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './runs.module.css'

/** Damaged runs listed at first. */
const UNREADABLE_SHOWN = 3

/** Runs that cannot be shown: why, and a button to delete each. */
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

/** Says what will be deleted with a run for good, and asks once more; a baseline is not deleted. */
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

const LIMITS = [
  { limit: 'olderThanMs', label: 'Older than (days)', description: 'since a run ended', unit: 86_400_000 },
  {
    limit: 'largerThanBytes',
    label: 'And larger than (MB)',
    description: 'files of a run with its retries',
    unit: 1_000_000,
  },
  {
    limit: 'keepBelowBytes',
    label: 'All runs at most (GB)',
    description: 'the oldest are deleted first',
    unit: 1_000_000_000,
  },
] as const satisfies readonly { limit: keyof Retention; label: string; description: string; unit: number }[]

const TYPING_MS = 300

/** Runs listed before they are deleted; further ones are counted. */
const SHOWN = 200

const REASONS: Record<PrunableRuns['runs'][number]['reason'], string> = {
  age: 'too old',
  size: 'too large',
  total: 'all together too large',
}

/** Limits of age and size, and which runs exceed them: only listed runs are deleted. */
export function CleanUpDialog({ onClose }: { onClose: () => void }) {
  const stored = useQuery(ask.history.readRetention.queryOptions())
  return (
    <Modal opened size="xl" onClose={onClose} title="Clean up runs">
      {stored.error !== null && <ErrorNotice error={stored.error} />}
      {stored.data !== undefined && <CleanUpForm stored={stored.data} onClose={onClose} />}
    </Modal>
  )
}

function CleanUpForm({ stored, onClose }: { stored: Retention; onClose: () => void }) {
  const [limits, setLimits] = useState(stored)
  const [settled] = useDebouncedValue(limits, TYPING_MS)
  const change = (part: Partial<Retention>) => setLimits((known) => ({ ...known, ...part }))
  const found = useQuery({
    ...ask.history.findPrunable.queryOptions({ input: isRetaining(settled) ? settled : skipToken }),
    placeholderData: keepPreviousData,
  })
  const keep = useMutation({
    mutationFn: async (retention: Retention) => {
      await bridge.history.storeRetention(retention)
      queryClient.setQueryData(ask.history.readRetention.queryKey(), retention)
    },
  })
  const prune = useMutation({
    mutationFn: (runIds: string[]) => bridge.history.prune({ runIds, retention: settled }),
    onSuccess: (_pruned, runIds) => {
      for (const runId of runIds) forgetTick(runId)
      void found.refetch()
    },
  })
  const isAny = isRetaining(limits)
  const isCurrent = isAny && limits === settled && !found.isPlaceholderData && !found.isFetching
  const runs = isAny ? (found.data?.runs ?? []) : []
  const isStored = isSame(limits, stored)
  return (
    <Stack gap="md">
      <div className={`grid gap-3 ${styles.limits}`}>
        {LIMITS.map(({ limit, ...field }) => (
          <LimitInput
            key={limit}
            {...field}
            value={limits[limit]}
            onValue={(value) => change({ [limit]: value })}
          />
        ))}
      </div>
      {found.error !== null && <ErrorNotice error={found.error} />}
      {prune.error !== null && <ErrorNotice error={prune.error} />}
      {keep.error !== null && <ErrorNotice error={keep.error} />}
      {prune.data !== undefined && (
        <Notice kind="good" title={`${formatCounted(prune.data.deleted, 'run')} deleted`}>
          {prune.data.busy.length > 0 &&
            `${formatCounted(prune.data.busy.length, 'run')} in use by now, and kept.`}
        </Notice>
      )}
      {isAny && found.data !== undefined ? (
        <PrunableTable found={found.data} />
      ) : (
        <p>Set a limit to see which runs exceed it. Nothing is deleted before you say so.</p>
      )}
      <Group justify="flex-end" gap="xs">
        <ActionButton
          label={isStored ? 'Limits are kept' : 'Keep these limits'}
          disabled={isStored}
          loading={keep.isPending}
          onClick={() => keep.mutate(isAny ? limits : NO_RETENTION)}
        />
        <ActionButton label="Close" onClick={onClose} />
        <ActionButton
          label={runs.length === 0 ? 'Nothing to delete' : `Delete ${formatCounted(runs.length, 'run')}`}
          variant="filled"
          color="danger"
          disabled={runs.length === 0 || !isCurrent}
          loading={prune.isPending}
          onClick={() => prune.mutate(runs.map((run) => run.run_id))}
        />
      </Group>
    </Stack>
  )
}

function LimitInput(props: {
  label: string
  description: string
  /** Milliseconds or bytes; null without this limit. */
  value: number | null
  unit: number
  onValue: (value: number | null) => void
}) {
  const { unit, onValue } = props
  const [typed, setTyped] = useState(props.value === null ? null : props.value / unit)
  return (
    <NumberField
      label={props.label}
      description={props.description}
      placeholder="no limit"
      min={0}
      decimalScale={3}
      allowNegative={false}
      value={typed}
      onValue={(next) => {
        setTyped(next)
        onValue(next !== null && next > 0 ? Math.round(next * unit) : null)
      }}
    />
  )
}

/** The runs to delete, oldest first, and what stays. */
function PrunableTable({ found }: { found: PrunableRuns }) {
  const { runs } = found
  const kept = [
    ...(found.running > 0 ? [`${formatCount(found.running)} in use`] : []),
    ...(found.protected > 0 ? [formatCounted(found.protected, 'baseline')] : []),
  ]
  return (
    <>
      <p>
        {runs.length === 0
          ? 'No run exceeds these limits.'
          : `${formatCounted(runs.length, 'run')} with all results, ${formatBytes(found.size_bytes - found.kept_bytes)} of ${formatBytes(found.size_bytes)}. This cannot be undone.`}
        {kept.length > 0 && ` Kept though they exceed a limit: ${kept.join(' and ')}.`}
      </p>
      {runs.length > 0 && (
        <ScrollRegion className={`rounded ${styles.prunable}`} label="Runs to be deleted">
          <Table
            className={`nowrap ${styles.table}`}
            rows={runs.slice(0, SHOWN)}
            toKey={(run) => run.run_id}
            columns={[
              { title: 'Run', className: styles.run, cell: ({ name }) => <SafeText text={name} max={80} /> },
              { title: 'Ended', cell: (run) => formatTimestamp(run.ended_at) },
              { title: 'On disk', isNumber: true, cell: (run) => formatBytes(run.size_bytes) },
              { title: 'Why', cell: ({ reason }) => REASONS[reason] },
            ]}
          />
          {runs.length > SHOWN && <p>and {formatCounted(runs.length - SHOWN, 'newer run')}</p>}
        </ScrollRegion>
      )}
    </>
  )
}

function isSame(a: Retention, b: Retention): boolean {
  return LIMITS.every(({ limit }) => a[limit] === b[limit])
}
