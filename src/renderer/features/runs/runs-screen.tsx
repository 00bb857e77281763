import { Button } from '@mantine/core'
import { IconFlask, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { bridge } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { useAction } from '../../bridge/use-action.ts'
import { useQuery } from '../../bridge/use-query.ts'
import type { NamedPlace } from '../../ui/connection/destination.ts'
import { ErrorNotice } from '../../ui/layout/error-notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { PrimaryButton } from '../../ui/primary-button.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { InterruptedBanner } from './interrupted-banner.tsx'
import { RunTable } from './run-table.tsx'
import { Welcome } from './welcome.tsx'
import { withLive } from './with-live.ts'

/** Home: every run, newest first, and the two ways to begin another. */
export function RunsScreen(props: {
  /** What an address is called. */
  namePlace: (baseUrl: string) => NamedPlace
  /** Begins with what is to be done. */
  onNew: () => void
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => Promise<void>
  onOpen: (runId: string) => void
  onResults: (runId: string) => void
}) {
  const revision = useLiveRuns((live) => live.revision)
  const list = useQuery(`runs ${revision}`, (signal) => bridge.runs.list(undefined, { signal }), {
    keep: true,
  })
  const sandbox = useAction(props.onSandbox)
  const [deleting, setDeleting] = useState<RunSummary | null>(null)
  const remove = useAction(async (runId: string) => {
    await bridge.runs.deleteRun({ runId })
    setDeleting(null)
    list.refresh()
  })
  const entries = list.data
  const error = list.error ?? sandbox.error ?? remove.error
  const isEmpty = entries !== null && entries.length === 0
  return (
    <Screen
      title="Runs"
      subtitle={toSubtitle(entries)}
      actions={
        entries === null || isEmpty ? null : (
          <>
            <Button
              variant="default"
              leftSection={<IconFlask size="1rem" />}
              loading={sandbox.busy}
              onClick={() => void sandbox.run()}
            >
              Try it with the sandbox
            </Button>
            <PrimaryButton onPress={props.onNew} icon={<IconPlus size="1rem" />}>
              New run
            </PrimaryButton>
          </>
        )
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={list.refresh} />}
      {entries !== null && !isEmpty && <InterruptedBanner entries={entries} onReview={props.onOpen} />}
      {isEmpty && (
        <Welcome
          busy={sandbox.busy}
          onNew={props.onNew}
          onChoose={props.onChoose}
          onChooseFolder={props.onChooseFolder}
          onSandbox={() => void sandbox.run()}
        />
      )}
      {entries !== null && !isEmpty && (
        <Panel title="All runs" aside="Newest first" flush>
          <LiveTable
            entries={entries}
            namePlace={props.namePlace}
            onOpen={(run) => props.onOpen(run.run_id)}
            onResults={(run) => props.onResults(run.run_id)}
            onDelete={setDeleting}
          />
        </Panel>
      )}
      {deleting !== null && (
        <DeleteDialog
          run={deleting}
          busy={remove.busy}
          onConfirm={() => void remove.run(deleting.run_id)}
          onClose={() => setDeleting(null)}
        />
      )}
    </Screen>
  )
}

function toSubtitle(entries: RunEntry[] | null): string {
  if (entries === null) return 'Reading the workspace'
  if (entries.length === 0) return 'None yet'
  return `${formatCounted(entries.length, 'run')}. Drop a spreadsheet or a folder anywhere to begin another`
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
