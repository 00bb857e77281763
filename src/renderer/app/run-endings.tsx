import { formatCount, formatCounted } from '../../shared/messages/figure-text.ts'
import { countTrial, type RunSummary, toShownState } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import { bridge } from '../bridge/client.ts'
import { showToast } from '../ui/layout/toasts.tsx'
import { describeThresholds, isLoadTest } from '../ui/states/run-state.tsx'
import { SafeText } from '../ui/text/safe-text.tsx'
import { goTo, parseRoute } from './route.ts'

/** Runs that were being sent in the first list of snapshots and have ended in the second. */
export function findEnded(before: readonly RunSnapshot[], now: readonly RunSnapshot[]): string[] {
  const live = new Set(now.filter(({ phase }) => phase !== 'ended').map(({ runId }) => runId))
  return before
    .filter(
      ({ runId, phase }) => phase !== 'intake' && phase !== 'ready' && phase !== 'ended' && !live.has(runId),
    )
    .map(({ runId }) => runId)
}

/** Announces the end of a run, unless the window shows it. Probes of a capacity search are not announced. */
export async function announceEnd(runId: string): Promise<void> {
  const [summary, search] = await Promise.all([bridge.runs.summarize({ runId }), bridge.capacity.newest()])
  const route = parseRoute(window.location.hash)
  if (('runId' in route && route.runId === runId) || search?.runIds.includes(runId)) return
  const verdict = toShownState(summary)
  showToast({
    key: toEndKey(runId),
    kind: verdict === 'completed' ? 'good' : 'warning',
    title: (
      <>
        <SafeText text={summary.name} max={60} />: {verdict}
      </>
    ),
    text: describeOutcome(summary),
    action: { label: 'View run', act: () => goTo({ kind: 'run', runId }) },
  })
}

export function toEndKey(runId: string): string {
  return `run ${runId}`
}

function describeOutcome(summary: RunSummary): string {
  const { rows } = summary
  if (!isLoadTest(summary))
    return `${formatCount(rows.succeeded)} of ${formatCounted(countTrial(summary) ?? rows.read, 'row')} succeeded`
  return describeThresholds(summary) ?? formatCounted(summary.requests.sent, 'request')
}
