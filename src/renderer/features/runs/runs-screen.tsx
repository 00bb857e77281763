import { Button, Group, Modal, Stack } from '@mantine/core'
import { IconFlask, IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { RUNS_SHOWN, type RunEntry } from '../../../shared/bridge/runs.ts'
import { RUN_PAGE_MAX } from '../../../shared/lookback/run-list.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { PrimaryButton } from '../../ui/controls.tsx'
import { formatAgo } from '../../ui/format-time.ts'
import { ErrorNotice, Notice } from '../../ui/layout/notice.tsx'
import { Panel, Screen } from '../../ui/layout/screen.tsx'
import { forgetTick, SelectionBar } from '../../ui/runs/run-selection.tsx'
import { isLoadTest } from '../../ui/states/run-state.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { RunTable, withLive } from './run-table.tsx'
import { Welcome } from './welcome.tsx'

/** Home: every run, newest first, and the two ways to begin another. */
export function RunsScreen(props: {
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
  /** Begins with what is to be done. */
  onNew: () => void
  onImportK6: () => void
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => Promise<void>
  onOpen: (runId: string) => void
  onResults: (runId: string) => void
  /** Puts runs side by side, the earliest first. */
  onCompare: (runIds: string[]) => void
}) {
  const [shown, setShown] = useState(RUNS_SHOWN)
  const list = useQuery({
    ...ask.runs.list.queryOptions({ input: { limit: shown } }),
    placeholderData: keepPreviousData,
  })
  // They may be further back than the page goes.
  const interrupted = useQuery(
    ask.runs.list.queryOptions({ input: { product: 'run', states: ['interrupted'], limit: RUNS_SHOWN } }),
  )
  const sandbox = useMutation({ mutationFn: props.onSandbox })
  const [deleting, setDeleting] = useState<RunSummary | null>(null)
  const remove = useMutation({
    mutationFn: async (runId: string) => {
      await bridge.runs.deleteRun({ runId })
      forgetTick(runId)
      setDeleting(null)
      await Promise.all([list.refetch(), interrupted.refetch()])
    },
  })
  const entries = list.data?.entries ?? null
  const total = list.data?.total ?? 0
  const error = list.error ?? sandbox.error ?? remove.error
  const isEmpty = entries !== null && entries.length === 0
  return (
    <Screen
      title="Runs"
      subtitle={toSubtitle(list.data?.total ?? null)}
      actions={
        entries === null || isEmpty ? null : (
          <>
            <Button
              variant="default"
              leftSection={<IconFlask size="1rem" />}
              loading={sandbox.isPending}
              onClick={() => sandbox.mutate()}
            >
              Try it with the sandbox
            </Button>
            <Button variant="default" onClick={props.onImportK6}>
              Import k6 results
            </Button>
            <PrimaryButton onPress={props.onNew} icon={<IconPlus size="1rem" />}>
              New run
            </PrimaryButton>
          </>
        )
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={list.refetch} />}
      {interrupted.data !== undefined && (
        <InterruptedBanner entries={interrupted.data.entries} onReview={props.onOpen} />
      )}
      {isEmpty && (
        <Welcome
          busy={sandbox.isPending}
          onNew={props.onNew}
          onChoose={props.onChoose}
          onChooseFolder={props.onChooseFolder}
          onSandbox={() => sandbox.mutate()}
        />
      )}
      {entries !== null && !isEmpty && (
        <Panel title="All runs" aside="Newest first" flush>
          <SelectionBar onCompare={props.onCompare} />
          <LiveTable
            entries={entries}
            namePlace={props.namePlace}
            onOpen={(run) => props.onOpen(run.run_id)}
            onResults={(run) => props.onResults(run.run_id)}
            onDelete={setDeleting}
          />
          {total > entries.length && (
            <MoreRuns
              left={total - entries.length}
              busy={list.isFetching}
              onMore={() => setShown(Math.min(RUN_PAGE_MAX, shown + RUNS_SHOWN))}
            />
          )}
        </Panel>
      )}
      {deleting !== null && (
        <DeleteDialog
          run={deleting}
          busy={remove.isPending}
          onConfirm={() => remove.mutate(deleting.run_id)}
          onClose={() => setDeleting(null)}
        />
      )}
    </Screen>
  )
}

function toSubtitle(runs: number | null): string {
  if (runs === null) return 'Reading the workspace'
  if (runs === 0) return 'None yet'
  return `${formatCounted(runs, 'run')}. Drop a spreadsheet or a folder anywhere to begin another`
}

/** Shows older runs, which the table leaves out at first. */
function MoreRuns({ left, busy, onMore }: { left: number; busy: boolean; onMore: () => void }) {
  return (
    <Group justify="center" p="sm">
      <Button variant="default" loading={busy} onClick={onMore}>
        Show more ({formatCounted(left, 'older run')})
      </Button>
    </Group>
  )
}

function LiveTable(props: {
  entries: RunEntry[]
  namePlace: (baseUrl: string) => NamedPlace
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onDelete: (run: RunSummary) => void
}) {
  const { entries, ...actions } = props
  const snapshots = useLiveRuns((live) => live.snapshots)
  const runs = entries.map((entry) => withLive(entry, snapshots[entry.summary.run_id]))
  const standings = new Map(
    entries.flatMap(({ summary, isHeld }) => {
      const phase = snapshots[summary.run_id]?.phase
      return isHeld && (phase === 'ready' || phase === 'paused' || phase === 'awaiting')
        ? [[summary.run_id, phase] as const]
        : []
    }),
  )
  return <RunTable runs={runs} standings={standings} nowMs={Date.now()} {...actions} />
}

/** Says that a run was cut off, what is left of it, and where to look at it and go on. */
function InterruptedBanner(props: { entries: RunEntry[]; onReview: (runId: string) => void }) {
  const cut = props.entries.filter(
    ({ summary }) =>
      !isLoadTest(summary) &&
      summary.state === 'interrupted' &&
      summary.rows.not_sent + summary.rows.awaiting > 0,
  )
  const newest = cut[0]?.summary
  if (newest === undefined) return null
  const { rows } = newest
  const left = [
    rows.not_sent > 0 && `${formatCounted(rows.not_sent, 'row')} not sent`,
    rows.awaiting > 0 && `${formatCounted(rows.awaiting, 'callback')} still awaited`,
    rows.unknown > 0 && `${formatCounted(rows.unknown, 'row')} with an unknown outcome`,
  ].filter((part) => part !== false)
  return (
    <Notice
      kind="warning"
      title={
        <>
          <SafeText text={newest.name} max={60} /> was interrupted{' '}
          {formatAgo(newest.ended_at ?? newest.started_at ?? newest.created_at, Date.now())}
        </>
      }
      actions={
        <Button variant="default" onClick={() => props.onReview(newest.run_id)}>
          Review and resume
        </Button>
      }
    >
      {left.join(', ')}. Nothing is sent until you resume.
      {cut.length > 1 && ` ${formatCounted(cut.length - 1, 'more run')} in the same state below.`}
    </Notice>
  )
}

function describeRetries({ retries }: RunSummary): string {
  return retries.length === 0 ? '' : `, with its ${formatCounted(retries.length, 'retry', 'retries')}`
}

/** Asks once more before a run's journal goes for good. */
function DeleteDialog(props: { run: RunSummary; busy: boolean; onConfirm: () => void; onClose: () => void }) {
  const { run } = props
  return (
    <Modal opened onClose={props.onClose} title="Delete the run" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        <p>
          <strong>
            <SafeText text={run.name} max={80} />
          </strong>
          : its journal with {formatCounted(run.rows.read, 'row')} and every request and answer is deleted
          {describeRetries(run)}. This cannot be undone. The service keeps what it received. Your spreadsheet
          is not touched.
        </p>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={props.onClose}>
            Cancel
          </Button>
          <Button color="danger" loading={props.busy} onClick={props.onConfirm}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
