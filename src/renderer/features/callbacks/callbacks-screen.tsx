import { useQuery } from '@tanstack/react-query'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { CallbackOverview } from '../../../shared/run/callback-overview.ts'
import { ask } from '../../bridge/client.ts'
import { useReceiver } from '../../bridge/receiver.ts'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Screen } from '../../ui/layout/screen.tsx'
import { ArrivedPanel, AwaitingPanel } from './arrived-panels.tsx'
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
