import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatBytes, formatCount, formatCounted, formatSpan } from '../../../shared/messages/figure-text.ts'
import {
  type AwaitingRun,
  type CallbackOverview,
  type LastRefusal,
  REFUSALS,
  sayRefusal,
} from '../../../shared/run/callback-overview.ts'
import { ask } from '../../bridge/client.ts'
import { useReceiver } from '../../bridge/receiver.ts'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, type Figure, Figures, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './callbacks.module.css'
import { InboxPanel } from './inbox-panel.tsx'
import { ReceiverPanel } from './receiver-panel.tsx'

/** How often the overview is read again, for what another process receives and for rows that give up, milliseconds. */
const READ_EVERY_MS = 5_000

/** Where callbacks are received, whether they get there, what came, and what is still awaited. */
export function CallbacksScreen({ onOpenRun }: { onOpenRun: (runId: string) => void }) {
  const receiver = useReceiver()
  const overview = useQuery(ask.receiver.overview.queryOptions({ refetchInterval: READ_EVERY_MS }))
  return (
    <Screen title="Callbacks" subtitle={toSubtitle(overview.data)}>
      {overview.error !== null && <ErrorNotice error={overview.error} onRetry={overview.refetch} />}
      {receiver !== undefined && (
        <ReceiverPanel receiver={receiver} elsewhere={overview.data?.baseUrl ?? null} />
      )}
      {overview.data !== undefined && (
        <>
          <AwaitingPanel runs={overview.data.awaiting} onOpenRun={onOpenRun} />
          {hasArrived(overview.data) && <ArrivedPanel overview={overview.data} />}
          <InboxPanel callbacks={overview.data.newest} onOpenRun={onOpenRun} />
        </>
      )}
    </Screen>
  )
}

function toSubtitle(overview: CallbackOverview | undefined): string {
  if (overview === undefined) return 'Reading the workspace'
  const rows = overview.awaiting.reduce((sum, run) => sum + run.rows, 0)
  if (rows === 0) return 'No rows waiting'
  return `${formatCounted(rows, 'row')} of ${formatCounted(overview.awaiting.length, 'run')} waiting`
}

function hasArrived({ received, refused, probes }: CallbackOverview): boolean {
  return received > 0 || probes > 0 || Object.keys(refused).length > 0
}

/** The runs that wait for callbacks, with how many rows and until when. */
function AwaitingPanel(props: { runs: readonly AwaitingRun[]; onOpenRun: (runId: string) => void }) {
  const { runs, onOpenRun } = props
  if (runs.length === 0) return null
  return (
    <Panel title="Awaiting callbacks" aside={formatCounted(runs.length, 'run')} flush scrolls>
      <Table
        className={styles.table}
        rows={runs}
        toKey={({ runId }) => runId}
        columns={[
          {
            title: 'Run',
            className: styles.run,
            cell: (run) => (
              <Anchor component="button" type="button" fz="inherit" onClick={() => onOpenRun(run.runId)}>
                <SafeText text={run.name} max={80} />
              </Anchor>
            ),
          },
          { title: 'Waiting rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
          { title: 'First row is overdue', cell: (run) => <Moment atMs={run.firstOverdueAtMs} /> },
          { title: 'Last row is overdue', cell: (run) => <Moment atMs={run.lastOverdueAtMs} /> },
        ]}
      />
    </Panel>
  )
}

/** When something is due, and how long until then. */
function Moment({ atMs }: { atMs: number }) {
  const leftMs = atMs - Date.now()
  return (
    <>
      {formatTimestamp(new Date(atMs).toISOString())}
      {leftMs > 0 && <div className="quiet">in {formatSpan(leftMs)}</div>}
    </>
  )
}

/** What was received since the workspace was created, what it did, and what was refused, by reason. */
function ArrivedPanel({ overview }: { overview: CallbackOverview }) {
  const { received, refused, lastRefused, probes, counts } = overview
  const kinds = REFUSALS.flatMap((kind) => {
    const times = refused[kind] ?? 0
    return times === 0 ? [] : [[kind, times] as const]
  })
  const figures: Figure[] = [
    { label: 'Stored', value: formatCount(received), note: 'since the workspace was created' },
    { label: 'Settled their row', value: formatCount(counts.settled) },
    { label: 'Late', value: formatCount(counts.late), note: 'settled an overdue or unknown row' },
    { label: 'Duplicates', value: formatCount(counts.doubled), note: 'said the same again' },
    ...(counts.differing === 0
      ? []
      : [{ label: 'Differing', value: formatCount(counts.differing), note: 'kept with their row' }]),
    { label: 'Unreadable', value: formatCount(counts.unreadable), note: 'kept with their row' },
    {
      label: 'Refused',
      value: formatCount(kinds.reduce((sum, [, times]) => sum + times, 0)),
      note: kinds.length === 0 ? undefined : 'changed nothing',
    },
    ...(probes === 0
      ? []
      : [{ label: 'Probes', value: formatCount(probes), note: 'HEAD or GET, answered with 200' }]),
  ]
  return (
    <Panel title="Received" aside="callbacks of deleted runs count only as stored">
      <Figures figures={figures} />
      {kinds.length > 0 && (
        <Table
          look="plain"
          className={styles.refused}
          caption="Reasons for refusing"
          isCaptionShown
          hasNoHead
          rows={kinds}
          columns={[
            { isNumber: true, cell: ([, times]) => formatCount(times) },
            { isRowHead: true, cell: ([kind]) => sayRefusal(kind) },
            { className: 'quiet', cell: ([kind]) => describeLast(lastRefused[kind]) },
          ]}
        />
      )}
    </Panel>
  )
}

/** When the last request of a kind came, and how large it was. */
function describeLast(last: LastRefusal | undefined): string {
  if (last === undefined) return ''
  const size = last.sizeBytes === null ? '' : `, ${formatBytes(last.sizeBytes)}`
  return `last ${formatTimestamp(new Date(last.atMs).toISOString())}${size}`
}
